//! Memory, byte by byte: who wrote a byte last, and what it holds.
//!
//! A byte's content is a known value, or something unknown that equals only itself: what was there
//! at first, or byte *n* of what a memory intrinsic wrote. Reads of the trace show what many of the
//! unknown ones are (see [`crate::recording`]).

use raddle_trace::action::Action;
use raddle_trace::event::EventKind;

use crate::recording::{Origins, Recording};
use crate::table::Table;

/// What a byte holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Content(u64);

const INITIAL: u64 = 1 << 63;
const RANGE: u64 = 1 << 62;
/// Together with `RANGE`: no place is so high that this could be its initial content.
const LOST: u64 = INITIAL;
/// Bits of an offset into a range, and so the longest range whose bytes are told apart.
const OFFSET_BITS: u32 = 30;

impl Content {
    pub(crate) const fn known(value: u8) -> Self {
        Self(value as u64)
    }

    /// What was at a place before anybody wrote there.
    pub(crate) const fn initial(place: u64) -> Self {
        Self(INITIAL | (place & (RANGE - 1)))
    }

    /// A byte of what a memory intrinsic wrote.
    const fn range(at: usize, offset: u64) -> Self {
        let offset = offset & ((1 << OFFSET_BITS) - 1);
        Self(RANGE | (at as u64) << OFFSET_BITS | offset)
    }

    /// A byte that was computed from what cannot be known.
    pub(crate) const fn lost(at: usize, offset: u64) -> Self {
        Self(LOST | Self::range(at, offset).0)
    }

    /// Whether it was computed from what cannot be known.
    pub(crate) const fn is_lost(self) -> bool {
        self.0 & (LOST | RANGE) == LOST | RANGE
    }

    pub(crate) fn value(self) -> Option<u8> {
        u8::try_from(self.0).ok()
    }
}

/// Who wrote a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// Nobody.
    Initial,
    /// An event.
    Event(u32),
    /// Code without hooks; this read showed it.
    Unseen(u32),
}

/// A byte of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Byte {
    pub(crate) content: Content,
    pub(crate) writer: Writer,
}

/// Which way an event touches memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

/// How an event touches memory, if it does. Starting to wait on a futex reads its word.
pub(crate) fn access_of(recording: &Recording<'_>, at: usize) -> Option<Touch> {
    let event = recording.event(at);
    if let EventKind::Action {
        action: Action::FutexWait { .. },
        ..
    } = event.kind
    {
        return Some(Touch {
            reads: true,
            writes: false,
        });
    }
    let footprint = event.footprint()?;
    Some(Touch {
        reads: footprint.reads,
        writes: footprint.writes,
    })
}

/// The bytes that a read is recorded to have seen; none for ranges, and for a futex whose word was
/// other than expected.
pub(crate) fn read_value_bytes(recording: &Recording<'_>, at: usize) -> Option<Vec<u8>> {
    let (value, size) = match recording.event(at).kind {
        EventKind::Read(access)
        | EventKind::AtomicLoad(access, _)
        | EventKind::Rmw { access, .. }
        | EventKind::Cas { access, .. } => (access.value, access.size),
        EventKind::Action {
            action: Action::FutexWait { expected, .. },
            ..
        } if !recording.facts.is_refused(at) => (expected, 4),
        _ => return None,
    };
    Some(value.to_le_bytes()[..usize::from(size.min(8))].to_vec())
}

/// The bytes that a write is recorded to have stored; none for ranges.
pub(crate) fn written_value_bytes(kind: &EventKind) -> Option<Vec<u8>> {
    let (value, size) = match *kind {
        EventKind::Write(access) | EventKind::AtomicStore(access, _) => (access.value, access.size),
        EventKind::Rmw { access, new, .. } | EventKind::Cas { access, new, .. } => {
            (new, access.size)
        }
        _ => return None,
    };
    Some(value.to_le_bytes()[..usize::from(size.min(8))].to_vec())
}

/// The bytes written so far; the others are initial.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// By place, in words of eight.
    words: Table<u64, [Option<Byte>; 8]>,
}

impl Memory {
    fn get(&self, place: u64) -> Byte {
        let word = self.words.get(&(place / 8));
        word.and_then(|word| word[(place % 8) as usize])
            .unwrap_or(Byte {
                content: Content::initial(place),
                writer: Writer::Initial,
            })
    }

    fn set(&mut self, place: u64, byte: Byte) {
        self.words.entry(place / 8).or_default()[(place % 8) as usize] = Some(byte);
    }

    /// The bytes that an event's access covers, in the order of addresses.
    pub(crate) fn read(&self, recording: &Recording<'_>, at: usize) -> Vec<Byte> {
        places(recording, at).map(|place| self.get(place)).collect()
    }

    /// Stores what the event is recorded to have stored.
    pub(crate) fn write_recorded(
        &mut self,
        recording: &Recording<'_>,
        at: usize,
        origins: &Origins,
    ) {
        let contents = match written_value_bytes(&recording.event(at).kind) {
            Some(values) => values.into_iter().map(Content::known).collect(),
            None => match origins.copied_from(at) {
                Some(read) => {
                    let bytes = self.read(recording, read);
                    bytes.into_iter().map(|byte| byte.content).collect()
                }
                None => self.fresh(recording, at),
            },
        };
        self.write(recording, at, &contents);
    }

    /// Stores something that depends on what the event read, which is not what it read in the trace.
    pub(crate) fn write_lost(&mut self, recording: &Recording<'_>, at: usize) {
        let count = places(recording, at).count() as u64;
        let contents: Vec<Content> = (0..count).map(|offset| Content::lost(at, offset)).collect();
        self.write(recording, at, &contents);
    }

    /// Unknown bytes, one for each that the event covers.
    fn fresh(&self, recording: &Recording<'_>, at: usize) -> Vec<Content> {
        let count = places(recording, at).count() as u64;
        (0..count)
            .map(|offset| Content::range(at, offset))
            .collect()
    }

    /// Stores contents where the event writes.
    pub(crate) fn write(&mut self, recording: &Recording<'_>, at: usize, contents: &[Content]) {
        let writer = Writer::Event(at as u32);
        for (place, &content) in places(recording, at).zip(contents) {
            self.set(place, Byte { content, writer });
        }
    }

    /// Stores what an unseen write left, for those bytes of a read that show it.
    pub(crate) fn overwrite(
        &mut self,
        recording: &Recording<'_>,
        at: usize,
        which: &[bool],
        values: &[u8],
    ) {
        let writer = Writer::Unseen(at as u32);
        for ((place, _), &value) in places(recording, at)
            .zip(which)
            .zip(values)
            .filter(|((_, shows), _)| **shows)
        {
            let content = Content::known(value);
            self.set(place, Byte { content, writer });
        }
    }
}

fn places<'r>(recording: &'r Recording<'_>, at: usize) -> impl Iterator<Item = u64> + 'r {
    let segments = recording.places.segments(at).iter();
    segments.flat_map(|segment| segment.place..segment.place + segment.len)
}
