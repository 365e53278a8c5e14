//! Which events happen in the user's code, or in what it called.
//!
//! Anomalies of atomicity are told by how a program means to use its data. Where no frame of a stack is the
//! user's, as in what the standard library does when a thread starts, or an executor between two tasks, nobody meant
//! anything that could be told. For data races and memory errors the packages that the user has chosen are the user's,
//! too: what they do wrong is the program's bug.

use std::collections::BTreeMap;

use raddle_model::is_language_file;
use raddle_run::symbols::is_library;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::file::Trailer;
use raddle_trace::ids::{EventIndex, SiteId, ThreadId};
use raddle_trace::position::SourcePosition;
use raddle_trace::stack::Stacks;

/// One bit an event.
#[derive(Debug, Default)]
pub struct Own {
    bits: Vec<u64>,
}

impl Own {
    /// What happens in the user's code and packages, or in what they called.
    #[must_use]
    pub fn new(events: &[Event], trailer: &Trailer) -> Self {
        Self::below(events, trailer, has_own)
    }

    /// What happens in the user's own lines, or in what they called.
    #[must_use]
    pub fn without_packages(events: &[Event], trailer: &Trailer) -> Self {
        Self::below(events, trailer, has_own_line)
    }

    /// What happens where a frame of the stack has positions like this.
    fn below(
        events: &[Event],
        trailer: &Trailer,
        has_own: impl Fn(&[SourcePosition]) -> bool,
    ) -> Self {
        let sites: BTreeMap<SiteId, bool> = trailer
            .sites
            .iter()
            .map(|info| (info.site, has_own(&info.positions)))
            .collect();
        let mut own = Self {
            bits: vec![0; events.len().div_ceil(64)],
        };
        let mut stacks = Stacks::default();
        // By thread: whether a frame of its stack is the user's, until a call or a return.
        let mut below: BTreeMap<ThreadId, bool> = BTreeMap::new();
        for (index, event) in events.iter().enumerate() {
            stacks.observe(event);
            if matches!(event.kind, EventKind::Enter { .. } | EventKind::Exit { .. }) {
                let frames = stacks.frames(event.thread);
                let is_own = frames.iter().any(|frame| {
                    sites.get(&frame.site) == Some(&true)
                        || has_own(trailer.code(frame.return_address))
                });
                below.insert(event.thread, is_own);
            }
            let here = match event.kind {
                EventKind::Action { pc, .. } => has_own(trailer.code(pc)),
                _ => event.site().is_some_and(|it| sites.get(&it) == Some(&true)),
            };
            if here || below.get(&event.thread) == Some(&true) {
                own.bits[index / 64] |= 1 << (index % 64);
            }
        }
        own
    }

    /// Whether an event is the user's.
    #[must_use]
    pub fn has(&self, event: EventIndex) -> bool {
        let index = event.0 as usize;
        self.bits
            .get(index / 64)
            .is_some_and(|word| word >> (index % 64) & 1 == 1)
    }
}

fn has_own(positions: &[SourcePosition]) -> bool {
    positions.iter().any(|it| !is_language_file(&it.file))
}

fn has_own_line(positions: &[SourcePosition]) -> bool {
    positions.iter().any(|it| !is_library(it))
}

/// Whether an instruction is the user's, or of a function that was inlined into the user's code.
pub(crate) fn is_own_site(site: SiteId, trailer: &Trailer) -> bool {
    let positions = trailer.site(site).map(|it| it.positions.as_slice());
    positions.is_none_or(|it| it.is_empty() || has_own(it))
}

/// The same without the user's packages.
pub(crate) fn is_own_line(site: SiteId, trailer: &Trailer) -> bool {
    let positions = trailer.site(site).map(|it| it.positions.as_slice());
    positions.is_none_or(|it| it.is_empty() || has_own_line(it))
}

/// Whether an event, or the call that it is of, is in the user's own lines.
pub(crate) fn is_own_line_of(event: &Event, trailer: &Trailer) -> bool {
    match event.kind {
        EventKind::Action { pc, .. } => has_own_line(trailer.code(pc)),
        _ => event.site().is_some_and(|site| is_own_line(site, trailer)),
    }
}
