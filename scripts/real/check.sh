#!/usr/bin/env bash
# Builds and checks programs that were not written for Raddle, one file each in scripts/real/programs. They are
# fetched by name, from Debian's source packages and from crates.io, into a temporary directory, and built there with
# the Raddle of this workspace.
#
#   scripts/real/check.sh                 all of them; the directory is removed at the end
#   scripts/real/check.sh pigz memcached  these
#   KEEP=1 scripts/real/check.sh          it is kept, with sources, reports and clips
#   BIN=DIR scripts/real/check.sh         with the raddle of this directory, which is not built first
#
# Each program is run under SEEDS seeds (default 21, a third for each of three strategies): the results have to be
# right, and every run has to replay event by event. Then it is checked: that has to end within LIMIT seconds
# (default 600), and the clips of confirmed bugs have to repeat TIMES times (default 20). Bugs that are found are
# told, and are no failure. Each test of a crate's own suite is checked for SUITE_TIME seconds at most (default 30).

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/real/library.sh
. "$here/library.sh"

if [ $# -eq 0 ]; then
    for file in "$here"/programs/*.sh; do
        set -- "$@" "$(basename "$file" .sh)"
    done
fi
for name in "$@"; do
    [ -f "$here/programs/$name.sh" ] || die "there is no $here/programs/$name.sh"
done

command -v apt-get >/dev/null || die "this script fetches Debian source packages: run it on Debian or Ubuntu"
command -v cargo >/dev/null || die "please install Rust (https://rustup.rs)"
need dpkg-dev debian-archive-keyring clang make jq

use_raddle
cat "$workspace"/crates/*/src/*.rs >"$work/sources"

failed=()
for name in "$@"; do
    program=$name
    mkdir -p "$work/$program"
    # A subshell each, so that a program that cannot be built stops nobody else.
    if ! (
        cd "$work/$program"
        # shellcheck disable=SC1090
        . "$here/programs/$program.sh"
        finish_program
    ) </dev/null; then
        failed+=("$program")
    fi
done

if [ ${#failed[@]} -gt 0 ]; then
    echo "failed: ${failed[*]}"
    exit 1
fi
