//! Reads and writes: every read of the prefix finds the value that it found, unless it is free.

use std::collections::BTreeMap;

use raddle_judge::ReadRule;
use raddle_solve::{Location, Source, Sources, When, Write};

use super::Maximal;
use super::leeway::{Kept, Pool};
use super::values::{Value, content_before, read_value, written_value};
use crate::view::{CellId, Pos};

/// What is in a cell, and who may have put it there.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) location: Location,
    /// Its writes in the window, in order.
    pub(super) writes: Vec<(Pos, Write)>,
    /// The sources that each read of the window is limited to, in order.
    pub(super) reads: Vec<(Pos, Sources)>,
}

/// A cell while the window is walked through.
struct CellState {
    location: Location,
    /// Its latest source in the trace, and the value that it has since.
    latest: ((Source, Option<Pos>), Value),
    /// The sources of each value, with the writes' positions.
    by_value: BTreeMap<Value, Vec<(Source, Option<Pos>)>>,
    reads: Vec<Read>,
    writes: Vec<(Pos, Write)>,
    /// Whether a read shows a write that was not recorded.
    is_spoilt: bool,
}

/// A read of the trace.
struct Read {
    pos: Pos,
    /// Who wrote what it read, and where.
    source: (Source, Option<Pos>),
    /// What that was, if it is known and any source of it will do.
    value: Option<Value>,
}

impl Maximal<'_> {
    /// Every read of the prefix that is not free has the value that it had.
    pub(super) fn encode_accesses(&mut self) {
        let view = self.view;
        let by_value = self.terms.rule != ReadRule::SameWrite;
        let mut cells: BTreeMap<CellId, CellState> = BTreeMap::new();
        let mut kept = Kept::default();
        for pos in self.positions() {
            let (reads, writes) = (view.reads(pos), view.writes(pos));
            let Some(node) = self.node(pos).filter(|_| reads || writes) else {
                continue;
            };
            self.follow_values(pos, &mut kept);
            let event = self.event(pos);
            let mut out_of_nowhere = false;
            for cell in view.cells_of(pos) {
                let bytes = view.cells()[cell.index()];
                let state = cells.entry(cell).or_insert_with(|| {
                    let before = content_before(view, self.trace, cell, Pos(self.window.start));
                    CellState::new(self.solver.location(None), before)
                });
                if reads {
                    let seen = read_value(event, &bytes, state.latest.1);
                    out_of_nowhere |= state.see(pos, seen.filter(|_| by_value));
                }
                if writes {
                    let value = written_value(event, &bytes).filter(|_| by_value);
                    let write = self.solver.write(state.location, node, None);
                    state.put(pos, write, value.unwrap_or(Value::Of(pos.0)));
                }
            }
            if out_of_nowhere {
                self.out_of_nowhere.insert(pos);
                self.keep_place(pos);
            }
        }
        if !cells.values().any(|state| self.is_watched(state, &kept)) {
            kept.forget();
        }
        for (cell, state) in cells {
            let contents = self.limit_reads(state, &kept);
            self.cells.insert(cell, contents);
        }
    }

    /// Whether a read that is not free may find what a free one has changed.
    fn is_watched(&self, state: &CellState, kept: &Kept) -> bool {
        let mut writes = state.writes.iter();
        let mut reads = state.reads.iter();
        writes.any(|(pos, _)| self.intact.contains_key(pos))
            && reads.any(|read| !kept.reads.contains_key(&read.pos))
    }

    fn limit_reads(&mut self, state: CellState, kept: &Kept) -> Contents {
        let location = state.location;
        let mut of_value: BTreeMap<Value, Pool> = BTreeMap::new();
        let mut of_source: BTreeMap<Source, Pool> = BTreeMap::new();
        let mut reads = Vec::with_capacity(state.reads.len());
        for read in &state.reads {
            let pool = match read.value.filter(|_| !state.is_spoilt) {
                Some(value) => of_value.entry(value).or_insert_with(|| {
                    let sources = state.by_value.get(&value).map_or(&[][..], Vec::as_slice);
                    self.pool(location, sources)
                }),
                None => of_source
                    .entry(read.source.0)
                    .or_insert_with(|| self.pool(location, &[read.source])),
            };
            reads.push((read.pos, pool.all));
            let when = match kept.reads.get(&read.pos).filter(|_| !state.is_spoilt) {
                None => When::Before(self.cut),
                Some(Some(kept)) => When::If(*kept),
                Some(None) => continue,
            };
            self.read_from(pool, location, read.pos, when);
        }
        Contents {
            location,
            writes: state.writes,
            reads,
        }
    }
}

impl Contents {
    /// The sources that a read is limited to.
    pub(super) fn sources_of(&self, read: Pos) -> Option<Sources> {
        let found = self.reads.binary_search_by_key(&read, |(pos, _)| *pos);
        found.ok().map(|at| self.reads[at].1)
    }

    /// What an event of the window writes to it.
    pub(super) fn write_of(&self, pos: Pos) -> Option<Write> {
        let found = self.writes.binary_search_by_key(&pos, |(pos, _)| *pos);
        found.ok().map(|at| self.writes[at].1)
    }
}

impl CellState {
    fn new(location: Location, before: Value) -> Self {
        Self {
            location,
            latest: ((Source::Initial, None), before),
            by_value: BTreeMap::from([(before, vec![(Source::Initial, None)])]),
            reads: Vec::new(),
            writes: Vec::new(),
            is_spoilt: false,
        }
    }

    /// A write of the trace.
    fn put(&mut self, pos: Pos, write: Write, value: Value) {
        let source = (Source::Write(write), Some(pos));
        self.by_value.entry(value).or_default().push(source);
        self.latest = (source, value);
        self.writes.push((pos, write));
    }

    /// A read of the trace; true if it shows a write that was not recorded.
    fn see(&mut self, pos: Pos, seen: Option<Value>) -> bool {
        let (source, latest) = self.latest;
        let mut value = seen;
        let mut out_of_nowhere = false;
        match (latest, seen) {
            (_, None) => {}
            (Value::Known(held), Some(seen)) => {
                out_of_nowhere = seen != Value::Known(held);
                value = value.filter(|_| !out_of_nowhere);
            }
            (Value::Initial | Value::Of(_), Some(seen)) => {
                // The first read of something unknown shows what it is.
                let sources = self.by_value.remove(&latest).unwrap_or_default();
                self.by_value.entry(seen).or_default().extend(sources);
                self.latest = (source, seen);
            }
        }
        self.is_spoilt |= out_of_nowhere;
        self.reads.push(Read { pos, source, value });
        out_of_nowhere
    }
}
