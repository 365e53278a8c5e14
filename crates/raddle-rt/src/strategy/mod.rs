//! Strategies: who runs next.
//!
//! A strategy sees the threads that can run and picks one. It neither blocks nor records; that is
//! the scheduler's. Each is one small type over [`Strategy`]. Replay is not among them, because it
//! decides about threads that a strategy never sees; it is the scheduler's other mode.

mod dfs;
mod pct;
mod pos;
mod random;
mod round_robin;
mod surw;
mod thinning;

use raddle_trace::wire::SwitchReason;

pub use dfs::Dfs;
pub use pct::Pct;
pub use pos::Pos;
pub use random::Random;
pub use round_robin::RoundRobin;
pub use surw::Surw;
pub use thinning::Thinning;

use crate::rng::Rng;
use crate::thread::{ThreadTable, Tid};

/// How long a thread may be passed over, on the program's clock, where a strategy has no reason of its own to let it run:
/// one that waits for it by polling would wait for ever, or nearly, and timeouts would expire that never do.
const LONGEST_WAIT_NS: u64 = 30_000_000;

/// How long a thread may have the turn, on the program's clock, where a strategy would let it run until it blocks: it may
/// wait for another one in a way that no event shows.
const QUANTUM_NS: u64 = 10_000_000;

/// What a strategy may know when it chooses.
pub struct View<'a> {
    /// The threads to choose from; never empty. The running one comes first if it can go on and did
    /// not yield, the others that can run follow by id, then those whose short wait may end now.
    pub enabled: &'a [Tid],
    /// How many of them can run: the others' waits end if they are chosen.
    pub awake: usize,
    /// The thread that had the turn.
    pub current: Tid,
    /// Whether `current` can run.
    pub current_enabled: bool,
    /// Why a choice is due.
    pub reason: SwitchReason,
    /// Scheduling points passed so far, in the unit of the launcher's estimate.
    pub progress: u64,
    /// How long the program has worked, on its clock.
    pub worked_ns: u64,
    /// How long `current` has had the turn, likewise.
    pub turn_ns: u64,
    /// All threads, with their pending events and the strategy's own `priority`.
    pub threads: &'a mut ThreadTable,
    /// The seeded generator.
    pub rng: &'a mut Rng,
}

impl View<'_> {
    /// The thread that could run for longest and has not, if that was too long.
    fn starved(&self) -> Option<usize> {
        let since = |i: usize| Some(self.threads.get(self.enabled[i]).enabled_since?.worked_ns);
        let waits = (0..self.awake).filter_map(|i| Some((since(i)?, i)));
        let (since, longest) = waits.min()?;
        (self.worked_ns.saturating_sub(since) >= LONGEST_WAIT_NS).then_some(longest)
    }

    /// Whether the running thread has begun a short wait and is one of those to choose from.
    pub fn overtakes(&self) -> bool {
        self.enabled[self.awake..].contains(&self.current)
    }

    /// Whether the running thread has had the turn for as long as others need to wait.
    fn is_overdue(&self) -> bool {
        self.turn_ns >= QUANTUM_NS
    }

    /// The cyclic successor of the running thread among the enabled ones.
    fn next_in_turn(&self) -> usize {
        let after = |id: Tid| (id.wrapping_sub(self.current).wrapping_sub(1), id);
        (0..self.awake)
            .min_by_key(|&i| after(self.enabled[i]))
            .unwrap_or(0)
    }

    /// Whether the running thread is merely at a scheduling point.
    pub fn may_go_on(&self) -> bool {
        self.current_enabled && self.reason == SwitchReason::Preempted
    }
}

/// A way to choose.
pub trait Strategy {
    /// Index in `view.enabled` of the thread that goes on.
    fn choose(&mut self, view: &mut View<'_>) -> usize;

    /// Slots until the next scheduling point, where not every visible event is one. In the mean at most `slice`, and not
    /// the same every time: a loop could be interrupted again and again where it holds a lock.
    fn budget(&mut self, slice: u64, rng: &mut Rng) -> u64;

    /// Whether a wait with a deadline, which starts now, may end while other threads could run, if it is short. Drawn
    /// once a wait: were its thread one of those to choose from all the time, no wait would outlast another thread's work
    /// of many steps.
    fn overtakes(&mut self, rng: &mut Rng) -> bool {
        rng.below(2) == 0
    }

    /// A thread was created.
    fn created(&mut self, _thread: Tid, _threads: &mut ThreadTable, _rng: &mut Rng) {}
}

/// The strategy of this run, kept in static memory.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one of it, in static memory"
)]
pub enum Chosen {
    /// See [`RoundRobin`].
    RoundRobin(RoundRobin),
    /// See [`Random`].
    Random(Random),
    /// See [`Pct`].
    Pct(Pct),
    /// See [`Pos`].
    Pos(Pos),
    /// See [`Surw`].
    Surw(Surw),
    /// See [`Dfs`].
    Dfs(Dfs),
}

impl Chosen {
    /// The strategy behind its interface.
    pub fn get(&mut self) -> &mut dyn Strategy {
        match self {
            Chosen::RoundRobin(s) => s,
            Chosen::Random(s) => s,
            Chosen::Pct(s) => s,
            Chosen::Pos(s) => s,
            Chosen::Surw(s) => s,
            Chosen::Dfs(s) => s,
        }
    }

    /// Number of choices that the launcher's search wants to see.
    pub fn choices_made(&self) -> usize {
        match self {
            Chosen::Dfs(dfs) => dfs.made(),
            _ => 0,
        }
    }
}
