//! How the time of a check is dealt out.
//!
//! The first run, which is undisturbed, has most of it. The further runs share a fifth, however many they are, and the
//! search that comes last has a tenth. If the user has said how many runs there are to be, each but the last may take half
//! of what is left, so that all are made.

use std::time::{Duration, Instant};

/// The further runs get this share of the time.
const SHARE_OF_FURTHER_RUNS: u32 = 5;

/// The runs that come last get this share.
const SHARE_OF_SEARCH: u32 = 10;

/// When the parts of a check have to be done with.
pub(crate) struct Allotment {
    /// How many runs there are to be, if the user says so.
    runs: Option<u64>,
    end: Instant,
    further: Duration,
    search: Duration,
    /// When the further runs have to be done with, once the first of them has begun.
    end_of_further: Option<Instant>,
    /// What took long and was not to be paid for by the runs.
    extension: Duration,
}

impl Allotment {
    /// The time from `start` on, for so many runs, or for as many as it takes.
    pub(crate) fn new(runs: Option<u64>, start: Instant, time: Duration) -> Self {
        Self {
            runs,
            end: start + time,
            further: time / SHARE_OF_FURTHER_RUNS,
            search: time / SHARE_OF_SEARCH,
            end_of_further: None,
            extension: Duration::ZERO,
        }
    }

    /// When all has to be done with.
    pub(crate) fn end(&self) -> Instant {
        self.end
    }

    /// When the run of this number, from 1, that begins `now` has to be done with; none if there is no time for it.
    pub(crate) fn deadline(&mut self, run: u64, now: Instant) -> Option<Instant> {
        let deadline = match self.runs {
            Some(runs) if run >= runs => self.end,
            Some(_) => now + self.end.saturating_duration_since(now) / 2,
            None if run == 1 => self.end - self.search - self.further + self.extension,
            None => {
                let end = (now + self.further).min(self.end - self.search);
                *self.end_of_further.get_or_insert(end) + self.extension
            }
        };
        let deadline = deadline.min(self.end);
        (run == 1 || now < deadline).then_some(deadline)
    }

    /// When the search that begins `now` has to be done with.
    pub(crate) fn end_of_search(&self, now: Instant) -> Instant {
        self.end.min(now + self.search)
    }

    /// Something took this long, and the present run, which has a deadline, and those to come do not have to pay for it
    /// while there is time at all. Returns the deadline from now on.
    pub(crate) fn extend(&mut self, deadline: Instant, time: Duration) -> Instant {
        self.extension += time;
        self.end.min(deadline + time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn further_runs_share_a_fifth() {
        let start = Instant::now();
        let mut allotment = Allotment::new(None, start, 50 * SECOND);
        assert_eq!(allotment.deadline(1, start), Some(start + 35 * SECOND));
        let second = start + 5 * SECOND;
        let end = second + 10 * SECOND;
        assert_eq!(allotment.deadline(2, second), Some(end));
        assert_eq!(allotment.deadline(3, end - SECOND), Some(end));
        assert_eq!(allotment.deadline(4, end), None);
        assert_eq!(allotment.end_of_search(end), end + 5 * SECOND);
        assert_eq!(allotment.extend(end, SECOND), end + SECOND);
        assert_eq!(allotment.deadline(4, end), Some(end + SECOND));
    }

    #[test]
    fn nothing_goes_on_after_the_end() {
        let start = Instant::now();
        let mut allotment = Allotment::new(None, start, 50 * SECOND);
        let end = start + 50 * SECOND;
        assert_eq!(allotment.extend(end - SECOND, 100 * SECOND), end);
        assert_eq!(allotment.deadline(1, start), Some(end));
        assert_eq!(allotment.deadline(2, end - SECOND), Some(end));
        assert_eq!(allotment.deadline(3, end), None);
        assert_eq!(allotment.end_of_search(end - SECOND), end);
    }

    #[test]
    fn all_runs_that_are_asked_for_have_time() {
        let start = Instant::now();
        let mut allotment = Allotment::new(Some(20), start, 300 * SECOND);
        let mut now = start;
        for run in 1..=20 {
            now = allotment.deadline(run, now).unwrap();
        }
        assert_eq!(now, start + 300 * SECOND);
        assert_eq!(allotment.deadline(21, now), None);
    }

    #[test]
    fn the_first_run_is_always_made() {
        let start = Instant::now();
        for runs in [None, Some(1), Some(20)] {
            let mut allotment = Allotment::new(runs, start, Duration::ZERO);
            assert_eq!(allotment.deadline(1, start), Some(start));
            assert_eq!(allotment.deadline(2, start), None);
        }
    }
}
