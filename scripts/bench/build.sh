#!/bin/sh
# What building a large C unit costs with Raddle: sqlite, of which all is one file of 9 MB, bundled with a crate that is
# fetched by name. It is compiled and linked with a main function that starts threads, with clang and with Raddle, whose
# cache is empty each time.
#
#   scripts/bench/build.sh [DIR]      (DIR keeps the source; default: target/build-bench)
#
# Times are user time plus system time of all processes, so that other work on the machine matters little; native and
# instrumented builds alternate. ROUNDS says how often (default 3). OPTIONS are the compiler's (default -g -O1).
set -eu
cd "$(dirname "$0")/../.."
dir=${1:-target/build-bench}
rounds=${ROUNDS:-3}
options=${OPTIONS:--g -O1}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
cargo build --release --quiet -p raddle
bin=$(cd "${CARGO_TARGET_DIR:-target}/release" && pwd)
unset CARGO_TARGET_DIR
export RADDLE_CACHE_DIR="$dir/cache"

if [ ! -f "$dir/sqlite3.c" ]; then
    mkdir -p "$dir/fetch"
    (cd "$dir/fetch" && cargo init -q --vcs none --name fetch . && printf '\n[workspace]\n' >>Cargo.toml &&
        cargo add -q libsqlite3-sys && cargo vendor -q) >"$dir/build.log" 2>&1 ||
        { tail -n 5 "$dir/build.log" >&2; exit 1; }
    cp "$dir"/fetch/vendor/libsqlite3-sys/sqlite3/sqlite3.[ch] "$dir"
    rm -rf "$dir/fetch"
fi
cat >"$dir/main.c" <<'END'
#include <pthread.h>
#include "sqlite3.h"
static void *fill(void *database) {
    sqlite3_exec(database, "create table if not exists t(a); insert into t values(1);", 0, 0, 0);
    return 0;
}
int main(void) {
    sqlite3 *database;
    pthread_t threads[2];
    if (sqlite3_open(":memory:", &database)) return 1;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, fill, database);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return sqlite3_close(database);
}
END
cd "$dir"

# time_of COMMAND…: its processor time in seconds
time_of() {
    { /usr/bin/time -f '%U %S' "$@" >"$dir/build.log" 2>&1; } || { cat "$dir/build.log" >&2; exit 1; }
    tail -n 1 "$dir/build.log" | awk '{ printf "%.2f\n", $1 + $2 }'
}

# build NAME COMPILER…: compiles both files and links them; "compile link"
build() {
    name=$1
    shift
    # shellcheck disable=SC2086
    compile=$(time_of "$@" $options -c sqlite3.c -o "$name.o")
    # shellcheck disable=SC2086
    link=$(time_of "$@" $options main.c "$name.o" -o "$name" -lm -ldl -lpthread)
    echo "$compile $link"
}

rm -f times
for _ in $(seq "$rounds"); do
    rm -rf cache
    echo "$(build native clang) $(build raddle "$bin/raddle" cc)" >>times
done
rm -rf cache
awk -v options="$options" '
    { native += $1 + $2; compile += $3; link += $4 }
    END {
        printf "sqlite, %s: native %.1f s, raddle %.1f s of processor time (compiling %.1f s, linking %.1f s): %.2f times\n",
            options, native / NR, (compile + link) / NR, compile / NR, link / NR, (compile + link) / native
    }' times
