//! Attempts at predictions, made by several workers ahead of whoever wants them.
//!
//! Predictions are dealt with one after another, and what came of one decides whether the next is worth
//! trying. Workers try what will probably be wanted; what is wanted and was not tried is tried then, and what
//! was tried in vain does not count. So the results are the same whatever the number of workers is.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use raddle_run::Error;
use raddle_run::parallel::in_order;

use crate::bench::Bench;
use crate::confirm::Tried;

/// What came of a prediction, and the runs that it took.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub tried: Tried,
    pub runs: u64,
}

/// Tries predictions, by number.
pub(crate) struct Attempts<'a, F> {
    trying: F,
    like: &'a Bench,
    /// Benches that nobody works at.
    free: Mutex<Vec<Bench>>,
}

impl<'a, F: Fn(&mut Bench, usize) -> Result<Tried, Error> + Sync> Attempts<'a, F> {
    /// `trying` tries a prediction on a bench `like` this one.
    pub(crate) fn new(like: &'a Bench, trying: F) -> Self {
        Self {
            trying,
            like,
            free: Mutex::new(Vec::new()),
        }
    }

    /// Deals with the predictions `0..probable.len()`, in order, until `deal` breaks off. It gets the attempt
    /// at one, if that was made ahead: only what is `probable` is, and nothing by a single worker.
    pub(crate) fn in_order(
        &self,
        jobs: NonZeroUsize,
        probable: &[bool],
        mut deal: impl FnMut(usize, Option<Result<Attempt, Error>>) -> ControlFlow<()>,
    ) {
        let ahead = |number: u64, over: &AtomicBool| {
            let number = number as usize;
            let wanted = jobs.get() > 1 && probable[number] && !over.load(Ordering::Relaxed);
            (number, wanted.then(|| self.make(number)))
        };
        in_order(jobs, probable.len() as u64, ahead, |(number, made)| {
            deal(number, made)
        });
    }

    /// Tries a prediction.
    pub(crate) fn make(&self, number: usize) -> Result<Attempt, Error> {
        let free = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let bench = free().pop();
        let mut bench = bench.map_or_else(|| self.like.another(), Ok)?;
        let before = bench.runs();
        let tried = (self.trying)(&mut bench, number)?;
        let runs = bench.runs() - before;
        free().push(bench);
        Ok(Attempt { tried, runs })
    }
}
