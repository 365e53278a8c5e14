//! A schedule: the list of context switches that, with build and input, decides a run.

use std::fmt;
use std::str::FromStr;

use crate::action::Action;
use crate::event::{Event, EventKind};
use crate::ids::{Address, SiteId, ThreadId, Tick};
use crate::wire::{self, SwitchReason};

/// A moment of a run: a thread is about to execute its event with this tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The thread.
    pub thread: ThreadId,
    /// Slots that it has written.
    pub tick: Tick,
}

impl Moment {
    /// Right before an event.
    #[must_use]
    pub fn before(event: &Event) -> Self {
        Self {
            thread: event.thread,
            tick: event.tick,
        }
    }

    /// Where a run that ended in order began to end: at the last call that ends the process, or, if `main` returned,
    /// at the last event of its thread before.
    #[must_use]
    pub fn of_exit<'e>(events: impl DoubleEndedIterator<Item = &'e Event>) -> Option<Self> {
        let mut events = events.rev();
        let pc = |it: &Event| match it.kind {
            EventKind::Action {
                action: Action::Exit { .. },
                pc,
            } => Some(pc),
            _ => None,
        };
        let exit = events.find(|it| pc(it).is_some())?;
        let is_call = pc(exit) != Some(Address(0));
        let before = events.find(|it| it.thread == exit.thread);
        let shown = before.filter(|_| !is_call).unwrap_or(exit);
        Some(Self::before(shown))
    }

    /// A schedule in which the process stops at this moment, for a debugger.
    #[must_use]
    pub fn stop_in(self, switches: &[Switch]) -> Vec<Switch> {
        let is_later = |it: &Switch| it.from == self.thread && it.tick > self.tick;
        let at = switches.iter().position(is_later).unwrap_or(switches.len());
        let stop = Switch {
            from: self.thread,
            tick: self.tick,
            to: self.thread,
            reason: SwitchReason::Stop,
            site: None,
        };
        [&switches[..at], &[stop], &switches[at..]].concat()
    }
}

impl fmt::Display for Moment {
    /// `T1@1234`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.thread, self.tick)
    }
}

impl FromStr for Moment {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        let parse = || {
            let (thread, tick) = text.split_once('@')?;
            Some(Self {
                thread: thread.parse().ok()?,
                tick: Tick(tick.parse().ok()?),
            })
        };
        parse().ok_or_else(|| NotAMoment(text.to_owned()))
    }
}

/// A text that is no moment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no moment such as T1@1234")]
pub struct NotAMoment(String);

/// One thread hands over to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The thread that stops.
    pub from: ThreadId,
    /// Slots it has written when it stops: it stops before its event with this tick.
    pub tick: Tick,
    /// The thread that goes on.
    pub to: ThreadId,
    /// Why it stopped.
    pub reason: SwitchReason,
    /// The site it was about to execute, if known.
    pub site: Option<SiteId>,
}

/// A switch with a reason that no version of Raddle knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("switch {from}@{tick} has unknown reason {reason}")]
pub struct BadSwitch {
    /// The thread that stops.
    pub from: ThreadId,
    /// Its tick.
    pub tick: Tick,
    /// The number.
    pub reason: u32,
}

/// The words for reasons in the text form.
pub(crate) const REASONS: [(&str, SwitchReason); 8] = [
    ("preempted", SwitchReason::Preempted),
    ("blocked", SwitchReason::Blocked),
    ("yielded", SwitchReason::Yielded),
    ("ended", SwitchReason::Ended),
    ("left", SwitchReason::Left),
    ("spins", SwitchReason::Spins),
    ("held", SwitchReason::Held),
    ("stop", SwitchReason::Stop),
];

impl TryFrom<wire::Switch> for Switch {
    type Error = BadSwitch;

    fn try_from(raw: wire::Switch) -> Result<Self, BadSwitch> {
        let (from, tick) = (ThreadId(raw.from), Tick(raw.tick));
        let reason = SwitchReason::from_u32(raw.reason).ok_or(BadSwitch {
            from,
            tick,
            reason: raw.reason,
        })?;
        let site = (raw.site != u32::MAX).then_some(SiteId(raw.site));
        Ok(Self {
            from,
            tick,
            to: ThreadId(raw.to),
            reason,
            site,
        })
    }
}

impl From<Switch> for wire::Switch {
    fn from(switch: Switch) -> Self {
        Self {
            tick: switch.tick.0,
            from: switch.from.0,
            to: switch.to.0,
            reason: switch.reason as u32,
            site: switch.site.map_or(u32::MAX, |site| site.0),
        }
    }
}

/// The word for a reason.
#[must_use]
pub fn reason_name(reason: SwitchReason) -> &'static str {
    REASONS
        .iter()
        .find(|(_, known)| *known == reason)
        .map_or("", |(name, _)| name)
}

impl fmt::Display for Switch {
    /// `T1@1234 -> T2 preempted site 17`, which [`crate::clip`] reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            from,
            tick,
            to,
            reason,
            site,
        } = self;
        write!(f, "{from}@{tick} -> {to} {}", reason_name(*reason))?;
        site.map_or(Ok(()), |site| write!(f, " site {}", site.0))
    }
}
