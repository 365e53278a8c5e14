//! How many events of a run are looked at, so that a check stays within the memory that it may take.
//!
//! The events of a run and what predictions are made from take memory in proportion to the run's length. Of a run
//! that is too long its beginning is looked at: what a program did up to some moment is a run of its own, so that
//! predictions from it are as sound as any. What comes later is not looked at, and the report says so.

/// Bytes that one event takes, with the view, the clocks, the provers and the events of a guided run beside it: the most that
/// was seen of programs which do little but access shared memory under locks.
const BYTES_AN_EVENT: u64 = 700;

/// Memory for what does not depend on the length of a run: the program's model, tables, the solver's windows.
const BASE_BYTES: u64 = 64 << 20;

/// Fewer events show nothing.
const FEWEST_EVENTS: u64 = 10_000;

/// Most events of a run that are looked at within so much memory.
pub(crate) fn events_within(bytes: u64) -> u64 {
    (bytes.saturating_sub(BASE_BYTES) / BYTES_AN_EVENT).max(FEWEST_EVENTS)
}

/// What is said of events that were not looked at.
pub(crate) fn note(most: u64, left_out: u64) -> String {
    let all = most.saturating_add(left_out);
    let enough = all
        .saturating_mul(BYTES_AN_EVENT)
        .saturating_add(BASE_BYTES)
        >> 20;
    format!(
        "only the first {most} of up to {all} events of a run were looked at, for want of memory (--memory {enough}M would allow for all)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_that_is_named_is_enough() {
        let most = events_within(1 << 30);
        assert!(1_000_000 < most && most < 2_000_000, "{most}");
        let text = note(most, 5_000_000);
        let (_, enough) = text.split_once("--memory ").unwrap();
        let (enough, _) = enough.split_once('M').unwrap();
        let enough: u64 = enough.parse().unwrap();
        assert!(
            events_within((enough + 1) << 20) >= most + 5_000_000,
            "{text}"
        );
        assert_eq!(events_within(0), FEWEST_EVENTS);
    }
}
