# shellcheck shell=bash
# flurry (Rust), a hash table that is read without locks: its stress test, after libcuckoo's. Twelve threads for five
# seconds of the virtual clock.
fetch_crate flurry
without_benchmarks
build cargo raddle build --test cuckoo
long cuckoo -- "$(find "$PWD/source/target/raddle" -path '*/debug/deps/cuckoo-*' -type f -perm -u+x)"
