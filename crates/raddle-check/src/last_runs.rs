//! The runs of a check that come last: many of them, looked at for failures and data races only.

use std::time::Instant;

use raddle_run::Error;
use raddle_run::explore::{self, Explored, Search, explore};

use crate::bench::Bench;
use crate::check::{Options, Progress, hang_time};
use crate::memory::Budget;
use crate::search_races::RaceWatcher;

/// Makes the runs, until one fails or it is time to end. Their seeds follow those of the runs before. Returns what there is to
/// be noted of them, too.
///
/// # Errors
/// If the program cannot be run.
pub(crate) fn search(
    bench: &Bench,
    options: &Options,
    end: Instant,
    runs_before: u64,
    budget: Budget,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Explored, Option<String>), Error> {
    let search = Search {
        strategies: options.strategies.clone(),
        depth: options.depth,
        preemptions: 0,
        runs: options.search,
        seed: options.seed.wrapping_add(runs_before),
        keep_going: false,
        verify: false,
        compare: false,
        record: None,
        jobs: options.jobs,
        most_ticks: Some(bench.most_ticks()),
        hang_time: hang_time(options),
    };
    let of = options.search * options.strategies.len() as u64;
    let mut program = bench.program().clone();
    program.until = Some(end);
    let watcher = RaceWatcher::new(&program).within(budget.bytes_a_job());
    let mut report = |it: &explore::Progress| progress(Progress::Searching { runs: it.runs, of });
    let explored = explore(&program, &search, Some(&watcher), &mut report)?;
    Ok((explored, watcher.note()))
}
