//! Reading the text form of a clip.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::str::FromStr;

use super::{CLIP_VERSION, Clip, ClipError, ClipProblem};
use crate::ids::{Address, BuildId, SiteId, Tick};
use crate::outcome::{Ending, Outcome};
use crate::position::SourcePosition;
use crate::run::{Cwd, Stdin, Strategy, TimeMode};
use crate::schedule::{Moment, REASONS, Switch};
use crate::text::{Word, words};
use crate::wire::SwitchReason;

/// Reads a clip line by line.
#[derive(Default)]
pub struct Parser {
    clip: Clip,
    /// Keys that may stand once and have stood.
    seen: Vec<String>,
}

/// The words of one line behind those already read.
struct Line<'a> {
    number: usize,
    /// Behind the last word.
    end: usize,
    words: std::slice::Iter<'a, Word>,
}

impl Parser {
    /// Reads the whole text.
    pub fn parse(mut self, text: &str) -> Result<Clip, ClipError> {
        let mut version = false;
        let mut in_switches = false;
        let mut last = 0;
        for (index, text) in text.lines().enumerate() {
            last = index + 1;
            let words = words(text).map_err(|bad| {
                let found = rest_of(text, bad.column);
                let what = ClipProblem::Expected {
                    expected: bad.expected.to_owned(),
                    found,
                };
                ClipError {
                    line: last,
                    column: bad.column,
                    what,
                }
            })?;
            if words.is_empty() {
                continue;
            }
            let end = text.chars().count() + 1;
            let mut line = Line {
                number: last,
                end,
                words: words.iter(),
            };
            if !version {
                line.version()?;
                version = true;
            } else if in_switches {
                self.clip.switches.push(line.switch()?);
            } else if words[0].bytes == b"switches:" {
                line.next("")?;
                self.check_complete(last)?;
                in_switches = true;
            } else {
                self.header_line(&mut line)?;
            }
            line.finish()?;
        }
        let at_end = |expected: &str| {
            let what = ClipProblem::Expected {
                expected: expected.to_owned(),
                found: "the end".to_owned(),
            };
            ClipError {
                line: last + 1,
                column: 1,
                what,
            }
        };
        match (version, in_switches) {
            (true, true) => Ok(self.clip),
            (true, false) => Err(at_end("a line `switches:`")),
            _ => Err(at_end("a first line `raddle clip 1`")),
        }
    }

    fn check_complete(&self, line: usize) -> Result<(), ClipError> {
        let missing = |key: &&str| !self.seen.iter().any(|seen| seen == key);
        match ["program", "build"].into_iter().find(missing) {
            Some(key) => Err(ClipError {
                line,
                column: 1,
                what: ClipProblem::Missing(key),
            }),
            None => Ok(()),
        }
    }

    fn header_line(&mut self, line: &mut Line<'_>) -> Result<(), ClipError> {
        let word = line.next("a key")?;
        let key = word.lossy();
        if !matches!(key.as_str(), "build-arg" | "arg" | "env") {
            if self.seen.contains(&key) {
                return Err(line.error(word.column, ClipProblem::Twice(key)));
            }
            self.seen.push(key.clone());
        }
        let run = &mut self.clip.run;
        match key.as_str() {
            "program" => run.program = PathBuf::from(line.os("the program's path")?),
            "build-arg" => run.build_args.push(line.os("an option of the compiler")?),
            "build" => run.build = BuildId(line.string("a build id")?),
            "arg" => run.args.push(line.os("an argument")?),
            "env" => run
                .env
                .push((line.os("a variable")?, line.os("its value")?)),
            "stdin" => run.stdin = line.stdin()?,
            "cwd" => run.cwd = line.cwd()?,
            "seed" => run.seed = line.number("a number")?,
            "clock-start-ns" => run.clock.start_ns = line.number("a number of nanoseconds")?,
            "clock-ns-per-tick" => {
                run.clock.ns_per_tick = line.number("a number of nanoseconds")?
            }
            "time" => {
                let modes = [("virtual", TimeMode::Virtual), ("real", TimeMode::Real)];
                run.time = line.one_of(&modes, "`virtual` or `real`")?;
            }
            "strategy" => run.strategy = line.strategy()?,
            "shows" => self.clip.shows = Some(line.string("a sentence")?),
            "shows-at" => self.clip.shows_at = Some(line.number("a moment such as `T1@1234`")?),
            "outcome" => self.clip.expected = Some(Outcome::new(line.ending()?)),
            _ => return self.outcome_line(&key, word, line),
        }
        Ok(())
    }

    fn outcome_line(&mut self, key: &str, at: &Word, line: &mut Line<'_>) -> Result<(), ClipError> {
        let Some(part) = key.strip_prefix("outcome-") else {
            return Err(line.expected("a key such as `arg`, or `switches:`", Some(at)));
        };
        let outcome = self.clip.expected.as_mut();
        let outcome = outcome.ok_or_else(|| line.error(at.column, ClipProblem::NoOutcome))?;
        match part {
            "thread" => outcome.thread = Some(line.number("a thread such as `T1`")?),
            "tick" => outcome.tick = Some(Tick(line.number("a number")?)),
            "object" => outcome.object = Some(Address(line.hex()?)),
            "position" => {
                outcome.position = Some(SourcePosition {
                    file: line.string("a file")?,
                    line: line.number("a line number")?,
                    column: line.number("a column number")?,
                    function: line.string("a function")?,
                });
            }
            "message" => outcome.message = line.string("a message")?,
            _ => return Err(line.expected("a key such as `outcome-thread`", Some(at))),
        }
        Ok(())
    }
}

impl<'a> Line<'a> {
    fn error(&self, column: usize, what: ClipProblem) -> ClipError {
        ClipError {
            line: self.number,
            column,
            what,
        }
    }

    fn expected(&self, expected: &str, found: Option<&Word>) -> ClipError {
        let column = found.map_or(self.end, |word| word.column);
        let found = found.map_or_else(
            || "the end of the line".to_owned(),
            |w| format!("`{}`", w.lossy()),
        );
        self.error(
            column,
            ClipProblem::Expected {
                expected: expected.to_owned(),
                found,
            },
        )
    }

    fn next(&mut self, expected: &str) -> Result<&'a Word, ClipError> {
        self.words
            .next()
            .ok_or_else(|| self.expected(expected, None))
    }

    fn finish(&mut self) -> Result<(), ClipError> {
        match self.words.next() {
            Some(word) => Err(self.expected("the end of the line", Some(word))),
            None => Ok(()),
        }
    }

    fn os(&mut self, expected: &str) -> Result<OsString, ClipError> {
        Ok(OsString::from_vec(self.next(expected)?.bytes.clone()))
    }

    fn string(&mut self, expected: &str) -> Result<String, ClipError> {
        let word = self.next(expected)?;
        String::from_utf8(word.bytes.clone())
            .map_err(|_| self.expected(&format!("{expected} in UTF-8"), Some(word)))
    }

    /// A word that parses as a `T`.
    fn number<T: FromStr>(&mut self, expected: &str) -> Result<T, ClipError> {
        let word = self.next(expected)?;
        word.lossy()
            .parse()
            .map_err(|_| self.expected(expected, Some(word)))
    }

    fn hex(&mut self) -> Result<u64, ClipError> {
        let word = self.next("a hexadecimal number such as `0x1f`")?;
        let text = word.lossy();
        let digits = text
            .strip_prefix("0x")
            .filter(|digits| !digits.starts_with('+'));
        digits
            .and_then(|digits| u64::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.expected("a hexadecimal number such as `0x1f`", Some(word)))
    }

    fn one_of<T: Copy>(&mut self, table: &[(&str, T)], expected: &str) -> Result<T, ClipError> {
        let word = self.next(expected)?;
        let row = table.iter().find(|(name, _)| name.as_bytes() == word.bytes);
        row.map(|row| row.1)
            .ok_or_else(|| self.expected(expected, Some(word)))
    }

    fn version(&mut self) -> Result<(), ClipError> {
        let expected = format!("`raddle clip {CLIP_VERSION}`");
        self.one_of(&[("raddle", ())], &expected)?;
        self.one_of(&[("clip", ())], &expected)?;
        let column = self
            .words
            .as_slice()
            .first()
            .map_or(self.end, |word| word.column);
        let version = self.number("a version number")?;
        if version == CLIP_VERSION {
            return Ok(());
        }
        Err(self.error(column, ClipProblem::Version(version)))
    }

    fn stdin(&mut self) -> Result<Stdin, ClipError> {
        let forms = [("empty", 0), ("inline", 1), ("file", 2)];
        match self.one_of(&forms, "`empty`, `inline …` or `file …`")? {
            0 => Ok(Stdin::Empty),
            1 => Ok(Stdin::Inline(
                self.next("the bytes in quotes")?.bytes.clone(),
            )),
            _ => Ok(Stdin::File {
                path: self.os("a path")?.into(),
                digest: self.hex()?,
            }),
        }
    }

    fn cwd(&mut self) -> Result<Cwd, ClipError> {
        let forms = [("inherit", false), ("path", true)];
        if self.one_of(&forms, "`inherit` or `path …`")? {
            Ok(Cwd::Path(self.os("a path")?.into()))
        } else {
            Ok(Cwd::Inherit)
        }
    }

    fn strategy(&mut self) -> Result<Strategy, ClipError> {
        let name = self.string("a strategy such as `pct`")?;
        let mut parameters = Vec::new();
        while !self.words.as_slice().is_empty() {
            parameters.push((
                self.string("a parameter")?,
                self.string("a parameter's value")?,
            ));
        }
        Ok(Strategy { name, parameters })
    }

    fn ending(&mut self) -> Result<Ending, ClipError> {
        let expected = "an outcome such as `panic`, `deadlock`, `exit 1` or `signal 11`";
        let word = self.next(expected)?;
        let code = match self.words.as_slice() {
            [] => None,
            _ => Some(self.number("a status or signal number")?),
        };
        Ending::from_name(&word.lossy(), code).ok_or_else(|| self.expected(expected, Some(word)))
    }

    fn switch(&mut self) -> Result<Switch, ClipError> {
        let moment = "a switch such as `T1@1234 -> T2`";
        let word = self.next(moment)?;
        let text = word.lossy();
        let parsed = text.parse().ok();
        let parsed = parsed.ok_or_else(|| self.expected(moment, Some(word)))?;
        let Moment { thread: from, tick } = parsed;
        self.one_of(&[("->", ())], "`->`")?;
        let to = self.number("a thread such as `T2`")?;
        let is_site = |word: &Word| word.bytes == b"site";
        let reason = match self.words.as_slice().first() {
            Some(word) if !is_site(word) => self.one_of(
                &REASONS,
                "a reason such as `preempted` or `blocked`, or `site …`",
            )?,
            _ => SwitchReason::Preempted,
        };
        let site = match self.words.as_slice().first() {
            Some(word) if is_site(word) => {
                self.next("")?;
                Some(SiteId(self.number("a site's number")?))
            }
            _ => None,
        };
        Ok(Switch {
            from,
            tick,
            to,
            reason,
            site,
        })
    }
}

/// What stands at a column of a line, for messages.
fn rest_of(text: &str, column: usize) -> String {
    let rest: String = text.chars().skip(column - 1).collect();
    if rest.is_empty() {
        "the end of the line".to_owned()
    } else {
        format!("`{rest}`")
    }
}
