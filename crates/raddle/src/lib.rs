//! The command line: `raddle` and `cargo raddle`.
//!
//! Each command is one file under [`commands`]; what several of them share is beside it. Commands
//! print what they found on standard output and how they are getting on, on standard error.

#![forbid(unsafe_code)]

mod commands;
mod config;
mod exit;
mod interrupt;
mod launch;
mod memory;
mod output;
mod progress;
mod report;
mod service;
mod state;
mod untraced;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use commands::tools::Tool;
use exit::Exit;

/// Finds the concurrency bugs of Rust, C and C++ programs, and replays them.
#[derive(Parser)]
#[command(name = "raddle", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Record a run, predict every bug that it implies, and show each on the program
    Check(Box<commands::check::Check>),
    /// Predict bugs from a trace alone, recorded or in RAPID's STD text
    Predict(commands::predict::Predict),
    /// Run a program under the scheduler, many times, until it fails
    Run(Box<commands::run::Run>),
    /// Run a clip again, exactly
    Replay(commands::replay::Replay),
    /// Look into a recorded run
    Trace(commands::trace::Trace),
    /// A C compiler whose programs are instrumented: use it as CC
    #[command(disable_help_flag = true)]
    Cc(commands::tools::Arguments),
    /// A C++ compiler whose programs are instrumented: use it as CXX
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(commands::tools::Arguments),
    /// A linker driver that instruments what it links
    #[command(disable_help_flag = true)]
    Link(commands::tools::Arguments),
    /// Print the variables with which any build system builds instrumented programs: eval "$(raddle env)"
    Env(commands::env::Env),
    /// Say which compilers and libraries are used, and what is missing
    Doctor(commands::doctor::Doctor),
    /// Remove what Raddle keeps: builds, clips, the cache
    Clean(commands::clean::Clean),
}

/// Finds concurrency bugs of a Cargo package's programs.
#[derive(Parser)]
#[command(
    name = "cargo raddle",
    bin_name = "cargo raddle",
    version,
    arg_required_else_help = true
)]
struct CargoCli {
    #[command(subcommand)]
    command: commands::cargo::CargoCommand,
}

/// Runs `raddle` with these arguments, the first of which is its own name.
pub fn main(args: Vec<OsString>) -> ExitCode {
    finish(run(args))
}

/// Runs `cargo raddle` with these arguments, as Cargo calls it.
pub fn cargo_main(mut args: Vec<OsString>) -> ExitCode {
    if args.get(1).is_none_or(|it| it != "raddle") {
        return main(args);
    }
    args.remove(1);
    finish(match CargoCli::try_parse_from(args) {
        Ok(cli) => {
            let _guard = interrupt::guard();
            cli.command.run()
        }
        Err(error) => Ok(show_usage(&error)),
    })
}

fn run(args: Vec<OsString>) -> anyhow::Result<Exit> {
    // Compilers take any argument whatever, `--help` and `--` included, so theirs are not parsed.
    if let Some(tool) = args.first().and_then(|it| Tool::called(it)) {
        return tool.run(&args[1..]);
    }
    if let Some(tool) = args.get(1).and_then(|it| Tool::named(it)) {
        return tool.run(&args[2..]);
    }
    state::warn_about_unknown_variables();
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return Ok(show_usage(&error)),
    };
    let is_guarded = matches!(
        cli.command,
        Command::Check(_) | Command::Predict(_) | Command::Run(_)
    );
    let _guard = is_guarded.then(interrupt::guard);
    match cli.command {
        Command::Check(command) => command.run(),
        Command::Predict(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::Replay(command) => command.run(),
        Command::Trace(command) => command.run(),
        Command::Cc(it) => Tool::Cc.run(&it.args),
        Command::Cxx(it) => Tool::Cxx.run(&it.args),
        Command::Link(it) => Tool::Link.run(&it.args),
        Command::Env(command) => command.run(),
        Command::Doctor(command) => command.run(),
        Command::Clean(command) => command.run(),
    }
}

fn show_usage(error: &clap::Error) -> Exit {
    // There is nowhere left to complain if even this cannot be printed.
    let _ = error.print();
    if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Clean
    }
}

fn finish(result: anyhow::Result<Exit>) -> ExitCode {
    let exit = result.unwrap_or_else(|error| {
        eprintln!("raddle: {}", in_one_line(&error));
        exit::of_error(&error)
    });
    exit.into()
}

/// An error with its causes, each said once: some errors name their cause themselves.
fn in_one_line(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |text, cause| {
        let cause = cause.to_string();
        match text.as_str() {
            "" => cause,
            said if said.contains(&cause) => text,
            said => format!("{said}: {cause}"),
        }
    })
}
