#!/usr/bin/env bash
# Checks two programs that were not written for Raddle: pbzip2 from Debian's source packages and an example of
# crossbeam-channel from crates.io. Both are fetched by name into a temporary directory and built there with the
# Raddle of this workspace.
#
#   scripts/real/check.sh            the directory is removed at the end
#   KEEP=1 scripts/real/check.sh     it is kept, with sources, reports and clips
#
# LIMIT is the number of seconds that one check may take (default 300); TIMES is how often each clip of a
# confirmed bug is replayed (default 20). Fails if something cannot be built, a check does not end in time or
# fails by itself, or a clip does not repeat. Bugs found in the programs are told, and are no failure.

set -euo pipefail

limit=${LIMIT:-300}
times=${TIMES:-20}
crate=crossbeam-channel
example=fibonacci

workspace=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/raddle-real.XXXXXX")
failed=0

finish() {
    if [ -n "${KEEP:-}" ]; then
        echo "kept: $work"
    else
        rm -rf "$work"
    fi
}
trap finish EXIT

die() {
    echo "$0: $1" >&2
    exit 1
}

# Installs Debian packages where that is possible, else says what to install.
need() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    if ! as_root apt-get install -y -qq "${missing[@]}" >"$work/apt.log" 2>&1; then
        die "please install ${missing[*]} (apt-get install ${missing[*]})"
    fi
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

# Fetches a Debian source package into the current directory, with a package list of its own: the machine's may
# have no sources in it.
fetch_source() {
    local release state=$work/apt
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
        "http://deb.debian.org/debian $release main" >"$state/sources.list"
    local options=(
        -o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o Dir::State::Lists="$state/lists" -o Dir::Cache="$state/cache"
        -o APT::Sandbox::User=root -o Acquire::Languages=none
    )
    apt-get "${options[@]}" -qq update
    apt-get "${options[@]}" -qq source "$1"
}

# Fetches a crate's source into a directory of its name.
fetch_crate() {
    mkdir fetch
    (
        cd fetch
        cargo init -q --vcs none --name fetch .
        cargo add -q "$1"
        cargo vendor -q >/dev/null
    )
    cp -r "fetch/vendor/$1" "$1"
    # It is a workspace by itself, wherever the directory lies.
    printf '\n[workspace]\n' >>"$1/Cargo.toml"
}

# check NAME INPUT COMMAND …: runs a check, and replays the clips of what it confirmed.
check() {
    local name=$1 input=$2 status=0 start=$SECONDS
    shift 2
    timeout "$limit" "$@" --format json --out "$work/$name" "${program[@]}" \
        <"$input" >"$work/$name.json" 2>"$work/$name.log" || status=$?
    local seconds=$((SECONDS - start))
    case $status in
    0 | 2) ;;
    124)
        echo "$name: not done after $limit s"
        failed=1
        return
        ;;
    *)
        echo "$name: the check failed with status $status"
        tail -n 5 "$work/$name.log"
        failed=1
        return
        ;;
    esac
    summarise "$name" "$seconds"
    jq -r '.findings[] | select(.status == "confirmed" and .severity == "bug") | .clip // empty' \
        "$work/$name.json" >"$work/$name.clips"
    local clip
    while read -r clip; do
        local told=0
        raddle replay "$clip" --times "$times" --quiet >"$work/replay.log" 2>&1 </dev/null || told=$?
        # 2 is the clip's own failure, as expected.
        if [ "$told" -ne 0 ] && [ "$told" -ne 2 ]; then
            failed=1
        fi
        echo "  $(tail -n 1 "$work/replay.log")"
    done <"$work/$name.clips"
}

summarise() {
    jq -r --arg name "$1" --arg seconds "$2" '
        def count(f): [.findings[] | select(f)] | length;
        "\($name): \(count(.status == "confirmed" and .severity == "bug")) bugs, " +
        "\(.unconfirmed) unconfirmed; \(.runs) runs, \(.events) events, \($seconds) s",
        (.findings[] | select(.status == "confirmed" and .severity == "bug") |
            "  \(.id) \(.kind) (consequence: \(.consequence)): " +
            ([.locations[] | "\((.file // "") | split("/") | last // "unknown place"):\(.line) \(.access)"] | join(", ")))
    ' "$work/$1.json"
}

command -v apt-get >/dev/null || die "this script fetches a Debian source package: run it on Debian or Ubuntu"
command -v cargo >/dev/null || die "please install Rust (https://rustup.rs)"
need dpkg-dev debian-archive-keyring clang make libbz2-dev bzip2 jq

cargo build --quiet --release --manifest-path "$workspace/Cargo.toml" -p raddle
target=$(cargo metadata --format-version 1 --no-deps --manifest-path "$workspace/Cargo.toml" | jq -r .target_directory)
export PATH=$target/release:$PATH
unset CARGO_TARGET_DIR
cd "$work"

echo "pbzip2: fetching and building"
fetch_source pbzip2 >fetch.log 2>&1 || die "cannot fetch the source of pbzip2: $(tail -n 1 fetch.log)"
mv pbzip2-*/ pbzip2
# Its string literals are older than C++11.
CXX="raddle c++" CXXFLAGS="-g -O2 -Wno-reserved-user-defined-literal" make -C pbzip2 pbzip2 >build.log 2>&1 ||
    die "cannot build pbzip2: $(tail -n 1 build.log)"

cat "$workspace"/crates/*/src/*.rs >sources
head -c 300000 sources >text
# Five streams one after another. In the damaged file the second is broken: a thread meets an error while
# others still work.
for part in 1 2 3 4 5; do
    head -c $((part * 2000)) text | tail -c 2000 | bzip2 >"stream-$part"
done
cat stream-[1-5] >streams.bz2
printf 'damaged!' | dd of=stream-2 bs=1 seek=300 conv=notrunc status=none
cat stream-[1-5] >damaged.bz2

program=(-- ./pbzip2/pbzip2 -p3 -b1 -k -f -c text)
check pbzip2-compress /dev/null raddle check
program=(-- ./pbzip2/pbzip2 -p3 -d -c)
check pbzip2-decompress streams.bz2 raddle check
check pbzip2-damaged damaged.bz2 raddle check

echo "$crate: fetching and building"
fetch_crate "$crate" >fetch.log 2>&1 || die "cannot fetch $crate: $(tail -n 1 fetch.log)"
cd "$crate"
cargo raddle build --example "$example" >"$work/build.log" 2>&1 ||
    die "cannot build $crate: $(tail -n 1 "$work/build.log")"
program=()
check "$crate-$example" /dev/null cargo raddle check --example "$example"

exit $failed
