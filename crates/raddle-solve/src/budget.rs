//! How long a query may take.

use std::time::{Duration, Instant};

/// Limits of one query. Whichever is reached first ends it as *unknown*.
///
/// Only the conflict limit keeps answers the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    conflicts: Option<u64>,
    time: Option<Duration>,
}

/// Which limit ended a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// The number of conflicts.
    Conflicts,
    /// The time.
    Time,
}

/// A budget being spent.
#[derive(Debug)]
pub(crate) struct Spending {
    conflicts_left: Option<u64>,
    deadline: Option<Instant>,
}

impl Budget {
    /// No limit.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self {
            conflicts: None,
            time: None,
        }
    }

    /// At most so many conflicts.
    #[must_use]
    pub const fn conflicts(self, conflicts: u64) -> Self {
        Self {
            conflicts: Some(conflicts),
            ..self
        }
    }

    /// At most so much time.
    #[must_use]
    pub const fn time(self, time: Duration) -> Self {
        Self {
            time: Some(time),
            ..self
        }
    }

    /// Starts to spend it.
    pub(crate) fn start(self) -> Spending {
        Spending {
            conflicts_left: self.conflicts,
            deadline: self.time.map(|time| Instant::now() + time),
        }
    }
}

impl Spending {
    /// Takes a conflict off.
    pub(crate) fn conflict(&mut self) -> Result<(), Exhausted> {
        match &mut self.conflicts_left {
            Some(0) => Err(Exhausted::Conflicts),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Looks at the clock.
    pub(crate) fn look(&self) -> Result<(), Exhausted> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Exhausted::Time),
            _ => Ok(()),
        }
    }
}
