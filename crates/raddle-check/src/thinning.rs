//! Leaves out of a long run what is like what its thread did before.
//!
//! What a program does for long it does again and again. Each thread's events are cut into *stretches*: a critical section
//! is one, from taking the outermost lock to giving it back, and so is what lies between two of them; outside, an
//! instruction that comes a second time begins the next one, so that each turn of a loop is one. Stretches are alike if
//! they are made of the same instructions and take the same locks. Of those that are alike the first few of a thread are
//! kept, each with its neighbours; so are those that have to wait for a lock, and the thread's last. What orders threads
//! otherwise, and memory that comes and goes, is kept whatever it is part of.
//!
//! What is kept depends on the thread's own events alone. A run with a guide keeps what the recorded one keeps, therefore,
//! for as long as its threads do the same. What has been left out may order threads, and nobody knows any more what
//! memory holds: whatever is predicted from such a run is a guess until the program has shown it.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::ops::Range;

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind, LockChange};
use raddle_trace::ids::{Address, EventIndex, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::timeline::is_unsteady;

/// How many stretches that are alike are kept of a thread: the first of these with which a run fits into memory, or else
/// the last.
pub(crate) const MOST_ALIKE: [u32; 3] = [128, 32, 8];

/// The first pass: finds the stretches that are kept.
pub(crate) struct Thinning {
    most_alike: u32,
    walks: BTreeMap<ThreadId, Walk>,
}

/// A thread on its way through its events.
#[derive(Default)]
struct Walk {
    /// How many there were.
    events: u64,
    /// Locks held.
    depth: u32,
    stretch: Stretch,
    /// The one before, if it is not kept so far.
    passed: Option<Passed>,
    /// Whether the one before is kept for its own sake.
    is_after_kept: bool,
    alike: FxHashMap<u64, u32>,
    /// In order, and apart from each other.
    kept: Vec<Range<u64>>,
    /// How many events are in these, and how many are kept besides.
    len: u64,
}

/// The part of a thread that it is in.
#[derive(Default)]
struct Stretch {
    start: u64,
    steps: FxHashSet<u64>,
    /// The same for all that are alike.
    class: u64,
    /// Events that are kept in any case.
    lasting: u64,
    is_kept: bool,
}

/// A stretch that is not kept so far.
struct Passed {
    range: Range<u64>,
    lasting: u64,
}

impl Thinning {
    /// Keeps so many that are alike.
    pub(crate) fn new(most_alike: u32) -> Self {
        Self {
            most_alike,
            walks: BTreeMap::new(),
        }
    }

    /// Takes note of an event. Each thread's come in its order.
    pub(crate) fn observe(&mut self, event: &Event) {
        let walk = self.walks.entry(event.thread).or_default();
        walk.observe(event, self.most_alike);
    }

    /// How many events are kept, more or less: calls that are under way come along.
    pub(crate) fn len(&self) -> u64 {
        let lens = self.walks.values().map(|it| it.len + it.under_way());
        lens.sum()
    }

    /// What is kept.
    pub(crate) fn finish(self) -> Thinned {
        let threads = self.walks.into_iter().map(|(thread, mut walk)| {
            walk.stretch.is_kept = true;
            walk.end(self.most_alike);
            (thread, Line::new(walk.kept))
        });
        Thinned {
            threads: threads.collect(),
        }
    }
}

impl Walk {
    fn observe(&mut self, event: &Event, most_alike: u32) {
        let change = event.lock_action().map(|it| it.change);
        let takes = matches!(change, Some(LockChange::Acquire(_)));
        let releases = matches!(change, Some(LockChange::Release(_)));
        let step = step(event);
        if self.depth == 0 && (takes || self.stretch.steps.contains(&step)) {
            self.end(most_alike);
        }
        self.events += 1;
        self.stretch.take(step);
        self.stretch.lasting += u64::from(is_lasting(&event.kind));
        self.stretch.is_kept |= is_unsteady(&event.kind);
        match (takes, releases) {
            (true, _) => self.depth += 1,
            (_, true) if self.depth > 0 => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.end(most_alike);
                }
            }
            // It was taken by another thread, or before the events began.
            (_, true) => self.stretch.is_kept = true,
            _ => {}
        }
    }

    /// How many events the present stretch has.
    fn under_way(&self) -> u64 {
        self.events - self.stretch.start
    }

    /// The next event is of another stretch.
    fn end(&mut self, most_alike: u32) {
        let range = self.stretch.start..self.events;
        if range.is_empty() {
            return;
        }
        let lasting = self.stretch.lasting;
        let alike = self.alike.entry(self.stretch.class).or_default();
        *alike = alike.saturating_add(1);
        let is_kept = self.stretch.is_kept || *alike <= most_alike;
        let before = self.passed.take();
        match before {
            Some(before) if is_kept => {
                self.len += before.range.end - before.range.start;
                self.keep(before.range);
            }
            Some(before) => self.len += before.lasting,
            None => {}
        }
        if is_kept || self.is_after_kept {
            self.len += range.end - range.start;
            self.keep(range);
        } else {
            self.passed = Some(Passed { range, lasting });
        }
        self.is_after_kept = is_kept;
        self.stretch.begin(self.events);
    }

    fn keep(&mut self, range: Range<u64>) {
        match self.kept.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.kept.push(range),
        }
    }
}

impl Stretch {
    fn begin(&mut self, start: u64) {
        self.start = start;
        // The memory of an uncommonly long one is not carried on.
        match self.steps.capacity() > 1 << 10 {
            true => self.steps = FxHashSet::default(),
            false => self.steps.clear(),
        }
        self.class = 0;
        self.lasting = 0;
        self.is_kept = false;
    }

    /// A step takes place in it. In which order, and how often, makes no difference.
    fn take(&mut self, step: u64) {
        if self.steps.insert(step) {
            self.class = self.class.wrapping_add(scattered(step));
        }
    }
}

/// What a step is known by: its instruction, and the lock that it is about.
fn step(event: &Event) -> u64 {
    let mut hasher = FxHasher::default();
    match event.kind {
        EventKind::Action { pc, .. } => hasher.write_u64(pc.0),
        _ => hasher.write_u32(event.site().map_or(u32::MAX, |it| it.0)),
    }
    if let Some(action) = event.lock_action() {
        hasher.write_u64(action.lock.0);
    }
    hasher.finish()
}

/// A number that sums tell apart: SplitMix64's last step (Steele, Lea and Flood, 2014).
fn scattered(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// Whether an event is kept whatever it is part of: what orders threads other than by locks, and memory that comes and
/// goes.
fn is_lasting(kind: &EventKind) -> bool {
    let EventKind::Action { action, .. } = kind else {
        return false;
    };
    match action {
        // Nobody has waited.
        Action::CondNotify { woken, .. } | Action::FutexNotify { woken, .. } => *woken > 0,
        Action::OncePass { .. } | Action::Yield => false,
        _ => action.lock_action().is_none(),
    }
}

/// The second pass: takes what is kept.
pub(crate) struct Thinned {
    threads: BTreeMap<ThreadId, Line>,
}

/// Some events of a run.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) events: Vec<Event>,
    /// Those right before which something of their threads was left out, in order.
    pub(crate) gaps: Vec<EventIndex>,
}

/// A thread's events, in the second pass.
struct Line {
    /// How many there were.
    events: u64,
    /// What is kept of those to come, the next last.
    kept: Vec<Range<u64>>,
    /// Whether something was left out since its latest event that was taken.
    is_behind_gap: bool,
    calls: Calls,
}

impl Thinned {
    /// Takes an event if it is kept, and along with it the calls and returns since the thread's latest that are needed to
    /// tell where the thread is.
    pub(crate) fn take(&mut self, event: &Event, into: &mut Taken) {
        let Some(line) = self.threads.get_mut(&event.thread) else {
            return;
        };
        let is_kept = line.next() || is_lasting(&event.kind);
        if !is_kept {
            line.is_behind_gap = true;
            line.calls.pass(event);
            return;
        }
        if line.is_behind_gap {
            line.is_behind_gap = false;
            let first = into.events.len();
            line.calls.catch_up(&mut into.events);
            let behind = first..=into.events.len();
            into.gaps.extend(behind.map(|it| EventIndex(it as u64)));
        }
        line.calls.take(event);
        into.events.push(*event);
    }
}

impl Line {
    fn new(mut kept: Vec<Range<u64>>) -> Self {
        kept.reverse();
        Self {
            events: 0,
            kept,
            is_behind_gap: false,
            calls: Calls::default(),
        }
    }

    /// Goes on to the next event. Returns whether it is in a stretch that is kept.
    fn next(&mut self) -> bool {
        let at = self.events;
        self.events += 1;
        if self.kept.last().is_some_and(|it| it.end <= at) {
            self.kept.pop();
        }
        self.kept.last().is_some_and(|it| it.start <= at)
    }
}

/// The calls that a thread is in, and those that it seems to be in by the events that were taken.
#[derive(Default)]
struct Calls {
    /// The calls that it is in, outermost first.
    stack: Vec<Event>,
    /// Those that it seems to be in.
    seeming: Vec<Event>,
    /// So many of them, the outermost, are those that it is in.
    common: usize,
    /// How it left those that it only seems to be in, inner ones first.
    left: Vec<Event>,
}

impl Calls {
    /// An event that is taken: there is nothing to catch up with.
    fn take(&mut self, event: &Event) {
        if let Some(frame) = frame(event) {
            unwind(&mut self.stack, frame);
            if matches!(event.kind, EventKind::Enter { .. }) {
                self.stack.push(*event);
            }
            self.seeming.clone_from(&self.stack);
            self.common = self.stack.len();
        }
    }

    /// An event that is not taken.
    fn pass(&mut self, event: &Event) {
        let Some(here) = frame(event) else {
            return;
        };
        unwind(&mut self.stack, here);
        self.common = self.common.min(self.stack.len());
        if matches!(event.kind, EventKind::Enter { .. }) {
            self.enter(event, here);
        } else if self.stack.len() == self.common && self.common < self.seeming.len() {
            let is_farther = |it: &Event| frame(it) < Some(here);
            if self.left.last().is_none_or(is_farther) {
                self.left.push(*event);
            }
        }
    }

    fn enter(&mut self, event: &Event, here: Address) {
        let seeming = self.seeming.get(self.common);
        let is_same = seeming.is_some_and(|it| it.kind == event.kind);
        if is_same && self.stack.len() == self.common {
            // It is called again from where it was called before.
            let inner = self.left.iter().filter(|it| frame(it) < Some(here)).count();
            if inner > 0 || self.seeming.len() == self.common + 1 {
                self.left.truncate(inner);
                self.common += 1;
            }
        }
        self.stack.push(*event);
    }

    /// Adds the events after which the thread seems to be where it is.
    fn catch_up(&mut self, into: &mut Vec<Event>) {
        into.extend(self.left.last());
        into.extend_from_slice(&self.stack[self.common..]);
        self.left.clear();
        self.seeming.clone_from(&self.stack);
        self.common = self.stack.len();
    }
}

/// Leaves what is gone when a call at this frame begins or ends, as [`raddle_trace::stack::Stacks`] does.
fn unwind(stack: &mut Vec<Event>, here: Address) {
    while stack.last().is_some_and(|it| frame(it) <= Some(here)) {
        stack.pop();
    }
}

/// The frame of a call or return.
fn frame(event: &Event) -> Option<Address> {
    match event.kind {
        EventKind::Enter { frame, .. } | EventKind::Exit { frame, .. } => Some(frame),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use raddle_trace::ids::SiteId;
    use raddle_trace::stack::{Frame, Stacks};

    use super::*;
    use crate::testing::{event, fork, lock, read, request, unlock, write};

    fn thin(kinds: &[EventKind], most_alike: u32) -> (Vec<Event>, Taken) {
        let events: Vec<Event> = (0..)
            .zip(kinds)
            .map(|(tick, kind)| event(0, tick, *kind))
            .collect();
        let mut thinning = Thinning::new(most_alike);
        events.iter().for_each(|it| thinning.observe(it));
        let mut thinned = thinning.finish();
        let mut taken = Taken::default();
        events.iter().for_each(|it| thinned.take(it, &mut taken));
        (events, taken)
    }

    fn ticks(taken: &Taken) -> Vec<u64> {
        taken.events.iter().map(|it| it.tick.0).collect()
    }

    /// A hundred rounds, each a critical section and a step outside: four events.
    fn rounds() -> Vec<EventKind> {
        [lock(), write(1), unlock(), read(2)].repeat(100)
    }

    #[test]
    fn the_first_of_stretches_that_are_alike_are_kept_and_the_last() {
        let (_, taken) = thin(&rounds(), 2);
        // Two rounds, the critical section that follows them, and the last stretch with the one before.
        let expected: Vec<u64> = (0..11).chain(396..400).collect();
        assert_eq!(ticks(&taken), expected);
        assert_eq!(taken.gaps, [EventIndex(11)]);
    }

    #[test]
    fn what_a_thread_does_seldom_is_kept_with_its_neighbours() {
        let mut kinds = rounds();
        kinds[201] = write(7);
        let (_, taken) = thin(&kinds, 2);
        let expected: Vec<u64> = (0..11).chain(199..204).chain(396..400).collect();
        assert_eq!(ticks(&taken), expected);
        assert_eq!(taken.gaps, [EventIndex(11), EventIndex(16)]);
    }

    #[test]
    fn waits_and_what_orders_threads_otherwise_are_kept() {
        let mut kinds = rounds();
        kinds[301] = fork(1);
        kinds.insert(200, request());
        let (_, taken) = thin(&kinds, 2);
        let ticks = ticks(&taken);
        assert!(ticks.contains(&200), "{ticks:?}");
        assert!(ticks.contains(&302), "{ticks:?}");
    }

    #[test]
    fn a_loop_without_locks_is_cut_where_it_begins_again() {
        let (_, taken) = thin(&[read(1), write(2), read(3)].repeat(50), 1);
        let expected: Vec<u64> = (0..6).chain(144..150).collect();
        assert_eq!(ticks(&taken), expected);
    }

    #[test]
    fn as_many_events_are_kept_as_were_counted() {
        let kinds = rounds();
        let mut thinning = Thinning::new(2);
        for (tick, kind) in (0..).zip(&kinds) {
            thinning.observe(&event(0, tick, *kind));
        }
        // The last stretch is not known to be the last yet.
        assert_eq!(thinning.len(), 12);
    }

    /// What a thread does next, where calls nest.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Call(u32),
        Return,
        Access(u32),
        Section,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (0..3u32).prop_map(Step::Call),
            Just(Step::Return),
            (0..2u32).prop_map(Step::Access),
            Just(Step::Section),
        ];
        prop::collection::vec(step, 1..120)
    }

    fn kinds(steps: &[Step]) -> Vec<EventKind> {
        const BOTTOM: u64 = 1 << 20;
        let mut kinds = Vec::new();
        let mut depth = 0;
        for step in steps {
            let frame = Address(BOTTOM - depth * 16);
            match step {
                Step::Call(site) => {
                    depth += 1;
                    kinds.push(EventKind::Enter {
                        site: SiteId(100 + site),
                        frame: Address(BOTTOM - depth * 16),
                        return_address: Address(u64::from(*site)),
                    });
                }
                Step::Return if depth > 0 => {
                    depth -= 1;
                    let site = SiteId(200);
                    kinds.push(EventKind::Exit { site, frame });
                }
                Step::Return => {}
                Step::Access(site) => kinds.push(write(*site)),
                Step::Section => kinds.extend([lock(), read(9), unlock()]),
            }
        }
        kinds
    }

    /// The calls that a thread is in at each of its events.
    fn stacks(events: &[Event]) -> Vec<Vec<Frame>> {
        let mut stacks = Stacks::default();
        let frames = events.iter().map(|it| {
            stacks.observe(it);
            stacks.frames(it.thread).to_vec()
        });
        frames.collect()
    }

    proptest! {
        #[test]
        fn calls_are_told_as_they_were(steps in steps(), most_alike in 1..4u32) {
            let (events, taken) = thin(&kinds(&steps), most_alike);
            let whole = stacks(&events);
            let left = stacks(&taken.events);
            for (at, event) in taken.events.iter().enumerate() {
                if frame(event).is_none() {
                    prop_assert_eq!(&left[at], &whole[event.tick.0 as usize], "{:?}", event);
                }
            }
            let is_rising = taken.events.is_sorted_by_key(|it| it.tick);
            prop_assert!(is_rising, "{:?}", taken.events);
            for pair in taken.events.windows(2) {
                let follows = pair[0].tick.0 + 1 == pair[1].tick.0;
                let at = taken.events.iter().position(|it| it == &pair[1]);
                let is_gap = taken.gaps.contains(&EventIndex(at.unwrap() as u64));
                prop_assert!(follows || is_gap, "{:?} {:?}", pair, taken.gaps);
            }
        }
    }
}
