# shellcheck shell=bash
# event-listener (Rust), notifications for threads and tasks: its own test-suite.
fetch_crate event-listener
without_benchmarks
shorten_tests
suite
