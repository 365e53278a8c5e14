//! A program to run: its file, arguments, surroundings and identity.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use raddle_model::{Model, Outline};
use raddle_trace::ids::BuildId;
use raddle_trace::packages::Packages;
use raddle_trace::run::{Cwd, RunSpec, Stdin, TimeMode, digest};
use raddle_trace::sharing::Private;
use raddle_trace::wire::Image;
use xxhash_rust::xxh3::Xxh3;

use crate::environment::{self, EnvPolicy};
use crate::error::Error;
use crate::launch::Plan;
use crate::models;
use crate::runtime;
use crate::server::Servers;
use crate::service::Service;
use crate::symbols::Symbols;
use crate::usual::Usual;

/// How long one run may take if nobody says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a thread may be preempted if nobody says otherwise. On a busy machine Linux lets a thread that is ready wait
/// for one or two slices of others, of some 3 ms each: sleeps of a millisecond order nothing there. Sleeps that are
/// meant to be long enough for anything begin at ten times as much.
pub const DEFAULT_PREEMPTED_FOR: Duration = Duration::from_millis(5);

/// The build that a file is: a hash of its contents.
///
/// # Errors
/// If it cannot be read.
pub fn build_id(binary: &Path) -> Result<BuildId, Error> {
    let hash = || -> io::Result<BuildId> {
        let mut file = File::open(binary)?;
        let mut hasher = Xxh3::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(BuildId(format!("{:032x}", hasher.digest128()))),
                len => hasher.update(&buffer[..len]),
            }
        }
    };
    hash().map_err(Error::file("read", binary))
}

/// The source file that a program was built from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// Options given to the compiler.
    pub build_args: Vec<OsString>,
}

/// A program with everything that stays the same from run to run.
#[derive(Clone)]
pub struct Program {
    /// The executable, as an absolute path.
    pub binary: PathBuf,
    /// What it was built from, if it was built for this occasion.
    pub source: Option<Source>,
    /// Its identity.
    pub build: BuildId,
    /// Its arguments, without the name.
    pub args: Vec<OsString>,
    /// Where it runs.
    pub cwd: Cwd,
    /// Its standard input.
    pub stdin: Stdin,
    /// Its variables.
    pub env: Vec<(OsString, OsString)>,
    /// Whose clocks it sees.
    pub time: TimeMode,
    /// How long a thread that could run may be kept from it while another one sleeps or waits with a timeout.
    pub preempted_for: Duration,
    /// How long one run may take.
    pub timeout: Duration,
    /// When no run may go on any longer, whatever it is made for.
    pub until: Option<Instant>,
    /// What its volatile accesses mean to other threads.
    pub volatile: Volatile,
    /// A shell command that judges each run that went well by itself.
    pub oracle: Option<String>,
    /// How it ends when nothing is wrong.
    pub usual: Usual,
    /// Whether it is a test: what its runner prints tells of its failure, and is no part of what it does.
    pub is_test: bool,
    /// Threads that a run has if the user's code starts none: its own, and perhaps that of a test's runner.
    pub base_threads: usize,
    /// Commands around each run.
    pub service: Option<Service>,
    /// The runtime library.
    pub runtime: PathBuf,
    /// Whether runs may be forked from one start of the program. The program cannot tell; it only takes
    /// longer without.
    pub forks: bool,
    servers: Arc<Servers>,
    /// Most events of a run that are taken into memory at a time.
    pub most_events: u64,
    /// Instructions whose events concern no other thread, as far as is known: of runs that have more than
    /// [`Self::most_events`] they are passed over.
    pub private: Arc<Private>,
    /// A call whose outcome is the outside's and that some run made, but that is not recorded.
    uncovered: Arc<OnceLock<String>>,
    model: Arc<OnceLock<Option<Model>>>,
    outline: Arc<OnceLock<Option<Outline>>>,
    packages: Arc<OnceLock<Packages>>,
    /// Kept from run to run, because reading them takes longer than a short run.
    symbols: Arc<Mutex<Option<Symbols>>>,
}

/// What volatile accesses mean to other threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Volatile {
    /// Nothing: that is what C, C++ and Rust say.
    #[default]
    Plain,
    /// A load acquires and a store releases.
    Atomic,
}

impl Program {
    /// A program with default surroundings. A name without a slash is looked for in `PATH`.
    ///
    /// # Errors
    /// If there is no such program, or the runtime library cannot be unpacked.
    pub fn new(binary: &Path, args: Vec<OsString>) -> Result<Program, Error> {
        let binary = locate(binary)?;
        let cache = runtime::cache_dir();
        let unpacked = runtime::unpack(&cache);
        Ok(Program {
            build: build_id(&binary)?,
            binary,
            source: None,
            args,
            cwd: Cwd::Inherit,
            stdin: Stdin::Empty,
            env: environment::resolve(&EnvPolicy::default()),
            time: TimeMode::Virtual,
            preempted_for: DEFAULT_PREEMPTED_FOR,
            timeout: DEFAULT_TIMEOUT,
            until: None,
            volatile: Volatile::Plain,
            oracle: None,
            usual: Usual::default(),
            is_test: false,
            base_threads: 1,
            service: None,
            runtime: unpacked.map_err(Error::file("unpack the runtime library to", cache))?,
            forks: true,
            servers: Arc::default(),
            most_events: u64::MAX,
            private: Arc::default(),
            uncovered: Arc::default(),
            model: Arc::default(),
            outline: Arc::default(),
            packages: Arc::default(),
            symbols: Arc::default(),
        })
    }

    /// The same, with all the time that its runs take.
    #[must_use]
    pub fn unhurried(&self) -> Program {
        Program {
            until: None,
            ..self.clone()
        }
    }

    /// Whether no run may go on any longer.
    #[must_use]
    pub fn is_out_of_time(&self) -> bool {
        self.until.is_some_and(|it| Instant::now() > it)
    }

    /// The program of a clip, whose executable is (or was built to) `binary`.
    ///
    /// # Errors
    /// If the executable is missing or another build, or the input file has changed.
    pub fn of_clip(spec: &RunSpec, binary: &Path) -> Result<Program, Error> {
        let mut program = Program::new(binary, spec.args.clone())?;
        if program.build != spec.build {
            return Err(Error::OtherBuild {
                binary: program.binary,
                clip: spec.build.clone(),
                found: program.build,
            });
        }
        if let Stdin::File { path, digest: then } = &spec.stdin {
            let now = fs::read(path).map_err(Error::file("read", path))?;
            if digest(&now) != *then {
                return Err(Error::OtherInput { path: path.clone() });
            }
        }
        program.cwd = spec.cwd.clone();
        program.stdin = spec.stdin.clone();
        program.env = spec.env.clone();
        program.time = spec.time;
        Ok(program)
    }

    /// The program's name for messages and file names.
    pub fn name(&self) -> String {
        let path = self.source.as_ref().map_or(&self.binary, |it| &it.path);
        let name = path.file_stem().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// The executable's program model, if there is a readable one.
    pub fn model(&self) -> Option<&Model> {
        let read = || models::of_binary(&self.binary);
        self.model.get_or_init(read).as_ref()
    }

    /// What the executable's program model says of sites.
    pub fn outline(&self) -> Option<&Outline> {
        let read = || models::outline_of(&self.binary);
        self.outline.get_or_init(read).as_ref()
    }

    /// The packages that the executable was built from, where Cargo built it.
    pub fn packages(&self) -> &Packages {
        self.packages
            .get_or_init(|| models::packages_of(&self.binary))
    }

    /// Has the outline read while a run goes on that will ask for it at its end: that of Rust's standard library
    /// takes as long as many a run.
    pub(crate) fn read_outline_ahead(&self) {
        if self.outline.get().is_some() {
            return;
        }
        let (outline, binary) = (Arc::clone(&self.outline), self.binary.clone());
        let read = move || {
            outline.get_or_init(|| models::outline_of(&binary));
        };
        // Without a thread it is read when it is asked for.
        let _ = thread::Builder::new().spawn(read);
    }

    /// A call that a run has made and that replays cannot answer, if there was one.
    pub fn uncovered(&self) -> Option<&str> {
        self.uncovered.get().map(String::as_str)
    }

    /// Takes note of such a call.
    pub(crate) fn note_uncovered(&self, call: &str) {
        self.uncovered.get_or_init(|| call.to_owned());
    }

    /// The servers that make its runs.
    pub(crate) fn servers(&self) -> &Servers {
        &self.servers
    }

    /// Asks the executable's symbols, for a run that loaded these images.
    pub(crate) fn with_symbols<T>(&self, images: &[Image], ask: impl FnOnce(&Symbols) -> T) -> T {
        let cache = self.symbols.lock();
        let mut cache = cache.unwrap_or_else(PoisonError::into_inner);
        if cache.as_ref().is_some_and(|it| it.images() != images) {
            *cache = None;
        }
        ask(cache.get_or_insert_with(|| Symbols::load(&self.binary, images)))
    }

    /// All that decides how a run goes, apart from its switches.
    pub fn spec(&self, plan: &Plan) -> RunSpec {
        let source = self.source.clone();
        RunSpec {
            program: source.as_ref().map_or(&self.binary, |it| &it.path).clone(),
            build_args: source.map(|it| it.build_args).unwrap_or_default(),
            build: self.build.clone(),
            args: self.args.clone(),
            env: self.env.clone(),
            stdin: self.stdin.clone(),
            cwd: self.cwd.clone(),
            seed: plan.seed,
            clock: plan.clock,
            time: self.time,
            strategy: plan.label.clone(),
        }
    }
}

fn locate(binary: &Path) -> Result<PathBuf, Error> {
    let is_name = binary.components().count() == 1 && !binary.as_os_str().is_empty();
    if is_name && !binary.exists() {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path)
            .map(|dir| dir.join(binary))
            .find(|candidate| candidate.is_file());
        if let Some(found) = found {
            return Ok(found);
        }
    }
    fs::canonicalize(binary).map_err(|source| Error::Start {
        binary: binary.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_follows_the_content() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("program");
        fs::write(&file, "one").unwrap();
        let one = build_id(&file).unwrap();
        assert_eq!(build_id(&file).unwrap(), one);
        fs::write(&file, "two").unwrap();
        assert_ne!(build_id(&file).unwrap(), one);
    }

    #[test]
    fn names_are_found_in_the_path_and_missing_ones_are_named() {
        assert!(locate(Path::new("sh")).unwrap().is_absolute());
        let error = locate(Path::new("./no-such-program")).unwrap_err();
        assert!(error.to_string().contains("no-such-program"), "{error}");
    }
}
