//! What distinguishes a run that fails from one that passes.
//!
//! Up to some moment both do the same. The first read of the failing run that takes another value than in the
//! passing one, and from another write, is where the order of threads begins to matter: either the other thread's
//! write came too early for it or too late. Where the two threads have accessed the same variable before or after, so
//! that no order of the one's accesses as a whole and the other's would do the same, it is a violation of
//! atomicity (Lu, Tucek, Qin and Zhou, "AVIO", ASPLOS 2006: the four cases that no serial order has); where that takes a
//! second variable, one of an atomic set; otherwise it is the order of the two accesses by itself.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter;
use std::ops::Range;

use raddle_run::symbols::is_library;
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind, Footprint};
use raddle_trace::file::Trailer;
use raddle_trace::ids::{EventIndex, SiteId, ThreadId};
use raddle_trace::stack::{Frame, Stacks};

use crate::guide::Numbering;
use crate::own::{Own, is_own_line};

/// Memory is looked at in words of so many bytes.
const WORD_BYTES: u64 = 8;

/// How many calls around an access are taken for what is meant to be done at once.
const CALLS_AROUND: usize = 2;

/// How many accesses of such a call are looked at.
const MOST_NEAR: usize = 1_000;

/// What makes a run fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Accesses of one thread to a variable, with one of another thread in between.
    Atomicity([EventIndex; 3]),
    /// The same over two variables.
    AtomicSet([EventIndex; 4]),
    /// A read that came before a write that it should have seen, or after one that it should not have seen. The write
    /// may not have come at all.
    Order {
        read: EventIndex,
        write: Option<EventIndex>,
    },
}

impl Cause {
    /// Its events, as they came.
    pub(crate) fn events(&self) -> Vec<EventIndex> {
        let mut events = match self {
            Self::Atomicity(events) => events.to_vec(),
            Self::AtomicSet(events) => events.to_vec(),
            Self::Order { read, write } => write.iter().chain([read]).copied().collect(),
        };
        events.sort_unstable();
        events
    }
}

/// What makes the first of two runs fail and the second one pass; none if no read tells. `numbering` says what the
/// failing run's threads are called in the passing one, `trailer` what is at their sites.
pub(crate) fn cause(
    failing: &[Event],
    passing: &[Event],
    numbering: &Numbering,
    trailer: &Trailer,
) -> Option<Cause> {
    let mut scopes = [Scope::Lines, Scope::Calls].into_iter();
    scopes.find_map(|scope| {
        let runs = (failing, passing);
        Difference::new(runs, numbering, trailer, scope).cause(trailer)
    })
}

/// A run that fails beside one that passes.
struct Difference<'a> {
    failing: Side<'a>,
    passing: Side<'a>,
    numbering: &'a Numbering,
    back: Numbering,
}

/// Which accesses are held against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Those of the user's own lines, without packages.
    Lines,
    /// Those that are not atomic, in all that the user's code calls: what a container does to its elements, and not how a
    /// lock is made.
    Calls,
}

/// One of the two runs.
struct Side<'a> {
    events: &'a [Event],
    /// By word: the accesses of the user's code to it.
    accesses: BTreeMap<u64, Vec<EventIndex>>,
    /// By thread and instruction: when it was executed.
    steps: HashMap<(ThreadId, SiteId), Vec<EventIndex>>,
    /// By thread: the accesses of the user's code, in order.
    paths: BTreeMap<ThreadId, Vec<EventIndex>>,
    /// By thread: the event that created it.
    created: BTreeMap<ThreadId, EventIndex>,
}

impl<'a> Side<'a> {
    fn new(events: &'a [Event], trailer: &Trailer, scope: Scope) -> Self {
        let own = Own::new(events, trailer);
        let is_in_scope = |index: EventIndex, footprint: &Footprint, site: SiteId| match scope {
            Scope::Lines => is_own_line(site, trailer),
            Scope::Calls => own.has(index) && !footprint.atomic,
        };
        let mut side = Self {
            events,
            accesses: BTreeMap::new(),
            steps: HashMap::new(),
            paths: BTreeMap::new(),
            created: BTreeMap::new(),
        };
        for (index, event) in (0..).map(EventIndex).zip(events) {
            if let Some(Action::Fork { child }) = action(event) {
                side.created.insert(child, index);
            }
            if let (Some(footprint), Some(site)) = (event.footprint(), event.site())
                && event.lock_action().is_none()
                && is_in_scope(index, &footprint, site)
            {
                let steps = side.steps.entry((event.thread, site)).or_default();
                steps.push(index);
                side.paths.entry(event.thread).or_default().push(index);
                for word in words(event) {
                    side.accesses.entry(word).or_default().push(index);
                }
            }
        }
        side
    }

    fn event(&self, index: EventIndex) -> &'a Event {
        &self.events[index.0 as usize]
    }

    fn thread(&self, index: EventIndex) -> ThreadId {
        self.event(index).thread
    }

    /// Accesses before this one that touch what it touches, the last one first.
    fn before(&self, index: EventIndex) -> impl Iterator<Item = EventIndex> {
        let lists = self.lists(index).map(move |events| {
            let end = events.partition_point(|it| *it < index);
            events[..end].iter().rev().copied()
        });
        self.that_meet(index, merged(lists, Ordering::Greater))
    }

    /// Accesses after this one that touch what it touches, in order.
    fn after(&self, index: EventIndex) -> impl Iterator<Item = EventIndex> {
        let lists = self.lists(index).map(move |events| {
            let start = events.partition_point(|it| *it <= index);
            events[start..].iter().copied()
        });
        self.that_meet(index, merged(lists, Ordering::Less))
    }

    /// The accesses to each word that an access touches.
    fn lists(&self, index: EventIndex) -> impl Iterator<Item = &[EventIndex]> {
        let words = words(self.event(index));
        words.filter_map(|word| self.accesses.get(&word).map(Vec::as_slice))
    }

    fn that_meet(
        &self,
        index: EventIndex,
        others: impl Iterator<Item = EventIndex>,
    ) -> impl Iterator<Item = EventIndex> {
        others.filter(move |it| meet(self.event(*it), self.event(index)))
    }

    /// The write that an access finds.
    fn source(&self, index: EventIndex) -> Option<EventIndex> {
        self.before(index).find(|it| self.event(*it).is_write())
    }

    /// A thread's last access before an event to what that event touches.
    fn last_of(&self, thread: ThreadId, index: EventIndex) -> Option<EventIndex> {
        self.before(index).find(|it| self.thread(*it) == thread)
    }

    /// A thread's access in the other run that is the same step as one here: its instruction's, and of the same number.
    fn counterpart(
        &self,
        index: EventIndex,
        numbering: &Numbering,
        there: &Side<'_>,
    ) -> Option<EventIndex> {
        let event = self.event(index);
        let site = event.site()?;
        let number = self.steps.get(&(event.thread, site))?.binary_search(&index);
        let thread = numbering.of(event.thread)?;
        there.steps.get(&(thread, site))?.get(number.ok()?).copied()
    }

    /// Whether two accesses to the same memory mean the same variable: it was not freed in between.
    fn is_one_life(&self, one: EventIndex, other: EventIndex) -> bool {
        let event = self.event(one);
        let between = one.0 as usize..other.0 as usize;
        let events = self.events.get(between).unwrap_or_default();
        !events.iter().any(|it| match action(it) {
            Some(Action::Free { addr, size, .. }) => {
                let freed = addr.0..addr.0.saturating_add(size);
                bytes(event).is_some_and(|it| it.start < freed.end && freed.start < it.end)
            }
            _ => false,
        })
    }

    /// The accesses of the innermost calls of the user's functions that an event is in.
    fn call_around(&self, inside: EventIndex, trailer: &Trailer) -> BTreeSet<EventIndex> {
        let thread = self.thread(inside);
        let frames = self.frames_at(inside);
        // The user's code in a frame is where it goes on, also if it was inlined into another function.
        let here = self
            .event(inside)
            .site()
            .is_some_and(|it| is_own_line(it, trailer));
        let calls = frames.iter().map(|it| {
            let caller = trailer.code(it.return_address);
            caller.iter().any(|it| !is_library(it))
        });
        let with_own = frames.iter().zip(iter::once(here).chain(calls));
        let own = with_own
            .filter(|(_, is_own)| *is_own)
            .map(|(frame, _)| *frame);
        let around: Vec<Frame> = own.take(CALLS_AROUND).collect();
        let accesses: BTreeSet<EventIndex> = self.steps.values().flatten().copied().collect();
        let mut stacks = Stacks::default();
        let mut inside = BTreeSet::new();
        for (index, event) in (0..).map(EventIndex).zip(self.events) {
            stacks.observe(event);
            let is_in = event.thread == thread
                && accesses.contains(&index)
                && stacks.frames(thread).iter().any(|it| around.contains(it));
            if is_in {
                inside.insert(index);
            }
        }
        inside
    }

    /// Whether two accesses are reads of one instruction in the same calls: a loop that asks for a change.
    fn is_read_again(&self, one: EventIndex, other: EventIndex) -> bool {
        let is_read = |it: EventIndex| !self.event(it).is_write();
        is_read(one)
            && is_read(other)
            && self.event(one).site() == self.event(other).site()
            && self.frames_at(one) == self.frames_at(other)
    }

    /// The calls that an event is in, innermost first.
    fn frames_at(&self, index: EventIndex) -> Vec<Frame> {
        let mut stacks = Stacks::default();
        for event in &self.events[..=index.0 as usize] {
            stacks.observe(event);
        }
        let frames = stacks.frames(self.thread(index)).iter().rev();
        frames.copied().collect()
    }

    /// Whether a thread may do something while another one does: the other one has been created by then.
    fn is_beside(&self, index: EventIndex, other: ThreadId) -> bool {
        self.created.get(&other).is_none_or(|it| *it < index)
    }
}

impl<'a> Difference<'a> {
    fn new(
        (failing, passing): (&'a [Event], &'a [Event]),
        numbering: &'a Numbering,
        trailer: &Trailer,
        scope: Scope,
    ) -> Self {
        Self {
            failing: Side::new(failing, trailer, scope),
            passing: Side::new(passing, trailer, scope),
            back: numbering.reversed(),
            numbering,
        }
    }

    fn cause(&self, trailer: &Trailer) -> Option<Cause> {
        let steps = self.failing.steps.values().flatten();
        let reads: BTreeSet<EventIndex> = steps
            .copied()
            .filter(|it| self.failing.event(*it).is_read())
            .collect();
        let turn = reads.into_iter().find_map(|it| self.turn(it))?;
        Some(self.explain(turn, trailer))
    }

    /// Whether a read finds another value than in the passing run, left by another write.
    fn turn(&self, read: EventIndex) -> Option<Turn> {
        let there = self.in_passing(read)?;
        // Of what is read as a range no value is known.
        let found = value(self.failing.event(read));
        if found.is_some() && found == value(self.passing.event(there)) {
            return None;
        }
        let source = self.failing.source(read);
        let thread = self.failing.thread(read);
        let is_other = |it: &EventIndex| self.failing.thread(*it) != thread;
        let too_early = source.filter(is_other).filter(|it| {
            let there_too = self.in_passing(*it);
            there_too.is_none_or(|it| it > there)
        });
        if too_early.is_some_and(|it| self.is_on_another_path(it)) {
            return None;
        }
        let is_late = |it: &EventIndex| {
            let is_other = Some(self.passing.thread(*it)) != self.numbering.of(thread);
            is_other && self.in_failing(*it).is_none_or(|it| it > read)
        };
        let too_late = self.passing.source(there).filter(is_late);
        (too_early.is_some() || too_late.is_some()).then_some(Turn {
            read,
            too_early,
            too_late: too_late.map(|it| self.in_failing(it)),
        })
    }

    /// Whether the thread of an event goes another way before it than in the passing run, where the event does not come. No
    /// read tells why if this is asked of the first that differs: it may be a timeout, or what a library found. So the
    /// event is not what makes the run fail, but what comes of it.
    fn is_on_another_path(&self, event: EventIndex) -> bool {
        if self.in_passing(event).is_some() {
            return false;
        }
        let thread = self.failing.thread(event);
        let path = |side: &Side<'a>, thread: Option<ThreadId>| {
            let path = thread.and_then(|it| side.paths.get(&it));
            let sites = path.into_iter().flatten();
            let sites = sites.map(|it| side.event(*it).site());
            sites.collect::<Vec<Option<SiteId>>>()
        };
        let here = path(&self.failing, Some(thread));
        let there = path(&self.passing, self.numbering.of(thread));
        let before = self.failing.paths.get(&thread);
        let before = before.map_or(0, |it| it.partition_point(|it| *it < event));
        let common = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
        common < there.len() && common <= before
    }

    fn explain(&self, turn: Turn, trailer: &Trailer) -> Cause {
        let Turn {
            read,
            too_early,
            too_late,
        } = turn;
        let missed = too_late.flatten();
        let writes = [too_early, missed];
        let mut writes_there = writes.iter().flatten();
        let atomicity = too_early
            .and_then(|write| self.seen_twice(read, write))
            .or_else(|| missed.and_then(|write| self.seen_halfway(read, write)))
            .or_else(|| missed.and_then(|write| self.lost(read, write)));
        if let Some(events) = atomicity {
            return Cause::Atomicity(events);
        }
        if let Some(events) = writes_there.find_map(|write| self.over_two(read, *write, trailer)) {
            return Cause::AtomicSet(events);
        }
        let thread = self.failing.thread(read);
        let of_another = |it: &EventIndex| self.failing.thread(*it) != thread;
        let found = || self.failing.source(read).filter(of_another);
        Cause::Order {
            read,
            write: missed.or_else(found),
        }
    }

    /// A thread accessed the variable before, and finds what another one has written since.
    fn seen_twice(&self, read: EventIndex, write: EventIndex) -> Option<[EventIndex; 3]> {
        let before = self.failing.last_of(self.failing.thread(read), write)?;
        let is_loop = self.failing.is_read_again(before, read);
        let is_it = !is_loop
            && self.failing.is_beside(before, self.failing.thread(write))
            && self.failing.is_one_life(before, read);
        is_it.then_some([before, write, read])
    }

    /// A read comes between two writes of another thread.
    fn seen_halfway(&self, read: EventIndex, write: EventIndex) -> Option<[EventIndex; 3]> {
        let before = self.failing.last_of(self.failing.thread(write), read)?;
        let is_it = self.failing.event(before).is_write()
            && self.failing.is_beside(before, self.failing.thread(read))
            && self.failing.is_one_life(before, write);
        is_it.then_some([before, read, write])
    }

    /// One thread reads and writes, and another one writes in between.
    fn lost(&self, read: EventIndex, write: EventIndex) -> Option<[EventIndex; 3]> {
        let side = &self.failing;
        let (reader, writer) = (side.thread(read), side.thread(write));
        let is_readers = |it: &EventIndex| side.thread(*it) == reader && side.event(*it).is_write();
        // The reader goes by the old value, and finds another one or replaces it.
        let of_reader = |it: &EventIndex| side.thread(*it) == reader;
        let own = side.after(write).find(of_reader);
        let own = own.filter(|it| !side.is_read_again(read, *it));
        if let Some(own) = own.filter(|it| side.is_one_life(read, *it)) {
            return Some([read, write, own]);
        }
        // The writer had read before, and the reader writes in between.
        let before = side.last_of(writer, read)?;
        let own = side.after(read).find(is_readers)?;
        let is_it = own < write
            && side.event(before).is_read()
            && side.is_beside(before, reader)
            && side.is_one_life(before, write);
        is_it.then_some([before, own, write])
    }

    /// Another variable orders the same two calls the other way round.
    fn over_two(
        &self,
        read: EventIndex,
        write: EventIndex,
        trailer: &Trailer,
    ) -> Option<[EventIndex; 4]> {
        let side = &self.failing;
        // Who comes second here has to come first there.
        let (later, earlier) = (read.max(write), read.min(write));
        let first_call = side.call_around(later, trailer);
        let second_call = side.call_around(earlier, trailer);
        let second = side.thread(earlier);
        let is_new = |it: &&EventIndex| {
            let is_known = meet(side.event(**it), side.event(read));
            !is_known && side.is_beside(**it, second)
        };
        let is_plain = |it: EventIndex| {
            side.event(it)
                .footprint()
                .is_some_and(|footprint| !footprint.atomic)
        };
        let near = first_call.iter().rev().filter(is_new).take(MOST_NEAR);
        let pairs = near.flat_map(|&one| {
            let later = side.after(one).filter(|it| second_call.contains(it));
            let conflicting = later.filter(move |other| {
                (side.event(one).is_write() || side.event(*other).is_write())
                    && side.is_one_life(one, *other)
            });
            conflicting.take(1).map(move |other| (one, other))
        });
        let pairs: Vec<(EventIndex, EventIndex)> = pairs.collect();
        // What a library counts with atomics is rarely what the user means.
        let plain = pairs
            .iter()
            .find(|(one, other)| is_plain(*one) && is_plain(*other));
        let (one, other) = plain.or(pairs.first()).copied()?;
        let mut events = [one, other, read, write];
        events.sort_unstable();
        Some(events)
    }

    fn in_passing(&self, index: EventIndex) -> Option<EventIndex> {
        self.failing
            .counterpart(index, self.numbering, &self.passing)
    }

    fn in_failing(&self, index: EventIndex) -> Option<EventIndex> {
        self.passing.counterpart(index, &self.back, &self.failing)
    }
}

/// A read at which the failing run leaves the passing one.
struct Turn {
    read: EventIndex,
    /// The write that it finds, which comes after it in the passing run, or never.
    too_early: Option<EventIndex>,
    /// The write that it finds in the passing run, which comes after it here, or never.
    too_late: Option<Option<EventIndex>>,
}

/// The elements of ordered lists in one order, each once; `first` says whether the lesser or the greater one comes first.
fn merged<I: Iterator<Item = EventIndex>>(
    lists: impl Iterator<Item = I>,
    first: Ordering,
) -> impl Iterator<Item = EventIndex> {
    let mut lists: Vec<_> = lists.map(Iterator::peekable).collect();
    iter::from_fn(move || {
        let heads = lists.iter_mut().filter_map(|it| it.peek().copied());
        let next = heads.reduce(|one, other| match one.cmp(&other) == first {
            true => one,
            false => other,
        })?;
        for list in &mut lists {
            list.next_if_eq(&next);
        }
        Some(next)
    })
}

fn action(event: &Event) -> Option<Action> {
    match event.kind {
        EventKind::Action { action, .. } => Some(action),
        _ => None,
    }
}

/// The value that a read found.
fn value(event: &Event) -> Option<u64> {
    match event.kind {
        EventKind::Read(access)
        | EventKind::AtomicLoad(access, _)
        | EventKind::Rmw { access, .. }
        | EventKind::Cas { access, .. } => Some(access.value),
        _ => None,
    }
}

fn bytes(event: &Event) -> Option<Range<u64>> {
    let footprint = event.footprint()?;
    let start = footprint.addr.0;
    Some(start..start.saturating_add(footprint.len))
}

fn words(event: &Event) -> Range<u64> {
    let bytes = bytes(event).unwrap_or_default();
    bytes.start / WORD_BYTES..bytes.end.div_ceil(WORD_BYTES)
}

fn meet(one: &Event, other: &Event) -> bool {
    let (one, other) = (bytes(one), bytes(other));
    let both = one.zip(other);
    both.is_some_and(|(one, other)| one.start < other.end && other.start < one.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{event, fork};
    use raddle_trace::event::Access;
    use raddle_trace::ids::Address;

    /// An access of a thread: its instruction, the variable, and the value that it reads or writes.
    #[derive(Clone, Copy)]
    enum Step {
        Read(u32, u32, u64, u64),
        Write(u32, u32, u64, u64),
    }
    use Step::{Read, Write};

    /// Main creates two threads, which make these steps.
    fn run(steps: &[Step]) -> Vec<Event> {
        let mut events = vec![event(0, 0, fork(1)), event(0, 2, fork(2))];
        events.extend(steps.iter().map(|step| {
            let (Read(thread, site, variable, value) | Write(thread, site, variable, value)) =
                *step;
            let access = Access {
                site: SiteId(site),
                addr: Address(0x100 * variable),
                size: 8,
                value,
            };
            let kind = match step {
                Read(..) => EventKind::Read(access),
                Write(..) => EventKind::Write(access),
            };
            event(thread, 0, kind)
        }));
        events
    }

    /// What distinguishes the first run from the second, by the number of the step.
    #[track_caller]
    fn check(failing: &[Step], passing: &[Step], expected: Option<(&str, &[u64])>) {
        let (failing, passing) = (run(failing), run(passing));
        let numbering = Numbering::same(3);
        let cause = cause(&failing, &passing, &numbering, &Trailer::default());
        let told = cause.map(|cause| {
            let name = match cause {
                Cause::Atomicity(_) => "atomicity",
                Cause::AtomicSet(_) => "atomic set",
                Cause::Order { .. } => "order",
            };
            let events = cause.events();
            (name, events.iter().map(|it| it.0 - 2).collect::<Vec<u64>>())
        });
        let told = told
            .as_ref()
            .map(|(name, events)| (*name, events.as_slice()));
        assert_eq!(told, expected);
    }

    #[test]
    fn an_update_is_lost() {
        let failing = [
            Read(1, 1, 1, 0),
            Read(2, 1, 1, 0),
            Write(2, 2, 1, 1),
            Write(1, 2, 1, 1),
        ];
        let passing = [
            Read(1, 1, 1, 0),
            Write(1, 2, 1, 1),
            Read(2, 1, 1, 1),
            Write(2, 2, 1, 2),
        ];
        check(&failing, &passing, Some(("atomicity", &[0, 2, 3])));
    }

    /// A test framework's flag: the second thread's wait timed out, which no access shows, and it says so.
    #[test]
    fn what_comes_of_a_failure_does_not_explain_it() {
        let failing = [
            Read(1, 1, 1, 0),
            Read(2, 1, 1, 0),
            Write(2, 2, 1, 1),
            Read(1, 1, 1, 1),
        ];
        let passing = [
            Read(1, 1, 1, 0),
            Read(2, 1, 1, 0),
            Read(2, 3, 1, 0),
            Read(1, 1, 1, 0),
        ];
        check(&failing, &passing, None);
        // If the passing run is only over before, nothing is known of the thread's path.
        let passing = [passing[0], passing[1], passing[3]];
        check(&failing, &passing, Some(("order", &[2, 3])));
    }

    #[test]
    fn an_update_is_lost_by_who_came_second() {
        let failing = [
            Read(1, 1, 1, 0),
            Read(2, 1, 1, 0),
            Write(1, 2, 1, 1),
            Write(2, 2, 1, 1),
        ];
        let passing = [
            Read(1, 1, 1, 0),
            Write(1, 2, 1, 1),
            Read(2, 1, 1, 1),
            Write(2, 2, 1, 2),
        ];
        check(&failing, &passing, Some(("atomicity", &[1, 2, 3])));
    }

    #[test]
    fn what_was_asked_is_no_longer_so() {
        let failing = [Read(1, 1, 1, 1), Write(2, 3, 1, 0), Read(1, 2, 1, 0)];
        let passing = [Read(1, 1, 1, 1), Read(1, 2, 1, 1), Write(2, 3, 1, 0)];
        check(&failing, &passing, Some(("atomicity", &[0, 1, 2])));
    }

    #[test]
    fn who_asks_in_a_loop_wants_to_see_a_change() {
        let failing = [Read(1, 1, 1, 1), Write(2, 3, 1, 0), Read(1, 1, 1, 0)];
        let passing = [Read(1, 1, 1, 1), Read(1, 1, 1, 1), Write(2, 3, 1, 0)];
        check(&failing, &passing, Some(("order", &[1, 2])));
    }

    #[test]
    fn half_of_a_change_is_seen() {
        let failing = [Write(2, 1, 1, 7), Read(1, 3, 1, 7), Write(2, 2, 1, 8)];
        let passing = [Write(2, 1, 1, 7), Write(2, 2, 1, 8), Read(1, 3, 1, 8)];
        check(&failing, &passing, Some(("atomicity", &[0, 1, 2])));
    }

    #[test]
    fn a_read_comes_before_the_write() {
        let failing = [Read(2, 2, 1, 0), Write(1, 1, 1, 5)];
        let passing = [Write(1, 1, 1, 5), Read(2, 2, 1, 5)];
        check(&failing, &passing, Some(("order", &[0, 1])));
        check(&failing[..1], &passing, Some(("order", &[0])));
    }

    #[test]
    fn a_value_that_only_follows_from_another_is_no_cause() {
        let failing = [
            Read(2, 2, 1, 0),
            Write(2, 3, 2, 10),
            Read(0, 4, 2, 10),
            Write(1, 1, 1, 5),
        ];
        let passing = [
            Write(1, 1, 1, 5),
            Read(2, 2, 1, 5),
            Write(2, 3, 2, 15),
            Read(0, 4, 2, 15),
        ];
        check(&failing, &passing, Some(("order", &[0, 3])));
        check(&failing[1..3], &passing[2..], None);
    }

    #[test]
    fn two_variables_that_belong_together_are_seen_at_different_times() {
        let enter = |thread| {
            event(
                thread,
                0,
                EventKind::Enter {
                    site: SiteId(90 + thread),
                    frame: Address(0x9000),
                    return_address: Address(1),
                },
            )
        };
        // T1 writes both, T2 reads both in between.
        let with_calls = |steps: &[Step]| {
            let mut events = run(steps);
            events.splice(2..2, [enter(1), enter(2)]);
            events
        };
        let failing = with_calls(&[
            Write(1, 1, 1, 5),
            Read(2, 3, 1, 5),
            Read(2, 4, 2, 0),
            Write(1, 2, 2, 5),
        ]);
        let passing = with_calls(&[
            Write(1, 1, 1, 5),
            Write(1, 2, 2, 5),
            Read(2, 3, 1, 5),
            Read(2, 4, 2, 5),
        ]);
        let cause = cause(&failing, &passing, &Numbering::same(3), &Trailer::default());
        let events = [4, 5, 6, 7].map(EventIndex);
        assert_eq!(cause, Some(Cause::AtomicSet(events)));
    }

    #[test]
    fn what_came_before_the_other_thread_was_there_belongs_to_no_unit() {
        let mut failing = run(&[Read(1, 2, 1, 1), Write(0, 3, 1, 2)]);
        let mut passing = run(&[Write(0, 3, 1, 2), Read(1, 2, 1, 2)]);
        let first = run(&[Write(0, 1, 1, 1)]).pop().unwrap();
        failing.insert(0, first);
        passing.insert(0, first);
        let numbering = Numbering::same(3);
        let cause = cause(&failing, &passing, &numbering, &Trailer::default());
        let expected = Cause::Order {
            read: EventIndex(3),
            write: Some(EventIndex(4)),
        };
        assert_eq!(cause, Some(expected));
    }
}
