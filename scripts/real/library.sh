# shellcheck shell=bash
# What the programs' files are written with: fetching, building, running under many seeds, checking. Sourced by
# check.sh, long.sh and advisories.sh; `$program` is the name of the program in hand, and the current directory is its own.

limit=${LIMIT:-600}
times=${TIMES:-20}
seeds=${SEEDS:-21}
suite_time=${SUITE_TIME:-30}

workspace=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/raddle-real.XXXXXX")
wrong=0

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

# Puts the raddle of this workspace, or of the directory BIN, first in PATH.
use_raddle() {
    if [ -z "${BIN:-}" ]; then
        cargo build --quiet --release --manifest-path "$workspace/Cargo.toml" -p raddle
        local target
        target=$(cargo metadata --format-version 1 --no-deps --manifest-path "$workspace/Cargo.toml" |
            jq -r .target_directory)
        BIN=$target/release
    fi
    export PATH=$BIN:$PATH
    unset CARGO_TARGET_DIR
}

# ---- fetching and building ----

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

# apt-get with a package list of its own: the machine's may have no sources in it.
apt_sources() {
    local state=$work/apt
    apt-get -o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$state/lists" -o Dir::Cache="$state/cache" \
        -o APT::Sandbox::User=root -o Acquire::Languages=none -qq "$@"
}

# Fetches a Debian source package into a directory of its name: of this machine's release, or of another where the
# mirror lacks it, or the upstream archive alone.
fetch_source() {
    local release state=$work/apt own
    own=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
    echo "$program: fetching the source of $1"
    if [ ! -e "$state/sources.list" ]; then
        mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
        for release in "$own" stable testing; do
            echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
                "http://deb.debian.org/debian $release main"
        done >"$state/sources.list"
        apt_sources update >"$work/fetch.log" 2>&1 || die "no package lists: $(tail -n 1 "$work/fetch.log")"
    fi
    for release in "$own" stable testing; do
        apt_sources source "$1/$release" >"$work/fetch.log" 2>&1 && break
    done
    if ! ls -d "$1"*/ >/dev/null 2>&1; then
        for release in "$own" stable testing; do
            apt_sources source --tar-only "$1/$release" >"$work/fetch.log" 2>&1 && break
        done
        tar -xf "$1"_*.orig.tar.* 2>>"$work/fetch.log" || die "cannot fetch $1: $(tail -n 1 "$work/fetch.log")"
    fi
    mv "$1"*/ source
}

# Fetches a crate's source into the directory `source`.
fetch_crate() {
    echo "$program: fetching the crate $1"
    mkdir fetch
    (
        cd fetch
        cargo init -q --vcs none --name fetch .
        cargo add -q "$1"
        cargo vendor -q
    ) >"$work/fetch.log" 2>&1 || die "cannot fetch $1: $(tail -n 1 "$work/fetch.log")"
    cp -r "fetch/vendor/$1" source
    # It is a workspace by itself, wherever the directory lies.
    grep -q '^\[workspace\]' source/Cargo.toml || printf '\n[workspace]\n' >>source/Cargo.toml
}

# Makes the tests of the crate in `source` as short as its authors make them under Miri.
shorten_tests() {
    find source/src source/tests -name '*.rs' -exec sed -i \
        -e 's/cfg!(miri)/true/g' \
        -e 's/cfg(not(miri))/cfg(any())/' \
        -e 's/cfg(miri)/cfg(all())/' {} +
}

# Takes the benchmarks of the crate in `source` away, and the crates that only they need.
without_benchmarks() {
    awk '/^\[/ { skips = /^\[\[bench\]\]/ || /^\[dev-dependencies\.criterion\]/ } !skips' \
        source/Cargo.toml >manifest
    mv manifest source/Cargo.toml
    rm -rf source/benches
}

# Runs a command of the build in the directory `source`.
build() {
    echo "$program: $*"
    (cd source && "$@") >>build.log 2>&1 || {
        tail -n 20 build.log
        die "cannot build $program"
    }
}

# The first bytes of this workspace's sources.
text() {
    head -c "$1" "$work/sources"
}

# ---- running and checking ----

# Both of what follows, with the same arguments.
both() {
    seeds "$@"
    check "$@"
}

# seeds NAME OPTION … -- COMMAND …: runs it under many seeds; each run has to succeed and to replay.
seeds() {
    local name=$1 status=0 start=$SECONDS
    shift
    raddle run --quiet --no-races --strategy random,pct,pos --runs $(((seeds + 2) / 3)) --verify --timeout 60 \
        --out "out/$name" "$@" >"$name.log" 2>&1 || status=$?
    local told
    told=$(tail -n 1 "$name.log")
    echo "$program, $name: $told, $((SECONDS - start)) s"
    if [ "$status" -ne 0 ]; then
        grep -E '^(failure|run |replayed|raddle: )|  in ' "$name.log" | head -n 6 | sed 's/^/  /'
        wrong=1
    fi
}

# Checks each test of the crate in `source`, within $suite_time seconds each. What is found is told.
suite() {
    local status=0 start=$SECONDS
    (
        cd source
        cargo raddle test --quiet --runs 20 --time "$suite_time" --timeout 60
    ) >suite.log 2>&1 || status=$?
    echo "$program, test-suite: $(tail -n 1 suite.log), $((SECONDS - start)) s"
    grep -E '^(bug\[|failure: )' suite.log | sort | uniq -c | sed 's/^/  /' || true
    if [ "$status" -ne 0 ] && [ "$status" -ne 2 ]; then
        tail -n 20 suite.log | sed 's/^/  /'
        wrong=1
    fi
}

# check NAME OPTION … -- COMMAND …: a check has to end, and the clips of what it confirmed have to repeat.
check() {
    local name=$1 status=0 start=$SECONDS
    shift
    timeout "$limit" raddle check --format json --timeout 60 --out "out/check-$name" "$@" \
        >"check-$name.json" 2>"check-$name.log" || status=$?
    local seconds=$((SECONDS - start))
    case $status in
    0 | 2) ;;
    124)
        echo "$program, $name: check not done after $limit s"
        wrong=1
        return
        ;;
    *)
        echo "$program, $name: check failed with status $status"
        tail -n 5 "check-$name.log" | sed 's/^/  /'
        wrong=1
        return
        ;;
    esac
    summarise "$name" "$seconds"
    jq -r '.findings[] | select(.status == "confirmed" and .severity == "bug") | .clip // empty' \
        "check-$name.json" >clips
    local clip
    while read -r clip; do
        local told=0
        raddle replay "$clip" --times "$times" --quiet >replay.log 2>&1 </dev/null || told=$?
        # 2 is the clip's own failure, as expected.
        if [ "$told" -ne 0 ] && [ "$told" -ne 2 ]; then
            wrong=1
        fi
        echo "  $(tail -n 1 replay.log)"
    done <clips
}

summarise() {
    jq -r --arg name "$program, $1" --arg seconds "$2" '
        def count(f): [.findings[] | select(f)] | length;
        "\($name): check: \(count(.status == "confirmed" and .severity == "bug")) bugs, " +
        "\(count(.status == "confirmed" and .severity != "bug")) warnings, " +
        "\(.unconfirmed) unconfirmed; \(.runs) runs, \(.events) events, \($seconds) s",
        (.findings[] | select(.status == "confirmed" and .severity == "bug") |
            "  \(.id) \(.kind) (consequence: \(.consequence)): " +
            ([.locations[] | "\((.file // "") | split("/") | last // "unknown place"):\(.line) \(.access)"] | join(", ")))
    ' "check-$1.json"
}

# The last thing of a program's file.
finish_program() {
    return $wrong
}

# ---- all of it ----

# check_programs DIRECTORY NAME …: runs the files of these programs, each in a directory of its own; without a name all.
check_programs() {
    local directory=$1 name failed=()
    shift
    if [ $# -eq 0 ]; then
        for file in "$directory"/*.sh; do
            set -- "$@" "$(basename "$file" .sh)"
        done
    fi
    for name in "$@"; do
        [ -f "$directory/$name.sh" ] || die "there is no $directory/$name.sh"
    done
    command -v apt-get >/dev/null || die "this script fetches Debian source packages: run it on Debian or Ubuntu"
    command -v cargo >/dev/null || die "please install Rust (https://rustup.rs)"
    need dpkg-dev debian-archive-keyring clang make jq
    use_raddle
    cat "$workspace"/crates/*/src/*.rs >"$work/sources"
    for name in "$@"; do
        program=$name
        mkdir -p "$work/$program"
        # A subshell each, so that a program that cannot be built stops nobody else.
        if ! (
            cd "$work/$program"
            # shellcheck disable=SC1090
            . "$directory/$program.sh"
            finish_program
        ) </dev/null; then
            failed+=("$program")
        fi
    done
    if [ ${#failed[@]} -gt 0 ]; then
        echo "failed: ${failed[*]}"
        exit 1
    fi
}
