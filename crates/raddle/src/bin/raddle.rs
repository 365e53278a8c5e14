//! The `raddle` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    raddle_cli::main(std::env::args_os().collect())
}
