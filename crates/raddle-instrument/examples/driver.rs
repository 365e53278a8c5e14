//! The smallest front end: `driver cc|c++|link|build …`, with the runtime named by
//! `RADDLE_RUNTIME`. The tests of this crate build programs with it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use raddle_instrument::{
    BuildOptions, Error, Settings, build_source, cargo_build, cc_main, cxx_main, link_main,
};

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code as u8),
        Err(error) => {
            eprintln!("driver: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<i32, Error> {
    let mut args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let command = if args.is_empty() {
        OsString::new()
    } else {
        args.remove(0)
    };
    let runtime = std::env::var_os("RADDLE_RUNTIME").unwrap_or_default();
    let driver = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("driver"));
    let settings = Settings::from_env(runtime, driver)?;
    match command.to_str() {
        Some("cc") => cc_main(&args, &settings),
        Some("c++") => cxx_main(&args, &settings),
        Some("link") => link_main(&args, &settings),
        Some("cargo") => {
            for executable in cargo_build(&args, &settings)? {
                println!("{}", executable.built.binary.display());
            }
            Ok(0)
        }
        Some("build") if args.len() == 2 => {
            let options = BuildOptions {
                out_dir: PathBuf::from(&args[1]),
                ..BuildOptions::default()
            };
            let built = build_source(args[0].as_ref(), &options, &settings)?;
            println!("{}", built.binary.display());
            Ok(0)
        }
        _ => {
            eprintln!("usage: driver cc|c++|link|cargo ARGS… | driver build SOURCE DIRECTORY");
            Ok(1)
        }
    }
}
