#!/usr/bin/env bash
# Checks long runs of programs that were not written for Raddle, one file each in scripts/real/long: tests of 10^7 events and
# more. A check has to come to its end in time, and what it takes has to stay within MEMORY (default 2G) and 10 %, Raddle and
# the program together. Sources are fetched and built as scripts/real/check.sh does it.
#
#   scripts/real/long.sh                all of them; the directory is removed at the end
#   scripts/real/long.sh skiplist       this one
#   TIME=60 scripts/real/long.sh        each check has so many seconds (default 300)
#   KEEP=1, BIN=DIR                     as for check.sh

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/real/library.sh
. "$here/library.sh"

memory=${MEMORY:-2G}
seconds=${TIME:-300}

# The most memory in kB of a process and of the processes below it, four times a second, until it ends: of the first, of the others,
# and of all at the same time.
watch_memory() {
    local first=0 others=0 all=0 own below pid rss parent
    while [ -e "/proc/$1" ]; do
        own=0 below=0
        declare -A inside=(["$1"]=1)
        while read -r pid parent rss; do
            if [ "$pid" = "$1" ]; then
                own=$rss
            elif [ -n "${inside[$parent]:-}" ]; then
                inside[$pid]=1
                below=$((below + rss))
            fi
        done < <(ps -e -o pid=,ppid=,rss= --sort=start_time)
        unset inside
        first=$((own > first ? own : first))
        others=$((below > others ? below : others))
        all=$((own + below > all ? own + below : all))
        sleep 0.25
    done
    echo "$first $others $all"
}

# long NAME OPTION … -- COMMAND …
long() {
    local name=$1 status=0 start=$SECONDS most first others all
    shift
    raddle check --format json --memory "$memory" --time "$seconds" --timeout 120 --out "out/$name" "$@" \
        >"$name.json" 2>"$name.log" </dev/null &
    local process=$!
    read -r first others all < <(watch_memory "$process")
    wait "$process" || status=$?
    local took=$((SECONDS - start))
    if [ "$status" -ne 0 ] && [ "$status" -ne 2 ]; then
        echo "$program, $name: check failed with status $status after $took s"
        tail -n 5 "$name.log" | sed 's/^/  /'
        wrong=1
        return
    fi
    cp "$name.json" "check-$name.json"
    summarise "$name" "$took"
    jq -r '.notes[] | "  note: \(.)"' "$name.json"
    echo "  at most $((first >> 10)) MB, the program $((others >> 10)) MB, together $((all >> 10)) MB"
    # A tenth more is no failure; a busy machine is a second late.
    if [ "$took" -gt $((seconds + seconds / 10 + 1)) ]; then
        echo "  it took longer than $seconds s"
        wrong=1
    fi
    most=$(($(numfmt --from=iec "$memory") / 1024 * 11 / 10))
    if [ "$all" -gt "$most" ]; then
        echo "  it took more than $memory"
        wrong=1
    fi
}

check_programs "$here/long" "$@"
