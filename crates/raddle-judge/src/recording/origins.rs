//! Where the bytes that a read saw came from, in the trace.
//!
//! The walk keeps memory as the recorded events leave it. A read whose recorded value differs from
//! what they left shows an *unseen* write: by libc, the kernel, code without hooks. Nothing says
//! whose it was. If only the reader ever touches that memory, it is taken to be the reader's own
//! doing. Otherwise every other thread that called out of the traced code since the bytes were last
//! seen may have done it, and must have come as far before a witness may show the new value.

use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::ids::EventIndex;

use super::Recording;
use super::lines::LineId;
use crate::memory::{Byte, Content, Memory, Writer, access_of, read_value_bytes};
use crate::table::Table;

/// Where a run of bytes came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// How many bytes.
    pub(crate) len: u64,
    /// Who wrote them last.
    pub(crate) writer: Writer,
}

/// An unseen write that a read shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unseen {
    /// How far other threads had come that may have done it: executed so many events.
    pub(crate) needs: Vec<(LineId, u32)>,
    /// For each byte of the read that shows it: who had written the byte before.
    pub(crate) bytes: Vec<Option<Writer>>,
}

/// Origins of all reads.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    /// By event: where its runs lie in `runs`.
    ranges: Vec<(u32, u32)>,
    runs: Vec<Origin>,
    /// Contents that range reads saw, by event.
    seen: Table<usize, Vec<Content>>,
    /// Contents whose value some read shows.
    shown: Table<Content, u8>,
    unseen: Table<usize, Unseen>,
    /// Range writes that copy what the range read before them read.
    copies: Table<usize, usize>,
}

impl Origins {
    pub(super) fn new(recording: &Recording<'_>) -> Self {
        let mut origins = Self::default();
        let mut walk = Walk::new(recording);
        for at in 0..recording.events().len() {
            let start = origins.runs.len() as u32;
            walk.step(at, &mut origins);
            origins.ranges.push((start, origins.runs.len() as u32));
        }
        origins
    }

    /// Where the bytes of a read came from.
    pub(crate) fn of(&self, at: usize) -> &[Origin] {
        let (start, end) = self.ranges[at];
        &self.runs[start as usize..end as usize]
    }

    /// What a range read saw.
    pub(crate) fn seen(&self, at: usize) -> &[Content] {
        self.seen.get(&at).map_or(&[], Vec::as_slice)
    }

    /// The unseen write that a read shows.
    pub(crate) fn unseen(&self, at: usize) -> Option<&Unseen> {
        self.unseen.get(&at)
    }

    /// All reads that show unseen writes.
    pub(super) fn unseen_reads(&self) -> Vec<EventIndex> {
        let mut reads: Vec<_> = self
            .unseen
            .keys()
            .map(|&at| EventIndex(at as u64))
            .collect();
        reads.sort_unstable();
        reads
    }

    /// The range read whose bytes a range write copies.
    pub(crate) fn copied_from(&self, at: usize) -> Option<usize> {
        self.copies.get(&at).copied()
    }

    /// A content, known if any read shows it.
    pub(crate) fn resolve(&self, content: Content) -> Content {
        match self.shown.get(&content) {
            Some(&value) => Content::known(value),
            None => content,
        }
    }

    fn push(&mut self, start: usize, writer: Writer) {
        match self.runs[start..].last_mut() {
            Some(last) if last.writer == writer => last.len += 1,
            _ => self.runs.push(Origin { len: 1, writer }),
        }
    }
}

/// The walk over the trace.
struct Walk<'r, 'a> {
    recording: &'r Recording<'a>,
    memory: Memory,
    /// By word: who touches it, if it is one thread alone.
    owners: Table<u64, Option<LineId>>,
    /// By word: when one of its bytes was last written, or read as it should be.
    confirmed: Table<u64, usize>,
    /// By thread: when it last called out of the traced code.
    left: Vec<Option<usize>>,
}

impl<'r, 'a> Walk<'r, 'a> {
    fn new(recording: &'r Recording<'a>) -> Self {
        let mut owners: Table<u64, Option<LineId>> = Table::default();
        for at in 0..recording.events().len() {
            let line = recording.lines.line(at);
            for word in words(recording, at) {
                let owner = owners.entry(word).or_insert(Some(line));
                *owner = owner.filter(|&owner| owner == line);
            }
        }
        Self {
            recording,
            memory: Memory::default(),
            owners,
            confirmed: Table::default(),
            left: vec![None; recording.lines.len()],
        }
    }

    fn step(&mut self, at: usize, origins: &mut Origins) {
        let recording = self.recording;
        let event = recording.event(at);
        let line = recording.lines.line(at);
        if matches!(
            event.kind,
            EventKind::Action { .. } | EventKind::Value { .. }
        ) {
            self.left[line.index()] = Some(at);
        }
        let Some(access) = access_of(recording, at) else {
            return;
        };
        if access.reads {
            let bytes = self.memory.read(recording, at);
            match read_value_bytes(recording, at) {
                Some(values) => self.show(at, &bytes, &values, origins),
                None => {
                    let seen = bytes.iter().map(|byte| byte.content).collect();
                    origins.seen.insert(at, seen);
                    let start = origins.runs.len();
                    bytes
                        .iter()
                        .for_each(|byte| origins.push(start, byte.writer));
                }
            }
        }
        if access.writes {
            if let Some(read) = self.copy_source(at) {
                origins.copies.insert(at, read);
            }
            self.memory.write_recorded(recording, at, origins);
        }
        if recording.has_values() {
            for word in words(recording, at) {
                self.confirmed.insert(word, at);
            }
        }
    }

    /// Compares a read's value with what memory holds.
    fn show(&mut self, at: usize, bytes: &[Byte], values: &[u8], origins: &mut Origins) {
        let start = origins.runs.len();
        let mut differs = vec![false; bytes.len()];
        for (index, (byte, &value)) in bytes.iter().zip(values).enumerate() {
            let content = origins.resolve(byte.content);
            match content.value() {
                Some(held) if held != value && self.recording.has_values() => differs[index] = true,
                Some(_) => {}
                None => drop(origins.shown.insert(content, value)),
            }
            let writer = match differs[index] {
                true => Writer::Unseen(at as u32),
                false => byte.writer,
            };
            origins.push(start, writer);
        }
        if differs.contains(&true) {
            let needs = self.suspects(at);
            self.memory.overwrite(self.recording, at, &differs, values);
            let before = bytes.iter().zip(&differs);
            let bytes = before
                .map(|(byte, &differs)| differs.then_some(byte.writer))
                .collect();
            origins.unseen.insert(at, Unseen { needs, bytes });
        }
    }

    /// Threads other than the reader's that may have done what a read shows, and how far they had
    /// come.
    fn suspects(&self, at: usize) -> Vec<(LineId, u32)> {
        let reader = self.recording.lines.line(at);
        let words: Vec<u64> = words(self.recording, at).collect();
        let alone = words.iter().all(|word| self.owners[word] == Some(reader));
        if alone {
            return Vec::new();
        }
        let since = words
            .iter()
            .filter_map(|word| self.confirmed.get(word))
            .max();
        let late = |&left: &usize| since.is_none_or(|&since| left > since);
        let others = (0..).map(LineId).zip(&self.left);
        others
            .filter(|(line, _)| *line != reader)
            .filter_map(|(line, left)| Some((line, left.filter(late)?)))
            .map(|(line, left)| (line, self.recording.lines.rank(left) + 1))
            .collect()
    }

    /// The range read that a range write copies: libc's own, or if the model says that they are one
    /// instruction.
    fn copy_source(&self, at: usize) -> Option<usize> {
        let recording = self.recording;
        let before = recording.lines.before(at)?;
        if is_copy_to(recording.event(at)) {
            return is_copy_from(recording.event(before)).then_some(before);
        }
        let EventKind::RangeWrite { site, len, .. } = recording.event(at).kind else {
            return None;
        };
        let EventKind::RangeRead {
            site: read_site,
            len: read_len,
            ..
        } = recording.event(before).kind
        else {
            return None;
        };
        let (from, to) = (recording.code_site(read_site)?, recording.code_site(site)?);
        let one = from.module().id == to.module().id
            && from.info().function == to.info().function
            && from.info().instruction == to.info().instruction;
        (one && read_len == len).then_some(before)
    }
}

fn is_copy_to(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::Action {
            action: Action::CopyTo { .. },
            ..
        }
    )
}

/// Whether libc reads what it then writes elsewhere: whatever it reads, it does the same.
pub(crate) fn is_copy_from(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::Action {
            action: Action::CopyFrom { .. },
            ..
        }
    )
}

/// The eight-byte words that an event touches.
fn words(recording: &Recording<'_>, at: usize) -> impl Iterator<Item = u64> {
    let segments = recording.places.segments(at).iter();
    segments.flat_map(|segment| segment.place / 8..=(segment.place + segment.len - 1) / 8)
}

impl<'a> Recording<'a> {
    /// What the model knows of a site.
    pub(crate) fn code_site(
        &self,
        site: raddle_trace::ids::SiteId,
    ) -> Option<raddle_model::Site<'a>> {
        let info = self.tables()?.site(site)?;
        let module = raddle_model::ModuleId(info.module);
        self.model()?.site(module, info.index)
    }
}
