//! Whether a failure comes of the anomaly that its run shows, or only comes after it.
//!
//! A run that shows an anomaly of atomicity and fails is made again in the same order but for the anomaly: what is
//! claimed to belong together is executed without the other thread in between, which comes before or after it. If the
//! program fails in the same way all the same, and the same instructions did not come in between each other elsewhere in
//! that run, the two have nothing to do with each other.
//!
//! That the program goes well in both orders does not prove that the anomaly is to blame. It is what a programmer would
//! see, though, who makes the accesses atomic.

use std::collections::BTreeMap;

use raddle_judge::Claim;
use raddle_predict::predictor::Kind;
use raddle_run::Error;
use raddle_run::launch::Plan;
use raddle_trace::event::Event;
use raddle_trace::ids::{EventIndex, ThreadId};

use crate::bench::{Bench, Ran, ends_alike};
use crate::confirm::{Shown, follow};
use crate::guide::{Guide, Step, Until};
use crate::observe::overlap;
use crate::timeline::Timeline;

/// A run that fails as `shown` does and does not show the claim, though it goes the same way otherwise.
///
/// # Errors
/// If the program cannot be run.
pub(crate) fn fail_without(
    bench: &mut Bench,
    model: &Plan,
    recorded: &Timeline<'_>,
    kind: &Kind,
    shown: &Shown,
) -> Result<Option<Ran>, Error> {
    let (Claim::Unserialisable { events, .. } | Claim::Sequence { events }) = &shown.claim else {
        return Ok(None);
    };
    for guide in serialised(&shown.guide, recorded, events) {
        let attempt = follow(bench, model, recorded, &guide, shown.sought(kind))?;
        let fails_alike = |ran: &Ran| ends_alike(shown.ran.failure(), ran.failure());
        let claimed: Vec<&Event> = events.iter().map(|it| recorded.event(*it)).collect();
        if let Some(attempt) = attempt
            && fails_alike(&attempt.ran)
            && !comes_again(&claimed, &attempt.ran.events)
        {
            return Ok(Some(attempt.ran));
        }
        if bench.is_out_of_time() {
            break;
        }
    }
    Ok(None)
}

/// Most comparisons that a look for the same accesses elsewhere takes. What it leaves open counts as found.
const MOST_COMPARISONS: usize = 1 << 20;

/// Whether the instructions of claimed events are executed in this order somewhere in a run, by threads that change as the
/// claimed ones do, on memory that is shared as theirs is.
fn comes_again(claimed: &[&Event], run: &[Event]) -> bool {
    let of_site = |claimed: &&Event| {
        let alike = run.iter().enumerate();
        let alike = alike.filter(|(_, it)| it.site() == claimed.site());
        alike.map(|(at, _)| at).collect()
    };
    let look = Look {
        claimed,
        alike: claimed.iter().map(of_site).collect(),
        run,
    };
    look.extends(&mut Vec::new(), &mut { MOST_COMPARISONS })
}

/// A look for claimed accesses in a run.
struct Look<'a> {
    claimed: &'a [&'a Event],
    /// By claimed event: where its instruction is executed in the run.
    alike: Vec<Vec<usize>>,
    run: &'a [Event],
}

impl Look<'_> {
    /// Whether events after the chosen ones complete what is claimed, or there are too many to tell.
    fn extends(&self, chosen: &mut Vec<usize>, left: &mut usize) -> bool {
        let Some(candidates) = self.alike.get(chosen.len()) else {
            return true;
        };
        let start = chosen.last().map_or(0, |last| {
            candidates.partition_point(|candidate| candidate <= last)
        });
        for &candidate in &candidates[start..] {
            if *left == 0 {
                return true;
            }
            *left -= 1;
            if !self.fits(chosen, candidate) {
                continue;
            }
            chosen.push(candidate);
            if self.extends(chosen, left) {
                return true;
            }
            chosen.pop();
        }
        false
    }

    /// Whether a candidate is to the chosen events as the claimed event in its place is to those before it.
    fn fits(&self, chosen: &[usize], candidate: usize) -> bool {
        let (claimed, candidate) = (self.claimed[chosen.len()], &self.run[candidate]);
        let before = self.claimed.iter().zip(chosen);
        before.into_iter().all(|(other, chosen)| {
            let chosen = &self.run[*chosen];
            let is_same_thread = claimed.thread == other.thread;
            is_same_thread == (candidate.thread == chosen.thread)
                && (!share_memory(claimed, other) || share_memory(candidate, chosen))
        })
    }
}

fn share_memory(one: &Event, other: &Event) -> bool {
    let footprints = one.footprint().zip(other.footprint());
    footprints.is_some_and(|(one, other)| overlap(&one, &other))
}

/// The guide with the claimed events of one thread executed before those of the other, in both ways.
fn serialised(guide: &Guide, timeline: &Timeline<'_>, events: &[EventIndex]) -> Vec<Guide> {
    let thread = |event: &EventIndex| timeline.event(*event).thread;
    let mut spans: BTreeMap<ThreadId, [EventIndex; 2]> = BTreeMap::new();
    for event in events {
        let span = spans.entry(thread(event)).or_insert([*event; 2]);
        span[1] = *event;
    }
    let Some(first) = events.first().map(thread) else {
        return Vec::new();
    };
    let own = spans.remove(&first);
    let others: Vec<[EventIndex; 2]> = spans.into_values().collect();
    let at_once = |[_, last]: &[EventIndex; 2]| Step {
        thread: thread(last),
        until: Until::After(*last),
    };
    let start = |[start, _]: [EventIndex; 2]| Step {
        thread: first,
        until: Until::Before(start),
    };
    let Some(own) = own else {
        return Vec::new();
    };
    let own_first = vec![at_once(&own)];
    let others_first = std::iter::once(start(own)).chain(others.iter().map(at_once));
    [own_first, others_first.collect()]
        .into_iter()
        .filter_map(|steps| insert(guide, timeline, own[0], steps))
        .collect()
}

/// Puts steps in the place where a guide's thread comes to an event. What a thread has done by then it does not do again:
/// a later step that ends before an event which is passed has no effect.
fn insert(
    guide: &Guide,
    timeline: &Timeline<'_>,
    event: EventIndex,
    steps: Vec<Step>,
) -> Option<Guide> {
    let thread = timeline.event(event).thread;
    let passes = |step: &Step| {
        step.thread == thread
            && match step.until {
                Until::Before(end) => timeline.rank(end) > timeline.rank(event),
                Until::After(end) => timeline.rank(end) >= timeline.rank(event),
                Until::Stuck => true,
            }
    };
    let at = guide.steps.iter().position(passes)?;
    let (before, after) = guide.steps.split_at(at);
    let steps = [before, &steps, after].concat();
    Some(Guide { steps })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{event, read, write};

    #[test]
    fn the_same_accesses_by_other_threads_are_the_same_anomaly() {
        let claimed = [
            event(1, 0, read(1)),
            event(2, 0, write(2)),
            event(1, 1, write(2)),
        ];
        let claimed = claimed.each_ref();
        let run = |steps: &[(u32, u32)]| -> Vec<Event> {
            let kind = |site| match site {
                1 => read(1),
                other => write(other),
            };
            let events = steps
                .iter()
                .map(|(thread, site)| event(*thread, 0, kind(*site)));
            events.collect()
        };
        assert!(comes_again(
            &claimed,
            &run(&[(2, 1), (1, 1), (1, 2), (2, 2)])
        ));
        assert!(comes_again(
            &claimed,
            &run(&[(3, 1), (3, 9), (1, 2), (3, 2)])
        ));
        // One after the other, by three threads, and another instruction.
        assert!(!comes_again(
            &claimed,
            &run(&[(1, 1), (1, 2), (2, 1), (2, 2)])
        ));
        assert!(!comes_again(&claimed, &run(&[(1, 1), (2, 2), (3, 2)])));
        assert!(!comes_again(&claimed, &run(&[(1, 1), (2, 9), (1, 2)])));
    }

    #[test]
    fn what_is_claimed_is_serialised_in_both_ways() {
        let events = [
            event(1, 0, read(1)),
            event(2, 0, write(2)),
            event(1, 1, write(3)),
            event(1, 2, read(4)),
        ];
        let timeline = Timeline::new(&events);
        let [first, other, last, _] = [0, 1, 2, 3].map(EventIndex);
        let step = |thread, until| Step {
            thread: ThreadId(thread),
            until,
        };
        let guide = Guide {
            steps: vec![
                step(1, Until::Before(last)),
                step(2, Until::After(other)),
                step(1, Until::Stuck),
            ],
        };
        let guides = serialised(&guide, &timeline, &[first, other, last]);
        let [own_first, other_first] = guides.as_slice() else {
            panic!("{guides:?}");
        };
        assert_eq!(own_first.steps[0], step(1, Until::After(last)));
        assert_eq!(own_first.steps[1..], guide.steps);
        assert_eq!(
            other_first.steps[..2],
            [step(1, Until::Before(first)), step(2, Until::After(other))]
        );
        assert_eq!(other_first.steps[2..], guide.steps);
    }
}
