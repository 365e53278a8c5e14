//! A schedule: the list of context switches that, with build and input, decides a run.

use std::fmt;

use crate::ids::{SiteId, ThreadId, Tick};
use crate::wire::{self, SwitchReason};

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
pub(crate) const REASONS: [(&str, SwitchReason); 7] = [
    ("preempted", SwitchReason::Preempted),
    ("blocked", SwitchReason::Blocked),
    ("yielded", SwitchReason::Yielded),
    ("ended", SwitchReason::Ended),
    ("left", SwitchReason::Left),
    ("spins", SwitchReason::Spins),
    ("held", SwitchReason::Held),
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
