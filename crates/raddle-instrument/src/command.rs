//! Running tools: response files, exit codes.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Error;

/// Runs a tool with the terminal's streams; its exit code, or 128 plus the signal that ended it.
pub(crate) fn run(tool: &OsStr, args: &[OsString]) -> Result<i32, Error> {
    let mut command = Command::new(tool);
    command.args(args);
    status(&mut command)
}

/// As [`run`], of a step whose failure has another way out, without a word on the terminal.
pub(crate) fn run_silently(tool: &OsStr, args: &[OsString]) -> Result<i32, Error> {
    let mut command = Command::new(tool);
    command.args(args).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    status(&mut command)
}

/// As [`run`], for a prepared command.
pub(crate) fn status(command: &mut Command) -> Result<i32, Error> {
    use std::os::unix::process::ExitStatusExt;
    let status = command
        .status()
        .map_err(|source| missing(command, source))?;
    Ok(status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

/// A tool that could not be started.
pub(crate) fn missing(command: &Command, source: std::io::Error) -> Error {
    let tool = command.get_program().to_string_lossy().into_owned();
    match source.kind() {
        std::io::ErrorKind::NotFound => Error::MissingTool {
            hint: crate::doctor::hint(&tool),
            tool,
        },
        _ => Error::Io {
            path: PathBuf::from(tool),
            source,
        },
    }
}

/// Replaces `@file` by the words in the file.
pub(crate) fn expand_responses(args: &[OsString]) -> Result<Vec<OsString>, Error> {
    let mut out = Vec::new();
    for arg in args {
        let file = arg
            .to_str()
            .and_then(|text| text.strip_prefix('@'))
            .map(Path::new);
        match file.filter(|file| file.is_file()) {
            Some(file) => {
                let text = std::fs::read_to_string(file).map_err(Error::io(file))?;
                let words: Vec<OsString> =
                    split_words(&text).into_iter().map(OsString::from).collect();
                out.extend(expand_responses(&words)?);
            }
            None => out.push(arg.clone()),
        }
    }
    Ok(out)
}

/// Words of a response file: separated by white space, quoted by `'` or `"`, escaped by `\`.
fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', Some('"') | None) => {
                word.get_or_insert_default().extend(chars.next());
            }
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::split_words;

    #[test]
    fn quotes_and_escapes() {
        let words = split_words("a.o \"b c.o\"\n'd\\e' f\\ g \"\"");
        assert_eq!(words, ["a.o", "b c.o", "d\\e", "f g", ""]);
    }
}
