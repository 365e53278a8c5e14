//! What a program prints when its threads run one after another.
//!
//! An anomaly that is only suspected is a bug if it makes the program print what no serial order prints. The
//! serial orders that are tried are those of whole threads. They count only if all of them print the same
//! lines: a program whose output follows from the order of its threads cannot be judged by it.

use raddle_run::Error;
use raddle_run::launch::Plan;
use raddle_trace::ids::ThreadId;

use crate::bench::{Bench, Ran};
use crate::guide::{Alignment, Guide, Step, Until};
use crate::timeline::Timeline;

/// Most serial orders that are tried.
const MOST_ORDERS: usize = 12;

/// What all serial orders print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Serial {
    /// These lines, in some order.
    Lines(Vec<Vec<u8>>),
    /// One this, another that.
    Various,
}

impl Serial {
    /// Runs the program with its threads one after another, in several orders.
    ///
    /// # Errors
    /// If the program cannot be run.
    pub fn find(bench: &mut Bench, model: &Plan, recorded: &Timeline<'_>) -> Result<Self, Error> {
        let mut threads = recorded.threads();
        threads.retain(|it| *it != ThreadId(0));
        let mut printed: Option<Vec<Vec<u8>>> = None;
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
            let lines = lines(&ran);
            let differs = printed.as_ref().is_some_and(|it| *it != lines);
            if differs || ran.result.failure.is_some() {
                return Ok(Self::Various);
            }
            printed = Some(lines);
        }
        Ok(printed.map_or(Self::Various, Self::Lines))
    }

    /// Whether a run printed something that no serial order prints.
    #[must_use]
    pub fn differs(&self, ran: &Ran) -> bool {
        match self {
            Self::Lines(expected) => *expected != lines(ran),
            Self::Various => false,
        }
    }
}

/// What a run printed, without the order of its lines.
fn lines(ran: &Ran) -> Vec<Vec<u8>> {
    let lines = ran.result.stdout.split(|byte| *byte == b'\n');
    let mut lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
    lines.sort_unstable();
    lines
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
