//! The options of every command that runs a program: which one, and in what surroundings.

use std::ffi::OsString;
use std::fs;
use std::io::{IsTerminal, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use raddle_instrument::{BuildOptions, OptLevel};
use raddle_run::environment::{self, EnvPolicy};
use raddle_run::program::{
    DEFAULT_PREEMPTED_FOR, DEFAULT_TIMEOUT, Program, Source, Volatile, build_id,
};
use raddle_run::usual::Usual;
use raddle_trace::run::{Cwd, RunSpec, Stdin, TimeMode, digest};
use serde::Deserialize;

use crate::progress::Line;
use crate::service::ServiceArgs;
use crate::{state, untraced};

/// Extensions of files that are built before they are run.
const SOURCES: &[&str] = &["rs", "c", "cc", "cpp", "cxx", "C"];

/// Which program, in what surroundings.
#[derive(Args)]
pub struct ProgramArgs {
    /// A source file (.rs, .c, .cc, .cpp, .cxx), which is built first, or an instrumented program
    pub file: Option<PathBuf>,
    /// The instrumented program and its arguments; after a FILE, its arguments
    #[arg(last = true, value_name = "PROGRAM ARGS")]
    pub command: Vec<OsString>,
    #[command(flatten)]
    pub surroundings: Surroundings,
    #[command(flatten)]
    pub build: BuildArgs,
}

/// How a source file is built.
#[derive(Args, Default)]
pub struct BuildArgs {
    /// Optimise a source file this far before instrumenting it: 0, 1, 2, 3, or `source`, the default, which keeps
    /// every access of the source
    #[arg(short = 'O', value_name = "LEVEL", value_parser = parse_level, help_heading = "Building a FILE")]
    pub opt: Option<OptLevel>,
    /// Rust edition of a source file
    #[arg(long, help_heading = "Building a FILE")]
    pub edition: Option<String>,
    /// One more argument for the compiler of a source file
    #[arg(
        long = "build-arg",
        value_name = "ARG",
        allow_hyphen_values = true,
        help_heading = "Building a FILE"
    )]
    pub flags: Vec<OsString>,
}

/// What a program finds around it.
#[derive(Args)]
pub struct Surroundings {
    /// Set a variable for the program
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_variable, help_heading = "Surroundings")]
    pub env: Vec<(OsString, OsString)>,
    /// Keep all variables of the environment, not only the usual few
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Surroundings"
    )]
    pub keep_env: Option<bool>,
    /// The program's standard input; by default what is piped into raddle
    #[arg(long, value_name = "FILE", help_heading = "Surroundings")]
    pub stdin: Option<PathBuf>,
    /// Let the program see the real clocks and really sleep
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Surroundings"
    )]
    pub real_time: Option<bool>,
    /// Longest time, on the program's clock, that a thread which could run may be kept from it by preemption: sleeps and
    /// timeouts that are no longer may end before its next step, longer ones only when no thread can run.
    /// As 10ms, 500us or 0.1s; a bare number is milliseconds; 0 is never [default: 5ms]
    #[arg(long, value_name = "TIME", value_parser = parse_short_time, help_heading = "Surroundings")]
    pub preempted_for: Option<Duration>,
    /// What volatile accesses mean to other threads: nothing, or that loads acquire and stores release [default: plain]
    #[arg(long, value_enum, help_heading = "Surroundings")]
    pub volatile: Option<VolatileArg>,
    /// Longest time that one run may take, in seconds [default: 20]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = "Surroundings")]
    pub timeout: Option<Duration>,
    /// A shell command that judges each run afterwards: failing means that the run failed
    #[arg(long, value_name = "COMMAND", help_heading = "Surroundings")]
    pub oracle: Option<String>,
    /// The exit status of a run that goes well [default: that of the undisturbed run]
    #[arg(long, value_name = "STATUS", help_heading = "Surroundings")]
    pub expect_exit: Option<u8>,
    /// Start a process for each run, instead of forking all from one that was started
    #[arg(long, help_heading = "Surroundings")]
    pub fresh: bool,
    /// Where builds and clips are kept [default: .raddle]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub service: ServiceArgs,
}

/// Meanings of volatile accesses by their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum VolatileArg {
    /// As C, C++ and Rust have it: accesses that order nothing, and race
    #[default]
    Plain,
    /// As kernels use it: loads acquire, stores release, and neither races with the other
    Atomic,
}

impl From<VolatileArg> for Volatile {
    fn from(arg: VolatileArg) -> Volatile {
        match arg {
            VolatileArg::Plain => Volatile::Plain,
            VolatileArg::Atomic => Volatile::Atomic,
        }
    }
}

impl ProgramArgs {
    /// Builds the program if need be, and makes it ready to run. Says so while it lasts, unless `quiet`.
    pub fn program(&self, quiet: bool) -> Result<Program> {
        let mut line = Line::new(quiet);
        if let Some(file) = &self.file {
            line.show("building", || format!("building {}", file.display()));
        }
        let program = self.ready();
        drop(line);
        if let Ok(program) = &program {
            untraced::tell(program);
        }
        program
    }

    fn ready(&self) -> Result<Program> {
        let mut command = self.command.iter().cloned();
        let mut program = match &self.file {
            Some(file) if is_source(file) => {
                let args = command.collect();
                source_program(file, args, &self.build, self.surroundings.out())?
            }
            Some(file) => Program::new(file, command.collect())?,
            None => {
                let binary = command.next();
                let binary = binary.context(
                    "which program? Give a source file, or `-- ./program arguments` for one that was built with Raddle",
                )?;
                untraced::refuse_libtool_script(Path::new(&binary))?;
                Program::new(Path::new(&binary), command.collect())?
            }
        };
        self.surroundings.apply(&mut program)?;
        Ok(program)
    }
}

impl Surroundings {
    /// Where builds and clips are kept.
    pub fn out(&self) -> &Path {
        self.out.as_deref().unwrap_or(Path::new(state::DEFAULT_DIR))
    }

    /// Puts a program into these surroundings.
    pub fn apply(&self, program: &mut Program) -> Result<()> {
        program.env = environment::resolve(&EnvPolicy {
            keep: self.keep_env.unwrap_or(false),
            set: self.env.clone(),
        });
        program.cwd = Cwd::Path(std::env::current_dir().context("where are we?")?);
        program.stdin = self.standard_input()?;
        program.time = if self.real_time.unwrap_or(false) {
            TimeMode::Real
        } else {
            TimeMode::Virtual
        };
        program.preempted_for = self.preempted_for.unwrap_or(DEFAULT_PREEMPTED_FOR);
        program.volatile = self.volatile.unwrap_or_default().into();
        program.timeout = self.timeout.unwrap_or(DEFAULT_TIMEOUT);
        program.oracle = self.oracle.clone();
        if let Some(status) = self.expect_exit {
            program.usual = Usual::with_exit(status.into());
        }
        program.forks = !self.fresh;
        program.service = self.service.service();
        Ok(())
    }

    fn standard_input(&self) -> Result<Stdin> {
        if let Some(path) = &self.stdin {
            let path = fs::canonicalize(path)
                .with_context(|| format!("cannot read the input {}", path.display()))?;
            let bytes = fs::read(&path)
                .with_context(|| format!("cannot read the input {}", path.display()))?;
            let digest = digest(&bytes);
            return Ok(Stdin::File { path, digest });
        }
        // Every run gets the same input, so it has to be read to its end before the first one. A
        // terminal or a socket would keep us waiting for ever.
        let kind = fs::metadata("/dev/stdin").map(|it| it.file_type());
        if std::io::stdin().is_terminal() || !kind.is_ok_and(|it| it.is_file() || it.is_fifo()) {
            return Ok(Stdin::Empty);
        }
        let mut bytes = Vec::new();
        let read = std::io::stdin().read_to_end(&mut bytes);
        read.context("cannot read standard input")?;
        Ok(if bytes.is_empty() {
            Stdin::Empty
        } else {
            Stdin::Inline(bytes)
        })
    }
}

impl BuildArgs {
    /// The form in which a clip keeps these options.
    fn to_list(&self) -> Vec<OsString> {
        let opt = self.opt.map(|it| format!("-O{}", it.name()).into());
        let edition = self.edition.as_ref();
        let edition = edition.map(|it| format!("--edition={it}").into());
        let flags = self.flags.iter().cloned();
        opt.into_iter().chain(edition).chain(flags).collect()
    }

    /// Reads back what [`BuildArgs::to_list`] gave.
    fn from_list(list: &[OsString]) -> BuildArgs {
        let mut args = BuildArgs::default();
        for item in list {
            let text = item.to_str().unwrap_or_default();
            let level = text.strip_prefix("-O").and_then(OptLevel::parse);
            if let (Some(level), None) = (level, args.opt) {
                args.opt = Some(level);
            } else if let Some(edition) = text.strip_prefix("--edition=") {
                args.edition = Some(edition.to_owned());
            } else {
                args.flags.push(item.clone());
            }
        }
        args
    }
}

/// Whether a file is built before it is run.
pub fn is_source(file: &Path) -> bool {
    let extension = file.extension().and_then(|it| it.to_str());
    extension.is_some_and(|it| SOURCES.contains(&it))
}

/// The executable of a clip: what it names, or, if that is a source file, what is built from it. It
/// is built where the clip was made, because compilers write that place into what they build.
pub fn clip_binary(run: &RunSpec, out: &Path) -> Result<PathBuf> {
    if !is_source(&run.program) {
        return Ok(run.program.clone());
    }
    let here = std::env::current_dir().context("where are we?")?;
    let out = std::path::absolute(out)?;
    if let Cwd::Path(there) = &run.cwd {
        std::env::set_current_dir(there)
            .with_context(|| format!("the clip was made in {}", there.display()))?;
    }
    let built = build(&run.program, &BuildArgs::from_list(&run.build_args), &out);
    std::env::set_current_dir(here).context("where were we?")?;
    built
}

/// The executable that a run was recorded of, if it is still the same.
pub fn recorded_binary(run: &RunSpec, out: &Path) -> Option<PathBuf> {
    let binary = match is_source(&run.program) {
        true => {
            let options = BuildArgs::from_list(&run.build_args);
            build_dir(&run.program, &options, out).join(run.program.file_stem()?)
        }
        false => run.program.clone(),
    };
    let build = build_id(&binary).ok()?;
    (build == run.build).then_some(binary)
}

/// The arguments with which the program of a recorded run is named on the command line.
pub fn recorded_program(run: &RunSpec) -> Vec<OsString> {
    let mut words = Vec::new();
    if is_source(&run.program) {
        let BuildArgs {
            opt,
            edition,
            flags,
        } = BuildArgs::from_list(&run.build_args);
        words.extend(opt.map(|it| format!("-O{}", it.name()).into()));
        words.extend(edition.map(|it| format!("--edition={it}").into()));
        words.extend(flags.into_iter().map(|flag| {
            let mut word = OsString::from("--build-arg=");
            word.push(flag);
            word
        }));
        words.push(run.program.clone().into());
        words.extend((!run.args.is_empty()).then(|| "--".into()));
    } else {
        words.push("--".into());
        words.push(run.program.clone().into());
    }
    words.extend(run.args.iter().cloned());
    words
}

fn source_program(
    file: &Path,
    args: Vec<OsString>,
    options: &BuildArgs,
    out: &Path,
) -> Result<Program> {
    let path = fs::canonicalize(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut program = Program::new(&build(&path, options, out)?, args)?;
    program.source = Some(Source {
        path,
        build_args: options.to_list(),
    });
    Ok(program)
}

/// The directory that a source file is built into, the same one each time.
fn build_dir(source: &Path, options: &BuildArgs, out: &Path) -> PathBuf {
    let mut key = source.as_os_str().to_owned();
    for option in options.to_list() {
        key.push("\n");
        key.push(option);
    }
    let key = digest(key.as_bytes());
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    out.join("build").join(format!("{stem}-{key:016x}"))
}

/// Builds a source file into a directory of its own.
fn build(source: &Path, options: &BuildArgs, out: &Path) -> Result<PathBuf> {
    let out_dir = build_dir(source, options, out);
    fs::create_dir_all(&out_dir).with_context(|| format!("cannot make {}", out_dir.display()))?;
    let build = BuildOptions {
        out_dir: fs::canonicalize(&out_dir)?,
        edition: options.edition.clone(),
        flags: options.flags.clone(),
    };
    let settings = state::settings(options.opt)?;
    let built = raddle_instrument::build_source(source, &build, &settings);
    let built = built.with_context(|| format!("cannot build {}", source.display()))?;
    Ok(built.binary)
}

fn parse_level(text: &str) -> Result<OptLevel> {
    OptLevel::parse(text).context("a level is 0, 1, 2, 3 or source")
}

fn parse_variable(text: &str) -> Result<(OsString, OsString)> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => bail!("a variable is set as NAME=VALUE"),
    }
}

/// Reads a number of seconds.
pub fn parse_seconds(text: &str) -> Result<Duration> {
    let seconds: f64 = text.parse().context("a time is a number of seconds")?;
    ensure!(seconds > 0.0, "a run needs more time than that");
    Duration::try_from_secs_f64(seconds).context("a time is a number of seconds")
}

/// Reads a number of bytes, with a unit or without.
pub fn parse_size(text: &str) -> Result<u64> {
    const UNITS: [(&str, u32); 3] = [("K", 10), ("M", 20), ("G", 30)];
    let unit = UNITS.iter().find_map(|(unit, bits)| {
        let number = text.strip_suffix(unit);
        Some((number?.trim_end(), *bits))
    });
    let (number, bits) = unit.unwrap_or((text, 0));
    let size = number.parse::<u64>().ok().filter(|it| *it > 0);
    let size = size.and_then(|it| it.checked_mul(1 << bits));
    size.context("a size is a number of bytes, as 500M or 2G")
}

/// Reads a time with its unit, or in milliseconds.
pub fn parse_short_time(text: &str) -> Result<Duration> {
    const UNITS: [(&str, f64); 4] = [("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("s", 1.0)];
    let unit = UNITS
        .iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)));
    let (number, seconds) = unit.unwrap_or((text, 1e-3));
    let number: f64 = number
        .trim_end()
        .parse()
        .context("a time is a number with a unit, as 10ms")?;
    Duration::try_from_secs_f64(number * seconds).context("a time is a number with a unit, as 10ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_options_read_back() {
        let options = BuildArgs {
            opt: Some(OptLevel::O2),
            edition: Some("2024".into()),
            flags: vec!["-lm".into(), "-O3".into()],
        };
        let list = options.to_list();
        assert_eq!(list, ["-O2", "--edition=2024", "-lm", "-O3"]);
        assert_eq!(BuildArgs::from_list(&list).to_list(), list);
    }

    #[test]
    fn times_and_variables_are_checked() {
        assert_eq!(parse_seconds("0.5").unwrap(), Duration::from_millis(500));
        for bad in ["0", "-1", "soon", "nan", "1e300"] {
            assert!(parse_seconds(bad).is_err(), "{bad}");
        }
        for text in ["5", "5ms", "5 ms", "5000us", "0.005s"] {
            assert_eq!(parse_short_time(text).unwrap(), Duration::from_millis(5));
        }
        assert_eq!(parse_short_time("0").unwrap(), Duration::ZERO);
        for bad in ["-1", "ms", "5m", "nan", "1e300s"] {
            assert!(parse_short_time(bad).is_err(), "{bad}");
        }
        assert_eq!(parse_size("2G").unwrap(), 2 << 30);
        assert_eq!(parse_size("500 M").unwrap(), 500 << 20);
        assert_eq!(parse_size("12345").unwrap(), 12345);
        for bad in ["0", "-1G", "G", "1T", "99999999999G", "much"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
        assert!(parse_variable("=x").is_err());
        assert_eq!(parse_variable("A=b=c").unwrap().1, "b=c");
    }
}
