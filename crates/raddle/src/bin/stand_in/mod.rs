//! What the compilers with names of one word have in common: each becomes `raddle` with a subcommand.
//!
//! Configure scripts look CC up as one word, and take another compiler if `raddle cc` is none. These executables are
//! a few lines, and `raddle` itself lies beside them.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Becomes `raddle` with this subcommand before its own arguments; returns only if that fails.
pub fn become_raddle(subcommand: &str) -> ExitCode {
    let own = std::env::current_exe();
    let raddle = match &own {
        Ok(own) => own.with_file_name("raddle"),
        Err(_) => "raddle".into(),
    };
    let mut command = Command::new(&raddle);
    let error = command
        .arg(subcommand)
        .args(std::env::args_os().skip(1))
        .exec();
    eprintln!(
        "raddle: cannot run {}, which this compiler stands for: {error}",
        raddle.display()
    );
    ExitCode::FAILURE
}
