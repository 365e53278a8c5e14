//! Where two traces part: how a replay shows that it did the same.

use std::fmt;

use crate::event::Event;
use crate::ids::EventIndex;

/// The first event in which two traces differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its index in both.
    pub index: EventIndex,
    /// The first trace's event; `None` if it ended.
    pub expected: Option<Event>,
    /// The second trace's event; `None` if it ended.
    pub actual: Option<Event>,
}

/// Compares two traces event by event, from the events of this index on.
pub fn first_difference<E>(
    from: EventIndex,
    expected: impl IntoIterator<Item = Result<Event, E>>,
    actual: impl IntoIterator<Item = Result<Event, E>>,
) -> Result<Option<Difference>, E> {
    let (mut expected, mut actual) = (expected.into_iter(), actual.into_iter());
    for index in (from.0..).map(EventIndex) {
        let (expected, actual) = (expected.next().transpose()?, actual.next().transpose()?);
        if expected != actual {
            return Ok(Some(Difference {
                index,
                expected,
                actual,
            }));
        }
        if expected.is_none() {
            break;
        }
    }
    Ok(None)
}

impl fmt::Display for Difference {
    /// A sentence: at which event of which thread, what was expected, what came.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            index,
            expected,
            actual,
        } = self;
        match (expected, actual) {
            (Some(expected), Some(actual)) => {
                let (thread, tick) = (expected.thread, expected.tick);
                write!(
                    f,
                    "event {index}, {thread}@{tick}: expected {}, ",
                    expected.kind
                )?;
                if (actual.thread, actual.tick) != (thread, tick) {
                    write!(f, "came {}@{}: ", actual.thread, actual.tick)?;
                } else {
                    write!(f, "came ")?;
                }
                write!(f, "{}", actual.kind)?;
                match (expected.site(), actual.site()) {
                    (Some(a), Some(b)) if a != b => write!(f, " (at site {b} instead of {a})"),
                    _ => Ok(()),
                }
            }
            (Some(Event { thread, tick, kind }), None) => {
                write!(
                    f,
                    "event {index}, {thread}@{tick}: expected {kind}, came the end"
                )
            }
            (None, Some(Event { thread, tick, kind })) => {
                write!(
                    f,
                    "event {index}, {thread}@{tick}: expected the end, came {kind}"
                )
            }
            (None, None) => write!(f, "no difference"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Access, EventKind};
    use crate::ids::{Address, SiteId, ThreadId, Tick};

    fn write(thread: u32, value: u64) -> Event {
        let access = Access {
            site: SiteId(3),
            addr: Address(0x40),
            size: 8,
            value,
        };
        Event {
            thread: ThreadId(thread),
            tick: Tick(9),
            kind: EventKind::Write(access),
        }
    }

    fn check(expected: &[Event], actual: &[Event], sentence: Option<&str>) {
        let ok = |event: &Event| Ok::<_, ()>(*event);
        let (expected, actual) = (expected.iter().map(ok), actual.iter().map(ok));
        let difference = first_difference(EventIndex(0), expected, actual).unwrap();
        assert_eq!(
            difference
                .map(|difference| difference.to_string())
                .as_deref(),
            sentence
        );
    }

    #[test]
    fn the_first_difference_is_named() {
        let (a, b) = (write(1, 5), write(1, 6));
        check(&[a, b], &[a, b], None);
        let sentence =
            "event 1, T1@9: expected write 0x40 (8 bytes) = 6, came write 0x40 (8 bytes) = 5";
        check(&[a, b], &[a, a], Some(sentence));
        let sentence =
            "event 0, T1@9: expected write 0x40 (8 bytes) = 5, came T2@9: write 0x40 (8 bytes) = 5";
        check(&[a], &[write(2, 5)], Some(sentence));
        check(
            &[a],
            &[],
            Some("event 0, T1@9: expected write 0x40 (8 bytes) = 5, came the end"),
        );
        check(
            &[],
            &[b],
            Some("event 0, T1@9: expected the end, came write 0x40 (8 bytes) = 6"),
        );
    }
}
