//! The `cargo raddle` command. Cargo calls it with `raddle` as its first argument; without that it
//! is the `raddle` command, so that the compilers it starts can call it back.

use std::process::ExitCode;

fn main() -> ExitCode {
    raddle_cli::cargo_main(std::env::args_os().collect())
}
