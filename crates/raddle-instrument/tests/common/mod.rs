//! A directory with a stub runtime, the example driver, and what came out of a run.

#![allow(dead_code, reason = "each test file uses its part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use raddle_model::{Model, ModuleId};
pub use raddle_trace::wire::SiteKind as Kind;
use raddle_trace::wire::{Ordering, Role, WIRE_VERSION};

/// Builds and runs programs in a temporary directory.
pub struct Workbench {
    dir: tempfile::TempDir,
    level: &'static str,
}

/// What a program did.
pub struct Run {
    pub stdout: String,
    pub panics: usize,
    pub images: u64,
    /// Outcomes of the main thread's last branches, under a sentinel.
    pub bits: u64,
    pub model: Model,
    dump: String,
}

/// An event, with what the model knows about it.
#[derive(Clone, Debug)]
pub struct Event {
    pub kind: Kind,
    pub order: Ordering,
    pub size: u8,
    pub role: Role,
    pub addr: u64,
    pub value: u64,
    /// New value and whether it was stored, of two-slot events.
    pub extra: Option<(u64, u64)>,
    pub name: String,
    /// The type whose member it is.
    pub owner: String,
    pub file: String,
    /// The functions it was inlined through, innermost first.
    pub functions: Vec<String>,
}

impl Workbench {
    pub fn new() -> Workbench {
        Workbench::with_level("1")
    }

    pub fn with_level(level: &'static str) -> Workbench {
        Workbench {
            dir: tempfile::tempdir().expect("a temporary directory"),
            level,
        }
    }

    pub fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("the file is written");
        path
    }

    pub fn c(&self, name: &str, text: &str) -> Run {
        self.build_and_execute(name, "c", text)
    }

    pub fn cpp(&self, name: &str, text: &str) -> Run {
        self.build_and_execute(name, "cpp", text)
    }

    pub fn rust(&self, name: &str, text: &str) -> Run {
        self.build_and_execute(name, "rs", text)
    }

    fn build_and_execute(&self, name: &str, extension: &str, text: &str) -> Run {
        let source = self.write(&format!("{name}.{extension}"), text);
        self.tool("build", &[&source, &self.path("out")]);
        self.execute(&self.path(&format!("out/{name}")))
    }

    /// Runs the driver.
    pub fn tool(&self, command: &str, args: &[&str]) {
        let mut driver = Command::new(driver());
        driver.arg(command).args(args);
        self.checked(driver);
    }

    /// Runs any program.
    pub fn run(&self, program: &str, args: &[&str]) {
        let mut command = Command::new(program);
        command.args(args);
        self.checked(command);
    }

    fn checked(&self, mut command: Command) -> Output {
        command
            .env("RADDLE_RUNTIME", runtime())
            .env("RADDLE_CACHE_DIR", target_dir().join("raddle-test-cache"))
            .env("RADDLE_OPT", self.level)
            .env("RADDLE_DUMP", self.dir.path().join("dump"))
            .env("RUST_BACKTRACE", "0");
        let output = command
            .output()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{command:?} failed with {}:\n{words}",
            output.status
        );
        output
    }

    pub fn execute(&self, program: &str) -> Run {
        let output = self.checked(Command::new(program));
        let dump = std::fs::read_to_string(self.path("dump")).expect("the runtime wrote its dump");
        let number = |prefix: &str, radix| {
            let line = dump.lines().find_map(|line| line.strip_prefix(prefix));
            line.map_or(0, |text| {
                u64::from_str_radix(text, radix).expect("a number")
            })
        };
        Run {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            panics: dump.lines().filter(|line| *line == "panic").count(),
            images: number("images ", 10),
            bits: number("0 bits ", 16),
            model: Model::read(format!("{program}.raddle").as_ref()).expect("a readable model"),
            dump,
        }
    }
}

impl Run {
    /// Events of the main thread, in order.
    pub fn events(&self) -> Vec<Event> {
        self.events_with(&[&self.model])
    }

    fn events_with(&self, models: &[&Model]) -> Vec<Event> {
        let mut events: Vec<Event> = Vec::new();
        for line in self.dump.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let hex = |index: usize| u64::from_str_radix(words[index], 16).expect("a number");
            match words[..] {
                ["0", "mark", "1", ..] => {
                    let event = events.last_mut().expect("a second slot follows a first");
                    event.extra = Some((hex(3), hex(4)));
                }
                ["0", "site", kind, _, size, _, _, index, ..] => {
                    let index = index.parse().expect("an index");
                    let module = ModuleId(hex(6));
                    let site = models.iter().find_map(|model| model.site(module, index));
                    let site = site.expect("the model knows the site");
                    let info = site.info();
                    let owner = info.name.as_ref().and_then(|it| it.owner.as_deref());
                    let owner = owner.map(str::to_owned);
                    assert_eq!(
                        kind,
                        (info.kind as u8).to_string(),
                        "record and model agree"
                    );
                    assert_eq!(size, info.size.to_string(), "record and model agree");
                    events.push(Event {
                        kind: info.kind,
                        order: info.order,
                        size: info.size,
                        role: info.role,
                        addr: hex(8),
                        value: hex(9),
                        extra: None,
                        name: site.name().unwrap_or_default().to_owned(),
                        owner: owner.unwrap_or_default(),
                        file: site.file().unwrap_or_default().to_owned(),
                        functions: site.frames().map(|f| f.function.to_owned()).collect(),
                    });
                }
                _ => {}
            }
        }
        events
    }

    /// Plain reads and writes of the main thread: kind, variable, size, value.
    pub fn accesses(&self) -> Vec<(Kind, String, u8, u64)> {
        plain(self.events())
    }

    /// As [`Run::accesses`], of a program that uses an instrumented library too.
    pub fn accesses_with(&self, library: &str) -> Vec<(Kind, String, u8, u64)> {
        let other = Model::read(format!("{library}.raddle").as_ref()).expect("a readable model");
        plain(self.events_with(&[&self.model, &other]))
    }
}

fn plain(events: Vec<Event>) -> Vec<(Kind, String, u8, u64)> {
    let is_plain = |event: &Event| matches!(event.kind, Kind::Read | Kind::Write);
    let events = events.into_iter().filter(is_plain);
    events
        .map(|event| (event.kind, event.name, event.size, event.value))
        .collect()
}

/// Directory of the test executable's profile: `target/debug`.
fn target_dir() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its path");
    let deps = test.parent().expect("it lies in `deps`");
    deps.parent()
        .expect("inside the profile's directory")
        .to_owned()
}

fn driver() -> PathBuf {
    let driver = target_dir().join("examples/driver");
    assert!(
        driver.exists(),
        "the example `driver` is missing: run `cargo test -p raddle-instrument`, which builds it"
    );
    driver
}

/// The stub runtime, compiled once a test run.
fn runtime() -> &'static Path {
    static RUNTIME: OnceLock<PathBuf> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let dir = target_dir().join(format!("raddle-test-runtime-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a directory for the runtime");
        let library = dir.join("libraddle_stub.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stub_runtime.c");
        let clang = Command::new("clang")
            .arg(format!("-DWIRE_VERSION={WIRE_VERSION}"))
            .args([
                "-O1",
                "-fPIC",
                "-shared",
                "-Wl,-soname,libraddle_stub.so",
                source,
                "-o",
            ])
            .arg(&library)
            .status();
        let clang = clang.unwrap_or_else(|error| {
            panic!(
                "these tests need clang ({error}): install it, for example with `apt install clang`"
            )
        });
        assert!(clang.success(), "clang could not compile the stub runtime");
        library
    })
}
