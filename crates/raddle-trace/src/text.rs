//! Lines of words, with which clips are written: quoting, comments, positions of errors.
//!
//! A word is either bare or in double quotes with the escapes `\"`, `\\`, `\n`, `\t`, `\r` and
//! `\xNN` (one byte). `#` at the start of a word begins a comment.

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it starts, in characters from 1.
    pub column: usize,
    /// What it says.
    pub bytes: Vec<u8>,
}

/// A line that cannot be split into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadWord {
    /// Where, in characters from 1.
    pub column: usize,
    /// What should be there.
    pub expected: &'static str,
}

impl Word {
    /// For messages.
    pub fn lossy(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Appends a word, in quotes only where they are needed.
pub fn push_word(out: &mut String, bytes: &[u8]) {
    let bare = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'#' | b'\\');
    out.push(' ');
    match std::str::from_utf8(bytes) {
        Ok(text) if !bytes.is_empty() && bytes.iter().all(bare) => out.push_str(text),
        _ => push_quoted(out, bytes),
    }
}

/// Appends a word in quotes.
pub fn push_quoted(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                char if char.is_control() => {
                    let mut buffer = [0; 4];
                    push_bytes(out, char.encode_utf8(&mut buffer).as_bytes());
                }
                char => out.push(char),
            }
        }
        push_bytes(out, chunk.invalid());
    }
    out.push('"');
}

fn push_bytes(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        out.push_str(&format!("\\x{byte:02x}"));
    }
}

/// Splits a line into words, without its comment.
pub fn words(line: &str) -> Result<Vec<Word>, BadWord> {
    let chars: Vec<char> = line.chars().collect();
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(&char) = chars.get(at) {
        let start = at;
        if char.is_whitespace() {
            at += 1;
            continue;
        }
        if char == '#' {
            break;
        }
        let bytes = if char == '"' {
            at += 1;
            quoted(&chars, &mut at)?
        } else {
            let len = chars[at..]
                .iter()
                .take_while(|c| !c.is_whitespace() && **c != '"')
                .count();
            at += len;
            chars[start..at].iter().collect::<String>().into_bytes()
        };
        if chars.get(at).is_some_and(|next| !next.is_whitespace()) {
            return Err(BadWord {
                column: at + 1,
                expected: "a space between words",
            });
        }
        words.push(Word {
            column: start + 1,
            bytes,
        });
    }
    Ok(words)
}

/// The rest of a quoted word; `at` is behind its opening quote, and then behind its closing one.
fn quoted(chars: &[char], at: &mut usize) -> Result<Vec<u8>, BadWord> {
    let mut bytes = Vec::new();
    loop {
        let bad = |expected| BadWord {
            column: *at + 1,
            expected,
        };
        let char = *chars.get(*at).ok_or(bad("a closing quote"))?;
        match char {
            '"' => {
                *at += 1;
                return Ok(bytes);
            }
            '\\' => {
                let escape = chars.get(*at + 1);
                let byte = match escape {
                    Some('"') => b'"',
                    Some('\\') => b'\\',
                    Some('n') => b'\n',
                    Some('t') => b'\t',
                    Some('r') => b'\r',
                    Some('x') => {
                        let digit = |at: usize| chars.get(at).and_then(|c| c.to_digit(16));
                        let (high, low) = (digit(*at + 2), digit(*at + 3));
                        let (Some(high), Some(low)) = (high, low) else {
                            return Err(bad("two hexadecimal digits behind `\\x`"));
                        };
                        *at += 2;
                        (high << 4 | low) as u8
                    }
                    _ => return Err(bad("one of the escapes \\\" \\\\ \\n \\t \\r \\xNN")),
                };
                bytes.push(byte);
                *at += 2;
            }
            char => {
                bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                *at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_come_back(texts: Vec<Vec<u8>>) {
            let mut line = String::new();
            for text in &texts {
                push_word(&mut line, text);
            }
            prop_assert!(!line.contains(['\n', '\r']));
            line.push_str(" # a comment");
            let words = words(&line).unwrap();
            prop_assert_eq!(words.into_iter().map(|word| word.bytes).collect::<Vec<_>>(), texts);
        }

        #[test]
        fn any_line_is_words_or_an_error(line: String) {
            let _ = words(&line);
        }
    }

    #[test]
    fn errors_say_where() {
        let column = |line| words(line).unwrap_err().column;
        assert_eq!(column(r#"a "b"#), 5);
        assert_eq!(column(r#"a "b"c"#), 6);
        assert_eq!(column(r#"a"b""#), 2);
        assert_eq!(column(r#"a "\q""#), 4);
        assert_eq!(column(r#"a "\x4""#), 4);
        assert_eq!(words("a b#c").unwrap()[1].bytes, b"b#c");
        assert_eq!(words("# only a comment").unwrap(), []);
    }
}
