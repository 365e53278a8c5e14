#!/bin/sh
# How long a rebuild after a one-line change takes, with Raddle and without, on a C and on a Rust program of middle
# size: memcached from Debian's sources and ripgrep from crates.io, fetched by name.
#
#   scripts/bench/rebuild.sh [DIR]      (DIR keeps the sources and builds; default: target/rebuild)
#
# Times are user time plus system time of all processes, so that other work on the machine matters little; wall-clock
# times stand beside them. The target is at most 2 s more than the compiler's own time.
set -eu
cd "$(dirname "$0")/../.."
dir=${1:-target/rebuild}
rounds=${ROUNDS:-3}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
target=${CARGO_TARGET_DIR:-target}
cargo build --release --quiet -p raddle
bin=$(cd "$target/release" && pwd)
export PATH="$bin:$PATH"
unset CARGO_TARGET_DIR

# time_of COMMAND…: "cpu wall" in seconds
time_of() {
    { /usr/bin/time -f '%U %S %e' "$@" >"$dir/build.log" 2>&1; } || { cat "$dir/build.log" >&2; exit 1; }
    tail -n 1 "$dir/build.log" | awk '{ printf "%.2f %.2f\n", $1 + $2, $3 }'
}

# The change has to be a new one each time, or a cache would know the result.
change_c() { printf '\nint raddle_bench_%s;\n' "$(date +%s%N)" >>"$1"; }
change_rust() { printf '\n#[used] static RADDLE_BENCH_%s: u8 = 0;\n' "$(date +%s%N)" >>"$1"; }

# report NAME native.txt raddle.txt
report() {
    paste "$2" "$3" | awk -v name="$1" '
        { cpu[NR] = $3 - $1; wall[NR] = $4 - $2; native += $1; ours += $3 }
        END {
            asort_n(cpu, NR); asort_n(wall, NR); middle = int((NR + 1) / 2)
            printf "%-9s native %.2f s, raddle %.2f s of processor time; more, in the median: %.2f s (wall clock %.2f s)\n",
                name, native / NR, ours / NR, cpu[middle], wall[middle]
        }
        function asort_n(list, count,   i, j, x) {
            for (i = 2; i <= count; i++) {
                x = list[i]
                for (j = i - 1; j > 0 && list[j] > x; j--) list[j + 1] = list[j]
                list[j + 1] = x
            }
        }'
}

for copy in native raddle; do
    [ -d "$dir/memcached-$copy" ] && continue
    [ "$copy" = native ] && compiler=clang || compiler="raddle cc"
    (cd "$dir" && apt-get source --download-only memcached && dpkg-source -x memcached_*.dsc "memcached-$copy" &&
        cd "memcached-$copy" && ./configure CC="$compiler" CFLAGS="-g -O2 -Wno-error") >"$dir/build.log" 2>&1 ||
        { tail -n 5 "$dir/build.log" >&2; echo "needs libevent-dev and Debian's sources" >&2; exit 1; }
done
build_memcached() { time_of make -C "$dir/memcached-$1" memcached; }
build_memcached native >/dev/null
build_memcached raddle >/dev/null
rm -f "$dir/native.txt" "$dir/raddle.txt"
for _ in $(seq "$rounds"); do
    for copy in native raddle; do
        change_c "$dir/memcached-$copy/memcached.c"
        build_memcached $copy >>"$dir/$copy.txt"
    done
done
report memcached "$dir/native.txt" "$dir/raddle.txt"

if [ ! -d "$dir/ripgrep" ]; then
    (cd "$dir" && curl -sSL https://static.crates.io/crates/ripgrep/ripgrep-14.1.1.crate | tar xz && mv ripgrep-14.1.1 ripgrep)
fi
cd "$dir/ripgrep"
main=crates/core/main.rs
# As `cargo raddle` builds it: with debug information, a little optimised.
native() { time_of env CARGO_PROFILE_DEV_OPT_LEVEL=1 cargo build; }
native >/dev/null
time_of cargo raddle build >/dev/null
rm -f "$dir/native.txt" "$dir/raddle.txt"
for _ in $(seq "$rounds"); do
    change_rust $main
    native >>"$dir/native.txt"
    time_of cargo raddle build >>"$dir/raddle.txt"
done
report ripgrep "$dir/native.txt" "$dir/raddle.txt"
