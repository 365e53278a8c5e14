//! Source files as far as they can still be read.
//!
//! The file may have changed, moved or never been here; it may be in any encoding. Whatever is wrong with it, the
//! worst that happens is that a position is shown without its text.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A larger file is hardly written by hand.
const LARGEST: u64 = 16 << 20;

/// Files that were asked for, and those that could not be read.
pub struct Sources {
    directory: PathBuf,
    files: BTreeMap<String, Option<Source>>,
}

/// The lines of one file.
pub struct Source {
    bytes: Vec<u8>,
    /// Where each line is, without its end.
    lines: Vec<Range<usize>>,
}

impl Sources {
    /// Files with relative names are looked for in this directory, then in those around it: compilers of a
    /// workspace are called in its root.
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            files: BTreeMap::new(),
        }
    }

    /// A file, if it can be read.
    pub fn file(&mut self, name: &str) -> Option<&Source> {
        let read = || {
            let mut around = self.directory.ancestors();
            around.find_map(|it| Source::read(&it.join(name)))
        };
        let entry = self.files.entry(name.to_owned());
        entry.or_insert_with(read).as_ref()
    }
}

impl Source {
    fn read(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        if !metadata.is_file() || metadata.len() > LARGEST {
            return None;
        }
        fs::read(path).ok().map(Self::new)
    }

    fn new(bytes: Vec<u8>) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        for line in bytes.split_inclusive(|it| *it == b'\n') {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            lines.push(start..start + text.len());
            start += line.len();
        }
        Self { bytes, lines }
    }

    /// Whether there is a line with this number, from 1.
    pub fn has(&self, line: u32) -> bool {
        self.raw(line).is_some()
    }

    /// The text of a line; what is no UTF-8 is replaced.
    pub fn line(&self, line: u32) -> String {
        String::from_utf8_lossy(self.raw(line).unwrap_or_default()).into_owned()
    }

    /// The bytes of [`line`](Self::line) that belong to a position in it: what begins there, or the whole line if
    /// the column is unknown or behind its end. Columns count bytes of the file, from 1.
    pub fn mark(&self, line: u32, column: u32) -> Range<usize> {
        let raw = self.raw(line).unwrap_or_default();
        let text = self.line(line);
        let start = usize::try_from(column).unwrap_or(usize::MAX).checked_sub(1);
        let start = start.filter(|it| *it <= raw.len()).map(|it| {
            // Replacing what is no UTF-8 moves what comes after it.
            let is_moved = std::str::from_utf8(raw).is_err();
            let moved = || String::from_utf8_lossy(&raw[..it]).len();
            floor(&text, if is_moved { moved() } else { it })
        });
        match start {
            Some(start) if !text[start..].trim().is_empty() => {
                start..start + extent(&text[start..])
            }
            _ => {
                let indent = text.len() - text.trim_start().len();
                indent..text.trim_end().len().max(indent)
            }
        }
    }

    fn raw(&self, line: u32) -> Option<&[u8]> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        Some(&self.bytes[self.lines.get(index)?.clone()])
    }
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|it| text.is_char_boundary(*it))
        .unwrap_or(0)
}

/// How much of the text its first expression takes, as far as that can be told without a parser: prefix operators,
/// a path of names, and the arguments or indices behind it; or an operator.
fn extent(text: &str) -> usize {
    let is_name = |it: char| it.is_alphanumeric() || it == '_';
    let prefix = text.len() - text.trim_start_matches(['*', '&', '!']).len();
    let name = |from: usize| {
        let rest = &text[from..];
        from + rest.find(|it| !is_name(it)).unwrap_or(rest.len())
    };
    let mut end = name(prefix);
    if end == prefix {
        let operator = text.find(|it| !"+-*/%&|^=<>!".contains(it));
        let first = text.chars().next().map_or(0, char::len_utf8);
        return operator.unwrap_or(text.len()).max(first);
    }
    loop {
        let joint = ["::", "->", "."]
            .into_iter()
            .find(|it| text[end..].starts_with(it));
        let Some(joint) = joint else { break };
        let next = name(end + joint.len());
        if next == end + joint.len() {
            break;
        }
        end = next;
    }
    end + bracketed(&text[end..])
}

/// The length of what stands in brackets at the beginning of the text; 0 if nothing does or it goes on elsewhere.
fn bracketed(text: &str) -> usize {
    let mut depth = 0;
    for (at, it) in text.char_indices() {
        match it {
            '(' | '[' => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return if at == 0 { 0 } else { at + 1 };
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, column: u32, marked: &str) {
        let source = Source::new(line.as_bytes().to_vec());
        assert_eq!(&source.line(1)[source.mark(1, column)], marked);
    }

    #[test]
    fn the_expression_at_a_column_is_marked() {
        check("    balance += amount;", 5, "balance");
        check("    balance += amount;", 13, "+=");
        check("  *p = 1;", 3, "*p");
        check(
            "  x = self.total.load(Ordering::Relaxed) + 1;",
            7,
            "self.total.load(Ordering::Relaxed)",
        );
        check("  node->next = buffer[i + f(2)];", 16, "buffer[i + f(2)]");
        check("  node->next = 0;", 3, "node->next");
        check("  lock(", 3, "lock");
        check("  a.", 3, "a");
        check("  a;", 4, ";");
        check("\t\tcount++;", 8, "++");
    }

    #[test]
    fn without_a_column_the_whole_line_is_marked() {
        check("    balance += amount;  ", 0, "balance += amount;");
        check("    balance += amount;", 99, "balance += amount;");
        check("  x  ", 4, "x");
        check("", 3, "");
        check("   ", 0, "");
    }

    #[test]
    fn columns_count_bytes() {
        check("/* é */ größe = 1;", 10, "größe");
        check("é = 1;", 2, "é");
        let source = Source::new(b"/* \xff\xfe */ x = 1;\n".to_vec());
        assert_eq!(&source.line(1)[source.mark(1, 10)], "x");
    }

    #[test]
    fn line_ends_are_no_part_of_lines() {
        let source = Source::new(b"a\r\nb\n\nc".to_vec());
        assert_eq!([1, 2, 3, 4].map(|it| source.line(it)), ["a", "b", "", "c"]);
        assert!(source.has(4) && !source.has(5) && !source.has(0));
    }
}
