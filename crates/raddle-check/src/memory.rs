//! How many events of a run are looked at, so that a check stays within the memory and the time that it may take.
//!
//! The events of a run and what predictions are made from take memory in proportion to how many they are. Of a run that
//! has too many for either, first those are passed over that concern one thread only ([`crate::reading`]). If what
//! remains is too much still, it is thinned to predict from ([`crate::thinning`]), and where nothing may be missing in
//! between its beginning is looked at. The report says what was not looked at.

use std::time::Duration;

use crate::reading::Wanted;

/// Bytes that one event takes, with the view, the clocks, the provers and the events of a guided run beside it: the most that
/// was seen of programs which do little but access shared memory under locks.
const BYTES_AN_EVENT: u64 = 700;

/// Memory for what does not depend on the length of a run: the program's model, tables, the solver's windows.
const BASE_BYTES: u64 = 64 << 20;

/// What looking through one event costs on a slow machine, in all that is done once for each: reading, the view, clocks,
/// races, the judge's preparation.
const TIME_AN_EVENT: Duration = Duration::from_nanos(2_000);

/// That may take this share of the time.
const SHARE_OF_TIME: u32 = 2;

/// Fewer events show nothing.
const FEWEST_EVENTS: u64 = 10_000;

/// Most events of a run that are looked at within so much memory.
#[must_use]
pub fn events_within(bytes: u64) -> u64 {
    (bytes.saturating_sub(BASE_BYTES) / BYTES_AN_EVENT).max(FEWEST_EVENTS)
}

/// Most events of a run that are looked at in so much time.
fn events_in(time: Duration) -> u64 {
    let events = (time / SHARE_OF_TIME).as_nanos() / TIME_AN_EVENT.as_nanos();
    u64::try_from(events).map_or(u64::MAX, |it| it.max(FEWEST_EVENTS))
}

/// What there is too little of for all events of a long run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scarce {
    /// Of what events take, and what is made of them.
    Memory,
    /// To look through them.
    Time,
}

/// Most events of a run that are looked at within so much memory and time, and which of them it is that allows for no
/// more.
pub(crate) fn most_events(memory: u64, time: Duration) -> (u64, Scarce) {
    let (fit, done) = (events_within(memory), events_in(time));
    match fit <= done {
        true => (fit, Scarce::Memory),
        false => (done, Scarce::Time),
    }
}

/// What was not looked at of the runs that are too long.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PassedOver {
    /// Events of the longest run that was looked at without those that concern one thread only.
    sifted: u64,
    /// Most events besides those that did not fit.
    left_out: u64,
    /// So few steps of a thread that are alike were looked at in the run that was thinned most.
    alike: Option<u32>,
}

impl PassedOver {
    /// This was wanted of a run of so many events, and so many were left out of it that did not fit.
    pub(crate) fn add(&mut self, events: u64, left_out: u64, wanted: Wanted) {
        self.sifted = self.sifted.max(events);
        self.left_out = self.left_out.max(left_out);
        if let Wanted::Thinned(alike) = wanted {
            self.alike = Some(self.alike.map_or(alike, |it| it.min(alike)));
        }
    }

    /// What is said of it, where at most so many events were looked at.
    pub(crate) fn note(self, most: u64, scarce: Scarce) -> Option<String> {
        let Self {
            sifted,
            left_out,
            alike,
        } = self;
        let allows = match scarce {
            Scarce::Memory => {
                let bytes = sifted.saturating_mul(BYTES_AN_EVENT);
                let enough = bytes.saturating_add(BASE_BYTES) >> 20;
                format!("for want of memory (--memory {enough}M would allow for all)")
            }
            Scarce::Time => {
                let time = TIME_AN_EVENT.as_secs_f64() * sifted as f64;
                let enough = (time * f64::from(SHARE_OF_TIME)).ceil();
                format!("for want of time (--time {enough} would allow for all)")
            }
        };
        let rest = match (left_out, alike) {
            (0, _) => "the program's code was not executed again".to_owned(),
            (_, None) => {
                format!("only the first {most} others were looked at ({left_out} were not)")
            }
            (_, Some(alike)) => format!(
                "only the first {most} others were looked at ({left_out} were not), besides the first {alike} times that a thread did the same, wherever in the run"
            ),
        };
        (sifted > 0).then(|| format!(
            "of runs of up to {sifted} events those that concern one thread only were passed over, and {rest}, {allows}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_that_is_named_is_enough() {
        let most = events_within(1 << 30);
        assert!(1_000_000 < most && most < 2_000_000, "{most}");
        for left_out in [0, 1_000_000] {
            let mut passed_over = PassedOver::default();
            passed_over.add(7_000_000, left_out, Wanted::All);
            let text = passed_over.note(most, Scarce::Memory).unwrap();
            let (_, enough) = text.split_once("--memory ").unwrap();
            let (enough, _) = enough.split_once('M').unwrap();
            let enough: u64 = enough.parse().unwrap();
            assert!(events_within((enough + 1) << 20) >= 7_000_000, "{text}");
        }
        assert_eq!(PassedOver::default().note(most, Scarce::Memory), None);
        assert_eq!(events_within(0), FEWEST_EVENTS);
    }

    #[test]
    fn the_time_that_is_named_is_enough() {
        let (most, scarce) = most_events(4 << 30, Duration::from_secs(1));
        assert!(100_000 < most && most < 1_000_000, "{most}");
        assert_eq!(scarce, Scarce::Time);
        let mut passed_over = PassedOver::default();
        passed_over.add(3_000_000, 1, Wanted::All);
        let text = passed_over.note(most, scarce).unwrap();
        let (_, enough) = text.split_once("--time ").unwrap();
        let (enough, _) = enough.split_once(' ').unwrap();
        let enough = Duration::from_secs(enough.parse().unwrap());
        assert!(events_in(enough) >= 3_000_000, "{text}");
        assert_eq!(
            most_events(1 << 30, Duration::from_secs(300)),
            (events_within(1 << 30), Scarce::Memory)
        );
        assert_eq!(events_in(Duration::ZERO), FEWEST_EVENTS);
    }
}
