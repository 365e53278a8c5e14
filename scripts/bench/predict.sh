#!/bin/sh
# What `raddle predict` costs on made-up STD traces, as a table in Markdown: seconds of the processor and of the clock, MB at
# the peak and what was found.
#
#   scripts/bench/predict.sh
#
#   EVENTS="100000 1000000"   lengths of the traces (10000000 needs 3 GB of memory)
#   THREADS="4 8 16"          numbers of threads
#   RACES="0 2"               shares of accesses without a lock, in percent
#   LONG=10000000             if set, a trace of this length is predicted from within bounds of time and memory, too
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

# predict NAME OPTION…: predicts from the trace that was made
predict() {
    name=$1
    shift
    /usr/bin/time -o "$dir/cost" -f '%U %S %e %M' "$target/release/raddle" predict --quiet "$@" "$dir/trace.std" \
        >"$dir/out" || [ $? -eq 2 ]
    cost=$(tail -n 1 "$dir/cost" | awk '{ printf "%.2f | %.2f | %d", $1 + $2, $3, $4 / 1024 }')
    echo "| $name | $cost | $(tail -n 1 "$dir/out" | cut -d, -f1) |"
}

# row NAME OPTION…: makes a trace and predicts from it
row() {
    name=$1
    shift
    "$target/release/examples/std_trace" "$@" >"$dir/trace.std"
    predict "$name"
}

echo '| trace | s | s of the clock | MB | found |'
echo '| --- | --- | --- | --- | --- |'
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
if [ -n "${LONG:-}" ]; then
    "$target/release/examples/std_trace" --events "$LONG" --races 2 >"$dir/trace.std"
    for seconds in 1 5 20; do
        predict "$LONG events, --time $seconds" --time "$seconds"
    done
    for size in 250M 1G; do
        predict "$LONG events, --memory $size" --memory "$size"
    done
fi
