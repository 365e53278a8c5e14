//! Whether a run shows what was predicted of it.
//!
//! A run under control is its own witness: what it did was possible. What is left to see is that the
//! claimed events took place, where they were claimed to.

use std::ops::Range;

use raddle_judge::{Claim, Region};
use raddle_predict::predictor::Kind;
use raddle_run::launch::RunResult;
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind, Footprint, LockChange};
use raddle_trace::ids::{EventIndex, ThreadId};
use raddle_trace::outcome::{Ending, ThreadInfo};
use raddle_trace::wire::{Mark, ThreadState};

use crate::guide::Numbering;
use crate::timeline::{Timeline, is_same_step};

/// The signal of a bad memory access.
const SEGV: i32 = 11;

/// A run that followed a guide, beside the one that the guide was made from.
#[derive(Clone, Copy)]
pub struct Guided<'a> {
    /// The recorded run.
    pub old: &'a Timeline<'a>,
    /// The guided one.
    pub new: &'a Timeline<'a>,
    /// What its threads are called.
    pub numbering: &'a Numbering,
    /// What came of it.
    pub result: &'a RunResult,
}

/// What a run is made to show.
#[derive(Clone, Copy, Debug)]
pub struct Sought<'a> {
    /// The kind of bug.
    pub kind: &'a Kind,
    /// What is claimed of the recorded run.
    pub claim: &'a Claim,
    /// Events of the recorded run that come last on the way there: the thread of the last one is the one that waits for
    /// ever in a deadlock which only a run can show.
    pub then: &'a [EventIndex],
}

/// How much of a run shows a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// All that happened up to this event.
    UpTo(EventIndex),
    /// The way in which it ended.
    ItsEnd,
}

impl Guided<'_> {
    /// What the run shows a claim about the recorded one by; none if it does not.
    #[must_use]
    pub fn evidence(&self, sought: Sought<'_>) -> Option<Evidence> {
        match sought.claim {
            Claim::Race { a, b } => self.race(*a, *b),
            Claim::Unserialisable { events, regions } => self.interleaved(events, regions),
            Claim::Sequence { events } => self.interleaved(events, &[]),
            Claim::Deadlock { cycle } => self.deadlock(cycle),
            Claim::UseAfterFree { free, access } => self
                .after_free(*free, *access)
                .or_else(|| self.ends_by(Ending::UseAfterFree, *access)),
            Claim::DoubleFree { first, second } => self
                .after_free(*first, *second)
                .or_else(|| self.ends_by(Ending::DoubleFree, *second)),
            Claim::NullDereference { read, .. } => self.null(*read),
            Claim::Feasible if *sought.kind == Kind::Deadlock => {
                self.waits_for_ever(*sought.then.last()?)
            }
            Claim::Feasible | Claim::UninitialisedRead { .. } => self.ends_as(sought.kind),
            Claim::BranchFlip { .. } => None,
        }
    }

    /// What an event of the recorded run has become: the same step at the same time, or else the thread's
    /// step of the same number among those alike. A thread that meets other values in code that matters
    /// little may take a few steps more or less before.
    #[must_use]
    pub fn find(&self, old: EventIndex) -> Option<EventIndex> {
        let event = self.old.event(old);
        let thread = self.numbering.of(event.thread)?;
        let same_time = self.new.at(thread, self.old.before(old));
        same_time
            .filter(|new| is_same_step(event, self.new.event(*new)))
            .or_else(|| {
                let number = self.old.number_alike(old);
                self.new.nth_alike(thread, event, number)
            })
    }

    /// The acquisition of a lock, whichever way it was taken: a lock that is not free is taken by other steps.
    fn find_acquisition(&self, old: EventIndex) -> Option<EventIndex> {
        let acquired = |event: &Event| {
            let action = event.lock_action()?;
            matches!(action.change, LockChange::Acquire(_)).then_some(action.lock)
        };
        let event = self.old.event(old);
        let lock = acquired(event)?;
        let before = &self.old.of_thread(event.thread)[..self.old.rank(old)];
        let takes =
            |timeline: &Timeline<'_>, it: &EventIndex| acquired(timeline.event(*it)) == Some(lock);
        let number = before.iter().filter(|it| takes(self.old, it)).count();
        let own = self.new.of_thread(self.numbering.of(event.thread)?).iter();
        own.filter(|it| takes(self.new, it)).nth(number).copied()
    }

    /// The second one's thread did nothing between the two: it stood right before its access when the first
    /// came, so they could have come the other way round, or at the same time. Unless it may have waited in code
    /// that is not traced.
    fn race(&self, a: EventIndex, b: EventIndex) -> Option<Evidence> {
        let (a, b) = (self.find(a)?, self.find(b)?);
        let (first, second) = (a.min(b), a.max(b));
        let (one, other) = (self.new.event(first), self.new.event(second));
        let (left, right) = (one.footprint()?, other.footprint()?);
        let between = first.0 as usize + 1..second.0 as usize;
        let stood = |event: &Event| event.thread != other.thread;
        // Calls of the runtime's, such as yields, may be part of the wait.
        let own = &self.new.of_thread(other.thread)[..self.new.rank(second)];
        let mut before = own.iter().rev().map(|it| self.new.event(*it));
        let before = before.find(|it| it.site().is_some());
        let may_wait = before.is_some_and(|it| self.old.may_wait_after(it));
        let is_race = self.new.events()[between].iter().all(stood)
            && !self.new.is_behind_gap(second)
            && !may_wait
            && one.thread != other.thread
            && overlap(&left, &right)
            && (left.writes || right.writes)
            && !(left.atomic && right.atomic);
        is_race.then_some(Evidence::UpTo(second))
    }

    /// Whether the run came to where the claim leads, and shows that nothing is wrong there: a pointer was
    /// null, and its thread did not follow it.
    #[must_use]
    pub fn refutes(&self, claim: &Claim) -> bool {
        let Claim::NullDereference { read, .. } = claim else {
            return false;
        };
        let found = self.find(*read).map(|it| self.new.event(it).kind);
        let is_null = matches!(
            found,
            Some(EventKind::Read(access) | EventKind::AtomicLoad(access, _)) if access.value == 0
        );
        is_null && self.result.failure.is_none()
    }

    fn interleaved(&self, events: &[EventIndex], regions: &[Region]) -> Option<Evidence> {
        let found: Vec<EventIndex> = events
            .iter()
            .map(|event| self.find(*event))
            .collect::<Option<_>>()?;
        let in_order = found.windows(2).all(|pair| pair[0] < pair[1]);
        let same = events.iter().zip(&found).all(|(old, new)| {
            let (old, new) = (
                self.old.event(*old).footprint(),
                self.new.event(*new).footprint(),
            );
            old.zip(new)
                .is_some_and(|(old, new)| (old.reads, old.writes) == (new.reads, new.writes))
        });
        let meet = self.same_meetings(events, &found);
        let regions_hold = regions
            .iter()
            .all(|region| self.region_holds(*region, events));
        let last = *found.last()?;
        (in_order && same && meet && regions_hold).then_some(Evidence::UpTo(last))
    }

    /// Whether events that touched the same bytes still do.
    fn same_meetings(&self, old: &[EventIndex], new: &[EventIndex]) -> bool {
        let footprints = |timeline: &Timeline<'_>, events: &[EventIndex]| {
            let of = events
                .iter()
                .map(|event| timeline.event(*event).footprint());
            of.collect::<Option<Vec<Footprint>>>()
        };
        let (Some(old), Some(new)) = (footprints(self.old, old), footprints(self.new, new)) else {
            return false;
        };
        (0..old.len()).all(|at| {
            (0..at).all(|other| !overlap(&old[at], &old[other]) || overlap(&new[at], &new[other]))
        })
    }

    /// Whether a region that began has not ended before the last of these events that lies in it.
    fn region_holds(&self, region: Region, events: &[EventIndex]) -> bool {
        let (first, last) = region.bounds();
        let thread = self.old.event(first).thread;
        let inside = |event: &&EventIndex| {
            let ranks = self.old.rank(first)..=self.old.rank(last);
            self.old.event(**event).thread == thread && ranks.contains(&self.old.rank(**event))
        };
        let Some(&end) = events
            .iter()
            .filter(inside)
            .max_by_key(|it| self.old.rank(**it))
        else {
            return true;
        };
        let found = self.find_acquisition(first).or_else(|| self.find(first));
        let (Some(first), Some(end)) = (found, self.find(end)) else {
            return false;
        };
        let events = self.new.of_thread(self.new.event(first).thread);
        let Some(steps) = events.get(self.new.rank(first)..self.new.rank(end)) else {
            return false;
        };
        let steps = steps.iter().map(|step| self.new.event(*step));
        match region {
            Region::Lock { .. } => stays_locked(steps),
            Region::Call { .. } => stays_called(steps),
            Region::Marked { .. } => true,
        }
    }

    /// Each of these threads waits for the next one, or everybody waits.
    fn deadlock(&self, cycle: &[EventIndex]) -> Option<Evidence> {
        let threads: Vec<ThreadId> = cycle
            .iter()
            .map(|event| self.numbering.of(self.old.event(*event).thread))
            .collect::<Option<_>>()?;
        let failure = self.result.failure.as_ref();
        let everybody = failure.is_some_and(|it| it.outcome.ending == Ending::Deadlock);
        let infos = self.result.threads.iter();
        let stuck: Vec<&ThreadInfo> = infos.filter(|it| threads.contains(&it.thread)).collect();
        let waits = |info: &&ThreadInfo| {
            let wait = info.wait.filter(|_| info.state == ThreadState::Blocked);
            wait.is_some_and(|wait| {
                let holder = wait.held_by.filter(|_| wait.wants != Mark::Join);
                everybody || holder.is_some_and(|it| threads.contains(&it))
            })
        };
        let all = stuck.len() == threads.len() && stuck.iter().all(waits);
        all.then_some(Evidence::ItsEnd)
    }

    /// An access to what was freed before, or a second free of it, and nobody has got the memory again.
    fn after_free(&self, free: EventIndex, later: EventIndex) -> Option<Evidence> {
        let (free, later) = (self.find(free)?, self.find(later)?);
        let freed = heap_block(self.new.event(free), false)?;
        let touched = self.new.event(later);
        let touched = heap_block(touched, false).or_else(|| touched.footprint().map(bytes))?;
        let between = self
            .new
            .events()
            .get(free.0 as usize + 1..later.0 as usize)?;
        let taken = |event: &Event| heap_block(event, true).is_some_and(|it| meet(&it, &freed));
        let is_it = meet(&touched, &freed) && !between.iter().any(taken);
        is_it.then_some(Evidence::UpTo(later))
    }

    /// Everybody waits, and the thread of this event does so since it.
    fn waits_for_ever(&self, last: EventIndex) -> Option<Evidence> {
        let failure = self.result.failure.as_ref()?;
        let found = self.find(last)?;
        let thread = self.new.event(found).thread;
        let mut infos = self.result.threads.iter();
        let info = infos.find(|it| it.thread == thread)?;
        let own = &self.new.of_thread(thread)[self.new.rank(found)..];
        let own = own.iter().map(|it| self.new.event(*it));
        let is_it = failure.outcome.ending == Ending::Deadlock && is_never_woken(info, own);
        is_it.then_some(Evidence::ItsEnd)
    }

    fn ends_by(&self, ending: Ending, event: EventIndex) -> Option<Evidence> {
        let outcome = &self.result.failure.as_ref()?.outcome;
        let thread = self.numbering.of(self.old.event(event).thread);
        let is_it = outcome.ending == ending && outcome.thread == thread;
        is_it.then_some(Evidence::ItsEnd)
    }

    /// Where only the end tells: the run ends in the way of this kind of bug.
    fn ends_as(&self, kind: &Kind) -> Option<Evidence> {
        let ending = self.result.failure.as_ref()?.outcome.ending;
        let is_it = match kind {
            Kind::UseAfterFree => ending == Ending::UseAfterFree,
            Kind::DoubleFree => matches!(ending, Ending::DoubleFree | Ending::InvalidFree),
            Kind::NullDereference | Kind::UninitialisedRead => ending == Ending::Signal(SEGV),
            _ => false,
        };
        is_it.then_some(Evidence::ItsEnd)
    }

    /// The read found null, and its thread was killed for it.
    fn null(&self, read: EventIndex) -> Option<Evidence> {
        let found = self.find(read)?;
        let event = self.new.event(found);
        let (EventKind::Read(access) | EventKind::AtomicLoad(access, _)) = event.kind else {
            return None;
        };
        let outcome = &self.result.failure.as_ref()?.outcome;
        let killed = outcome.ending == Ending::Signal(SEGV) && outcome.thread == Some(event.thread);
        (access.value == 0 && killed).then_some(Evidence::ItsEnd)
    }
}

/// Whether a thread waits at last, though not for the end of another one, and was not woken in these steps of its own: what
/// it waits for is the first thing that it had to wait for in them.
fn is_never_woken<'e>(info: &ThreadInfo, mut steps: impl Iterator<Item = &'e Event>) -> bool {
    let waits =
        info.state == ThreadState::Blocked && info.wait.is_some_and(|it| it.wants != Mark::Join);
    let wakes = |step: &Event| {
        let action = match step.kind {
            EventKind::Action { action, .. } => action,
            _ => return false,
        };
        matches!(action, Action::CondWake { .. } | Action::FutexWake { .. })
    };
    waits && !steps.any(wakes)
}

/// Whether two accesses have bytes in common.
pub(crate) fn overlap(one: &Footprint, other: &Footprint) -> bool {
    meet(&bytes(*one), &bytes(*other))
}

fn bytes(footprint: Footprint) -> Range<u64> {
    let start = footprint.addr.0;
    start..start.saturating_add(footprint.len)
}

fn meet(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

/// The memory that an event makes, or frees.
fn heap_block(event: &Event, made: bool) -> Option<Range<u64>> {
    let EventKind::Action { action, .. } = event.kind else {
        return None;
    };
    match (action, made) {
        (Action::Alloc { addr, size, .. }, true) | (Action::Free { addr, size, .. }, false) => {
            Some(addr.0..addr.0.saturating_add(size.max(1)))
        }
        _ => None,
    }
}

/// Whether the lock that the first event takes is held throughout.
fn stays_locked<'e>(mut steps: impl Iterator<Item = &'e Event>) -> bool {
    let Some(taken) = steps.next().and_then(Event::lock_action) else {
        return false;
    };
    let mut depth = u32::from(matches!(taken.change, LockChange::Acquire(_)));
    let changes = steps.filter_map(Event::lock_action);
    for action in changes.filter(|action| action.lock == taken.lock) {
        match action.change {
            LockChange::Acquire(_) => depth += 1,
            LockChange::Release(_) => depth = depth.saturating_sub(1),
            LockChange::Downgrade => {}
        }
        if depth == 0 {
            return false;
        }
    }
    depth > 0
}

/// Whether the function that the first event enters is not left. Stacks grow down: an event of a frame at
/// or above its own means that it is gone.
fn stays_called<'e>(mut steps: impl Iterator<Item = &'e Event>) -> bool {
    let Some(EventKind::Enter { frame: own, .. }) = steps.next().map(|it| it.kind) else {
        return false;
    };
    steps.all(|step| match step.kind {
        EventKind::Enter { frame, .. } | EventKind::Exit { frame, .. } => frame < own,
        EventKind::Action {
            action: Action::End,
            ..
        } => false,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{act, event, lock, read, request, unlock, write};
    use raddle_trace::ids::{Address, AllocId};

    #[test]
    fn a_lock_region_ends_with_its_release() {
        let region = |kinds: &[EventKind]| {
            let events: Vec<Event> = kinds.iter().map(|kind| event(1, 0, *kind)).collect();
            stays_locked(events.iter())
        };
        assert!(region(&[lock(), read(1), write(2)]));
        assert!(region(&[lock(), lock(), unlock(), read(1)]));
        assert!(!region(&[lock(), read(1), unlock(), lock(), read(1)]));
        assert!(!region(&[request(), read(1)]));
    }

    #[test]
    fn a_call_ends_when_its_frame_is_gone() {
        let enter = |frame| EventKind::Enter {
            site: raddle_trace::ids::SiteId(9),
            frame: Address(frame),
            return_address: Address(1),
        };
        let exit = |frame| EventKind::Exit {
            site: raddle_trace::ids::SiteId(9),
            frame: Address(frame),
        };
        let called = |kinds: &[EventKind]| {
            let events: Vec<Event> = kinds.iter().map(|kind| event(1, 0, *kind)).collect();
            stays_called(events.iter())
        };
        assert!(called(&[enter(90), enter(80), exit(80), read(1)]));
        assert!(!called(&[enter(90), read(1), exit(90), enter(90)]));
        assert!(!called(&[read(1), enter(90)]));
    }

    /// A lost wake-up is not shown by a deadlock of others.
    #[test]
    fn a_thread_that_was_woken_or_joins_does_not_wait_for_ever() {
        let info = |state, wants| ThreadInfo {
            thread: ThreadId(1),
            state,
            ticks: raddle_trace::ids::Tick(9),
            visible: 0,
            wait: Some(raddle_trace::outcome::Wait {
                wants,
                object: Address(0x20),
                held_by: None,
            }),
            stack: Vec::new(),
        };
        let wake = act(Action::CondWake {
            cond: Address(0x20),
            timed_out: false,
            notifier: None,
        });
        let [plain, woken] = [&[unlock(), read(1)], &[unlock(), wake]].map(|kinds| {
            let events = kinds.iter().map(|kind| event(1, 0, *kind));
            events.collect::<Vec<Event>>()
        });
        let waits = info(ThreadState::Blocked, Mark::CondWake);
        assert!(is_never_woken(&waits, plain.iter()));
        assert!(!is_never_woken(&waits, woken.iter()));
        let joins = info(ThreadState::Blocked, Mark::Join);
        assert!(!is_never_woken(&joins, plain.iter()));
        let runs = info(ThreadState::Ready, Mark::CondWake);
        assert!(!is_never_woken(&runs, plain.iter()));
    }

    #[test]
    fn only_what_is_freed_is_a_block_that_was_freed() {
        let free = act(Action::Free {
            addr: Address(0x100),
            size: 16,
            id: AllocId(1),
        });
        let freed = heap_block(&event(1, 0, free), false).unwrap();
        assert_eq!(freed, 0x100..0x110);
        assert_eq!(heap_block(&event(1, 0, free), true), None);
        assert!(meet(&freed, &(0x10f..0x120)));
        assert!(!meet(&freed, &(0x110..0x120)));
    }
}
