//! How many events of a run are looked at, so that a check stays within the memory and the time that it may take.
//!
//! The events of a run and what predictions are made from take memory in proportion to how many they are. Of a run that
//! has too many for either, first those are passed over that concern one thread only ([`crate::reading`]). If what
//! remains is too much still, it is thinned to predict from ([`crate::thinning`]), and where nothing may be missing in
//! between its beginning is looked at. The report says what was not looked at.
//!
//! What else there is in memory is for the program itself, as often as it runs at the same time, for what it prints, and for
//! traces, where the directory of temporary files is in memory. How much that is, recorded runs tell.

use std::time::Duration;

use raddle_run::launch::RunResult;

use crate::reading::Wanted;

/// Bytes that one event takes, with the view, the clocks, the provers and the events of a guided run beside it: the most that
/// was seen of programs which do little but access shared memory under locks.
const BYTES_AN_EVENT: u64 = 700;

/// The events of a guided run that is made beside another one.
const BYTES_AN_EVENT_BESIDE: u64 = 100;

/// Memory for what does not depend on the length of a run: the program's model, tables, the solver's windows.
const BASE_BYTES: u64 = 64 << 20;

/// What else is in memory is told in parts of the budget, so that a few pages more or less, which differ from run to run,
/// make no difference to what is looked at.
const PARTS: u64 = 32;

/// What looking through one event costs on a slow machine, in all that is done once for each: reading, the view, clocks,
/// races, the judge's preparation.
const TIME_AN_EVENT: Duration = Duration::from_nanos(2_000);

/// That may take this share of the time.
const SHARE_OF_TIME: u32 = 2;

/// Fewer events show nothing.
const FEWEST_EVENTS: u64 = 10_000;

/// The memory of a command and of the programs that it runs.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    bytes: u64,
    /// Runs that are made at the same time.
    jobs: u64,
    /// The most that a process of the program had.
    program: u64,
    /// The most that a run has left: what it printed, as it was written and as it was read, and its trace.
    left: u64,
}

impl Budget {
    /// So many bytes, where so many runs are made at the same time.
    #[must_use]
    pub fn new(bytes: u64, jobs: usize) -> Self {
        Self {
            bytes,
            jobs: (jobs as u64).max(1),
            program: 0,
            left: 0,
        }
    }

    /// Takes note of a recorded run, whose trace takes so many bytes of memory.
    pub(crate) fn learn(&mut self, run: &RunResult, trace: u64) {
        let printed = (run.stdout.len() + run.stderr.len()) as u64;
        self.left = self
            .left
            .max(trace.saturating_add(printed.saturating_mul(2)));
        self.learn_process(run.memory);
    }

    /// A process of the program had so many bytes.
    pub fn learn_process(&mut self, bytes: u64) {
        self.program = self.program.max(bytes);
    }

    /// What is not for events: a recorded run's remains, and those of each run that is made beside, with its process.
    fn besides(&self) -> u64 {
        let each = self.program.saturating_add(self.left);
        let all = each.saturating_mul(self.jobs).saturating_add(self.left);
        let part = (self.bytes / PARTS).max(1);
        all.div_ceil(part).saturating_mul(part)
    }

    fn bytes_an_event(&self) -> u64 {
        BYTES_AN_EVENT + BYTES_AN_EVENT_BESIDE * (self.jobs - 1)
    }

    /// What each of the jobs has whose program has ended.
    #[must_use]
    pub fn bytes_a_job(&self) -> u64 {
        let others = self.program.saturating_mul(self.jobs - 1);
        self.bytes_at_rest().saturating_sub(others) / self.jobs
    }

    /// Bytes that are left while no program runs.
    pub(crate) fn bytes_at_rest(&self) -> u64 {
        let left = self.bytes.saturating_sub(self.left);
        left.saturating_sub(BASE_BYTES)
    }

    /// Most events of a run that are looked at.
    #[must_use]
    pub fn events(&self) -> u64 {
        let left = self.bytes.saturating_sub(self.besides());
        (left.saturating_sub(BASE_BYTES) / self.bytes_an_event()).max(FEWEST_EVENTS)
    }

    /// How many bytes would be enough for so many events.
    fn enough_for(&self, events: u64) -> u64 {
        let bytes = events.saturating_mul(self.bytes_an_event());
        // The parts of a larger budget are larger.
        let besides = self.besides().saturating_mul(PARTS) / (PARTS - 1);
        let sum = bytes.saturating_add(BASE_BYTES).saturating_add(besides);
        sum.saturating_add(sum / PARTS)
    }

    /// What is said if the program leaves nothing.
    pub(crate) fn note(&self) -> Option<String> {
        let besides = self.besides();
        let fewest = FEWEST_EVENTS * self.bytes_an_event();
        (besides > 0 && besides + BASE_BYTES + fewest > self.bytes).then(|| {
            format!(
                "the program and what its runs leave take {} MB, which is too much for --memory {}M: no more than \
                 {FEWEST_EVENTS} events of a run were looked at, and it may have taken more memory",
                besides >> 20,
                self.bytes >> 20,
            )
        })
    }
}

/// Most events of a run that are looked at in so much time.
fn events_in(time: Duration) -> u64 {
    let events = (time / SHARE_OF_TIME).as_nanos() / TIME_AN_EVENT.as_nanos();
    u64::try_from(events).map_or(u64::MAX, |it| it.max(FEWEST_EVENTS))
}

/// What there is too little of for all events of a long run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scarce {
    /// Of what events take, and what is made of them.
    Memory(Budget),
    /// To look through them.
    Time,
}

/// Most events of a run that are looked at within so much memory and time, and which of them it is that allows for no
/// more.
pub(crate) fn most_events(budget: Budget, time: Duration) -> (u64, Scarce) {
    let (fit, done) = (budget.events(), events_in(time));
    match fit <= done {
        true => (fit, Scarce::Memory(budget)),
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
            Scarce::Memory(budget) => {
                let enough = (budget.enough_for(sifted) >> 20) + 1;
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

    fn number_after(text: &str, word: &str) -> u64 {
        let (_, rest) = text.split_once(word).unwrap();
        let digits = rest.chars().take_while(char::is_ascii_digit);
        digits.collect::<String>().parse().unwrap()
    }

    #[test]
    fn the_memory_that_is_named_is_enough() {
        for program in [0, 10 << 20, 300 << 20, 3 << 30] {
            let budget = |bytes| {
                let mut budget = Budget::new(bytes, 1);
                budget.learn_process(program);
                budget
            };
            let scarce = Scarce::Memory(budget(1 << 30));
            for left_out in [0, 1_000_000] {
                let mut passed_over = PassedOver::default();
                passed_over.add(7_000_000, left_out, Wanted::All);
                let text = passed_over.note(1_000_000, scarce).unwrap();
                let enough = number_after(&text, "--memory ") << 20;
                assert!(budget(enough).events() >= 7_000_000, "{text}");
            }
            assert_eq!(PassedOver::default().note(1, scarce).as_deref(), None);
        }
    }

    #[test]
    fn events_have_what_programs_leave() {
        let most = |program: u64, jobs| {
            let mut budget = Budget::new(1 << 30, jobs);
            budget.learn_process(program);
            (budget.events(), budget.note().is_some())
        };
        let (all, _) = most(0, 1);
        assert!(1_000_000 < all && all < 2_000_000, "{all}");
        let (half, is_told) = most(400 << 20, 1);
        assert!(half < all * 3 / 5 && !is_told, "{half} of {all}");
        let (fewest, is_told) = most(400 << 20, 3);
        assert!(fewest == FEWEST_EVENTS && is_told);
        // A few pages make no difference.
        assert_eq!(most(40 << 20, 1), most(41 << 20, 1));
        assert_eq!(Budget::new(0, 1).events(), FEWEST_EVENTS);
    }

    #[test]
    fn the_time_that_is_named_is_enough() {
        let (most, scarce) = most_events(Budget::new(4 << 30, 1), Duration::from_secs(1));
        assert!(100_000 < most && most < 1_000_000, "{most}");
        assert!(matches!(scarce, Scarce::Time));
        let mut passed_over = PassedOver::default();
        passed_over.add(3_000_000, 1, Wanted::All);
        let text = passed_over.note(most, scarce).unwrap();
        let enough = Duration::from_secs(number_after(&text, "--time "));
        assert!(events_in(enough) >= 3_000_000, "{text}");
        let budget = Budget::new(1 << 30, 1);
        let (most, scarce) = most_events(budget, Duration::from_secs(300));
        assert!(most == budget.events() && matches!(scarce, Scarce::Memory(_)));
        assert_eq!(events_in(Duration::ZERO), FEWEST_EVENTS);
    }
}
