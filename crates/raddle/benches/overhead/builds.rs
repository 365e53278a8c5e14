//! The programs that are measured, and how each is built three times.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use raddle_instrument::{BuildOptions, Built, Settings};
use raddle_run::runtime;

/// The command under test.
pub const RADDLE: &str = env!("CARGO_BIN_EXE_raddle");

/// Optimisation of the program as it is, and under ThreadSanitizer. Raddle builds as it does by default, or by
/// `RADDLE_OPT`.
const LEVEL: &str = "2";

/// Bytes that pbzip2 packs.
const INPUT_BYTES: usize = 8 << 20;

/// A program that can be built.
pub struct Build {
    pub name: String,
    language: Language,
}

enum Language {
    C,
    Rust,
    /// pbzip2, in C++, with its own makefile.
    Pbzip2,
}

/// A program built three times.
pub struct Subject {
    pub native: PathBuf,
    pub sanitized: PathBuf,
    pub instrumented: PathBuf,
    pub args: Vec<OsString>,
}

/// All of them.
pub fn all() -> Vec<Build> {
    let kernels = ["hash", "sort", "matrix", "queue", "mutex", "atomics"];
    let of = |language: fn() -> Language, ending: &'static str| {
        kernels.map(|name| Build {
            name: format!("{name}.{ending}"),
            language: language(),
        })
    };
    let mut all = Vec::from(of(|| Language::C, "c"));
    all.extend(of(|| Language::Rust, "rs"));
    all.push(Build {
        name: "pbzip2".to_owned(),
        language: Language::Pbzip2,
    });
    all
}

impl Build {
    /// Builds it in a directory; the error says what went wrong.
    pub fn make(&self, dir: &Path) -> Result<Subject, String> {
        let dir = dir.join(&self.name);
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("benches/kernels")
            .join(&self.name);
        let out = |way: &str| {
            let dir = dir.join(way);
            fs::create_dir_all(&dir).map_err(|error| error.to_string())?;
            Ok::<_, String>(dir.join("program"))
        };
        let subject = Subject {
            native: out("native")?,
            sanitized: out("tsan")?,
            instrumented: out("raddle")?,
            args: Vec::new(),
        };
        match self.language {
            Language::C => c(&source, &subject)?,
            Language::Rust => rust(&source, &subject)?,
            Language::Pbzip2 => return pbzip2(&dir, subject),
        }
        Ok(subject)
    }
}

fn c(source: &Path, subject: &Subject) -> Result<(), String> {
    let compile = |program: &str, first: &[&str], out: &Path| {
        let mut command = Command::new(program);
        command.args(first).arg(format!("-O{LEVEL}")).arg("-g");
        command.arg(source).arg("-o").arg(out).arg("-lpthread");
        run(&mut command)
    };
    compile("clang", &[], &subject.native)?;
    compile("clang", &["-fsanitize=thread"], &subject.sanitized)?;
    compile(RADDLE, &["cc"], &subject.instrumented)
}

/// The toolchain's ThreadSanitizer is for nightly compilers; the libraries that it comes with are not
/// instrumented, which is to its advantage.
fn rust(source: &Path, subject: &Subject) -> Result<(), String> {
    let compile = |flags: &[&str], out: &Path| {
        let mut command = Command::new("rustc");
        command.args(["--edition", "2024", "-g"]);
        command.arg(format!("-Copt-level={LEVEL}")).args(flags);
        command.arg(source).arg("-o").arg(out);
        run(command.env("RUSTC_BOOTSTRAP", "1"))
    };
    compile(&[], &subject.native)?;
    let sanitizer = [
        "-Zsanitizer=thread",
        "-Cunsafe-allow-abi-mismatch=sanitizer",
    ];
    compile(&sanitizer, &subject.sanitized)?;
    let dir = subject.instrumented.with_file_name("built");
    let built = instrumented(source, &dir).map_err(|error| error.to_string())?;
    fs::rename(&built.binary, &subject.instrumented).map_err(|error| error.to_string())?;
    let model = subject.instrumented.with_extension("raddle");
    fs::rename(&built.model, model).map_err(|error| error.to_string())
}

/// Builds as `raddle run` does with a source file.
fn instrumented(source: &Path, out: &Path) -> Result<Built, Box<dyn Error>> {
    let runtime = runtime::unpack(&runtime::cache_dir())?;
    let settings = Settings::from_env(runtime, RADDLE)?;
    let options = BuildOptions {
        out_dir: out.to_owned(),
        edition: Some("2024".to_owned()),
        flags: Vec::new(),
    };
    Ok(raddle_instrument::build_source(
        source, &options, &settings,
    )?)
}

fn pbzip2(dir: &Path, mut subject: Subject) -> Result<Subject, String> {
    run(Command::new("apt-get")
        .args(["source", "pbzip2"])
        .current_dir(dir))?;
    let entries = fs::read_dir(dir).map_err(|error| error.to_string())?;
    let unpacked = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.is_dir() && name.starts_with("pbzip2-")
    };
    let mut paths = entries.filter_map(|entry| entry.ok().map(|it| it.path()));
    let source = paths.find(unpacked).ok_or("its source package is empty")?;
    let raddle = format!("{RADDLE} c++");
    for (compiler, flags, out) in [
        ("clang++", "", &subject.native),
        ("clang++", "-fsanitize=thread", &subject.sanitized),
        (&raddle, "", &subject.instrumented),
    ] {
        let mut make = Command::new("make");
        make.args(["-B", "pbzip2"]).current_dir(&source);
        make.env("CXX", compiler);
        // Its string literals are older than C++11.
        let all = format!("-g -O{LEVEL} -Wno-reserved-user-defined-literal {flags}");
        make.env("CXXFLAGS", all).env("LDFLAGS", flags);
        run(&mut make)?;
        let built = source.join("pbzip2");
        fs::copy(&built, out).map_err(|error| error.to_string())?;
        let model = built.with_extension("raddle");
        if model.exists() {
            fs::copy(&model, out.with_extension("raddle")).map_err(|error| error.to_string())?;
        }
    }
    let input = dir.join("input");
    fs::write(&input, text(INPUT_BYTES)).map_err(|error| error.to_string())?;
    subject.args = ["-p2", "-b1", "-k", "-f", "-c"].map(OsString::from).into();
    subject.args.push(input.into());
    Ok(subject)
}

/// Words in an order that repeats late: something that can be packed, though not at once.
fn text(bytes: usize) -> Vec<u8> {
    let words = [
        "thread ", "lock ", "wait ", "signal ", "queue ", "block ", "file ", "\n",
    ];
    let mut state = 1_u32;
    let mut text = Vec::with_capacity(bytes);
    while text.len() < bytes {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.extend_from_slice(words[(state >> 29) as usize].as_bytes());
    }
    text
}

fn run(command: &mut Command) -> Result<(), String> {
    let done = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let last = said.lines().last().unwrap_or_default();
    Err(format!("{command:?}: {}: {last}", done.status))
}
