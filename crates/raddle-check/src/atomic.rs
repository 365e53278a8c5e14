//! What the user means to be atomic, found in a run: functions by their names, and blocks by their lines.
//!
//! A name stands for every function of which it is the whole name or the last part: `deposit` and
//! `Account::deposit` both stand for `bank::Account::deposit`. A `*` stands for anything. Parameters and
//! type arguments, which C++ and Rust have in their functions' names, need not be given. `bank.c:10-20`
//! stands for these lines of the file.
//!
//! A call has an entry in the trace unless the compiler put the function's code into its caller. Such code,
//! and that of a block, is known by its source positions: a stretch lasts for as long as its frame executes
//! nothing that is positioned elsewhere, whatever it calls meanwhile. When an instruction comes again, another
//! stretch begins, because a call in a loop cannot be told from a loop in a call; so a loop is not seen as one.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use raddle_predict::patterns::Stretch;
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::file::Trailer;
use raddle_trace::ids::{Address, EventIndex, SiteId, ThreadId};
use raddle_trace::position::SourcePosition;
use raddle_trace::wire::SiteKind;

/// What names stand for in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The entries of functions, by number.
    pub entries: Vec<SiteId>,
    /// Code without entries, by thread and time.
    pub stretches: Vec<Stretch>,
    /// Names of which nothing was executed.
    pub missing: Vec<String>,
}

/// Finds what names stand for. The tables of a run name all that it executed.
#[must_use]
pub fn find(names: &[String], events: &[Event], trailer: &Trailer) -> Found {
    let mut found = Found::default();
    for name in names {
        let mark = Mark::new(name);
        let before = (found.entries.len(), found.stretches.len());
        let sites = trailer.sites.iter();
        let entries = sites.filter(|info| info.shape.kind == SiteKind::Enter);
        let entries = entries.filter(|info| mark.is_function(&info.positions));
        found.entries.extend(entries.map(|info| info.site));
        found.stretches.extend(mark.stretches(events, trailer));
        if (found.entries.len(), found.stretches.len()) == before {
            found.missing.push(name.clone());
        }
    }
    found.entries.sort_unstable();
    found.entries.dedup();
    found.stretches.sort_unstable();
    found.stretches.dedup();
    found
}

/// What to tell about a name of which nothing was executed.
#[must_use]
pub fn missing(name: &str) -> String {
    format!("`{name}` is meant to be atomic, but nothing was executed that is called so")
}

/// What a name says.
enum Mark<'a> {
    Function(&'a str),
    Block {
        file: &'a str,
        first: u32,
        last: u32,
    },
}

impl<'a> Mark<'a> {
    fn new(name: &'a str) -> Self {
        let lines = |text: &str| {
            let (first, last) = text.split_once('-')?;
            Some((first.parse().ok()?, last.parse().ok()?))
        };
        let block = name.rsplit_once(':');
        match block.and_then(|(file, text)| Some((file, lines(text)?))) {
            Some((file, (first, last))) => Self::Block { file, first, last },
            None => Self::Function(name),
        }
    }

    /// Whether code with these positions, innermost first, is a function's own.
    fn is_function(&self, positions: &[SourcePosition]) -> bool {
        match (self, positions.last()) {
            (Self::Function(name), Some(position)) => stands_for(name, &position.function),
            _ => false,
        }
    }

    /// Whether code with these positions, innermost first, belongs to it and has no entry of its own.
    fn is_inside(&self, positions: &[SourcePosition]) -> bool {
        match self {
            Self::Function(name) => {
                let inlined = positions.split_last().map_or(&[][..], |it| it.1);
                inlined.iter().any(|it| stands_for(name, &it.function))
            }
            Self::Block { file, first, last } => positions
                .iter()
                .any(|it| is_file(file, &it.file) && (*first..=*last).contains(&it.line)),
        }
    }

    fn stretches(&self, events: &[Event], trailer: &Trailer) -> Vec<Stretch> {
        let sites = trailer.sites.iter();
        let codes = trailer.code.iter();
        let places = Places {
            sites: sites
                .map(|it| (it.site, self.place(&it.positions)))
                .collect(),
            codes: codes.map(|it| (it.pc, self.place(&it.positions))).collect(),
        };
        let inside = Some(Place::Inside);
        let mut all = places.sites.values().chain(places.codes.values());
        if !all.any(|it| *it == inside) {
            return Vec::new();
        }
        let mut walks: BTreeMap<ThreadId, Walk> = BTreeMap::new();
        let mut stretches = Vec::new();
        for (index, event) in (0..).map(EventIndex).zip(events) {
            let walk = walks.entry(event.thread).or_default();
            walk.step(index, event, &places, &mut stretches);
        }
        for (thread, walk) in walks {
            stretches.extend(walk.open.map(|open| open.until(thread, walk.last)));
        }
        stretches
    }

    fn place(&self, positions: &[SourcePosition]) -> Option<Place> {
        match (positions.is_empty(), self.is_inside(positions)) {
            (true, _) => None,
            (_, true) => Some(Place::Inside),
            (_, false) => Some(Place::Outside),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Inside,
    Outside,
}

/// Where code is; none if nobody knows.
struct Places {
    sites: BTreeMap<SiteId, Option<Place>>,
    codes: BTreeMap<Address, Option<Place>>,
}

/// A step of a frame, by which it is known again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Site(SiteId),
    Code(Address),
}

/// A stretch that has not ended.
struct Open {
    first: EventIndex,
    /// How many frames there are above its own.
    depth: usize,
    steps: BTreeSet<Step>,
}

impl Open {
    fn until(&self, thread: ThreadId, last: EventIndex) -> Stretch {
        Stretch {
            thread,
            first: self.first,
            last,
        }
    }
}

/// A thread's way through the marked code.
#[derive(Default)]
struct Walk {
    frames: Vec<Address>,
    open: Option<Open>,
    /// The event before.
    last: EventIndex,
}

impl Walk {
    fn step(&mut self, index: EventIndex, event: &Event, places: &Places, done: &mut Vec<Stretch>) {
        let thread = event.thread;
        let of_code = |pc: Address| (Step::Code(pc), places.codes.get(&pc).copied().flatten());
        match event.kind {
            EventKind::Enter {
                frame,
                return_address,
                ..
            } => {
                self.unwind(thread, frame, done);
                let (step, place) = of_code(return_address);
                self.visit(index, thread, step, place, done);
                self.frames.push(frame);
            }
            EventKind::Exit { frame, .. } => self.unwind(thread, frame, done),
            EventKind::Action {
                action: Action::Begin { .. },
                ..
            } => self.unwind(thread, Address(u64::MAX), done),
            // Of the same call as what it leads to.
            EventKind::Action {
                action: Action::Request { .. },
                ..
            } => {}
            EventKind::Action { pc, .. } => {
                let (step, place) = of_code(pc);
                self.visit(index, thread, step, place, done);
            }
            _ => {
                if let Some(site) = event.site() {
                    let place = places.sites.get(&site).copied().flatten();
                    self.visit(index, thread, Step::Site(site), place, done);
                }
            }
        }
        self.last = index;
    }

    /// The innermost frame executes something.
    fn visit(
        &mut self,
        index: EventIndex,
        thread: ThreadId,
        step: Step,
        place: Option<Place>,
        done: &mut Vec<Stretch>,
    ) {
        let depth = self.frames.len();
        let is_own = |open: &Open| open.depth == depth;
        if self.open.as_ref().is_some_and(|open| !is_own(open)) {
            return;
        }
        let Some(place) = place else {
            return;
        };
        let goes_on = place == Place::Inside
            && self
                .open
                .as_mut()
                .is_some_and(|open| open.steps.insert(step));
        if goes_on {
            return;
        }
        done.extend(self.open.take().map(|open| open.until(thread, self.last)));
        self.open = (place == Place::Inside).then(|| Open {
            first: index,
            depth,
            steps: BTreeSet::from([step]),
        });
    }

    /// Every frame at or below an address is gone, and a stretch of such a frame with it.
    fn unwind(&mut self, thread: ThreadId, frame: Address, done: &mut Vec<Stretch>) {
        while self.frames.pop_if(|top| *top <= frame).is_some() {}
        let depth = self.frames.len();
        if let Some(open) = self.open.take_if(|open| open.depth > depth) {
            done.push(open.until(thread, self.last));
        }
    }
}

/// Whether a file is meant by a name: the whole path or its last parts.
fn is_file(name: &str, path: &str) -> bool {
    path.strip_suffix(name)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Whether a name stands for a function.
fn stands_for(name: &str, function: &str) -> bool {
    let plain = without_arguments(function);
    [function, &plain].into_iter().any(|function| {
        let parts = function
            .match_indices("::")
            .map(|(at, part)| at + part.len());
        let mut starts = std::iter::once(0).chain(parts);
        starts.any(|at| matches(name.as_bytes(), &function.as_bytes()[at..]))
    })
}

/// A function's name without parameters and type arguments.
fn without_arguments(function: &str) -> Cow<'_, str> {
    if !function.contains(['<', '(']) {
        return Cow::Borrowed(function);
    }
    let mut plain = String::new();
    let mut depth = 0_u32;
    for c in function.chars() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    // Rust has `::<T>`, and C++ has ` const` behind the parameters.
    let plain = plain.replace("::::", "::");
    let plain = plain.trim_end_matches("::").trim_end_matches(" const");
    Cow::Owned(plain.trim().to_owned())
}

/// Whether a text is what a glob describes.
fn matches(glob: &[u8], text: &[u8]) -> bool {
    // Where to go on if it does not fit: behind the last `*`, with one more byte taken for it.
    let mut retry = None;
    let (mut g, mut t) = (0, 0);
    while t < text.len() {
        match glob.get(g) {
            Some(b'*') => {
                retry = Some((g + 1, t));
                g += 1;
            }
            Some(byte) if *byte == text[t] => {
                g += 1;
                t += 1;
            }
            _ => {
                let Some((behind, from)) = retry else {
                    return false;
                };
                retry = Some((behind, from + 1));
                (g, t) = (behind, from + 1);
            }
        }
    }
    glob[g..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{event, read};
    use raddle_trace::position::SiteInfo;
    use raddle_trace::sites::SiteShape;

    #[test]
    fn names_stand_for_functions() {
        let check = |name, function| assert!(stands_for(name, function), "{name}: {function}");
        check("deposit", "deposit");
        check("deposit", "bank::Account::deposit");
        check("Account::deposit", "bank::Account::deposit");
        check("Account::*", "bank::Account::deposit");
        check("*posit", "bank::Account::deposit");
        check("bank::*::deposit", "bank::Account::deposit");
        check("deposit", "bank::Account::deposit(int, long)");
        check("deposit", "bank::Account::deposit(int) const");
        check("push", "queue::Queue<T>::push::<i32>");
        check("Queue::push", "queue::Queue<T>::push::<i32>");
        check("Queue<T>::push::<i32>", "queue::Queue<T>::push::<i32>");
        check("main::{closure#0}", "bank::main::{closure#0}");
    }

    #[test]
    fn and_not_for_others() {
        let check = |name, function| assert!(!stands_for(name, function), "{name}: {function}");
        check("deposit", "bank::redeposit");
        check("deposit", "bank::deposit_all");
        check("Account::deposit", "bank::OldAccount::deposit");
        check("*x", "bank::Account::deposit");
        check("", "deposit");
    }

    /// Positions, innermost first, of functions in one file.
    fn positions(places: &[(&str, u32)]) -> Vec<SourcePosition> {
        let of = |&(function, line): &(&str, u32)| SourcePosition {
            function: function.to_owned(),
            file: "src/bank.c".to_owned(),
            line,
            column: 1,
        };
        places.iter().map(of).collect()
    }

    /// A function `work` at lines 20 to 29 into which `handle`, at lines 10 to 19, was put; sites are lines.
    fn trailer() -> Trailer {
        let shape = |kind| SiteShape::from_raw(kind as u8, 0, 4, 0).unwrap();
        let info = |line: u32, kind| SiteInfo {
            site: SiteId(line),
            module: 0,
            index: line,
            shape: shape(kind),
            positions: match line {
                10..20 => positions(&[("handle", line), ("work", 25)]),
                _ => positions(&[("work", line)]),
            },
            variable: None,
        };
        let sites = [11, 12, 13, 21, 22, 28].map(|line| info(line, SiteKind::Read));
        Trailer {
            sites: sites
                .into_iter()
                .chain([info(30, SiteKind::Enter)])
                .collect(),
            ..Trailer::default()
        }
    }

    fn found(name: &str, sites: &[u32]) -> Found {
        let events: Vec<Event> = sites.iter().map(|site| event(1, 0, read(*site))).collect();
        find(&[name.to_owned()], &events, &trailer())
    }

    fn stretches(name: &str, sites: &[u32]) -> Vec<(u64, u64)> {
        let stretches = found(name, sites).stretches.into_iter();
        stretches.map(|it| (it.first.0, it.last.0)).collect()
    }

    #[test]
    fn an_inlined_call_lasts_until_its_caller_goes_on() {
        assert_eq!(stretches("handle", &[21, 11, 12, 22, 28]), [(1, 2)]);
        assert_eq!(stretches("handle", &[11, 12, 28, 11, 12]), [(0, 1), (3, 4)]);
        // Twice in a row, as in a loop.
        assert_eq!(stretches("handle", &[11, 12, 11, 12, 13]), [(0, 1), (2, 4)]);
        assert_eq!(stretches("handle", &[21, 22, 28]), []);
    }

    #[test]
    fn a_function_with_entries_is_found_by_them() {
        let found = found("work", &[21, 11, 22]);
        assert_eq!((found.entries, found.stretches), (vec![SiteId(30)], vec![]));
        assert_eq!(found.missing, [""; 0]);
        assert_eq!(super::tests::found("lost", &[21]).missing, ["lost"]);
    }

    #[test]
    fn a_block_is_known_by_its_lines() {
        assert_eq!(stretches("bank.c:20-22", &[11, 21, 22, 28]), [(1, 2)]);
        assert_eq!(stretches("src/bank.c:21-25", &[28, 21, 11, 22]), [(1, 3)]);
        assert_eq!(stretches("ank.c:20-22", &[21, 22]), []);
        assert_eq!(found("bank.c:50-60", &[21]).missing, ["bank.c:50-60"]);
    }

    #[test]
    fn what_a_block_calls_belongs_to_it() {
        let enter = |frame| EventKind::Enter {
            site: SiteId(30),
            frame: Address(frame),
            return_address: Address(0),
        };
        let exit = |frame| EventKind::Exit {
            site: SiteId(30),
            frame: Address(frame),
        };
        let kinds = [
            enter(90),
            read(21),
            enter(80),
            read(28),
            exit(80),
            read(22),
            exit(90),
        ];
        let events = kinds.map(|kind| event(1, 0, kind));
        let found = find(&["bank.c:20-22".to_owned()], &events, &trailer());
        let stretches: Vec<_> = found
            .stretches
            .iter()
            .map(|it| (it.first.0, it.last.0))
            .collect();
        assert_eq!(stretches, [(1, 5)]);
    }
}
