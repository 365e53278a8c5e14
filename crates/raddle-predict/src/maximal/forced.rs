//! Orders that every answer of the solver keeps, known without asking it.
//!
//! Of most reads only one write of the whole trace left the value that they found. Whoever executes such a read
//! has executed that write, in every window. With the must-order that the solver fixes this is an order of the
//! trace, of which a few comparisons show that most goals cannot be reached: no window need be made for them.
//! What is said here is less than the solver knows, and never more:
//!
//! - cells of which a read shows a write that was not recorded are left out, and so are free reads;
//! - choices (who is notified, which post is taken) are no orders here.

use raddle_judge::ReadRule;
use raddle_trace::event::Event;
use raddle_trace::ids::EventIndex;

use super::Terms;
use super::values::{Value, read_value, written_value};
use crate::clocks::{Clock, Clocks};
use crate::goal::Goal;
use crate::table::Table;
use crate::view::{CellId, EdgeKind, Kind, Pos, View};

/// An order of a trace that the solver's windows keep.
#[derive(Debug)]
pub(super) struct Forced {
    order: Clocks,
}

impl Forced {
    pub(super) fn new(view: &View, trace: &[Event], terms: &Terms) -> Self {
        let fixed = view.edges().iter().filter(|edge| !is_choice(edge.kind));
        let mut edges: Vec<(Pos, Pos)> = fixed.map(|edge| (edge.from, edge.to)).collect();
        edges.extend(Sources::new(view, trace, terms).only_ones());
        edges.sort_by_key(|(_, to)| *to);
        Self {
            order: Clocks::new(view, edges),
        }
    }

    /// Whether no reordering reaches a goal, as far as can be told from here.
    pub(super) fn forbids(&self, view: &View, goal: &Goal) -> bool {
        let width = view.threads().len();
        let mut all = vec![0; width];
        for (at, &pos) in goal.in_order.iter().enumerate() {
            let mut own = vec![0; width];
            // Whatever the last event of a thread reads, it may be executed.
            let is_last = |other: Pos| view.lane(other) != view.lane(pos) || other <= pos;
            match view.reads(pos) && goal.events().all(is_last) {
                true => self.order.join_before(view, pos, &mut own),
                false => self.order.join(view, pos, &mut own),
            };
            let mut later = goal.in_order[at + 1..].iter();
            if later.any(|later| is_below(view, *later, &own)) {
                return true;
            }
            for (bound, own) in all.iter_mut().zip(own) {
                *bound = own.max(*bound);
            }
        }
        for &pos in &goal.next {
            self.approach(view, pos, &mut all);
        }
        if let Some(write) = goal.sees.and_then(|sees| sees.write) {
            self.order.join(view, write, &mut all);
        }
        goal.next.iter().any(|pos| is_below(view, *pos, &all))
    }

    /// Joins what is executed before an event can be next.
    fn approach(&self, view: &View, pos: Pos, into: &mut Clock) {
        self.order.join_before(view, pos, into);
        let is_free = view.kind(pos) == Kind::Free;
        for edge in view.edges_to(pos) {
            let is_needed = match edge.kind {
                EdgeKind::Fork | EdgeKind::Destroyed => true,
                EdgeKind::Heap => !is_free,
                _ => false,
            };
            if is_needed {
                self.order.join(view, edge.from, into);
            }
        }
    }
}

fn is_below(view: &View, pos: Pos, bounds: &Clock) -> bool {
    pos.0 < bounds[view.lane(pos).index()]
}

/// Whether the solver may choose another one.
pub(super) const fn is_choice(kind: EdgeKind) -> bool {
    matches!(
        kind,
        EdgeKind::Notify | EdgeKind::Semaphore | EdgeKind::Futex
    )
}

/// A cell while the trace is walked through.
#[derive(Clone, Copy)]
struct CellState {
    /// Who wrote it last, and what.
    latest: (Option<Pos>, Value),
    /// Whether a read shows a write that was not recorded.
    is_spoilt: bool,
}

/// A read of another thread's write.
struct Read {
    from: Pos,
    to: Pos,
    cell: CellId,
    /// None if no other source will do.
    value: Option<Value>,
}

/// Who has left which values in memory; see `memory.rs`, which does the same for a window.
struct Sources {
    cells: Vec<CellState>,
    /// How many have left a value in a cell, what was there at first included.
    of_value: Table<(u32, Value), u32>,
    reads: Vec<Read>,
}

impl Sources {
    fn new(view: &View, trace: &[Event], terms: &Terms) -> Self {
        let unknown = CellState {
            latest: (None, Value::Initial),
            is_spoilt: false,
        };
        let mut sources = Self {
            cells: vec![unknown; view.cells().len()],
            of_value: Table::default(),
            reads: Vec::new(),
        };
        let by_value = terms.rule != ReadRule::SameWrite;
        for pos in view.positions() {
            let (reads, writes) = (view.reads(pos), view.writes(pos));
            if !reads && !writes {
                continue;
            }
            let EventIndex(index) = view.event_index(pos);
            let event = &trace[index as usize];
            let is_free = terms.leeway.is_free(event);
            for cell in view.cells_of(pos) {
                let bytes = view.cells()[cell.index()];
                if reads {
                    let held = sources.cells[cell.index()].latest.1;
                    let seen = read_value(event, &bytes, held).filter(|_| by_value);
                    let from = sources.see(cell, seen);
                    let other = from.filter(|from| view.lane(*from) != view.lane(pos));
                    if let Some(from) = other.filter(|_| !is_free) {
                        sources.reads.push(Read {
                            from,
                            to: pos,
                            cell,
                            value: seen,
                        });
                    }
                }
                if writes {
                    let value = written_value(event, &bytes).filter(|_| by_value);
                    let value = value.unwrap_or(Value::Of(pos.0));
                    *sources.of_value.entry((cell.0, value)).or_default() += 1;
                    sources.cells[cell.index()].latest = (Some(pos), value);
                }
            }
        }
        sources
    }

    /// A read; returns whose value it is.
    fn see(&mut self, cell: CellId, seen: Option<Value>) -> Option<Pos> {
        let state = &mut self.cells[cell.index()];
        let (from, held) = state.latest;
        match (held, seen) {
            (_, None) => {}
            (Value::Known(_), Some(seen)) => state.is_spoilt |= seen != held,
            (Value::Initial | Value::Of(_), Some(seen)) => {
                // The first read of something unknown shows what it is.
                state.latest.1 = seen;
                *self.of_value.entry((cell.0, seen)).or_default() += 1;
            }
        }
        from
    }

    /// Pairs of a write and a read that finds its value nowhere else.
    fn only_ones(&self) -> Vec<(Pos, Pos)> {
        let is_only = |read: &&Read| {
            let others = |value| self.of_value.get(&(read.cell.0, value)) != Some(&1);
            let is_spoilt = self.cells[read.cell.index()].is_spoilt;
            !is_spoilt && !read.value.is_some_and(others)
        };
        let only = self.reads.iter().filter(is_only);
        only.map(|read| (read.from, read.to)).collect()
    }
}
