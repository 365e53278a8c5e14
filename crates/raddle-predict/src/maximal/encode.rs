//! Order, locks, reads and writes of a window, in the solver's terms.

use std::collections::BTreeMap;

use raddle_solve::{Hold, Location, Mode, Source, Sources, When};
use raddle_trace::event::{Event, LockMode};
use raddle_trace::ids::EventIndex;

use super::values::{Value, read_value, written_value};
use super::{Maximal, Node};
use crate::view::{self, CellId, Kind, Lane, Pos};

/// A cell within a window.
struct CellState {
    location: Location,
    /// Its latest source in the trace, and the value that it has since.
    latest: (Source, Value),
    /// The sources of each value.
    by_value: BTreeMap<Value, Vec<Source>>,
    /// Reads to be limited: where, and to which value.
    reads: Vec<(Pos, Value)>,
    /// Reads that keep their source.
    tied: Vec<(Pos, Source)>,
}

impl Maximal<'_> {
    /// Fixes what no reordering may break.
    pub(super) fn encode_order(&mut self) {
        for edge in self.view.edges() {
            if let (Some(from), Some(to)) = (self.node(edge.from), self.node(edge.to)) {
                self.solver.order(from, to);
            }
        }
        self.free_after_accesses();
    }

    /// An object is freed after its last access by each thread.
    fn free_after_accesses(&mut self) {
        let view = self.view;
        for (number, cell) in (0..).map(CellId).zip(view.cells()) {
            let object = cell.object.map(|object| view.objects()[object.index()]);
            let Some(free) = object.and_then(|object| view.position(object.free?)) else {
                continue;
            };
            let Some(node) = self.node(free) else {
                continue;
            };
            for (_, accesses) in view.accesses(number) {
                let before = accesses.partition_point(|access| *access < free);
                let last = before.checked_sub(1).and_then(|at| self.node(accesses[at]));
                if let Some(last) = last {
                    self.solver.order(last, node);
                }
            }
        }
    }

    /// Locks are held by one, or shared.
    pub(super) fn encode_holds(&mut self) {
        let view = self.view;
        let mut resources = BTreeMap::new();
        for hold in view.holds() {
            let is_irregular = view.syncs()[hold.lock.index()].is_irregular;
            if is_irregular || view.kind(hold.acquire) == Kind::Downgrade {
                continue;
            }
            let end = self.whole_end(hold).and_then(|release| self.node(release));
            let Some(from) = self.node(hold.acquire) else {
                if let Some(end) = end.filter(|_| hold.acquire.0 < self.window.start) {
                    self.released_first(hold, end);
                }
                continue;
            };
            let resource = *resources
                .entry(hold.lock)
                .or_insert_with(|| self.solver.resource());
            self.solver.hold(
                resource,
                Hold {
                    from,
                    to: end,
                    mode: match hold.mode {
                        LockMode::Exclusive => Mode::Exclusive,
                        LockMode::Shared => Mode::Shared,
                    },
                    when: When::Before(self.cut),
                },
            );
        }
    }

    /// Where a hold ends, with the shared one that follows it if it is downgraded.
    fn whole_end(&self, hold: &view::Hold) -> Option<Pos> {
        let release = hold.release?;
        if self.view.kind(release) != Kind::Downgrade {
            return Some(release);
        }
        let holds = self.view.holds();
        let from_there = holds.partition_point(|other| other.acquire < release);
        let mut begun = holds[from_there..]
            .iter()
            .take_while(|other| other.acquire == release);
        begun.find(|other| other.lock == hold.lock)?.release
    }

    /// A hold that the window begins with is over before another that it excludes begins.
    fn released_first(&mut self, held: &view::Hold, end: Node) {
        for other in self.view.holds() {
            let excludes = held.mode == LockMode::Exclusive || other.mode == LockMode::Exclusive;
            if other.lock == held.lock
                && other.lane != held.lane
                && excludes
                && let Some(from) = self.node(other.acquire)
            {
                self.solver.order(end, from);
            }
        }
    }

    /// Every read of the prefix has the value that it had.
    pub(super) fn encode_accesses(&mut self, trace: &[Event]) {
        let view = self.view;
        let mut cells: BTreeMap<CellId, CellState> = BTreeMap::new();
        for pos in (0..self.window.end).map(Pos) {
            let touched: Vec<CellId> = view.cells_of(pos).collect();
            for cell in touched {
                let state = cells
                    .entry(cell)
                    .or_insert_with(|| CellState::new(self.solver.location(None)));
                let EventIndex(index) = view.event_index(pos);
                let event = &trace[index as usize];
                let bytes = view.cells()[cell.index()];
                if view.reads(pos) {
                    let seen = read_value(event, &bytes);
                    if state.see(pos, seen) {
                        self.keep_place(pos);
                    }
                }
                if view.writes(pos) {
                    let value = written_value(event, &bytes).unwrap_or(Value::Of(pos.0));
                    let source = match self.node(pos) {
                        Some(node) => {
                            let write = self.solver.write(state.location, node, None);
                            Source::Write(write)
                        }
                        // Before the window: what the window begins with.
                        None => Source::Initial,
                    };
                    state.put(source, value);
                }
            }
        }
        for state in cells.into_values() {
            self.limit_reads(state);
        }
    }

    fn limit_reads(&mut self, state: CellState) {
        let when = When::Before(self.cut);
        let mut shared: BTreeMap<Value, Sources> = BTreeMap::new();
        for (pos, value) in state.reads {
            let Some(node) = self.node(pos) else { continue };
            let from = *shared.entry(value).or_insert_with(|| {
                let sources = state.by_value.get(&value).map_or(&[][..], Vec::as_slice);
                self.solver.sources(state.location, sources)
            });
            self.solver.read(state.location, node, from, when);
        }
        for (pos, source) in state.tied {
            let Some(node) = self.node(pos) else { continue };
            let from = self.solver.sources(state.location, &[source]);
            self.solver.read(state.location, node, from, when);
        }
    }

    /// Everything before an event in the trace comes before it.
    fn keep_place(&mut self, pos: Pos) {
        let Some(node) = self.node(pos) else { return };
        for lane in 0..self.view.threads().len() {
            let events = self.view.lane_events(Lane(lane as u16));
            let before = events.partition_point(|other| *other < pos);
            let last = before.checked_sub(1).and_then(|at| self.node(events[at]));
            if let Some(last) = last.filter(|last| *last != node) {
                self.solver.order(last, node);
            }
        }
    }
}

impl CellState {
    fn new(location: Location) -> Self {
        let mut state = Self {
            location,
            latest: (Source::Initial, Value::Initial),
            by_value: BTreeMap::new(),
            reads: Vec::new(),
            tied: Vec::new(),
        };
        state.put(Source::Initial, Value::Initial);
        state
    }

    /// A write of the trace.
    fn put(&mut self, source: Source, value: Value) {
        if source == Source::Initial {
            // There is one initial value, that of the last write before the window.
            for sources in self.by_value.values_mut() {
                sources.retain(|other| *other != Source::Initial);
            }
        }
        self.by_value.entry(value).or_default().push(source);
        self.latest = (source, value);
    }

    /// A read of the trace; true if it shows a write that was not recorded.
    fn see(&mut self, pos: Pos, seen: Option<Value>) -> bool {
        let (source, latest) = self.latest;
        match (latest, seen) {
            (_, None) => {
                self.tied.push((pos, source));
                false
            }
            (Value::Known(value), Some(seen)) if seen == Value::Known(value) => {
                self.reads.push((pos, seen));
                false
            }
            (Value::Known(_), Some(_)) => {
                self.tied.push((pos, source));
                true
            }
            (Value::Initial | Value::Of(_), Some(seen)) => {
                // The first read of something unknown shows what it is.
                let sources = self.by_value.remove(&latest).unwrap_or_default();
                self.by_value.entry(seen).or_default().extend(sources);
                self.latest = (source, seen);
                self.reads.push((pos, seen));
                false
            }
        }
    }
}
