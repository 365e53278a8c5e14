//! The exhaustive search: every schedule with at most so many preemptions.
//!
//! Schedules differ only where threads interfere, so the search needs to know which sites do. It
//! learns them from its own runs: when one shows a site that interferes and was no scheduling
//! point, the search starts over with that site added. Each start adds a site and there are only so
//! many, so this ends. The promise at the end, that all schedules were run, is for the points of
//! the last start, and no run made since then has shown a point that is missing.

use std::sync::Arc;

use raddle_trace::wire::StrategyKind;

use crate::dfs::{Frontier, Prefix};
use crate::error::Error;
use crate::explore::{Coverage, Tally};
use crate::interference::{Interference, covers};
use crate::launch::{Detail, Plan, Record};

/// Runs the search that the tally asks for. Returns whether it ended early.
pub(crate) fn search(tally: &mut Tally<'_>) -> Result<bool, Error> {
    let Tally {
        search, scratch, ..
    } = *tally;
    let bound = search.preemptions;
    if tally.left == 0 {
        return Ok(true);
    }
    let mut model = Plan::new(StrategyKind::RoundRobin, search.seed);
    let profile = tally.run_undisturbed(model.clone(), true)?;
    let mut interference = Interference::default();
    if profile.stop {
        return Ok(true);
    }
    interference.learn(&tally.first_trace())?;
    let path = search.record.clone();
    let path = path.unwrap_or_else(|| scratch.join("dfs.trace"));
    model.record = Some(Record {
        path: path.clone(),
        detail: Detail::Events,
    });
    model.strategy = StrategyKind::Dfs;
    model.step = true;
    model.visible = interference.visible(profile.sites_len).into();

    let mut frontier = Frontier::new(bound);
    let mut next = Some(Prefix(Vec::new()));
    let (mut schedules, mut stopped) = (0, false);
    while !stopped && !tally.is_done() {
        let Some(prefix) = next else { break };
        let mut plan = model.clone();
        plan.choices = prefix.0.clone();
        schedules += 1;
        let ran = tally.run(plan, Some(frontier.len()))?;
        stopped = ran.stop;
        interference.learn(&path)?;
        if covers(&model.visible, &interference.seen) {
            frontier.add(&prefix, &ran.choices);
            next = frontier.take();
        } else {
            model.visible = Arc::from(interference.visible(ran.sites_len));
            frontier = Frontier::new(bound);
            schedules = 0;
            next = Some(Prefix(Vec::new()));
        }
    }
    tally.explored.coverage = Some(Coverage {
        schedules,
        complete: next.is_none(),
        bounded: frontier.is_bounded(),
        preemptions: bound,
        left: frontier.len() + usize::from(next.is_some()),
    });
    Ok(stopped)
}
