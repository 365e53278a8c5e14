//! How the time of a check is dealt out among its runs.
//!
//! The first run, which is undisturbed, has most of it. The further runs share a fifth, however many they are. If the
//! user has said how many runs there are to be, each but the last may take half of what is left, so that all are made.

use std::time::{Duration, Instant};

/// The further runs get this share of the time.
const SHARE_OF_FURTHER_RUNS: u32 = 5;

/// When runs have to be done with.
pub(crate) struct Allotment {
    /// How many runs there are to be, if the user says so.
    runs: Option<u64>,
    end: Instant,
    share_of_further: Duration,
    /// When the further runs have to be done with, once the first of them has begun.
    end_of_further: Option<Instant>,
}

impl Allotment {
    /// The time from `start` on, for so many runs, or for as many as it takes.
    pub(crate) fn new(runs: Option<u64>, start: Instant, time: Duration) -> Self {
        Self {
            runs,
            end: start + time,
            share_of_further: time / SHARE_OF_FURTHER_RUNS,
            end_of_further: None,
        }
    }

    /// When the run of this number, from 1, that begins `now` has to be done with; none if there is no time for it.
    pub(crate) fn deadline(&mut self, run: u64, now: Instant) -> Option<Instant> {
        let deadline = match self.runs {
            Some(runs) if run >= runs => self.end,
            Some(_) => now + self.end.saturating_duration_since(now) / 2,
            None if run == 1 => self.end - self.share_of_further,
            None => *self
                .end_of_further
                .get_or_insert(self.end.min(now + self.share_of_further)),
        };
        (run == 1 || now < deadline).then_some(deadline)
    }

    /// Something took this long that no run has to pay for.
    pub(crate) fn extend(&mut self, time: Duration) {
        match &mut self.end_of_further {
            Some(end) => *end += time,
            None => self.end += time,
        }
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
        assert_eq!(allotment.deadline(1, start), Some(start + 40 * SECOND));
        let second = start + 5 * SECOND;
        let end = second + 10 * SECOND;
        assert_eq!(allotment.deadline(2, second), Some(end));
        assert_eq!(allotment.deadline(3, end - SECOND), Some(end));
        assert_eq!(allotment.deadline(4, end), None);
        allotment.extend(SECOND);
        assert_eq!(allotment.deadline(4, end), Some(end + SECOND));
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
