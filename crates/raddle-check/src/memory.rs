//! How many events of a run are looked at, so that a check stays within the memory that it may take.
//!
//! The events of a run and what predictions are made from take memory in proportion to how many they are. Of a run that
//! has too many, first those are passed over that concern one thread only ([`crate::reading`]). If what remains is too
//! much still, its beginning is looked at: what a program did up to some moment is a run of its own, so that
//! predictions from it are as sound as any. The report says what was not looked at.

/// Bytes that one event takes, with the view, the clocks, the provers and the events of a guided run beside it: the most that
/// was seen of programs which do little but access shared memory under locks.
const BYTES_AN_EVENT: u64 = 700;

/// Memory for what does not depend on the length of a run: the program's model, tables, the solver's windows.
const BASE_BYTES: u64 = 64 << 20;

/// Fewer events show nothing.
const FEWEST_EVENTS: u64 = 10_000;

/// Most events of a run that are looked at within so much memory.
#[must_use]
pub fn events_within(bytes: u64) -> u64 {
    (bytes.saturating_sub(BASE_BYTES) / BYTES_AN_EVENT).max(FEWEST_EVENTS)
}

/// What was not looked at of the runs that do not fit into memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PassedOver {
    /// Events of the longest run that was looked at without those that concern one thread only.
    sifted: u64,
    /// Most events besides those that did not fit.
    left_out: u64,
}

impl PassedOver {
    /// A run of so many events was sifted, and so many were left out of what remained.
    pub(crate) fn add(&mut self, events: u64, left_out: u64) {
        self.sifted = self.sifted.max(events);
        self.left_out = self.left_out.max(left_out);
    }

    /// What is said of it, where at most so many events are in memory.
    pub(crate) fn note(self, most: u64) -> Option<String> {
        let Self { sifted, left_out } = self;
        let enough = sifted
            .saturating_mul(BYTES_AN_EVENT)
            .saturating_add(BASE_BYTES)
            >> 20;
        let allows = format!("for want of memory (--memory {enough}M would allow for all)");
        match (sifted, left_out) {
            (0, _) => None,
            (_, 0) => Some(format!(
                "of runs of up to {sifted} events those that concern one thread only were passed over, and the program's code was not executed again, {allows}"
            )),
            _ => Some(format!(
                "of runs of up to {sifted} events those that concern one thread only were passed over, and only the first {most} others were looked at ({left_out} were not), {allows}"
            )),
        }
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
            passed_over.add(7_000_000, left_out);
            let text = passed_over.note(most).unwrap();
            let (_, enough) = text.split_once("--memory ").unwrap();
            let (enough, _) = enough.split_once('M').unwrap();
            let enough: u64 = enough.parse().unwrap();
            assert!(events_within((enough + 1) << 20) >= 7_000_000, "{text}");
        }
        assert_eq!(PassedOver::default().note(most), None);
        assert_eq!(events_within(0), FEWEST_EVENTS);
    }
}
