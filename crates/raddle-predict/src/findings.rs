//! Pairs of events, one for each pair of places in the program.

use crate::table::Table;
use crate::view::{Pos, Source, View};

/// Two events of different threads that may happen at the same time, and how often their
/// instructions did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The earlier one in the trace.
    pub a: Pos,
    /// The later one.
    pub b: Pos,
    /// How many pairs of events of the same two instructions were found.
    pub instances: u64,
}

/// Pairs by their instructions, in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    numbers: Table<(u64, u64), u32>,
    /// The instructions of the last pair, which mostly are those of the next one, and its number.
    latest: Option<((u64, u64), u32)>,
    pairs: Vec<Pair>,
}

impl Pairs {
    /// Counts a pair; keeps it if it is the first of its instructions.
    pub(crate) fn add(&mut self, view: &View, one: Pos, other: Pos, instances: u64) {
        self.add_of(key(view, one, other), one, other, instances);
    }

    /// The same, of instructions that are known: their numbers, the smaller first. Returns the number of the
    /// pair.
    #[inline]
    pub(crate) fn add_of(
        &mut self,
        sources: (u64, u64),
        one: Pos,
        other: Pos,
        instances: u64,
    ) -> usize {
        let number = match self.latest {
            Some((latest, number)) if latest == sources => number,
            _ => self.number(sources, one, other),
        };
        let pair = &mut self.pairs[number as usize];
        pair.instances = pair.instances.saturating_add(instances);
        number as usize
    }

    fn number(&mut self, sources: (u64, u64), one: Pos, other: Pos) -> u32 {
        let (a, b) = (one.min(other), one.max(other));
        let pairs = &mut self.pairs;
        let number = *self.numbers.entry(sources).or_insert_with(|| {
            pairs.push(Pair { a, b, instances: 0 });
            pairs.len() as u32 - 1
        });
        self.latest = Some((sources, number));
        number
    }

    pub(crate) fn into_vec(self) -> Vec<Pair> {
        self.pairs
    }
}

/// Two instructions, whichever way round.
pub(crate) fn key(view: &View, a: Pos, b: Pos) -> (u64, u64) {
    let (a, b) = (source_number(view.source(a)), source_number(view.source(b)));
    (a.min(b), a.max(b))
}

/// A number for each instruction and each call.
pub(crate) fn source_number(source: Source) -> u64 {
    match source {
        Source::Site(site) => site.0.into(),
        Source::Code(pc) => 1 << 63 | pc.0,
    }
}
