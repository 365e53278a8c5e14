//! From a goal to the orders that are tried for it.

use super::SyncPreserving;
use super::ideal::Closure;
use super::layers::{Layers, Step};
use super::trial::Trial;
use crate::goal::{Goal, Reached};
use crate::view::{Kind, Pos, View};

/// Goals with more next events are not tried in as many ways.
const MOST_ORDERED: usize = 8;

pub(super) fn reach(search: &SyncPreserving<'_>, goal: &Goal) -> Reached {
    if !goal.is_sensible(search.view) || goal.sees.is_some_and(|it| !goal.next.contains(&it.read)) {
        return Reached::Never;
    }
    let mut closure = Closure::new(search);
    let mut is_cut = false;
    for plan in plans(search.view, goal) {
        match Layers::build(&mut closure, &plan, &goal.next) {
            Ok(Some(layers)) => {
                let trial = Trial::of(search, &layers, goal);
                if let Some(order) = trial {
                    return Reached::By(order);
                }
            }
            Ok(None) => {}
            Err(_) => is_cut = true,
        }
    }
    match is_cut {
        true => Reached::Unknown,
        false => Reached::Never,
    }
}

/// What is done in each layer.
type Plan = Vec<Vec<Step>>;

/// The plans, nearest to the trace first. Of each there is one in which what comes later waits before its
/// outermost lock, with all that precedes that lock done early.
fn plans(view: &View, goal: &Goal) -> Vec<Plan> {
    let plain = plain_plans(view, goal);
    let early = plain.iter().filter_map(|plan| early(view, plan));
    plain.iter().cloned().chain(early).collect()
}

/// A plan with the ways to the regions of its upper layers in layer 0.
fn early(view: &View, plan: &Plan) -> Option<Plan> {
    let [base, upper @ ..] = plan.as_slice() else {
        return None;
    };
    let before_lock = |step: &Step| {
        let region = view.regions()[view.region_of(step.pos())?.index()];
        let acquire = view.holds()[region.outermost.index()].acquire;
        (acquire < step.pos()).then_some(Step::Approach(acquire))
    };
    let first: Vec<Step> = upper.iter().flatten().filter_map(before_lock).collect();
    (!first.is_empty()).then(|| {
        let mut plan = plan.clone();
        plan[0] = first.into_iter().chain(base.iter().copied()).collect();
        plan
    })
}

fn plain_plans(view: &View, goal: &Goal) -> Vec<Plan> {
    let executed = executed(view, goal);
    let next: Vec<Step> = goal.next.iter().map(|pos| Step::Approach(*pos)).collect();
    if executed.is_empty() {
        return next_only(&next);
    }
    if next.is_empty() {
        return vec![executed];
    }
    let with_next = |layer: usize| {
        let mut plan = executed.clone();
        plan[layer].extend(&next);
        plan
    };
    let mut plans = vec![with_next(0)];
    if executed.len() > 1 {
        plans.push(with_next(executed.len() - 1));
    }
    let mut next_last = executed.clone();
    next_last.push(next.clone());
    let mut next_first = vec![next];
    next_first.extend(executed);
    plans.extend([next_last, next_first]);
    plans
}

/// All together, or one of them after the others.
fn next_only(next: &[Step]) -> Vec<Plan> {
    let mut plans = vec![vec![next.to_vec()]];
    if (2..=MOST_ORDERED).contains(&next.len()) {
        for last in next {
            let others = next.iter().filter(|step| *step != last).copied();
            plans.push(vec![others.collect(), vec![*last]]);
        }
    }
    plans
}

/// The events to be executed, in layers that each keep the trace's order.
fn executed(view: &View, goal: &Goal) -> Plan {
    let mut layers = Plan::new();
    let mut latest = None;
    for (at, &pos) in goal.in_order.iter().enumerate() {
        if latest.is_none_or(|latest| pos < latest) {
            layers.push(Vec::new());
        }
        latest = Some(pos);
        let of_thread = |other: &Pos| view.lane(*other) == view.lane(pos);
        let mut after = goal.in_order[at + 1..].iter().chain(&goal.next);
        let is_free = is_load(view, pos) && !after.any(of_thread);
        let step = match is_free {
            true => Step::ExecuteLast(pos),
            false => Step::Execute(pos),
        };
        layers.last_mut().expect("one was pushed").push(step);
    }
    layers
}

/// Whether nothing but what its thread does afterwards depends on what it reads. Of atomic ones a view does
/// not tell loads from compare-exchanges that failed.
pub(super) fn is_load(view: &View, pos: Pos) -> bool {
    view.kind(pos) == Kind::Access && view.reads(pos) && !view.writes(pos) && !view.is_atomic(pos)
}
