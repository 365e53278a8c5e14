# shellcheck shell=bash
# concurrent-queue (Rust), bounded and unbounded queues without locks: its own test-suite.
fetch_crate concurrent-queue
without_benchmarks
shorten_tests
suite
