//! `raddle cc` and `raddle c++`: clang, with bitcode kept and linking instrumented.
//!
//! Bitcode is embedded by the compiler proper (`-Xclang -fembed-bitcode=all`): objects stay
//! ordinary ELF objects for ar, libtool and cmake. The driver's own `-fembed-bitcode` would refuse
//! common options such as `-ffunction-sections`. Where compiling and linking are one command, the
//! objects in between are seen by nobody else, and are bitcode alone: that saves generating code
//! twice.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::command::{expand_responses, is_lto_option, makes_nothing, run};
use crate::error::Error;
use crate::link::link;
use crate::settings::Settings;

/// What clang is told besides the user's options.
const EXTRA: &[&str] = &["-fno-omit-frame-pointer", "-Qunused-arguments"];

/// Makes an ordinary object that holds its bitcode too.
const EMBEDDED_BITCODE: &[&str] = &["-Xclang", "-fembed-bitcode=all"];

/// Makes bitcode as it would be embedded: not yet optimised.
const BARE_BITCODE: &[&str] = &["-emit-llvm", "-Xclang", "-disable-llvm-passes"];

/// Options whose argument is the next word.
const WITH_ARGUMENT: &[&str] = &[
    "-o",
    "-I",
    "-D",
    "-U",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "--sysroot",
    "-target",
    "-arch",
    "-Xclang",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xlinker",
    "-mllvm",
    "-MF",
    "-MT",
    "-MQ",
    "-L",
    "-l",
    "-B",
    "-T",
    "-u",
    "-z",
    "-e",
    "--param",
    "-iprefix",
    "-iwithprefix",
    "-dumpbase",
    "-dumpdir",
];

/// Options with which no object is made.
fn passes_through(word: &str) -> bool {
    makes_nothing(word) || word == "--analyze"
}

/// Whether options only concern linking.
fn is_link_option(word: &str) -> bool {
    word.starts_with("-Wl,")
        || (word.starts_with("-l") && word.len() > 2)
        || (word.starts_with("-L") && word.len() > 2)
        || matches!(
            word,
            "-shared" | "-rdynamic" | "-static" | "-pie" | "-no-pie" | "-s"
        )
}

/// A word of a compiler's command line.
enum Word {
    /// An option, with its argument if it has one.
    Option(Vec<OsString>),
    /// A source, with the language that `-x` set for it.
    Source(OsString, Option<OsString>),
    /// An object, archive or library file.
    Input(OsString),
}

/// Compiles or links as `compiler` would. Returns an exit code.
pub(crate) fn compile(
    compiler: &OsStr,
    args: &[OsString],
    settings: &Settings,
) -> Result<i32, Error> {
    let args = expand_responses(args)?;
    let args: Vec<OsString> = args
        .into_iter()
        .filter(|arg| !arg.to_str().is_some_and(is_lto_option))
        .collect();
    if args
        .iter()
        .any(|arg| arg.to_str().is_some_and(passes_through))
    {
        return run(compiler, &args);
    }
    let words = parse(&args);
    let has_source = words.iter().any(|word| matches!(word, Word::Source(..)));
    if args.iter().any(|arg| arg == "-c") {
        let mut args = args;
        args.extend(extra(&args, EMBEDDED_BITCODE));
        return run(compiler, &args);
    }
    if !has_source {
        return link(compiler, &args, settings);
    }
    let dir = tempfile::Builder::new().prefix("raddle-cc-").tempdir();
    let dir = dir.map_err(Error::io(std::env::temp_dir()))?;
    let mut linked = Vec::new();
    for (number, word) in words.iter().enumerate() {
        match word {
            Word::Option(parts) if parts[0] == "-x" => {}
            Word::Option(parts) => linked.extend(parts.iter().cloned()),
            Word::Input(file) => linked.push(file.clone()),
            Word::Source(file, language) => {
                let object = object_path(dir.path(), number, file);
                let bitcode = match is_assembly(Path::new(file), language.as_deref()) {
                    true => EMBEDDED_BITCODE,
                    false => BARE_BITCODE,
                };
                let mut step = compile_options(&words);
                step.extend(extra(&step, bitcode));
                step.extend(["-c".into(), "-o".into(), object.clone().into()]);
                if let Some(language) = language {
                    step.extend(["-x".into(), language.clone()]);
                }
                step.push(file.clone());
                let code = run(compiler, &step)?;
                if code != 0 {
                    return Ok(code);
                }
                linked.push(object.into());
            }
        }
    }
    link(compiler, &linked, settings)
}

fn object_path(dir: &Path, number: usize, source: &OsStr) -> PathBuf {
    let stem = Path::new(source).file_stem().unwrap_or(OsStr::new("stdin"));
    dir.join(format!("{number}-{}.o", stem.to_string_lossy()))
}

/// What is added to the user's options; debug information unless there is some already.
fn extra(args: &[OsString], bitcode: &[&str]) -> Vec<OsString> {
    let has_debug = args
        .iter()
        .filter_map(|arg| arg.to_str())
        .any(|arg| arg.starts_with("-g") && arg != "-g0" && !arg.starts_with("-gcc-toolchain"));
    let debug = (!has_debug).then_some("-g");
    let options = EXTRA.iter().chain(bitcode).copied();
    options.chain(debug).map(OsString::from).collect()
}

/// The options that matter to a compile step of their own.
fn compile_options(words: &[Word]) -> Vec<OsString> {
    let mut options = Vec::new();
    for word in words {
        if let Word::Option(parts) = word {
            let name = parts[0].to_str().unwrap_or_default();
            let dropped = matches!(
                name,
                "-o" | "-x" | "-L" | "-l" | "-Xlinker" | "-T" | "-u" | "-z" | "-e"
            ) || is_link_option(name);
            if !dropped {
                options.extend(parts.iter().cloned());
            }
        }
    }
    options
}

fn parse(args: &[OsString]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut language: Option<OsString> = None;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let text = arg.to_str().unwrap_or_default();
        if text == "-x" {
            language = rest.next().filter(|language| *language != "none").cloned();
            let mut parts = vec![arg.clone()];
            parts.extend(language.clone());
            words.push(Word::Option(parts));
        } else if let Some(joined) = text
            .strip_prefix("-x")
            .filter(|_| !text.starts_with("-xc++-"))
        {
            language = (joined != "none").then(|| joined.into());
            words.push(Word::Option(vec!["-x".into(), joined.into()]));
        } else if WITH_ARGUMENT.contains(&text) {
            let mut parts = vec![arg.clone()];
            parts.extend(rest.next().cloned());
            words.push(Word::Option(parts));
        } else if text.starts_with('-') && text != "-" {
            words.push(Word::Option(vec![arg.clone()]));
        } else if language.is_some() || text == "-" || is_source(Path::new(arg)) {
            words.push(Word::Source(arg.clone(), language.clone()));
        } else {
            words.push(Word::Input(arg.clone()));
        }
    }
    words
}

/// Whether a source is assembly, by the language that `-x` gave it or else by its name.
fn is_assembly(path: &Path, language: Option<&OsStr>) -> bool {
    match language.and_then(OsStr::to_str) {
        Some(language) => language.starts_with("assembler"),
        None => path.extension().is_some_and(|ext| ext == "s" || ext == "S"),
    }
}

fn is_source(path: &Path) -> bool {
    const EXTENSIONS: &[&str] = &[
        "c", "cc", "cpp", "cxx", "c++", "C", "cp", "CPP", "i", "ii", "s", "S", "m", "mm",
    ];
    path.extension()
        .and_then(OsStr::to_str)
        .is_some_and(|ext| EXTENSIONS.contains(&ext))
}
