# shellcheck shell=bash
# crossbeam-channel (Rust): an example, and its own test-suite under many schedules.
fetch_crate crossbeam-channel
build cargo raddle build --example fibonacci
both fibonacci -- "$(find "$PWD/source/target/raddle" -path '*/examples/fibonacci' -type f)"

# Its stress tests as short as under Miri.
sed -i 's/cfg!(miri)/true/' source/tests/*.rs
suite
