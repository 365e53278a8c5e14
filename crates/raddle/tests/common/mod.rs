//! What the end-to-end tests share: calling the tool, reading what it printed, going through the test programs.
//!
//! Everything the tool keeps goes below Cargo's directory for tests, so that a test run neither uses nor touches the
//! user's own cache.
#![allow(dead_code, reason = "no test uses all of it")]

pub mod head;
pub mod rederive;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Exit codes of every command.
pub mod exit {
    pub const CLEAN: i32 = 0;
    pub const USAGE: i32 = 1;
    pub const FOUND: i32 = 2;
    pub const DIFFERS: i32 = 3;
    pub const NOT_INSTRUMENTED: i32 = 4;
}

/// Programs that run at the same time.
const WORKERS: usize = 2;

/// The workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the crate lies two levels below the workspace")
        .to_owned()
}

/// A test program, such as `fail/race.c`.
pub fn program(path: &str) -> PathBuf {
    root().join("tests/programs").join(path)
}

/// The programs of a directory of test programs, by name.
pub fn programs(dir: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(program(dir)).unwrap_or_else(|error| panic!("{dir}: {error}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    // Expected reports lie beside the programs.
    let is_source = |it: &OsStr| it == "c" || it == "cpp" || it == "rs";
    paths.retain(|path| path.is_file() && path.extension().is_some_and(is_source));
    paths.sort();
    assert!(!paths.is_empty(), "{dir} has no programs");
    paths
}

/// An empty directory for one test.
pub fn fresh_dir(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if dir.exists() {
        fs::remove_dir_all(&dir).unwrap();
    }
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// How many seeds each strategy gets: `RADDLE_TEST_SEEDS`, or `default`.
pub fn seeds(default: u64) -> u64 {
    std::env::var("RADDLE_TEST_SEEDS").map_or(default, |text| {
        text.parse().expect("RADDLE_TEST_SEEDS is a number")
    })
}

/// A call of the tool that has not started yet.
pub fn raddle<I: AsRef<OsStr>>(args: impl IntoIterator<Item = I>) -> Command {
    command(env!("CARGO_BIN_EXE_raddle"), args)
}

/// A call of the tool from a shell that has executed `script` before.
pub fn raddle_after<I: AsRef<OsStr>>(script: &str, args: impl IntoIterator<Item = I>) -> Command {
    let script = format!("{script}; exec \"$0\" \"$@\"");
    let mut command = command("sh", ["-c", &script, env!("CARGO_BIN_EXE_raddle")]);
    command.args(args);
    command
}

/// A call of `cargo raddle`.
pub fn cargo_raddle<I: AsRef<OsStr>>(args: impl IntoIterator<Item = I>) -> Command {
    let mut command = command(env!("CARGO_BIN_EXE_cargo-raddle"), ["raddle"]);
    command.args(args);
    command
}

/// Runs of each strategy that come last in a check, where a test does not say it: fewer than usual, for time's sake.
const SEARCH: &str = "20";

fn command<I: AsRef<OsStr>>(binary: &str, args: impl IntoIterator<Item = I>) -> Command {
    let mut command = Command::new(binary);
    command
        .args(args)
        .env_remove("RADDLE_TEST_SEEDS")
        .env("RADDLE_CHECK_SEARCH", SEARCH)
        .env(
            "RADDLE_CACHE_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
        )
        .stdin(std::process::Stdio::null());
    command
}

/// What the tool said.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Runs a command to its end.
pub fn say(command: &mut Command) -> Said {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
        .into()
}

impl Said {
    /// Everything, for messages.
    pub fn all(&self) -> String {
        format!("exit code {:?}\n{}{}", self.code, self.stdout, self.stderr)
    }

    /// Complains unless the exit code is `code`.
    pub fn expect(self, code: i32) -> Result<Self, String> {
        if self.code == Some(code) {
            Ok(self)
        } else {
            Err(format!("expected exit code {code}, came {}", self.all()))
        }
    }

    /// Complains unless standard output has a line that is, or begins with, `start`.
    pub fn expect_line(self, start: &str) -> Result<Self, String> {
        if self.line(start).is_some() {
            Ok(self)
        } else {
            Err(format!("no line `{start}…` in {}", self.all()))
        }
    }

    /// What follows `start` on the first line of standard output that begins with it.
    pub fn line(&self, start: &str) -> Option<&str> {
        self.stdout
            .lines()
            .find_map(|line| line.strip_prefix(start))
    }

    /// What was found first, in the words of its headline.
    pub fn headline(&self) -> Option<&str> {
        let named = self.line("bug[")?;
        named.split_once("]: ").map(|(_, told)| told)
    }

    /// The kind of the failure that was found, or of what has led to it.
    pub fn failure(&self) -> Option<String> {
        let told = self.headline()?;
        let kind = told
            .split(": ")
            .next()
            .and_then(|it| it.split(" at ").next())?;
        let kind = match kind {
            "failing exit" => "exit".to_owned(),
            "failed assertion" => "assertion".to_owned(),
            kind => kind.replace(' ', "-"),
        };
        let lines = self.stdout.lines().map(str::trim_start);
        let mut consequences = lines.filter_map(|it| it.strip_prefix("consequence: "));
        let consequence = consequences.find_map(|it| it.split([':', ' ']).next());
        match (kind.as_str(), consequence) {
            ("data-race" | "atomicity-violation" | "atomic-set-violation", Some(consequence)) => {
                Some(consequence.to_owned())
            }
            _ => Some(kind),
        }
    }

    /// The clip that was written first.
    pub fn clip(&self) -> Option<PathBuf> {
        let told = self.stdout.split_once("raddle replay ")?.1;
        let clip = told.split([' ', '\n']).next()?;
        Some(PathBuf::from(clip))
    }
}

/// `raddle run` of a source file, with its state below `out`. What follows `--` goes to the program. Failing schedules
/// are kept as they are.
pub fn run(source: &Path, out: &Path, args: &[&str]) -> Said {
    let split = args
        .iter()
        .position(|arg| *arg == "--")
        .unwrap_or(args.len());
    let (options, rest) = args.split_at(split);
    let mut command = raddle(["run", "--quiet", "--as-is", "--out"]);
    say(command.arg(out).args(options).arg(source).args(rest))
}

/// How many runs were made and how many of them failed, of the line `N runs, M failures…`.
pub fn runs_and_failures(said: &Said) -> (u64, u64) {
    let counts = |line: &str| {
        let (runs, rest) = line.split_once(" runs, ")?;
        let (failures, _) = rest.split_once(" failure")?;
        Some((runs.parse().ok()?, failures.parse().ok()?))
    };
    said.stdout
        .lines()
        .find_map(counts)
        .unwrap_or_else(|| panic!("no counts in {}", said.all()))
}

/// The program model of the one program that was built below a directory.
pub fn model_of(dir: &Path) -> PathBuf {
    let builds = fs::read_dir(dir.join("build")).unwrap();
    let builds = builds.map(|entry| entry.unwrap().path());
    let files = builds.flat_map(|build| fs::read_dir(build).unwrap());
    let mut models: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    models.retain(|path| path.extension().is_some_and(|it| it == "raddle"));
    assert_eq!(models.len(), 1, "models of {}", dir.display());
    models.remove(0)
}

/// Goes through programs, two at a time, and panics with all that went wrong.
pub fn for_each(paths: &[PathBuf], check: impl Fn(&Path) -> Result<(), String> + Sync) {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = check(path) {
                        wrong
                            .lock()
                            .unwrap()
                            .push(format!("{}: {error}", path.display()));
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    assert!(
        wrong.is_empty(),
        "{} of {} programs:\n{}",
        wrong.len(),
        paths.len(),
        wrong.join("\n")
    );
}

/// The value of a line `// key: value` at the head of a program.
pub fn expectation(source: &Path, key: &str) -> Option<String> {
    let text = fs::read_to_string(source).unwrap();
    let head = text.lines().take_while(|line| line.starts_with("//"));
    let start = format!("// {key}: ");
    head.filter_map(|line| line.strip_prefix(&start))
        .next()
        .map(str::to_owned)
}

/// The processes that execute a file, zombies excepted.
pub fn processes_of(binary: &Path) -> Vec<u32> {
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let entries = fs::read_dir("/proc").unwrap();
    let all = entries.filter_map(|entry| number(entry.ok()?));
    let executes = |pid: &u32| {
        let file: Option<PathBuf> = fs::read_link(format!("/proc/{pid}/exe")).ok();
        file.is_some_and(|it| it == binary)
    };
    all.filter(executes).collect()
}

/// Runs a command to its end. Returns what it said, and the most memory that it and the processes below it were seen to have
/// together, in bytes.
pub fn peak(command: &mut Command) -> (Said, u64) {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = most.max(memory_of_tree(child.id()));
        thread::sleep(Duration::from_millis(5));
    }
    (Said::from(child.wait_with_output().unwrap()), most)
}

/// What a process and those below it have.
fn memory_of_tree(process: u32) -> u64 {
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let own = Path::new("/proc").join(process.to_string());
    let status = read(own.join("status"));
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"));
    let number = line.and_then(|it| it.split_whitespace().next()?.parse::<u64>().ok());
    let tasks = std::fs::read_dir(own.join("task"));
    let children = tasks.into_iter().flatten().flatten().flat_map(|task| {
        let children = read(task.path().join("children"));
        let children = children.split_whitespace().flat_map(str::parse);
        children.collect::<Vec<u32>>()
    });
    number.unwrap_or(0) * 1024 + children.map(memory_of_tree).sum::<u64>()
}
