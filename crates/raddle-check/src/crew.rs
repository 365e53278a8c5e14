//! Tries predictions on the program, several at a time.
//!
//! Predictions are dealt with one after another, and what comes of one decides whether the next is worth
//! trying. Workers try ahead what will probably be asked for; what nobody asks for in the end is dropped and
//! does not count. So the results are the same whatever the number of workers is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use raddle_run::Error;

use crate::bench::Bench;
use crate::confirm::Tried;

/// What came of a prediction, and the runs that it took.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub tried: Tried,
    pub runs: u64,
}

/// Tries the prediction of this number.
pub(crate) type Trying<'a> = dyn Fn(&mut Bench, usize) -> Result<Tried, Error> + Sync + 'a;

/// Workers who try predictions, by number.
pub(crate) struct Crew {
    workers: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Those to try ahead that nobody has begun with, in order.
    ahead: Vec<usize>,
    /// The one that is asked for, until somebody begins with it.
    asked: Option<usize>,
    /// What is before this number will not be asked for any more.
    front: usize,
    /// All that were begun with, or asked for.
    tried: BTreeSet<usize>,
    results: BTreeMap<usize, Result<Attempt, Error>>,
    /// How many were begun with and have not been taken.
    begun: usize,
    over: bool,
    broken: bool,
}

impl Crew {
    /// Employs one worker a bench for as long as `then` goes on. `ahead` are the numbers of predictions that
    /// will probably be asked for, in order.
    pub(crate) fn employ<R>(
        benches: Vec<Bench>,
        ahead: Vec<usize>,
        trying: &Trying<'_>,
        then: impl FnOnce(&Self) -> R,
    ) -> R {
        let crew = Self {
            workers: benches.len(),
            state: Mutex::new(State {
                ahead,
                ..State::default()
            }),
            changed: Condvar::new(),
        };
        thread::scope(|scope| {
            for mut bench in benches {
                let crew = &crew;
                scope.spawn(move || crew.work(&mut bench, trying));
            }
            let _over = EndOfWork(&crew);
            then(&crew)
        })
    }

    /// What came of a prediction. Numbers go up from call to call.
    pub(crate) fn ask(&self, number: usize) -> Result<Attempt, Error> {
        let mut state = self.lock();
        state.forgo_before(number);
        state.ask(number);
        self.changed.notify_all();
        loop {
            assert!(!state.broken, "a worker has panicked");
            if let Some(result) = state.results.remove(&number) {
                state.begun -= 1;
                state.front = number + 1;
                self.changed.notify_all();
                return result;
            }
            state = self.wait(state);
        }
    }

    fn work(&self, bench: &mut Bench, trying: &Trying<'_>) {
        let _breakage = Breakage(self);
        while let Some(number) = self.next() {
            let before = bench.runs();
            let tried = trying(bench, number);
            let attempt = tried.map(|tried| Attempt {
                tried,
                runs: bench.runs() - before,
            });
            self.lock().finish(number, attempt);
            self.changed.notify_all();
        }
    }

    /// What to try next, once there is something to do.
    fn next(&self) -> Option<usize> {
        let mut state = self.lock();
        loop {
            if state.over {
                return None;
            }
            if let Some(number) = state.begin(self.workers) {
                return Some(number);
            }
            state = self.wait(state);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let woken = self.changed.wait(state);
        woken.unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn forgo_before(&mut self, number: usize) {
        self.front = number;
        self.ahead.retain(|it| *it >= number);
        let kept = self.results.split_off(&number);
        self.begun -= self.results.len();
        self.results = kept;
    }

    /// Asks for one unless somebody has begun with it.
    fn ask(&mut self, number: usize) {
        if self.tried.insert(number) {
            self.ahead.retain(|it| *it != number);
            self.asked = Some(number);
        }
    }

    /// Begins with what is asked for, or else with what will be; no more at once than there are workers.
    fn begin(&mut self, workers: usize) -> Option<usize> {
        let number = match self.asked.take() {
            Some(number) => number,
            None if workers > 1 && self.begun < workers && !self.ahead.is_empty() => {
                self.ahead.remove(0)
            }
            None => return None,
        };
        self.tried.insert(number);
        self.begun += 1;
        Some(number)
    }

    fn finish(&mut self, number: usize, attempt: Result<Attempt, Error>) {
        if number < self.front {
            self.begun -= 1;
        } else {
            self.results.insert(number, attempt);
        }
    }
}

/// Sends the workers home, also if something went wrong.
struct EndOfWork<'c>(&'c Crew);

impl Drop for EndOfWork<'_> {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.changed.notify_all();
    }
}

/// Tells of a worker who panics.
struct Breakage<'c>(&'c Crew);

impl Drop for Breakage<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().broken = true;
            self.0.changed.notify_all();
        }
    }
}
