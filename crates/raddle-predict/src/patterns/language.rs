//! The language of patterns: `[E, T, SV, AR, AT]` (PECAN, section 3).
//!
//! A pattern is a sequence of accesses. Each step says by which thread, to which variable, in which
//! atomic region, and whether it reads or writes; equal names stand for the same thread, variable or
//! region, different ones for different ones. Written as five lists of equal length, of which the
//! first, the events' own names, may be left out:
//!
//! ```text
//! threads   = "t1-t2-t1"
//! variables = "s1-s1-s1"
//! regions   = "u1-u2-u1"
//! access    = "r-w-r"
//! ```

use std::fmt;

/// Steps that a pattern may have.
pub const MAX_STEPS: usize = 8;

/// What a step does to its variable. A read-modify-write does both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// It reads it.
    Read,
    /// It writes it.
    Write,
}

/// One access of a pattern. Threads, variables and regions are numbered by first appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    /// Who.
    pub thread: u8,
    /// To what.
    pub variable: u8,
    /// In which atomic region.
    pub region: u8,
    /// How.
    pub access: Access,
}

/// What a match of a pattern is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PatternKind {
    /// Two conflicting accesses at the same time.
    DataRace,
    /// A region is not serialisable, for one variable.
    AtomicityViolation,
    /// A region is not serialisable, for the variables that it accesses together.
    AtomicSetViolation,
    /// What the user named it.
    User,
}

/// How the events of a match follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// At once: nothing happens between the two.
    Adjacent,
    /// One before the other, with anything in between.
    InOrder,
}

/// A sequence of accesses that is an anomaly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// What it is called.
    pub name: String,
    /// What a match of it is.
    pub kind: PatternKind,
    steps: Vec<Step>,
}

/// A pattern that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pattern `{name}`: {fault}")]
pub struct PatternError {
    /// The pattern's name.
    pub name: String,
    /// What is wrong with it.
    pub fault: PatternFault,
}

/// What is wrong with a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternFault {
    /// A pattern has two to eight steps.
    #[error("it has {found} steps; a pattern has 2 to {max}", max = MAX_STEPS)]
    Length {
        /// How many it has.
        found: usize,
    },
    /// All lists are of one length.
    #[error(
        "`{list}` has {found} entries and `threads` has {expected}; all lists need as many entries as the \
         pattern has steps"
    )]
    Lengths {
        /// Which list.
        list: &'static str,
        /// Its length.
        found: usize,
        /// The length of `threads`.
        expected: usize,
    },
    /// Names consist of letters and digits.
    #[error(
        "`{list}` has the entry `{found}`; an entry is a name of letters, digits and underscores, such as `t1`, \
         and entries are separated by `-`"
    )]
    Name {
        /// Which list.
        list: &'static str,
        /// The entry.
        found: String,
    },
    /// An access is r or w.
    #[error("`access` has the entry `{found}`; write `r` for a read and `w` for a write")]
    Access {
        /// The entry.
        found: String,
    },
    /// Events have names of their own.
    #[error("`events` names `{event}` twice; each step is an event of its own")]
    RepeatedEvent {
        /// The name.
        event: String,
    },
    /// One thread alone makes no anomaly.
    #[error("only one thread takes part in it; name at least two in `threads`")]
    OneThread,
    /// A region is a part of one thread's events.
    #[error("region `{region}` has steps of two threads; an atomic region belongs to one thread")]
    SharedRegion {
        /// The region.
        region: String,
    },
    /// Regions of a thread follow each other.
    #[error(
        "region `{region}` goes on after another region of its thread has begun; regions of a thread follow \
         each other"
    )]
    ResumedRegion {
        /// The region.
        region: String,
    },
    /// Some order between threads has to matter.
    #[error(
        "no variable is accessed by two threads with a write among the accesses, so the order of the steps \
         makes no difference"
    )]
    NoConflict,
}

impl Access {
    /// Whether it writes.
    #[must_use]
    pub const fn is_write(self) -> bool {
        matches!(self, Self::Write)
    }
}

impl Pattern {
    /// A user's pattern, as dashed lists.
    pub fn parse(
        name: &str,
        events: Option<&str>,
        threads: &str,
        variables: &str,
        regions: &str,
        access: &str,
    ) -> Result<Self, PatternError> {
        let split = |list: &str| -> Vec<String> {
            let entries = list.split('-').map(|entry| entry.trim().to_owned());
            entries.collect()
        };
        Self::from_lists(
            name,
            events.map(split).as_deref(),
            &split(threads),
            &split(variables),
            &split(regions),
            &split(access),
        )
    }

    /// A user's pattern, as lists of names.
    pub fn from_lists<S: AsRef<str>>(
        name: &str,
        events: Option<&[S]>,
        threads: &[S],
        variables: &[S],
        regions: &[S],
        access: &[S],
    ) -> Result<Self, PatternError> {
        let lists = Lists {
            events: events.map(names),
            threads: names(threads),
            variables: names(variables),
            regions: names(regions),
            access: names(access),
        };
        let steps = lists.steps().map_err(|fault| PatternError {
            name: name.to_owned(),
            fault,
        })?;
        Ok(Self {
            name: name.to_owned(),
            kind: PatternKind::User,
            steps,
        })
    }

    /// A pattern of our own: its steps are known to make sense.
    pub(super) fn built_in(kind: PatternKind, name: String, steps: Vec<Step>) -> Self {
        Self { name, kind, steps }
    }

    /// Its accesses, in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// How the events of a match follow each other: two accesses are a pattern only if nothing comes
    /// between them, since otherwise any two that conflict would be.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match self.steps.len() {
            2 => Shape::Adjacent,
            _ => Shape::InOrder,
        }
    }

    /// Whether its regions could as well be executed one after the other: their conflict graph has no
    /// cycle. Steps of one thread in different regions stay in order.
    #[must_use]
    pub fn is_serialisable(&self) -> bool {
        let conflicts = |a: &Step, b: &Step| {
            a.variable == b.variable && (a.access.is_write() || b.access.is_write())
        };
        let mut edges = Vec::new();
        for (later, b) in self.steps.iter().enumerate() {
            for a in &self.steps[..later] {
                if a.region != b.region && (a.thread == b.thread || conflicts(a, b)) {
                    edges.push((a.region, b.region));
                }
            }
        }
        while !edges.is_empty() {
            let before = edges.len();
            let targets: Vec<u8> = edges.iter().map(|&(_, to)| to).collect();
            edges.retain(|(from, _)| targets.contains(from));
            if edges.len() == before {
                return false;
            }
        }
        true
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// The lists of a pattern.
struct Lists<'a> {
    events: Option<Vec<&'a str>>,
    threads: Vec<&'a str>,
    variables: Vec<&'a str>,
    regions: Vec<&'a str>,
    access: Vec<&'a str>,
}

fn names<S: AsRef<str>>(list: &[S]) -> Vec<&str> {
    list.iter().map(|entry| entry.as_ref().trim()).collect()
}

impl Lists<'_> {
    fn steps(&self) -> Result<Vec<Step>, PatternFault> {
        let expected = self.threads.len();
        let own = [
            ("threads", Some(&self.threads)),
            ("variables", Some(&self.variables)),
            ("regions", Some(&self.regions)),
            ("access", Some(&self.access)),
            ("events", self.events.as_ref()),
        ];
        for (list, entries) in own.into_iter().filter_map(|(list, it)| Some((list, it?))) {
            let found = entries.len();
            if found != expected {
                return Err(PatternFault::Lengths {
                    list,
                    found,
                    expected,
                });
            }
            check_names(list, entries)?;
        }
        if !(2..=MAX_STEPS).contains(&expected) {
            return Err(PatternFault::Length { found: expected });
        }
        let events = self.events.as_deref().unwrap_or_default();
        if let Some(at) = (0..events.len()).find(|&at| events[..at].contains(&events[at])) {
            return Err(PatternFault::RepeatedEvent {
                event: events[at].to_owned(),
            });
        }
        let steps = (0..expected).map(|at| {
            Ok(Step {
                thread: number(&self.threads, at),
                variable: number(&self.variables, at),
                region: number(&self.regions, at),
                access: access(self.access[at])?,
            })
        });
        let steps = steps.collect::<Result<Vec<Step>, PatternFault>>()?;
        self.check(&steps)?;
        Ok(steps)
    }

    fn check(&self, steps: &[Step]) -> Result<(), PatternFault> {
        if steps.iter().all(|step| step.thread == 0) {
            return Err(PatternFault::OneThread);
        }
        for (at, step) in steps.iter().enumerate() {
            let region = || self.regions[at].to_owned();
            let before = &steps[..at];
            let own = before.iter().filter(|other| other.region == step.region);
            if own.clone().any(|other| other.thread != step.thread) {
                return Err(PatternFault::SharedRegion { region: region() });
            }
            let mut of_thread = before.iter().filter(|other| other.thread == step.thread);
            let latest = of_thread.next_back();
            let is_other = latest.is_some_and(|latest| latest.region != step.region);
            if is_other && own.clone().next().is_some() {
                return Err(PatternFault::ResumedRegion { region: region() });
            }
        }
        let conflict = |a: &Step, b: &Step| {
            let writes = a.access.is_write() || b.access.is_write();
            a.thread != b.thread && a.variable == b.variable && writes
        };
        match steps.iter().any(|a| steps.iter().any(|b| conflict(a, b))) {
            true => Ok(()),
            false => Err(PatternFault::NoConflict),
        }
    }
}

fn check_names(list: &'static str, entries: &[&str]) -> Result<(), PatternFault> {
    let is_name =
        |entry: &str| !entry.is_empty() && entry.chars().all(|c| c.is_alphanumeric() || c == '_');
    match entries.iter().find(|entry| !is_name(entry)) {
        Some(&found) => Err(PatternFault::Name {
            list,
            found: found.to_owned(),
        }),
        None => Ok(()),
    }
}

fn access(entry: &str) -> Result<Access, PatternFault> {
    match entry.to_ascii_lowercase().as_str() {
        "r" | "read" => Ok(Access::Read),
        "w" | "write" => Ok(Access::Write),
        _ => Err(PatternFault::Access {
            found: entry.to_owned(),
        }),
    }
}

/// How many different names come before that of an entry.
fn number(entries: &[&str], at: usize) -> u8 {
    let first = entries.iter().position(|entry| *entry == entries[at]);
    let first = first.unwrap_or(at);
    let different = (0..first).filter(|&other| !entries[..other].contains(&entries[other]));
    different.count() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(lists: [&str; 4]) -> String {
        let [threads, variables, regions, access] = lists;
        let parsed = Pattern::parse("mine", None, threads, variables, regions, access);
        parsed.unwrap_err().to_string()
    }

    #[test]
    fn names_are_numbered_by_first_appearance() {
        let events = Some("e1 - e2 - e3");
        let parsed = Pattern::parse("mine", events, "b-a-b", "y-y-x", "u9-u1-u9", "read-W-r");
        let pattern = parsed.unwrap();
        let steps = pattern.steps().iter();
        let numbers: Vec<_> = steps
            .map(|it| (it.thread, it.variable, it.region, it.access))
            .collect();
        let (read, write) = (Access::Read, Access::Write);
        assert_eq!(
            numbers,
            [(0, 0, 0, read), (1, 0, 1, write), (0, 1, 0, read)]
        );
        assert_eq!(pattern.kind, PatternKind::User);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let check = |lists, sentence: &str| {
            let found = fault(lists);
            assert!(found.contains(sentence), "{found}");
            assert!(found.starts_with("pattern `mine`: "), "{found}");
        };
        let (t, s, u, a) = ("t1-t2-t1", "s1-s1-s1", "u1-u2-u1", "r-w-r");
        check(
            [t, "s1-s1", u, a],
            "`variables` has 2 entries and `threads` has 3",
        );
        check(["t1", "s1", "u1", "r"], "it has 1 steps");
        check([t, "s1--s1", u, a], "`variables` has the entry ``");
        check([t, s, "u 1-u2-u1", a], "`regions` has the entry `u 1`");
        check([t, s, u, "r-x-r"], "`access` has the entry `x`");
        check(["t1-t1-t1", s, "u1-u1-u1", a], "only one thread");
        check(
            [t, s, "u1-u1-u1", a],
            "region `u1` has steps of two threads",
        );
        check(
            ["t1-t2-t1-t1", "s1-s1-s1-s1", "u1-u2-u3-u1", "r-w-r-r"],
            "region `u1` goes on after another region",
        );
        check([t, s, u, "r-r-r"], "no variable is accessed by two threads");
        let repeated = Pattern::parse("mine", Some("e-e-f"), t, s, u, a).unwrap_err();
        assert!(repeated.to_string().contains("names `e` twice"));
    }

    #[test]
    fn what_any_order_of_regions_explains_is_serialisable() {
        let parse = |threads, regions, access| {
            let parsed = Pattern::parse("mine", None, threads, "s-s-s", regions, access);
            parsed.unwrap()
        };
        assert!(parse("t1-t2-t3", "u1-u2-u3", "w-w-r").is_serialisable());
        assert!(parse("t1-t2-t1", "u1-u2-u3", "w-w-r").is_serialisable());
        assert!(parse("t1-t2-t1", "u1-u2-u1", "r-r-w").is_serialisable());
        assert!(!parse("t1-t2-t1", "u1-u2-u1", "r-w-w").is_serialisable());
    }
}
