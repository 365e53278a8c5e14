//! What each analysis costs on a trace.

use std::fmt::{self, Display, Formatter};
use std::hint::black_box;
use std::time::Duration;

use raddle_predict::clocks::Clocks;
use raddle_predict::hb;
use raddle_predict::hybrid::{self, Limits};
use raddle_predict::patterns::{self, Units, builtin};
use raddle_predict::races::{self, Code};
use raddle_predict::sync_preserving::SyncPreserving;
use raddle_predict::view::{BadTrace, View};
use raddle_trace::event::Event;
use rustix::time::{ClockId, clock_gettime};

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Analysis {
    View,
    /// Races by the language's rule, from the events.
    Races,
    HappensBefore,
    Hybrid,
    SyncPreserving,
    Patterns,
}

impl Analysis {
    /// Those that work on a view.
    pub const ON_VIEW: [Self; 4] = [
        Self::HappensBefore,
        Self::Hybrid,
        Self::SyncPreserving,
        Self::Patterns,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Races => "certain races",
            Self::HappensBefore => "happens-before",
            Self::Hybrid => "hybrid",
            Self::SyncPreserving => "sync-preserving",
            Self::Patterns => "patterns",
        }
    }

    /// Does it, and says what was found.
    fn run(self, view: &View, events: &[Event]) -> String {
        match self {
            Self::View => format!("{} cells", view.cells().len()),
            Self::Races => {
                let found = races::certain(events, &Code::all_traced());
                format!("{} races", found.len())
            }
            Self::HappensBefore => format!("{} races", hb::races(view).len()),
            Self::Hybrid => {
                let order = Clocks::must_order(view, |_| true);
                let found = hybrid::candidates(view, &order, Limits::default());
                format!("{} candidates", found.pairs.len())
            }
            Self::SyncPreserving => {
                let found = SyncPreserving::new(view).races();
                format!("{} races{}", found.races.len(), cut(found.cut_pairs > 0))
            }
            Self::Patterns => {
                let order = Clocks::must_order(view, |_| true);
                let units = Units::new(view);
                let all = builtin::unserialisable();
                let limits = patterns::Limits::default();
                let found = patterns::search(view, &order, &all, &units, limits);
                format!(
                    "{} matches{}",
                    found.matches.len(),
                    cut(!found.cut.is_empty())
                )
            }
        }
    }
}

fn cut(is_cut: bool) -> &'static str {
    if is_cut { ", cut short" } else { "" }
}

/// What an analysis cost.
pub struct Cost {
    pub shape: &'static str,
    pub analysis: Analysis,
    pub events: usize,
    kept: usize,
    alone: Duration,
    viewing: Duration,
    found: String,
}

impl Cost {
    /// Without making the view.
    pub fn seconds(&self) -> f64 {
        self.alone.as_secs_f64()
    }

    /// Nanoseconds for each event, without making the view.
    pub fn of_event(&self) -> f64 {
        1e9 * self.seconds() / self.events as f64
    }

    /// Millions of events a second, without making the view.
    pub fn rate(&self) -> f64 {
        1e3 / self.of_event()
    }

    /// Millions of events a second, with making the view.
    pub fn rate_with_view(&self) -> f64 {
        let all = match self.analysis {
            Analysis::View => self.viewing,
            Analysis::Races => self.alone,
            _ => self.viewing + self.alone,
        };
        self.events as f64 / all.as_secs_f64() / 1e6
    }
}

impl Display for Cost {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.analysis == Analysis::View {
            write!(f, "{:>10} {:>10}", self.events, self.kept)?;
        } else {
            write!(f, "{:>21}", "")?;
        }
        write!(
            f,
            "  {:<16} {:>8.1} {:>11.1} {:>10.1}  {}",
            self.analysis.name(),
            self.of_event(),
            self.rate(),
            self.rate_with_view(),
            self.found
        )
    }
}

/// Measures everything on a trace.
pub fn measure(
    shape: &'static str,
    events: &[Event],
    repetitions: usize,
) -> Result<Vec<Cost>, BadTrace> {
    let mut viewing = Duration::MAX;
    for _ in 1..repetitions {
        viewing = viewing.min(timed(|| View::new(events)).0);
    }
    let (time, view) = timed(|| View::new(events));
    let viewing = viewing.min(time);
    let view = view?;
    let cost = |analysis: Analysis, alone: Duration, found: String| Cost {
        shape,
        analysis,
        events: events.len(),
        kept: view.len(),
        alone,
        viewing,
        found,
    };
    let mut costs = vec![cost(
        Analysis::View,
        viewing,
        Analysis::View.run(&view, events),
    )];
    for analysis in [Analysis::Races].into_iter().chain(Analysis::ON_VIEW) {
        let (mut best, found) = timed(|| analysis.run(&view, events));
        for _ in 1..repetitions {
            best = best.min(timed(|| analysis.run(&view, events)).0);
        }
        costs.push(cost(analysis, best, found));
    }
    Ok(costs)
}

/// The processor's time for some work, and what came of it.
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = processor_time();
    let result = black_box(work());
    (processor_time().saturating_sub(start), result)
}

/// Of this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}
