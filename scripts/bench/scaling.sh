#!/bin/sh
# What `raddle check` costs as a run gets longer, as a table in Markdown: events of the undisturbed run, seconds of the
# processor and on the clock, MB at the peak of Raddle's own process, and whether the seeded bug is found.
#
#   scripts/bench/scaling.sh
#
#   ROUNDS="400 4000 40000"   rounds of each of four threads
#   MIXES="0:2 8:2 80:2"      steps of a round on memory of the thread's own, and on shared memory
#   OPTIONS="--memory 1G"     for check
#
# The program is scripts/bench/scaling.c, with sixteen locks.
set -eu
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-target}
cargo build --release --quiet -p raddle
raddle=$(realpath "$target/release/raddle")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$raddle" cc -O1 -g -pthread -o "$dir/scaling" scripts/bench/scaling.c

echo '| rounds | own:shared | events | CPU s | s | MB | found |'
echo '| --- | --- | --- | --- | --- | --- | --- |'
for rounds in ${ROUNDS:-400 4000 40000}; do
    for mix in ${MIXES:-0:2 8:2 80:2}; do
        set -- "$dir/scaling" 4 16 "$rounds" "${mix%:*}" "${mix#*:}"
        "$raddle" run --quiet --runs 1 --no-races --trace "$dir/first.trace" -- "$@" >"$dir/out"
        events=$("$raddle" trace stats "$dir/first.trace" | awk '$1 == "events" { print $2; exit }')
        # shellcheck disable=SC2086
        /usr/bin/time -o "$dir/cost" -f '%U %S %e %M' "$raddle" check --quiet ${OPTIONS:-} --out "$dir/state" -- "$@" \
            >"$dir/out" || [ $? -eq 2 ]
        cost=$(tail -n 1 "$dir/cost" | awk '{ printf "%.1f | %.1f | %d", $1 + $2, $3, $4 / 1024 }')
        found=no
        grep -q '^bug.*scaling.c:23 in another thread writes' "$dir/out" && found=yes
        echo "| $rounds | $mix | $events | $cost | $found |"
    done
done
