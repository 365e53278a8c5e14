//! The numbers by which threads, events, sites and objects are called.

use std::fmt;
use std::str::FromStr;

/// A thread of the program. Numbers are given in order of creation; main is the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

/// How many slots a thread had written: an event's tick is the count before its first slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(pub u64);

/// An instrumented instruction: its offset in the copied site records, in records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(pub u32);

/// Position of an event in the total order of its trace, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventIndex(pub u64);

/// An address in the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);

/// Serial number of an allocation, so that a reused address is another object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AllocId(pub u64);

/// Names one build of an instrumented program: traces and clips of another build do not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BuildId(pub String);

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("T{}", self.0))
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for SiteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("s{}", self.0))
    }
}

impl fmt::Display for EventIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:#x}", self.0))
    }
}

impl fmt::Display for AllocId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("A{}", self.0))
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<&str> for BuildId {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for BuildId {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// The text is not `T` followed by a number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a thread such as `T1`, found `{0}`")]
pub struct NotAThread(String);

impl FromStr for ThreadId {
    type Err = NotAThread;

    /// Accepts exactly what `Display` prints: no sign, no leading zero.
    fn from_str(text: &str) -> Result<Self, NotAThread> {
        text.strip_prefix('T')
            .and_then(|digits| digits.parse().ok())
            .map(ThreadId)
            .filter(|id| id.to_string() == text)
            .ok_or_else(|| NotAThread(text.to_owned()))
    }
}

impl Tick {
    /// The tick after `slots` more slots.
    #[must_use]
    #[inline]
    pub const fn after(self, slots: u64) -> Self {
        Self(self.0.wrapping_add(slots))
    }
}

impl Address {
    /// The address `bytes` further on.
    #[must_use]
    pub const fn after(self, bytes: u64) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_reads_what_it_prints() {
        assert_eq!("T3".parse(), Ok(ThreadId(3)));
        for bad in ["", "T", "t3", "T03", "T+3", "T-1", "T4294967296", "T3 "] {
            assert_eq!(
                bad.parse::<ThreadId>(),
                Err(NotAThread(bad.to_owned())),
                "{bad:?}"
            );
        }
    }
}
