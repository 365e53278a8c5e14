//! `raddle cc` and `raddle c++`: clang, with bitcode kept and linking instrumented.
//!
//! Bitcode is embedded by the compiler proper (`-Xclang -fembed-bitcode=all`): objects stay
//! ordinary ELF objects for ar, libtool and cmake. The driver's own `-fembed-bitcode` would refuse
//! common options such as `-ffunction-sections`. Where compiling and linking are one command, the
//! objects in between are seen by nobody else, and are bitcode alone: that saves generating code
//! twice.
//!
//! An object's native code is there for links that Raddle does not see, and for what is changed after it was compiled
//! (`symbols.rs`). Optimising it takes most of the compiler's time, so it is not optimised.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::command::{expand_responses, run, run_silently};
use crate::error::Error;
use crate::link::link;
use crate::options::{
    asks_for_optimisation, is_foreign_target, is_front_option, is_link_option, is_lto_option,
    is_own_target, makes_nothing, needs_one_step, takes_argument,
};
use crate::settings::Settings;

/// What clang is told besides the user's options.
const EXTRA: &[&str] = &["-fno-omit-frame-pointer"];

/// Makes an ordinary object that holds its bitcode too.
const EMBEDDED_BITCODE: &[&str] = &["-Xclang", "-fembed-bitcode=all"];

/// Makes bitcode as it would be embedded: not yet optimised.
const BARE_BITCODE: &[&str] = &["-emit-llvm", "-Xclang", "-disable-llvm-passes"];

/// Options between these two are ours: clang does not complain about those it has no use for.
const OURS: [&str; 2] = ["--start-no-unused-arguments", "--end-no-unused-arguments"];

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
    let words = parse(&args);
    if passes_through(&words) {
        return run(compiler, &args);
    }
    let has_source = words.iter().any(|word| matches!(word, Word::Source(..)));
    if is_any(&words, |name| matches!(name, "-c" | "-r")) {
        if let Some(code) = compile_in_two_steps(compiler, &words)? {
            return Ok(code);
        }
        let mut args = args;
        if has_source {
            args.extend(extra(&args, EMBEDDED_BITCODE));
        }
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
                let step = compile_step(&words, (file, language.as_deref()), bitcode, &object);
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

/// A command that compiles one source of several, or in several steps.
fn compile_step(
    words: &[Word],
    (file, language): (&OsStr, Option<&OsStr>),
    bitcode: &[&str],
    object: &Path,
) -> Vec<OsString> {
    let mut step = compile_options(words);
    step.push("-Qunused-arguments".into());
    step.extend(extra(&step, bitcode));
    step.extend(dependency_options(words, Path::new(file)));
    step.extend(["-c".into(), "-o".into(), object.into()]);
    if let Some(language) = language {
        step.extend(["-x".into(), language.to_owned()]);
    }
    step.push(file.to_owned());
    step
}

/// Compiles one source to an object whose bitcode is that of the options, and whose native code is not optimised. `None`
/// if a command asks for anything else, or that code cannot be generated: some sources rely on branches that only
/// an optimiser removes.
fn compile_in_two_steps(compiler: &OsStr, words: &[Word]) -> Result<Option<i32>, Error> {
    let names = || {
        words.iter().filter_map(|word| match word {
            Word::Option(parts) => parts[0].to_str(),
            _ => None,
        })
    };
    let mut inputs = words.iter().filter(|it| !matches!(it, Word::Option(_)));
    let (Some(Word::Source(file, language)), None) = (inputs.next(), inputs.next()) else {
        return Ok(None);
    };
    let output = match argument(words, "-o") {
        Some(output) => PathBuf::from(output),
        None => Path::new(file)
            .with_extension("o")
            .file_name()
            .map_or_else(PathBuf::new, PathBuf::from),
    };
    if is_assembly(Path::new(file), language.as_deref())
        || !asks_for_optimisation(names())
        || names().any(|name| name == "-r" || needs_one_step(name))
        || file == "-"
        || output == Path::new("-")
    {
        return Ok(None);
    }
    let dir = tempfile::Builder::new().prefix("raddle-cc-").tempdir();
    let dir = dir.map_err(Error::io(std::env::temp_dir()))?;
    let bitcode = dir.path().join("bitcode.bc");
    let front = compile_step(words, (file, language.as_deref()), BARE_BITCODE, &bitcode);
    let code = run(compiler, &front)?;
    if code != 0 {
        return Ok(Some(code));
    }
    let mut back: Vec<OsString> = Vec::new();
    for word in words {
        match word {
            Word::Option(parts)
                if !parts[0]
                    .to_str()
                    .is_none_or(|it| it == "-o" || it == "-x" || is_front_option(it)) =>
            {
                back.extend(parts.iter().cloned());
            }
            _ => {}
        }
    }
    back.extend(extra(&back, EMBEDDED_BITCODE));
    back.extend(["-O0", "-w", "-Qunused-arguments", "-c", "-x", "ir"].map(OsString::from));
    back.extend([bitcode.into(), "-o".into(), output.into()]);
    let code = run_silently(compiler, &back)?;
    Ok((code == 0).then_some(0))
}

/// Whether the command makes neither an object nor a program that the runtime can be a part of.
fn passes_through(words: &[Word]) -> bool {
    let is_header = |path: &Path, language: Option<&OsStr>| match language.and_then(OsStr::to_str) {
        Some(language) => language.ends_with("-header"),
        None => path
            .extension()
            .is_some_and(|ext| HEADERS.contains(&ext.to_str().unwrap_or_default())),
    };
    let is_foreign = words.iter().any(|word| match word {
        Word::Option(parts) => match parts.as_slice() {
            [name, triple] if name == "-target" => !is_own_target(&triple.to_string_lossy()),
            _ => parts[0].to_str().is_some_and(is_foreign_target),
        },
        Word::Source(path, language) => is_header(Path::new(path), language.as_deref()),
        Word::Input(path) => is_header(Path::new(path), None),
    });
    // Without a C library there is no place for the runtime.
    let is_bare = is_any(words, |name| {
        matches!(name, "-nostdlib" | "-nolibc" | "-nodefaultlibs")
    }) && !is_any(words, |name| {
        matches!(name, "-c" | "-r" | "-shared" | "-lc")
    });
    is_foreign || is_bare || is_any(words, makes_nothing)
}

/// Whether some option is of a kind.
fn is_any(words: &[Word], kind: impl Fn(&str) -> bool) -> bool {
    words.iter().any(|word| match word {
        Word::Option(parts) => parts[0].to_str().is_some_and(&kind),
        _ => false,
    })
}

/// An option's argument, of the last one with that name.
fn argument<'a>(words: &'a [Word], name: &str) -> Option<&'a OsStr> {
    words.iter().rev().find_map(|word| match word {
        Word::Option(parts) if parts[0] == name => parts.get(1).map(OsString::as_os_str),
        _ => None,
    })
}

/// Where `-MD` and `-MMD` write what a source depends on, and for which target: the compiler would
/// take both from the program's name, and not from that of an object in between.
fn dependency_options(words: &[Word], source: &Path) -> Vec<OsString> {
    if !is_any(words, |name| matches!(name, "-MD" | "-MMD")) {
        return Vec::new();
    }
    let output = argument(words, "-o").map(Path::new);
    let in_place = PathBuf::from(source.file_name().unwrap_or(source.as_os_str()));
    let base = output.unwrap_or(&in_place);
    let mut options = Vec::new();
    if argument(words, "-MF").is_none() {
        options.extend(["-MF".into(), base.with_extension("d").into()]);
    }
    if argument(words, "-MT").is_none() && argument(words, "-MQ").is_none() {
        let target = output.map_or_else(|| in_place.with_extension("o"), Path::to_owned);
        options.extend(["-MQ".into(), target.into()]);
    }
    options
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
    let [start, end] = OURS;
    let options = [start].into_iter().chain(EXTRA.iter().copied());
    let options = options.chain(bitcode.iter().copied()).chain(debug);
    options.chain([end]).map(OsString::from).collect()
}

/// The options that matter to a compile step of their own.
fn compile_options(words: &[Word]) -> Vec<OsString> {
    let mut options = Vec::new();
    for word in words {
        if let Word::Option(parts) = word {
            let name = parts[0].to_str().unwrap_or_default();
            if !matches!(name, "-o" | "-x") && !is_link_option(name) {
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
        } else if takes_argument(text) {
            let mut parts = vec![arg.clone()];
            parts.extend(rest.next().cloned());
            words.push(Word::Option(parts));
        } else if let Some(output) = text.strip_prefix("-o").filter(|it| !it.is_empty()) {
            words.push(Word::Option(vec!["-o".into(), output.into()]));
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

/// Extensions of sources that become precompiled headers.
const HEADERS: &[&str] = &["h", "hh", "hpp", "hxx", "H"];

/// Whether a source is assembly, by the language that `-x` gave it or else by its name.
fn is_assembly(path: &Path, language: Option<&OsStr>) -> bool {
    match language.and_then(OsStr::to_str) {
        Some(language) => language.starts_with("assembler"),
        None => path
            .extension()
            .is_some_and(|ext| ext == "s" || ext == "S" || ext == "sx"),
    }
}

fn is_source(path: &Path) -> bool {
    const EXTENSIONS: &[&str] = &[
        "c", "cc", "cpp", "cxx", "c++", "C", "cp", "CPP", "i", "ii", "s", "S", "sx", "m", "mm",
    ];
    path.extension()
        .and_then(OsStr::to_str)
        .is_some_and(|ext| EXTENSIONS.contains(&ext))
}
