#!/bin/sh
# Ten thousand runs (or as many as the first argument says) of a program of our own by every strategy, two at a time, and
# a look at what is left of them. It takes a minute or two; see crates/raddle/tests/soak.rs for what is checked there.
set -eu
cd "$(dirname "$0")/.."
runs=${1:-10000}

# Built first, so that what the build leaves is not taken for the runs'.
cargo test --release -p raddle --test soak --no-run

listing() {
    ls -A "$TMPDIR" /dev/shm
    # Processes of programs that Raddle has built for tests.
    for exe in /proc/[0-9]*/exe; do readlink "$exe" || true; done 2>/dev/null | grep '/soak/' || true
}

TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
before=$(listing)
RADDLE_TEST_SOAK=$runs cargo test --release -p raddle --test soak -- --nocapture
after=$(listing)
if [ "$before" != "$after" ]; then
    printf 'left behind:\n%s\nbefore:\n%s\n' "$after" "$before" >&2
    exit 1
fi
echo "nothing is left"
