#!/bin/sh
# What `raddle check` and the strategies of `raddle run` need to find the bugs of the test programs, as a table in
# Markdown: for check what it found, its runs and its time; for each strategy the first of RUNS runs that failed, or a
# dash, and its time.
#
#   scripts/bench/programs.sh [PROGRAM…]      (default: all of tests/programs/check/more/bug)
#
#   RUNS=1000                             most runs of a strategy
#   STRATEGIES="pct pos surw random"      strategies to try
#
# A data race that comes to nothing makes no run fail, so only check can find it. Each program is built before anything
# is measured.
set -eu
cd "$(dirname "$0")/../.."
runs=${RUNS:-1000}
strategies=${STRATEGIES:-pct pos surw random}
[ $# -gt 0 ] || set -- tests/programs/check/more/bug/*
target=${CARGO_TARGET_DIR:-target}
cargo build --release --quiet -p raddle
raddle=$(cd "$target/release" && pwd)/raddle
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# measured COMMAND…: output in $dir/out, wall-clock seconds in $seconds; failing means that something was found
measured() {
    begin=$(date +%s%N)
    "$@" >"$dir/out" 2>"$dir/err" || [ $? -eq 2 ] || { cat "$dir/out" "$dir/err" >&2; exit 1; }
    seconds=$(awk -v ns=$(($(date +%s%N) - begin)) 'BEGIN { printf "%.1f", ns / 1e9 }')
}

# field NAME: a number of the report in $dir/out
field() { sed -n "s/^  \"$1\": \([0-9]*\),\{0,1\}$/\1/p" "$dir/out"; }

# kinds: the kinds of the confirmed bugs of the report in $dir/out, or "–"
kinds() {
    awk -F'"' '
        $2 == "kind" { kind = $4 }
        $2 == "status" { status = $4 }
        $2 == "severity" && $4 == "bug" && status == "confirmed" && !seen[kind]++ {
            all = all (all == "" ? "" : ", ") kind
        }
        END { print all == "" ? "–" : all }
    ' "$dir/out"
}

# row CELL…
row() {
    printf '|'
    printf ' %s |' "$@"
    printf '\n'
}

print_header() {
    set -- program 'check: found' runs events s
    for strategy in $strategies; do
        set -- "$@" "$strategy: first failing run" s
    done
    row "$@"
    count=$#
    printf '|'
    while [ "$count" -gt 0 ]; do
        printf ' --- |'
        count=$((count - 1))
    done
    printf '\n'
}

# measure PROGRAM: its row
measure() {
    program=$1
    measured "$raddle" run --quiet --no-races --strategy rr --runs 1 --out "$dir/state" "$program"
    measured "$raddle" check --format json --out "$dir/state" "$program"
    set -- "$(basename "$program")" "$(kinds)" "$(field runs)" "$(field events)" "$seconds"
    for strategy in $strategies; do
        measured "$raddle" run --quiet --no-races --strategy "$strategy" --runs "$runs" --out "$dir/state" "$program"
        first=$(sed -n 's/^  in run \([0-9]*\):.*/\1/p' "$dir/out" | head -n 1)
        set -- "$@" "${first:-–}" "$seconds"
    done
    row "$@"
}

print_header
for program; do
    measure "$program"
done
