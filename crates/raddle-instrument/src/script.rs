//! Linker scripts that stand for libraries: `INPUT(…)` and `GROUP(…)` in a file that is named like
//! an archive or a shared library.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::bitcode::FileKind;
use crate::error::Error;
use crate::libraries::{Libraries, Place};
use crate::link_args::kind_of;

/// Scripts of this kind are a few lines; more is something else.
const LARGEST: u64 = 1 << 16;

/// A script, and which of its words are objects and archives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    /// As the command line has it.
    word: OsString,
    words: Vec<(String, Option<PathBuf>)>,
}

impl Script {
    /// Reads a file; `None` if it is no script, or names no object or archive of the project's.
    pub(crate) fn read(
        path: &Path,
        word: &OsStr,
        libraries: &Libraries,
    ) -> Result<Option<Script>, Error> {
        let file = std::fs::File::open(path).map_err(Error::io(path))?;
        let mut bytes = Vec::new();
        file.take(LARGEST)
            .read_to_end(&mut bytes)
            .map_err(Error::io(path))?;
        let Ok(text) = String::from_utf8(bytes) else {
            return Ok(None);
        };
        if text.contains('\0') || !(text.contains("INPUT") || text.contains("GROUP")) {
            return Ok(None);
        }
        let words = words(&text);
        let words: Vec<_> = words
            .into_iter()
            .map(|word| {
                let file = input(&word, path, libraries);
                (word, file)
            })
            .collect();
        let script = Script {
            word: word.to_owned(),
            words,
        };
        Ok((!script.files().is_empty()).then_some(script))
    }

    /// Objects and archives that it names.
    pub(crate) fn files(&self) -> Vec<&Path> {
        let files = self.words.iter().filter_map(|(_, file)| file.as_deref());
        files.collect()
    }

    /// How the command line names the script.
    pub(crate) fn word(&self) -> &OsStr {
        &self.word
    }

    /// Its text with other files in the place of some; `None` if nothing changes.
    pub(crate) fn text(&self, files: &HashMap<PathBuf, PathBuf>) -> Option<String> {
        if !self.files().iter().any(|file| files.contains_key(*file)) {
            return None;
        }
        let mut text = String::new();
        for (word, file) in &self.words {
            match file {
                Some(file) => {
                    let file = files.get(file).unwrap_or(file);
                    let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
                    text.push_str(&format!("\"{}\"", file.display()));
                }
                None if word.contains(char::is_whitespace) => {
                    text.push_str(&format!("\"{word}\""));
                }
                None => text.push_str(word),
            }
            text.push(' ');
        }
        text.push('\n');
        Some(text)
    }
}

/// The words of a script: names, and each sign by itself. Comments are left out.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => word.push(c),
            '/' if word.is_empty() && chars.peek() == Some(&'*') => {
                let mut last = ' ';
                chars.next();
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            '(' | ')' | ',' | ';' | '{' | '}' => {
                words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
                words.push(c.to_string());
            }
            _ if c.is_whitespace() => {
                words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            }
            _ => word.push(c),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// The object or archive that a word leads to: by `-lname`, by its path, or beside the script.
fn input(word: &str, script: &Path, libraries: &Libraries) -> Option<PathBuf> {
    if let Some(name) = word.strip_prefix("-l") {
        return match libraries.find(name) {
            Place::Archive(path) => Some(path),
            _ => None,
        };
    }
    let is_name = Path::new(word)
        .extension()
        .is_some_and(|ext| ext == "a" || ext == "o");
    let beside = script.parent().unwrap_or(Path::new(".")).join(word);
    let mut places = [PathBuf::from(word), beside].into_iter();
    let found = places.find(|path| is_name && path.is_file())?;
    matches!(kind_of(&found), Ok(FileKind::Archive | FileKind::Object)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_script() {
        let text = "/* GNU ld script\n (old) */\nGROUP ( a.a AS_NEEDED(\"b c.a\"), -lx)";
        let expected = [
            "GROUP",
            "(",
            "a.a",
            "AS_NEEDED",
            "(",
            "b c.a",
            ")",
            ",",
            "-lx",
            ")",
        ];
        assert_eq!(words(text), expected);
    }

    #[test]
    fn inputs_are_found_and_replaced() {
        let dir = tempfile::tempdir().expect("a directory");
        let archive = dir.path().join("libreal.a");
        std::fs::write(&archive, b"!<arch>\n").expect("written");
        let path = dir.path().join("libfoo.so");
        std::fs::write(&path, "INPUT(libreal.a -lm)").expect("written");
        let libraries = Libraries::new(&[]);
        let script = Script::read(&path, OsStr::new("-lfoo"), &libraries).expect("readable");
        let script = script.expect("a script with an archive");
        assert_eq!(script.files(), [archive.as_path()]);
        assert_eq!(script.text(&HashMap::new()), None);
        let files = HashMap::from([(archive, PathBuf::from("/new.a"))]);
        let text = script.text(&files);
        assert_eq!(text.as_deref(), Some("INPUT ( \"/new.a\" -lm ) \n"));
    }

    #[test]
    fn other_text_is_no_script() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("libfoo.so");
        for text in ["", "INPUT(-lm)", "hello\0INPUT(a.o)"] {
            std::fs::write(&path, text).expect("written");
            let script =
                Script::read(&path, path.as_os_str(), &Libraries::new(&[])).expect("readable");
            assert_eq!(script, None, "{text:?}");
        }
    }
}
