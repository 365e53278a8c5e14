#!/usr/bin/env bash
# Checks crates in a version that is known for a concurrency bug, and in the version that fixes it. Each directory of
# scripts/real/advisories is a small program that uses one crate as its documentation says; its Cargo.toml names the
# advisory, the version that has the bug, and the version that fixes it. Cargo fetches both from crates.io.
#
#   scripts/real/advisories.sh                 all of them; the temporary directory is removed at the end
#   scripts/real/advisories.sh closed-oneshot  these
#   KEEP=1 scripts/real/advisories.sh          it is kept, with reports and clips
#   BIN=DIR scripts/real/advisories.sh         with the raddle of this directory, which is not built first
#
# Every check is `cargo raddle check` as it is by default, in the dev profile. It has to end within LIMIT seconds
# (default 600), to confirm a bug of the one version, and none of the other.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/real/library.sh
. "$here/library.sh"

if [ $# -eq 0 ]; then
    for directory in "$here"/advisories/*/; do
        set -- "$@" "$(basename "$directory")"
    done
fi
for name in "$@"; do
    [ -f "$here/advisories/$name/Cargo.toml" ] || die "there is no $here/advisories/$name/Cargo.toml"
done

command -v cargo >/dev/null || die "please install Rust (https://rustup.rs)"
command -v jq >/dev/null || need jq
use_raddle

# A field of the advisory that the package in the current directory names.
advisory() {
    cargo metadata --format-version 1 --no-deps | jq -r ".packages[0].metadata.advisory.$1"
}

# The version that the package in the current directory requires of a crate, and only this.
required() {
    cargo metadata --format-version 1 --no-deps |
        jq -r --arg crate "$1" '.packages[0].dependencies[] | select(.name == $crate) | .req | ltrimstr("=")'
}

# A lock file with one entry: Cargo selects a version that was withdrawn from crates.io only if it is locked.
lock() {
    cat >Cargo.lock <<LOCK
version = 4

[[package]]
name = "$1"
version = "$2"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "$name"
version = "0.0.0"
dependencies = ["$1"]
LOCK
}

# Checks a version and prints its row. `$3` is what is expected, `bug` or `fixed`. What is told of the fixed version and
# known to be true stands in Cargo.toml as `known`.
check_version() {
    local crate=$1 version=$2 expected=$3 id=$4 status=0 start found known verdict=
    known=$(cd package && advisory known)
    cp -r "$here/advisories/$name" "$expected"
    cd "$expected"
    sed -i "s/=$(required "$crate")\"/=$version\"/" Cargo.toml
    lock "$crate" "$version"
    cargo raddle build >build.log 2>&1 || {
        tail -n 20 build.log
        die "cannot build $name with $crate $version"
    }
    start=$SECONDS
    timeout "$limit" cargo raddle check --quiet --format json >check.json 2>check.log </dev/null || status=$?
    case $status in
    0 | 2) found=$(findings) ;;
    124) found="not done after $limit s" verdict=WRONG ;;
    *) found="status $status: $(tail -n 1 check.log)" verdict=WRONG ;;
    esac
    case $expected-$status in
    bug-0) verdict=MISSED ;;
    fixed-2) [ "$found" = "$known" ] || verdict="FALSE?" ;;
    esac
    row "$crate" "$version" "$id" "$(count runs)" "$(count events)" "$((SECONDS - start)) s" "$found" "$verdict"
    cd ..
    [ -z "$verdict" ]
}

row() {
    printf '%-18s %-13s %-24s %6s %10s %6s  %s\n' "$1" "$2" "$3" "$4" "$5" "$6" "$7${8:+  <- $8}"
}

count() {
    jq -r ".$1" check.json 2>/dev/null || echo -
}

# What was confirmed: the number of each kind.
findings() {
    jq -r '[.findings[] | select(.status == "confirmed" and .severity == "bug") | .kind] | group_by(.) |
        map("\(length) \(.[0])") | join(", ") | if . == "" then "nothing" else . end' check.json
}

wrong=()
row crate version advisory runs events time found
for name in "$@"; do
    mkdir "$work/$name"
    # A subshell each, so that a program that cannot be built stops nobody else.
    if ! (
        cd "$work/$name"
        cp -r "$here/advisories/$name" package
        cd package
        crate=$(advisory crate) fixed=$(advisory fixed) id=$(advisory id) version=
        version=$(required "$crate")
        cd ..
        status=0
        check_version "$crate" "$version" bug "$id" || status=1
        check_version "$crate" "$fixed" fixed "$id" || status=1
        exit $status
    ); then
        wrong+=("$name")
    fi
done

if [ ${#wrong[@]} -gt 0 ]; then
    echo "not as expected: ${wrong[*]}"
    exit 1
fi
