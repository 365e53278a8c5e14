//! The exhaustive search: every schedule with at most so many preemptions.
//!
//! Schedules differ only at events that touch shared memory, so the search needs to know which
//! sites do. It learns them from its own runs: the first is only looked at; whenever a later one
//! shows shared sites that were not known, the search starts over with the larger set. The set only grows and is bounded by the program's sites, so
//! this ends. The promise at the end, that all schedules were run, is for the set of the last
//! search, which by then covers every run that was made.

use raddle_trace::sharing::SiteSet;
use raddle_trace::wire::StrategyKind;

use crate::dfs::{Frontier, Prefix};
use crate::error::Error;
use crate::explore::{Coverage, Tally};
use crate::launch::{Detail, Plan, Record};
use crate::profile;

/// Runs the search that the tally asks for. Returns whether it ended early.
pub(crate) fn search(tally: &mut Tally<'_>) -> Result<bool, Error> {
    let bound = tally.search.preemptions;
    let trace = tally.scratch.join("dfs.trace");
    let mut visible = SiteSet::default();
    let mut sites_len = 0;
    let mut frontier = Frontier::new(bound);
    let mut schedules = 0;
    let mut next = Some(Prefix(Vec::new()));
    let mut first = true;
    let mut runs = 0;
    let mut stopped = false;
    while let Some(prefix) = next {
        if runs >= tally.search.runs {
            next = Some(prefix);
            break;
        }
        let mut plan = Plan::new(StrategyKind::Dfs, tally.search.seed);
        plan.step = true;
        plan.choices = prefix.0.clone();
        plan.visible = profile::bits(&visible, sites_len).into();
        let path = tally.search.record.as_ref().unwrap_or(&trace).clone();
        plan.record = Some(Record {
            path: path.clone(),
            detail: Detail::Events,
        });
        runs += 1;
        tally.explored.runs += 1;
        let ran = tally.run(plan, Some(frontier.len()))?;
        schedules += 1;
        if ran.stop {
            stopped = true;
            next = frontier.take();
            break;
        }
        let known = visible.len();
        visible.extend(&profile::shared_sites(&path)?);
        sites_len = ran.sites_len.max(sites_len);
        if visible.len() > known || first {
            // The run was not a schedule of the new search, so nothing is kept of it.
            first = false;
            frontier = Frontier::new(bound);
            schedules = 0;
            next = Some(Prefix(Vec::new()));
            continue;
        }
        frontier.add(&prefix, &ran.choices);
        next = frontier.take();
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
