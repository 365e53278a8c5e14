//! How much memory and time a prediction may take, and how many events that is.

use std::time::{Duration, Instant};

/// Memory for what does not depend on the length of a trace.
const BASE_BYTES: u64 = 64 << 20;

/// Bytes that one event takes, with the view, the clocks, the judge's tables and the classes of accesses beside it: the most
/// that was seen of generated traces.
const BYTES_AN_EVENT: u64 = 750;

/// Classes of accesses become more with each event at first, but hardly after some million. They take no more than this,
const MOST_BYTES_OF_CLASSES: u64 = 700 << 20;

/// and each event so many bytes besides.
const BYTES_WITHOUT_CLASSES: u64 = 320;

/// What looking through one event costs on a slow machine, in all that is done once for each.
const TIME_AN_EVENT: Duration = Duration::from_nanos(2_000);

/// That may take this share of the time.
const SHARE_OF_TIME: u32 = 2;

/// What is remembered of a trace while it is read, besides its events, may take this share of the memory.
const SHARE_OF_TABLES: u64 = 4;

/// Fewer events show nothing.
const FEWEST_EVENTS: u64 = 10_000;

/// How much memory and time there is: without bounds, unless told otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// Bytes.
    pub memory: Option<u64>,
    /// From when on, and for how long.
    pub time: Option<(Instant, Duration)>,
}

/// What there is too little of for all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scarce {
    Memory,
    Time,
}

impl Bounds {
    /// Most events that are looked at, and what there is too little of for more.
    pub(super) fn most_events(self) -> (u64, Scarce) {
        let fit = self.memory.map_or(u64::MAX, events_within);
        let done = self.time.map_or(u64::MAX, |(_, time)| events_in(time));
        match fit <= done {
            true => (fit, Scarce::Memory),
            false => (done, Scarce::Time),
        }
    }

    /// Whether the time divided by this share is over.
    pub(super) fn is_over(self, share: u32) -> bool {
        let is_over = |(began, time): (Instant, Duration)| began.elapsed() > time / share;
        self.time.is_some_and(is_over)
    }

    /// Whether tables of so many bytes are too large.
    pub(super) fn are_too_large(self, bytes: u64) -> bool {
        self.memory
            .is_some_and(|memory| bytes > memory / SHARE_OF_TABLES)
    }
}

/// How a user gets more.
pub(super) fn remedy(scarce: Scarce, events: Option<u64>) -> String {
    match (scarce, events) {
        (Scarce::Memory, Some(events)) => {
            let enough = (bytes_for(events) >> 20) + 1;
            format!("for want of memory (--memory {enough}M would allow for all)")
        }
        (Scarce::Time, Some(events)) => {
            let time = TIME_AN_EVENT.as_secs_f64() * events as f64;
            let enough = (time * f64::from(SHARE_OF_TIME)).ceil();
            format!("for want of time (--time {enough} would allow for all)")
        }
        (Scarce::Memory, None) => "for want of memory (--memory gives more)".to_owned(),
        (Scarce::Time, None) => "for want of time (--time gives more)".to_owned(),
    }
}

/// Bytes for all of so many events.
fn bytes_for(events: u64) -> u64 {
    let with_classes = events.saturating_mul(BYTES_AN_EVENT);
    let without = events.saturating_mul(BYTES_WITHOUT_CLASSES);
    let least = with_classes.min(without.saturating_add(MOST_BYTES_OF_CLASSES));
    least.saturating_add(BASE_BYTES)
}

/// Most events that fit into so many bytes.
fn events_within(bytes: u64) -> u64 {
    let left = bytes.saturating_sub(BASE_BYTES);
    let besides_classes = left.saturating_sub(MOST_BYTES_OF_CLASSES);
    let most = (left / BYTES_AN_EVENT).max(besides_classes / BYTES_WITHOUT_CLASSES);
    most.max(FEWEST_EVENTS)
}

/// Most events that are looked through in so much time.
fn events_in(time: Duration) -> u64 {
    let events = (time / SHARE_OF_TIME).as_nanos() / TIME_AN_EVENT.as_nanos();
    u64::try_from(events).map_or(u64::MAX, |it| it.max(FEWEST_EVENTS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str, option: &str, unit: char) -> u64 {
        let (_, rest) = text.split_once(option).unwrap();
        let end = rest.find(unit).unwrap();
        rest[..end].parse().unwrap()
    }

    #[test]
    fn what_is_named_is_enough() {
        for events in [20_000, 1_000_000, 7_000_000, 50_000_000] {
            let text = remedy(Scarce::Memory, Some(events));
            let bytes = named(&text, "--memory ", 'M') << 20;
            assert!(events_within(bytes) >= events, "{text}");
            assert!(events_within(bytes / 2) < events, "{text}");
            let text = remedy(Scarce::Time, Some(events));
            let time = Duration::from_secs(named(&text, "--time ", ' '));
            assert!(events_in(time) >= events, "{text}");
        }
    }

    #[test]
    fn the_tighter_bound_counts() {
        let bounds = |memory: u64, seconds: u64| Bounds {
            memory: Some(memory << 20),
            time: Some((Instant::now(), Duration::from_secs(seconds))),
        };
        let (few, scarce) = bounds(4096, 1).most_events();
        assert_eq!(scarce, Scarce::Time);
        let (fewer, scarce) = bounds(100, 1).most_events();
        assert_eq!(scarce, Scarce::Memory);
        assert!(fewer < few, "{fewer} {few}");
        assert_eq!(bounds(0, 1000).most_events().0, FEWEST_EVENTS);
        assert_eq!(Bounds::default().most_events().0, u64::MAX);
        // The traces that the default of 4 GiB is for.
        assert!(bounds(4096, 1000).most_events().0 > 10_000_000);
    }
}
