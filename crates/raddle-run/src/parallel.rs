//! Several runs at the same time, with the results of one after another.
//!
//! What a run does follows from its plan, so runs may be made in any order as long as their results are
//! looked at in one. Workers make runs ahead of whoever takes the results; when that one has seen enough,
//! the runs behind are ended and forgotten. Nothing that is decided here depends on which worker was
//! faster, but a run that is ended for taking too long may take longer beside others.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::Error;
use crate::launch::{Plan, RunResult, launch_unless};
use crate::program::Program;

/// How many results a worker may be ahead of whoever takes them.
const AHEAD: usize = 4;

/// How many numbers may be worked on, or wait to be taken, at the same time.
pub fn window(jobs: NonZeroUsize) -> u64 {
    match jobs.get() {
        1 => 1,
        jobs => jobs.saturating_mul(AHEAD) as u64,
    }
}

/// Works on the numbers below `count`, up to `jobs` of them at the same time, and has the results taken in
/// the order of the numbers until `take` breaks off. Work should end early when its flag gets set.
///
/// Numbers that are worked on at the same time differ by less than the [`window`].
pub fn in_order<T: Send>(
    jobs: NonZeroUsize,
    count: u64,
    work: impl Fn(u64, &AtomicBool) -> T + Sync,
    mut take: impl FnMut(T) -> ControlFlow<()>,
) {
    let queue = Queue::<T>::new(count, window(jobs));
    if jobs.get() == 1 {
        for number in 0..count {
            if take(work(number, &queue.over)).is_break() {
                return;
            }
        }
        return;
    }
    std::thread::scope(|scope| {
        let ends = Ends(&queue);
        for _ in 0..count.min(jobs.get() as u64) {
            scope.spawn(|| {
                let ends = Ends(&queue);
                while let Some(number) = queue.next() {
                    queue.put(number, work(number, &queue.over));
                }
                std::mem::forget(ends);
            });
        }
        while let Some(result) = queue.first() {
            if take(result).is_break() {
                break;
            }
            queue.advance();
        }
        drop(ends);
    });
}

/// Makes a run by each of these plans, up to `jobs` at the same time; results are in the plans' order. Plans
/// that are recorded need files of their own.
pub fn launch_all(
    program: &Program,
    plans: &[Plan],
    jobs: NonZeroUsize,
) -> Vec<Result<RunResult, Error>> {
    let mut results = Vec::new();
    let work =
        |number: u64, over: &AtomicBool| launch_unless(program, &plans[number as usize], over);
    in_order(jobs, plans.len() as u64, work, |result| {
        results.push(result);
        ControlFlow::Continue(())
    });
    results
}

/// Numbers to work on and results to be taken.
struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    /// Nobody wants more results.
    over: AtomicBool,
    count: u64,
    window: u64,
}

struct State<T> {
    /// The next number to work on.
    next: u64,
    /// The next number to be taken.
    taken: u64,
    done: BTreeMap<u64, T>,
}

impl<T> Queue<T> {
    fn new(count: u64, window: u64) -> Queue<T> {
        Queue {
            state: Mutex::new(State {
                next: 0,
                taken: 0,
                done: BTreeMap::new(),
            }),
            changed: Condvar::new(),
            over: AtomicBool::new(false),
            count,
            window,
        }
    }

    /// The next number to work on, once it is near enough to those taken.
    fn next(&self) -> Option<u64> {
        let far = |state: &mut State<T>| {
            !self.is_over() && state.next < self.count && state.next >= state.taken + self.window
        };
        let waited = self.changed.wait_while(self.lock(), far);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if self.is_over() || state.next >= self.count {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    fn put(&self, number: u64, result: T) {
        self.lock().done.insert(number, result);
        self.changed.notify_all();
    }

    /// The result of the lowest number not taken yet; `None` if there are no more.
    fn first(&self) -> Option<T> {
        let missing = |state: &mut State<T>| {
            !self.is_over() && state.taken < self.count && !state.done.contains_key(&state.taken)
        };
        let waited = self.changed.wait_while(self.lock(), missing);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let number = state.taken;
        state.done.remove(&number)
    }

    /// Goes on to the next number.
    fn advance(&self) {
        self.lock().taken += 1;
        self.changed.notify_all();
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the work when it is dropped: when enough was taken, or somebody panics.
struct Ends<'a, T>(&'a Queue<T>);

impl<T> Drop for Ends<'_, T> {
    fn drop(&mut self) {
        let state = self.0.lock();
        self.0.over.store(true, Ordering::Relaxed);
        drop(state);
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::time::Duration;

    fn jobs(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).unwrap()
    }

    /// Works on numbers for times that have nothing to do with their order, and takes up to `last`.
    fn taken(count: usize, numbers: u64, last: u64) -> Vec<u64> {
        let mut taken = Vec::new();
        let work = |number: u64, _: &AtomicBool| {
            std::thread::sleep(Duration::from_micros(number * 7919 % 1000));
            number
        };
        in_order(jobs(count), numbers, work, |number| {
            taken.push(number);
            if number == last {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        taken
    }

    #[test]
    fn results_are_the_same_with_any_number_of_jobs() {
        let alone = taken(1, 40, 30);
        assert_eq!(alone, (0..=30).collect::<Vec<_>>());
        for count in [2, 3, 50] {
            assert_eq!(taken(count, 40, 30), alone);
            assert_eq!(taken(count, 40, 99), (0..40).collect::<Vec<_>>());
        }
        assert_eq!(taken(2, 0, 0), []);
    }

    #[test]
    fn nobody_works_far_ahead() {
        let (started, taken) = (AtomicU64::new(0), AtomicU64::new(0));
        let work = |number: u64, _: &AtomicBool| {
            started.fetch_max(number, Ordering::SeqCst);
            started.load(Ordering::SeqCst) - taken.load(Ordering::SeqCst)
        };
        in_order(jobs(2), 100, work, |ahead| {
            assert!(ahead < window(jobs(2)), "{ahead}");
            std::thread::sleep(Duration::from_micros(200));
            taken.fetch_add(1, Ordering::SeqCst);
            ControlFlow::Continue(())
        });
        assert_eq!(taken.into_inner(), 100);
    }

    #[test]
    fn work_that_nobody_wants_is_told_so() {
        let work = |number: u64, over: &AtomicBool| {
            while number > 0 && !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        in_order(jobs(2), 10, work, |()| ControlFlow::Break(()));
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_does_not_keep_anybody_waiting() {
        let work = |number: u64, _: &AtomicBool| assert_ne!(number, 3, "number 3");
        in_order(jobs(2), 10, work, |()| ControlFlow::Continue(()));
    }
}
