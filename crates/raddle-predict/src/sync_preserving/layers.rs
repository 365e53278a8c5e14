//! Orders in which some events come later than in the trace.
//!
//! A plan lists what is to be executed in each layer. Layer 0 is a sync-preserving ideal. A layer on
//! top of others has what its events need and the layers below do not have. The layers are executed one
//! after another, each in trace order.
//!
//! Of two holds that exclude each other the one in the lower layer ends before the upper layer needs
//! the lock. If it began later in the trace than the other, its release cannot come in the upper layer,
//! so the layer below is made to end with it and everything is built again.
//!
//! Nothing says that reads of an upper layer still see what they saw: that is tried afterwards.

use super::SyncPreserving;
use super::ideal::Closure;
use crate::clocks::{Clock, raise};
use crate::view::{Hold, Kind, Lane, Pos, View};

/// How often releases are put into lower layers.
const MOST_REBUILDS: usize = 64;
/// How many events the upper layers may have.
const MOST_MOVED: usize = 1 << 14;

/// What is to be done in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Execute an event.
    Execute(Pos),
    /// Execute a load that ends its thread, whatever it reads.
    ExecuteLast(Pos),
    /// Execute what comes before an event.
    Approach(Pos),
}

impl Step {
    /// The event that it is about.
    pub(super) fn pos(self) -> Pos {
        match self {
            Self::Execute(pos) | Self::ExecuteLast(pos) | Self::Approach(pos) => pos,
        }
    }
}

/// Too much work.
pub(super) struct Cut;

/// A plan, carried out.
pub(super) struct Layers {
    /// By layer: of each thread, the bound below which its events are executed by then.
    bounds: Vec<Box<Clock>>,
}

/// Why a layer cannot be built as it is.
enum Obstacle {
    /// It never can.
    Impossible,
    /// A lower layer has to execute this first.
    ReleaseBelow(Pos),
    TooLong,
}

impl Layers {
    /// The layers of a plan, none of which executes an event of `next` or of a later layer.
    pub(super) fn build(
        closure: &mut Closure<'_, '_>,
        plan: &[Vec<Step>],
        next: &[Pos],
    ) -> Result<Option<Self>, Cut> {
        let mut steps = plan.to_vec();
        for _ in 0..MOST_REBUILDS {
            let mut layers = Self { bounds: Vec::new() };
            match layers.build_once(closure, &steps, plan, next) {
                Ok(()) => match layers.passed_load(closure.search().view, &mut steps) {
                    None => return Ok(Some(layers)),
                    Some(step) => *step = Step::Execute(step.pos()),
                },
                Err(Obstacle::Impossible) => return Ok(None),
                Err(Obstacle::TooLong) => return Err(Cut),
                Err(Obstacle::ReleaseBelow(release)) => {
                    let below = layers.bounds.len() - 1;
                    steps[below].push(Step::Execute(release));
                }
            }
        }
        Err(Cut)
    }

    /// Of each thread, the bound below which its events are in layer 0.
    pub(super) fn base(&self) -> &Clock {
        &self.bounds[0]
    }

    /// Of each thread, the bound below which its events are in any layer.
    pub(super) fn top(&self) -> &Clock {
        self.bounds.last().expect("a plan has a layer")
    }

    /// The events of the upper layers, in order.
    pub(super) fn moved(&self, view: &View) -> Vec<Pos> {
        let pairs = self.bounds.windows(2);
        pairs
            .flat_map(|pair| between(view, &pair[0], &pair[1]))
            .collect()
    }

    /// A load that was to end its thread and does not.
    fn passed_load<'s>(&self, view: &View, steps: &'s mut [Vec<Step>]) -> Option<&'s mut Step> {
        let top = self.top();
        steps.iter_mut().flatten().find(|step| match **step {
            Step::ExecuteLast(pos) => !is_last(view, pos, top),
            _ => false,
        })
    }

    fn build_once(
        &mut self,
        closure: &mut Closure<'_, '_>,
        steps: &[Vec<Step>],
        plan: &[Vec<Step>],
        next: &[Pos],
    ) -> Result<(), Obstacle> {
        let search = closure.search();
        let view = search.view;
        for (number, steps) in steps.iter().enumerate() {
            let bounds = match self.bounds.last() {
                None => base(closure, steps),
                Some(below) => upper(search, steps, below),
            }?;
            let contains = |pos: Pos| pos.0 < bounds[view.lane(pos).index()];
            let later = plan[number + 1..].iter().flatten();
            let mut too_early = later.filter_map(|step| match *step {
                Step::Execute(pos) | Step::ExecuteLast(pos) => Some(pos),
                Step::Approach(_) => None,
            });
            if too_early.any(contains) || next.iter().copied().any(contains) {
                return Err(Obstacle::Impossible);
            }
            self.bounds.push(bounds);
        }
        Ok(())
    }
}

/// The bounds of layer 0.
fn base(closure: &mut Closure<'_, '_>, steps: &[Step]) -> Result<Box<Clock>, Obstacle> {
    closure.clear();
    for step in steps {
        match *step {
            Step::Execute(pos) => closure.execute(pos),
            Step::ExecuteLast(pos) => closure.execute_last(pos),
            Step::Approach(pos) => closure.approach(pos),
        }
    }
    match closure.close() {
        true => Ok(closure.bounds().into()),
        false => Err(Obstacle::Impossible),
    }
}

/// The bounds of a layer on top of another.
fn upper(
    search: &SyncPreserving<'_>,
    steps: &[Step],
    below: &Clock,
) -> Result<Box<Clock>, Obstacle> {
    let SyncPreserving { view, order, .. } = search;
    let mut bounds: Box<Clock> = below.into();
    for step in steps {
        match *step {
            Step::Execute(pos) => drop(order.join(view, pos, &mut bounds)),
            Step::Approach(pos) => search.approach(pos, &mut bounds),
            Step::ExecuteLast(pos) => {
                search.approach(pos, &mut bounds);
                raise(&mut bounds[view.lane(pos).index()], pos.0 + 1);
            }
        }
    }
    loop {
        let count: usize = ranges(view, below, &bounds).map(<[Pos]>::len).sum();
        if count > MOST_MOVED {
            return Err(Obstacle::TooLong);
        }
        let moved = between(view, below, &bounds);
        let mut has_grown = false;
        for hold in moved.iter().filter_map(|pos| hold_from(view, *pos)) {
            has_grown |= make_way(search, hold, below, &mut bounds)?;
        }
        if !has_grown {
            return Ok(bounds);
        }
    }
}

/// Lets the holds end that are in the way of one in an upper layer; true if that takes more events.
fn make_way(
    search: &SyncPreserving<'_>,
    hold: &Hold,
    below: &Clock,
    bounds: &mut Clock,
) -> Result<bool, Obstacle> {
    let SyncPreserving { view, order, locks } = search;
    let rows = locks.row_numbers(hold.lock).map(|number| locks.row(number));
    let mut has_grown = false;
    for row in rows.filter(|row| row.is_excluded_by(hold)) {
        let lane = row.lane.index();
        // A thread's holds of a lock do not overlap, so those before its last one are over.
        for bound in [below[lane], bounds[lane]] {
            let Some(last) = locks.last_begun(row, bound) else {
                continue;
            };
            let other = &view.holds()[last.index()];
            let release = match other.acquire < hold.acquire {
                true => other.release,
                // What is below comes first although it began later in the trace.
                false if other.acquire.0 < below[lane] => {
                    let release = other.release.ok_or(Obstacle::Impossible)?;
                    if release.0 >= below[view.lane(release).index()] {
                        return Err(Obstacle::ReleaseBelow(release));
                    }
                    continue;
                }
                false => hold.release,
            };
            let release = release.ok_or(Obstacle::Impossible)?;
            if release.0 >= bounds[view.lane(release).index()] {
                has_grown |= order.join(view, release, bounds);
            }
        }
    }
    Ok(has_grown)
}

/// Whether an event is the last of its thread below a bound.
pub(super) fn is_last(view: &View, pos: Pos, top: &Clock) -> bool {
    let lane = view.lane(pos);
    let events = view.lane_events(lane);
    let after = events.get(events.partition_point(|other| *other <= pos));
    after.is_none_or(|after| after.0 >= top[lane.index()])
}

/// The hold that an event begins.
pub(super) fn hold_from(view: &View, pos: Pos) -> Option<&Hold> {
    if !matches!(view.kind(pos), Kind::Acquire | Kind::Downgrade) {
        return None;
    }
    let found = view.holds().binary_search_by_key(&pos, |hold| hold.acquire);
    found.ok().map(|at| &view.holds()[at])
}

/// The events between two bounds of each thread, in trace order.
fn between(view: &View, from: &Clock, to: &Clock) -> Vec<Pos> {
    let mut events: Vec<Pos> = ranges(view, from, to).flatten().copied().collect();
    events.sort_unstable();
    events
}

/// The events between two bounds, by thread.
fn ranges<'v>(view: &'v View, from: &Clock, to: &Clock) -> impl Iterator<Item = &'v [Pos]> {
    let lanes = from.iter().zip(to).enumerate();
    let grown = lanes.filter(|(_, (from, to))| from < to);
    grown.map(|(lane, (from, to))| {
        let of_lane = view.lane_events(Lane(lane as u16));
        let start = of_lane.partition_point(|pos| pos.0 < *from);
        let end = of_lane.partition_point(|pos| pos.0 < *to);
        &of_lane[start..end]
    })
}
