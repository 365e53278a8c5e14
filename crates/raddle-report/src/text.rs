//! Small things about text: widths, wrapping, numbers, and what must not reach a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What stands for the rest of a text that was cut.
const CUT: &str = "...";

/// The text without what would move a terminal's cursor: program and file names are not ours.
pub fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '\n' => clean.push('\n'),
            '\t' => clean.push_str("    "),
            '\r' => {}
            _ if it.is_control() => clean.push(char::REPLACEMENT_CHARACTER),
            _ => clean.push(it),
        }
    }
    clean
}

/// The columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text, cut so that it takes at most so many columns.
pub fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(CUT.len());
    format!("{}{CUT}", &text[..fitting(text, room)])
}

/// Bytes at the beginning of the text that fit into so many columns.
fn fitting(text: &str, most: usize) -> usize {
    let mut taken = 0;
    for (at, it) in text.char_indices() {
        taken += it.width().unwrap_or(0);
        if taken > most {
            return at;
        }
    }
    text.len()
}

/// Lines of at most so many columns, broken between words, and within those that are longer.
pub fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let mut word = word;
        if !line.is_empty() && width(&line) + 1 + width(word) > most {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        while width(word) > most {
            let first = word.chars().next().map_or(0, char::len_utf8);
            let (head, rest) = word.split_at(fitting(word, most).max(first));
            lines.push(head.to_owned());
            word = rest;
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// `1 run`, `12,345 events`.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(count))
}

/// A number with commas: 12,345.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_not_obeyed() {
        assert_eq!(clean("a\x1b[31m\tb\r\nc"), "a\u{fffd}[31m    b\nc");
    }

    #[test]
    fn lines_break_between_words_and_within_long_ones() {
        assert_eq!(wrap("reads the balance", 10), ["reads the", "balance"]);
        assert_eq!(wrap("a verylongname b", 6), ["a", "verylo", "ngname", "b"]);
        assert_eq!(wrap("银行银行", 4), ["银行", "银行"]);
        assert_eq!(wrap("银", 1), ["银", ""], "one character a line at least");
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn a_cut_text_says_so() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abc...");
        assert_eq!(cut("银行银行", 6), "银...");
    }

    #[test]
    fn numbers_have_commas() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(12_345_678), "12,345,678");
        assert_eq!(counted(1, "run"), "1 run");
        assert_eq!(counted(0, "run"), "0 runs");
    }
}
