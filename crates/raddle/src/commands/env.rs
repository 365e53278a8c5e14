//! `raddle env`: lets any build system build instrumented programs.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use crate::exit::Exit;
use crate::output::sayln;
use crate::{report, state};

/// Options of `raddle env`.
#[derive(Args)]
pub struct Env {
    /// Remove the variables again
    #[arg(long, conflicts_with = "command")]
    unset: bool,
    /// A command to run with these variables, instead of printing them for `eval "$(raddle env)"`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Env {
    /// Prints the variables, or runs a command with them.
    pub fn run(&self) -> Result<Exit> {
        let settings = state::settings(None)?;
        let variables = raddle_instrument::build_environment(&settings)?;
        let Some((program, args)) = self.command.split_first() else {
            for (name, value) in &variables {
                self.print(name, value);
            }
            return Ok(Exit::Clean);
        };
        let status = Command::new(program)
            .args(args)
            .envs(variables)
            .status()
            .with_context(|| format!("cannot run {}", program.to_string_lossy()))?;
        let code = status.code().or(status.signal().map(|it| 128 + it));
        let code = code.and_then(|code| u8::try_from(code).ok());
        Ok(Exit::Tool(code.unwrap_or(1)))
    }

    fn print(&self, name: &OsStr, value: &OsStr) {
        let name = name.to_string_lossy();
        if !self.unset {
            let value = report::shell_word(&value.to_string_lossy());
            sayln!("export {name}={value}");
        } else if name != "PATH" {
            sayln!("unset {name}");
        }
    }
}
