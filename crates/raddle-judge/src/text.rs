//! Witnesses as plain text, so that a proof can be kept, read and judged again.
//!
//! The head of a file says what its lines mean ([`HEAD`]). Writer and reader stand side by side; the same
//! witnesses give the same bytes. The reader trusts no number: an event that the trace does not have is an error
//! before anything is made of it.

use std::fmt::Write;
use std::ops::RangeInclusive;

use raddle_trace::ids::{EventIndex, ThreadId};

use crate::witness::{Claim, Listing, ReadRule, Region, Witness};

/// What a file begins with.
pub const HEAD: &str = "\
raddle-witness 1
# Orders of a trace's events, each with the bug that it shows. Lines that begin with # mean nothing.
#
#   events N             the trace has N events; they are numbered from 0, as `raddle trace dump` prints them
#   witness NAME         a witness begins
#   claim WORDS          the bug:
#       race A B                    two conflicting accesses are next in their threads
#       deadlock A B ...            each of these events is next, and waits for the thread of the following one
#       unserialisable A B ... [in KIND:FIRST-LAST ...]
#                                   accesses in an order that no order of whole regions allows; a region is of
#                                   a lock, a call, or marked
#       sequence A B ...            accesses one after another
#       use-after-free FREE ACCESS  the access is next
#       double-free FIRST SECOND    the second is next
#       null-dereference READ ACCESS, uninitialised-read READ
#       branch-flip THREAD NUMBER   a branch goes the other way
#       feasible                    nothing but the order
#   reads RULE           what justifies reads: same-write, same-value, or relaxed
#   lists WHICH          the order lists every event that is executed, or some
#   order A B-C ...      the events that are executed, in order, B-C for all from B to C; several lines are one
#   end                  the witness ends
#
# `raddle trace judge TRACE FILE` says whether they hold.
";

/// A text that is no list of witnesses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadText {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, as a sentence.
    pub what: String,
}

/// A witness with the name that a file gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The line where it begins.
    pub line: usize,
    /// The witness.
    pub witness: Witness,
}

/// Longest line of an order.
const WIDTH: usize = 100;

/// Appends a witness. Comments are lines for people.
pub fn write(text: &mut String, name: &str, comments: &[String], witness: &Witness) {
    let _ = writeln!(text, "\nwitness {name}");
    for comment in comments {
        let _ = writeln!(text, "# {}", comment.replace(['\n', '\r'], " "));
    }
    let _ = writeln!(text, "claim {}", claim(&witness.claim));
    let _ = writeln!(text, "reads {}", name_of(&RULES, &witness.rule));
    let _ = writeln!(text, "lists {}", name_of(&LISTINGS, &witness.listing));
    let mut line = String::from("order");
    for range in ranges(&witness.order) {
        let (first, last) = (range.start(), range.end());
        let word = match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        if line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(text, "{line}");
            line = String::from("order");
        }
        let _ = write!(line, " {word}");
    }
    let _ = writeln!(text, "{line}\nend");
}

/// The line that says how many events the trace has.
#[must_use]
pub fn events_line(events: u64) -> String {
    format!("\nevents {events}\n")
}

const RULES: [(&str, ReadRule); 3] = [
    ("same-write", ReadRule::SameWrite),
    ("same-value", ReadRule::SameValue),
    ("relaxed", ReadRule::Relaxed),
];

const LISTINGS: [(&str, Listing); 2] = [("every", Listing::Every), ("some", Listing::Some)];

fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
    let found = names.iter().find(|(_, it)| it == value);
    found.map_or("", |(name, _)| name)
}

fn claim(claim: &Claim) -> String {
    let list = |word: &str, events: &[EventIndex]| {
        let numbers = events.iter().map(|it| format!(" {}", it.0));
        numbers.fold(word.to_owned(), |text, number| text + &number)
    };
    match claim {
        Claim::Feasible => "feasible".to_owned(),
        Claim::Race { a, b } => list("race", &[*a, *b]),
        Claim::Deadlock { cycle } => list("deadlock", cycle),
        Claim::Sequence { events } => list("sequence", events),
        Claim::Unserialisable { events, regions } => {
            let mut text = list("unserialisable", events);
            for (at, region) in regions.iter().enumerate() {
                let kind = match region {
                    Region::Lock { .. } => "lock",
                    Region::Call { .. } => "call",
                    Region::Marked { .. } => "marked",
                };
                let word = if at == 0 { " in" } else { "" };
                let (first, last) = region.bounds();
                let _ = write!(text, "{word} {kind}:{}-{}", first.0, last.0);
            }
            text
        }
        Claim::BranchFlip { thread, branch } => format!("branch-flip {thread} {branch}"),
        Claim::UseAfterFree { free, access } => list("use-after-free", &[*free, *access]),
        Claim::DoubleFree { first, second } => list("double-free", &[*first, *second]),
        Claim::NullDereference { read, access } => list("null-dereference", &[*read, *access]),
        Claim::UninitialisedRead { read } => list("uninitialised-read", &[*read]),
    }
}

/// An order as runs of consecutive numbers.
fn ranges(order: &[EventIndex]) -> Vec<RangeInclusive<u64>> {
    let mut ranges: Vec<RangeInclusive<u64>> = Vec::new();
    for EventIndex(index) in order {
        match ranges.last_mut() {
            Some(last) if last.end().checked_add(1) == Some(*index) => {
                *last = *last.start()..=*index;
            }
            _ => ranges.push(*index..=*index),
        }
    }
    ranges
}

/// The witnesses of a text about a trace of so many events.
///
/// # Errors
/// If a line is none of those that [`HEAD`] tells of, or names an event that the trace does not have.
pub fn read(text: &str, events: u64) -> Result<Vec<Named>, BadText> {
    let mut reader = Reader {
        events,
        done: Vec::new(),
        open: None,
    };
    let mut lines = text.lines().enumerate();
    let first = lines.next().map(|(_, line)| line.trim_end());
    if first != Some("raddle-witness 1") {
        return Err(BadText {
            line: 1,
            what: "a file of witnesses begins with `raddle-witness 1`".to_owned(),
        });
    }
    let mut last = 1;
    for (at, line) in lines {
        last = at + 1;
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            let read = reader.line(line, last);
            read.map_err(|what| BadText { line: last, what })?;
        }
    }
    match reader.open {
        None => Ok(reader.done),
        Some(open) => Err(BadText {
            line: last,
            what: format!("witness {} has no `end`", open.name),
        }),
    }
}

/// A witness of which not all lines have come.
struct Open {
    name: String,
    line: usize,
    claim: Option<Claim>,
    rule: Option<ReadRule>,
    listing: Option<Listing>,
    order: Vec<EventIndex>,
}

struct Reader {
    events: u64,
    done: Vec<Named>,
    open: Option<Open>,
}

impl Reader {
    fn line(&mut self, line: &str, number: usize) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match (word, self.open.is_some()) {
            ("events", false) => self.count(rest),
            ("witness", false) => {
                self.open = Some(Open {
                    name: rest.to_owned(),
                    line: number,
                    claim: None,
                    rule: None,
                    listing: None,
                    order: Vec::new(),
                });
                Ok(())
            }
            ("end", true) => self.end(),
            ("claim" | "reads" | "lists" | "order", true) => self.part(word, rest),
            ("events" | "witness", true) => Err(format!("`{word}` comes before `end`")),
            ("claim" | "reads" | "lists" | "order" | "end", false) => {
                Err(format!("`{word}` comes before `witness`"))
            }
            _ => Err(format!("`{word}` is no word of a witness")),
        }
    }

    fn count(&self, rest: &str) -> Result<(), String> {
        let events = self.events;
        match rest.parse::<u64>() {
            Ok(count) if count == events => Ok(()),
            Ok(count) => Err(format!(
                "the witnesses are of a trace of {count} events, and this one has {events}"
            )),
            Err(_) => Err(format!("`{rest}` is no number")),
        }
    }

    fn part(&mut self, word: &str, rest: &str) -> Result<(), String> {
        let events = self.events;
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let is_again = match word {
            "claim" => open.claim.replace(read_claim(rest, events)?).is_some(),
            "reads" => open.rule.replace(named(&RULES, rest)?).is_some(),
            "lists" => open.listing.replace(named(&LISTINGS, rest)?).is_some(),
            _ => {
                for word in rest.split_whitespace() {
                    let range = range(word, events)?;
                    let length = range.end() - range.start() + 1;
                    if open.order.len() as u64 + length > events {
                        return Err("the order has more events than the trace".to_owned());
                    }
                    open.order.extend(range.map(EventIndex));
                }
                false
            }
        };
        match is_again {
            true => Err(format!("a second `{word}` for one witness")),
            false => Ok(()),
        }
    }

    fn end(&mut self) -> Result<(), String> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let missing = |word: &str| format!("witness {} has no line `{word}`", open.name);
        let witness = Witness {
            order: open.order,
            listing: open.listing.ok_or_else(|| missing("lists"))?,
            rule: open.rule.ok_or_else(|| missing("reads"))?,
            claim: open.claim.ok_or_else(|| missing("claim"))?,
        };
        self.done.push(Named {
            name: open.name,
            line: open.line,
            witness,
        });
        Ok(())
    }
}

fn named<T: Copy>(names: &[(&str, T)], word: &str) -> Result<T, String> {
    let found = names.iter().find(|(name, _)| *name == word);
    let known: Vec<&str> = names.iter().map(|it| it.0).collect();
    let unknown = || format!("`{word}` is none of {}", known.join(", "));
    found.map(|it| it.1).ok_or_else(unknown)
}

fn event(word: &str, events: u64) -> Result<u64, String> {
    let number = word.parse::<u64>();
    let number = number.map_err(|_| format!("`{word}` is no event"))?;
    match number < events {
        true => Ok(number),
        false => Err(format!(
            "event {number} is not in the trace of {events} events"
        )),
    }
}

fn range(word: &str, events: u64) -> Result<RangeInclusive<u64>, String> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let (first, last) = (event(first, events)?, event(last, events)?);
    match first <= last {
        true => Ok(first..=last),
        false => Err(format!("`{word}` ends before it begins")),
    }
}

fn read_claim(text: &str, events: u64) -> Result<Claim, String> {
    let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
    if kind == "branch-flip" {
        let (thread, branch) = rest
            .split_once(' ')
            .ok_or("expected a thread and a number")?;
        let thread: ThreadId = thread
            .parse()
            .map_err(|_| format!("`{thread}` is no thread"))?;
        let branch = branch
            .parse()
            .map_err(|_| format!("`{branch}` is no number"))?;
        return Ok(Claim::BranchFlip { thread, branch });
    }
    let (listed, regions) = rest.split_once(" in ").unwrap_or((rest, ""));
    let listed = listed.split_whitespace();
    let listed: Result<Vec<EventIndex>, String> = listed
        .map(|word| event(word, events).map(EventIndex))
        .collect();
    let listed = listed?;
    let regions = regions.split_whitespace().map(|word| region(word, events));
    let regions: Vec<Region> = regions.collect::<Result<_, _>>()?;
    if !regions.is_empty() && kind != "unserialisable" {
        return Err(format!("the claim `{kind}` has no regions"));
    }
    Ok(match (kind, listed.as_slice()) {
        ("feasible", []) => Claim::Feasible,
        ("race", &[a, b]) => Claim::Race { a, b },
        ("deadlock", _) => Claim::Deadlock { cycle: listed },
        ("sequence", _) => Claim::Sequence { events: listed },
        ("unserialisable", _) => Claim::Unserialisable {
            events: listed,
            regions,
        },
        ("use-after-free", &[free, access]) => Claim::UseAfterFree { free, access },
        ("double-free", &[first, second]) => Claim::DoubleFree { first, second },
        ("null-dereference", &[read, access]) => Claim::NullDereference { read, access },
        ("uninitialised-read", &[read]) => Claim::UninitialisedRead { read },
        _ => return Err(format!("`{text}` is no claim")),
    })
}

fn region(word: &str, events: u64) -> Result<Region, String> {
    let (kind, bounds) = word
        .split_once(':')
        .ok_or_else(|| format!("`{word}` is no region"))?;
    let bounds = range(bounds, events)?;
    let (first, last) = (EventIndex(*bounds.start()), EventIndex(*bounds.end()));
    Ok(match kind {
        "lock" => Region::Lock {
            acquire: first,
            release: last,
        },
        "call" => Region::Call {
            enter: first,
            exit: last,
        },
        "marked" => Region::Marked { first, last },
        _ => return Err(format!("`{kind}` is no kind of region")),
    })
}
