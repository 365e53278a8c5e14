# shellcheck shell=bash
# arc-swap (Rust), pointers that are read without a lock while others replace them: its own test-suite.
fetch_crate arc-swap
without_benchmarks
shorten_tests
suite
