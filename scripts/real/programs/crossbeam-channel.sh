# shellcheck shell=bash
# crossbeam-channel (Rust): an example, and its own test-suite.
fetch_crate crossbeam-channel
build cargo raddle build --example fibonacci
both fibonacci -- "$(find "$PWD/source/target/raddle" -path '*/examples/fibonacci' -type f)"

# Its stress tests about as short as its authors make them under Miri; those of fairness, which count, are longer.
sed -i -E \
    -e '/fn fairness/,/^}/ s/COUNT: usize = 10_?000;/COUNT: usize = 1000;/' \
    -e 's/(COUNT|NITER|N): usize = (100_?000|32_?768|271_?828);/\1: usize = 500;/' \
    -e 's/(COUNT|STEPS|TRIALS|N): usize = (25|10)_?000;/\1: usize = 100;/' \
    -e 's/RUNS: usize = 1_?000;/RUNS: usize = 20;/' source/tests/*.rs
suite
