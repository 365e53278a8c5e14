//! Failures that need no anomaly.
//!
//! An anomaly of atomicity is a bug if its run fails in a way that runs without it do not: neither the undisturbed one,
//! nor those in which each thread runs for as long as it can before the next one starts. A failure of such a run comes of
//! the order of whole threads, whatever else happens in runs that fail in the same way.

use raddle_run::Error;
use raddle_run::launch::{Plan, RunResult};
use raddle_run::outcome::Failure;
use raddle_trace::ids::ThreadId;
use raddle_trace::outcome::Outcome;

use crate::bench::{Bench, Ran};
use crate::guide::{Alignment, Guide, Step, Until};
use crate::timeline::Timeline;

/// Most serial orders that are tried.
const MOST_ORDERS: usize = 12;

/// How the program fails without anomalies.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    undisturbed: Option<Failure>,
    /// Failures of serial runs, once these were made.
    serial: Option<Vec<Failure>>,
}

impl Baseline {
    /// Takes note of how the undisturbed run ended.
    pub(crate) fn learn(&mut self, undisturbed: &RunResult) {
        self.undisturbed.clone_from(&undisturbed.failure);
    }

    /// Whether the undisturbed run fails.
    pub(crate) fn fails_undisturbed(&self) -> bool {
        self.undisturbed.is_some()
    }

    /// Whether the undisturbed run fails like this.
    pub(crate) fn is_undisturbed(&self, outcome: &Outcome) -> bool {
        let mut failures = self.undisturbed.iter();
        failures.any(|it| it.is_like(outcome))
    }

    /// Whether a serial run fails like this, of those that are known.
    pub(crate) fn is_serial(&self, outcome: &Outcome) -> bool {
        let mut failures = self.serial.iter().flatten();
        failures.any(|it| it.is_like(outcome))
    }

    /// Makes the serial runs, if they were not made before. Returns those that fail.
    ///
    /// # Errors
    /// If the program cannot be run.
    pub(crate) fn run_serially(
        &mut self,
        bench: &mut Bench,
        model: &Plan,
        recorded: &Timeline<'_>,
    ) -> Result<Vec<Ran>, Error> {
        if self.serial.is_some() {
            return Ok(Vec::new());
        }
        let failing = failing_serial_runs(bench, model, recorded)?;
        let failures = failing.iter().filter_map(Ran::failure);
        self.serial = Some(failures.cloned().collect());
        Ok(failing)
    }
}

/// Runs the program with its threads one after another, in several orders.
fn failing_serial_runs(
    bench: &mut Bench,
    model: &Plan,
    recorded: &Timeline<'_>,
) -> Result<Vec<Ran>, Error> {
    let mut threads = recorded.threads();
    threads.retain(|it| *it != ThreadId(0));
    let mut failing = Vec::new();
    for order in orders(&threads).into_iter().take(MOST_ORDERS) {
        let main_first = std::iter::once(ThreadId(0)).chain(order);
        let steps = main_first.map(|thread| Step {
            thread,
            until: Until::Stuck,
        });
        let guide = Guide {
            steps: steps.collect(),
        };
        let Some((switches, _)) = guide.switches(recorded, &Alignment::default()) else {
            continue;
        };
        let ran = bench.guided(model, switches)?;
        if ran.failure().is_some() {
            failing.push(ran);
        }
    }
    Ok(failing)
}

/// Orders of these threads: forwards, backwards, and each of them first and last.
fn orders(threads: &[ThreadId]) -> Vec<Vec<ThreadId>> {
    let mut orders = vec![threads.to_vec(), threads.iter().rev().copied().collect()];
    for at in 1..threads.len() {
        let mut first = threads.to_vec();
        first[..=at].rotate_right(1);
        let mut last = threads.to_vec();
        last[at - 1..].rotate_left(1);
        orders.extend([first, last]);
    }
    orders.sort();
    orders.dedup();
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_comes_first_and_last() {
        let threads = [1, 2, 3].map(ThreadId);
        let orders = orders(&threads);
        for thread in threads {
            assert!(orders.iter().any(|it| it[0] == thread));
            assert!(orders.iter().any(|it| it[2] == thread));
        }
        assert!(orders.iter().all(|it| it.len() == 3));
    }
}
