#!/bin/sh
# What `raddle predict` costs on made-up STD traces, as a table in Markdown: seconds of the processor, MB at the peak and
# what was found.
#
#   scripts/bench/predict.sh
#
#   EVENTS="100000 1000000"   lengths of the traces (10000000 needs 3 GB of memory)
#   THREADS="4 8 16"          numbers of threads
#   RACES="0 2"               shares of accesses without a lock, in percent
#
# Last come two traces of their own: 450,000 events, as many as PECAN's longest trace has, and 20,000 threads of four
# events. Traces are the same each time (crates/raddle-predict/examples/std_trace.rs).
set -eu
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-target}
cargo build --release --quiet -p raddle
cargo build --release --quiet -p raddle-predict --example std_trace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# row NAME OPTION…: makes a trace and predicts from it
row() {
    name=$1
    shift
    "$target/release/examples/std_trace" "$@" >"$dir/trace.std"
    /usr/bin/time -o "$dir/cost" -f '%U %S %M' "$target/release/raddle" predict --quiet "$dir/trace.std" >"$dir/out" ||
        [ $? -eq 2 ]
    cost=$(tail -n 1 "$dir/cost" | awk '{ printf "%.2f | %d", $1 + $2, $3 / 1024 }')
    echo "| $name | $cost | $(tail -n 1 "$dir/out" | cut -d, -f1) |"
}

echo '| trace | s | MB | found |'
echo '| --- | --- | --- | --- |'
for events in ${EVENTS:-100000 1000000}; do
    for threads in ${THREADS:-4 8 16}; do
        for races in ${RACES:-0 2}; do
            name="$events events, $threads threads, $races % bare"
            row "$name" --events "$events" --threads "$threads" --races "$races"
        done
    done
done
row '450000 events, 8 threads, 2 % bare' --events 450000 --races 2
row '20000 threads of 4 events' --threads 20000 --many
