//! Reads that may find any value, where the conditions of their threads' paths hold.
//!
//! Threads are executed symbolically once for a whole trace ([`raddle_symbolic`]). In a window of it each read that a
//! condition or a stored value depends on takes the value of whichever write it finds; a write stores its term. A
//! condition has to hold if the event is executed that it comes before. Reads on which nothing depends find what they
//! find. This is the encoding of RECIPE (section V) and of TAME (section 4), made of the solver's reads and writes.
//!
//! What a symbolic execution takes for granted of memory that the view leaves out is an estimate, so what is found is proved
//! only when the threads have been executed again with their new values.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use raddle_model::Model;
use raddle_path::Track;
use raddle_solve::{Budget, Lit, Source, Term, When};
use raddle_symbolic::{Binary, Comparison, Decision, Expression, Place, TermId, Terms, follow};
use raddle_trace::event::{Access, Event, EventKind};
use raddle_trace::file::Trailer;
use raddle_trace::ids::EventIndex;

use super::Maximal;
use super::memory::Contents;
use super::values::{Value, content_before, read_value, written_value};
use crate::goal::Reached;
use crate::view::{Cell, CellId, Pos, View};

/// Cells of more bytes hold no number.
const MOST_BYTES: u64 = 8;

/// Of so many values at most a read is told that it finds one of them.
const MOST_CHOICES: usize = 16;

/// What the threads of a trace do, in terms of what they read.
#[derive(Debug)]
pub struct Paths {
    terms: Terms,
    /// In the order of the events before which they have to hold.
    conditions: Vec<PathCondition>,
    writes: BTreeMap<u32, TermId>,
    symbols: BTreeSet<u32>,
}

/// A condition of a thread's path.
#[derive(Clone, Debug)]
pub struct PathCondition {
    /// The next kept event of its thread has to wait for it.
    pub before: Pos,
    /// What it decides.
    pub decision: Decision,
    /// Whether it holds: of a branch, whether it was taken.
    pub holds: bool,
    term: TermId,
    /// The latest event that it depends on.
    latest: u32,
    /// The last event of its thread that comes before it.
    last: Option<EventIndex>,
}

impl PathCondition {
    /// The branch or compare-exchange whose outcome it is, if it is one's.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        match &self.decision {
            Decision::Branch { place, .. } | Decision::Exchange { place } => Some(place),
            Decision::Concrete => None,
        }
    }
}

impl Paths {
    /// Executes the threads of a trace symbolically.
    #[must_use]
    pub fn new(view: &View, events: &[Event], tables: &Trailer, model: &Model) -> Self {
        let is_number = |at: u32| {
            view.position(EventIndex(at.into())).is_some_and(|pos| {
                let mut cells = view.cells_of(pos).map(|it| view.cells()[it.index()].len);
                let first = cells.next();
                first.is_some_and(|it| it <= MOST_BYTES) && cells.all(|it| it <= MOST_BYTES)
            })
        };
        let mut own: Vec<Vec<u32>> = vec![Vec::new(); view.threads().len()];
        let lanes: HashMap<_, usize> = view.threads().iter().copied().zip(0..).collect();
        for (at, event) in (0..).zip(events) {
            if let Some(&lane) = lanes.get(&event.thread) {
                own[lane].push(at);
            }
        }
        let mut paths = Self {
            terms: Terms::default(),
            conditions: Vec::new(),
            writes: BTreeMap::new(),
            symbols: BTreeSet::new(),
        };
        for own in &own {
            let track = Track {
                events,
                own,
                tables,
                model,
            };
            let path = follow(track, &mut paths.terms, &is_number);
            let kept: Vec<(u32, Pos)> = own
                .iter()
                .filter_map(|&at| Some((at, view.position(EventIndex(at.into()))?)))
                .collect();
            for condition in path.conditions {
                let next = kept.partition_point(|(at, _)| *at < condition.before);
                let latest = paths.terms.symbols(condition.term).last().copied();
                let rank = own.partition_point(|at| *at < condition.before);
                let last = rank.checked_sub(1).map(|rank| EventIndex(own[rank].into()));
                if let (Some(&(_, before)), Some(latest)) = (kept.get(next), latest) {
                    paths.conditions.push(PathCondition {
                        before,
                        decision: condition.decision,
                        term: condition.term,
                        holds: condition.holds,
                        latest,
                        last,
                    });
                }
            }
            paths.writes.extend(path.writes);
            paths.symbols.extend(path.symbols);
        }
        // Of one event they stay in the order in which its thread comes to them.
        paths.conditions.sort_by_key(|it| it.before);
        paths
    }

    /// All conditions, in the order of the events before which they have to hold.
    #[must_use]
    pub fn conditions(&self) -> &[PathCondition] {
        &self.conditions
    }

    fn in_window(&self, window: &std::ops::Range<u32>) -> std::ops::Range<usize> {
        let at = |pos| self.conditions.partition_point(|it| it.before.0 < pos);
        at(window.start)..at(window.end)
    }
}

/// What a window makes of the paths.
#[derive(Debug, Default)]
pub(super) struct Lowered {
    terms: HashMap<TermId, Term>,
    /// By event and cell: what a read finds there.
    parts: BTreeMap<(u32, CellId), Term>,
    /// By the number of the condition: that it holds.
    conditions: BTreeMap<usize, Lit>,
}

/// A cell of a window.
struct PathCell {
    /// What it held at first, and since each of its writes, as far as reads show.
    values: Vec<Value>,
    /// Its writes in the window.
    writes: Vec<Pos>,
    reads: Vec<PathRead>,
    /// Whether a read shows a write that was not recorded.
    is_spoilt: bool,
}

/// A read of a cell.
struct PathRead {
    pos: Pos,
    /// Whose value it found in the trace: a number of `values`.
    source: usize,
    /// What that was, if it tells.
    value: Option<u64>,
}

impl PathCell {
    fn see(&mut self, pos: Pos, seen: Option<Value>) -> bool {
        let source = self.values.len() - 1;
        let latest = self.values[source];
        let mut value = None;
        let mut is_unseen = false;
        if let Some(Value::Known(seen)) = seen {
            match latest {
                Value::Known(held) => {
                    is_unseen = held != seen;
                    value = Some(seen).filter(|_| !is_unseen);
                }
                Value::Initial | Value::Of(_) => {
                    // The first read of something unknown shows what it is.
                    self.values[source] = Value::Known(seen);
                    value = Some(seen);
                }
            }
        }
        self.is_spoilt |= is_unseen;
        self.reads.push(PathRead { pos, source, value });
        is_unseen
    }
}

/// A cell's bits of a number that an access reads or writes.
fn place(access: &Access, cell: &Cell) -> Option<(u32, u32)> {
    let offset = cell.addr.0.checked_sub(access.addr.0)?;
    let fits = offset + cell.len <= u64::from(access.size);
    fits.then_some((8 * offset as u32, 8 * cell.len as u32))
}

fn access_of(event: &Event) -> Option<&Access> {
    match &event.kind {
        EventKind::Read(access)
        | EventKind::Write(access)
        | EventKind::AtomicLoad(access, _)
        | EventKind::AtomicStore(access, _)
        | EventKind::Rmw { access, .. }
        | EventKind::Cas { access, .. } => Some(access),
        _ => None,
    }
}

impl Maximal<'_> {
    /// Every read of the prefix on which a condition depends finds what its writer has stored; others that are no symbols
    /// have the value that they had.
    pub(super) fn encode_paths(&mut self, paths: &Paths) {
        let mut cells = self.walk_cells();
        let window = self.window.clone();
        let mut lowered = Lowered::default();
        for number in paths.in_window(&window) {
            let condition = &paths.conditions[number];
            if EventIndex(condition.latest.into()) < self.first_index() {
                continue;
            }
            let term = self.lower(paths, &mut lowered, condition.term);
            let one = self.solver.constant(1, u64::from(condition.holds));
            let lit = self.solver.equal(term, one);
            lowered.conditions.insert(number, lit);
            if let Some(node) = self.node(condition.before) {
                let executed = self.executed(node);
                self.solver.require(&[!executed, lit]);
            }
        }
        let mut stored: HashMap<Pos, Term> = HashMap::new();
        for pos in self.positions() {
            let at = self.view.event_index(pos).0 as u32;
            if let Some(&term) = paths.writes.get(&at) {
                let term = self.lower(paths, &mut lowered, term);
                stored.insert(pos, term);
            }
        }
        let ids: Vec<CellId> = cells.keys().copied().collect();
        for id in ids {
            if let Some(cell) = cells.remove(&id) {
                let contents = self.encode_cell(id, &cell, paths, &lowered, &stored);
                self.cells.insert(id, contents);
            }
        }
        self.lowered = lowered;
    }

    /// What the trace tells of the cells of the window.
    fn walk_cells(&mut self) -> BTreeMap<CellId, PathCell> {
        let view = self.view;
        let mut cells: BTreeMap<CellId, PathCell> = BTreeMap::new();
        for pos in self.positions() {
            let (reads, writes) = (view.reads(pos), view.writes(pos));
            if !(reads || writes) {
                continue;
            }
            let event = self.event(pos);
            let mut is_unseen = false;
            for id in view.cells_of(pos) {
                let bytes = view.cells()[id.index()];
                let cell = cells.entry(id).or_insert_with(|| PathCell {
                    values: vec![content_before(view, self.trace, id, Pos(self.window.start))],
                    writes: Vec::new(),
                    reads: Vec::new(),
                    is_spoilt: false,
                });
                if reads {
                    let held = cell.values[cell.values.len() - 1];
                    is_unseen |= cell.see(pos, read_value(event, &bytes, held));
                }
                if writes {
                    let value = written_value(event, &bytes);
                    cell.values.push(value.unwrap_or(Value::Of(pos.0)));
                    cell.writes.push(pos);
                }
            }
            if is_unseen {
                self.out_of_nowhere.insert(pos);
                self.keep_place(pos);
            }
        }
        cells
    }

    fn encode_cell(
        &mut self,
        id: CellId,
        cell: &PathCell,
        paths: &Paths,
        lowered: &Lowered,
        stored: &HashMap<Pos, Term>,
    ) -> Contents {
        let bytes = self.view.cells()[id.index()];
        let width = (bytes.len <= MOST_BYTES).then_some(8 * bytes.len as u32);
        let initial = self.term_of(cell.values[0], width);
        let location = self.solver.location(initial);
        let mut sources = vec![Source::Initial];
        let mut stored_here = vec![initial];
        let mut writes = Vec::with_capacity(cell.writes.len());
        let mut is_open = cell.reads.iter().any(|it| {
            let event = self.view.event_index(it.pos).0 as u32;
            lowered.parts.contains_key(&(event, id))
        });
        for (&pos, &value) in cell.writes.iter().zip(&cell.values[1..]) {
            let Some(node) = self.node(pos) else { continue };
            let part = stored.get(&pos).and_then(|&term| {
                let (low, width) = place(access_of(self.event(pos))?, &bytes)?;
                Some(self.solver.extract(term, low, width))
            });
            is_open |= part.is_some();
            let value = part.or_else(|| self.term_of(value, width));
            let write = self.solver.write(location, node, value);
            sources.push(Source::Write(write));
            stored_here.push(value);
            writes.push((pos, write));
        }
        let known: Vec<Source> = sources
            .iter()
            .zip(&cell.values)
            .filter(|(_, value)| matches!(value, Value::Known(_)))
            .map(|(source, _)| *source)
            .collect();
        let all = self.solver.sources(location, &known);
        let mut choices: Vec<Term> = stored_here.into_iter().flatten().collect();
        choices.sort_unstable();
        choices.dedup();
        let mut by_value: BTreeMap<u64, raddle_solve::Sources> = BTreeMap::new();
        let mut reads = Vec::with_capacity(cell.reads.len());
        for read in &cell.reads {
            let Some(node) = self.node(read.pos) else {
                continue;
            };
            let event = self.view.event_index(read.pos).0 as u32;
            let when = When::Before(self.cut);
            let part = lowered.parts.get(&(event, id)).copied();
            let is_symbol = paths.symbols.contains(&event);
            let from = match (read.value.filter(|_| !cell.is_spoilt), part, width) {
                // Nothing depends on it.
                (Some(_), None, _) if is_symbol => {
                    reads.push((read.pos, all));
                    continue;
                }
                (Some(_), Some(part), Some(_)) => {
                    let found = self.solver.read(location, node, all, when);
                    self.solver.set_value_of(found, part);
                    self.is_one_of(node, part, &choices);
                    all
                }
                (Some(value), None, Some(width)) if is_open => {
                    let found = self.solver.read(location, node, all, when);
                    let now = self.solver.value_of(found, width, value);
                    self.keeps(node, now, width, value);
                    all
                }
                (Some(value), None, _) => {
                    let from = *by_value.entry(value).or_insert_with(|| {
                        let same = sources.iter().zip(&cell.values);
                        let same = same.filter(|(_, it)| **it == Value::Known(value));
                        let same: Vec<Source> = same.map(|(source, _)| *source).collect();
                        self.solver.sources(location, &same)
                    });
                    self.solver.read(location, node, from, when);
                    from
                }
                (value, part, _) => {
                    let from = self.solver.sources(location, &[sources[read.source]]);
                    let found = self.solver.read(location, node, from, when);
                    let recorded = match (value, cell.values[read.source]) {
                        (Some(value), _) | (None, Value::Known(value)) => Some(value),
                        _ => None,
                    };
                    self.keeps_number(found, node, width, recorded, part);
                    from
                }
            };
            reads.push((read.pos, from));
        }
        Contents {
            location,
            writes,
            reads,
        }
    }

    /// If the event is executed, a term has one of few values. The solver finds that out by itself, from one source to the
    /// next; but a computation is easier to carry out for each than to turn round.
    fn is_one_of(&mut self, node: raddle_solve::Event, term: Term, choices: &[Term]) {
        if choices.len() > MOST_CHOICES {
            return;
        }
        let mut clause = vec![!self.executed(node)];
        for &choice in choices {
            clause.push(self.solver.equal(term, choice));
        }
        self.solver.require(&clause);
    }

    /// If the event is executed, a term has this value.
    fn keeps(&mut self, node: raddle_solve::Event, term: Term, width: u32, value: u64) {
        let value = self.solver.constant(width, value);
        let same = self.solver.equal(term, value);
        let executed = self.executed(node);
        self.solver.require(&[!executed, same]);
    }

    /// A read that keeps its source finds what it found, if that is a number.
    fn keeps_number(
        &mut self,
        found: raddle_solve::Read,
        node: raddle_solve::Event,
        width: Option<u32>,
        recorded: Option<u64>,
        part: Option<Term>,
    ) {
        let (Some(width), Some(recorded)) = (width, recorded) else {
            return;
        };
        let now = match part {
            // What it shows came from elsewhere.
            Some(part) => part,
            None => self.solver.value_of(found, width, recorded),
        };
        self.keeps(node, now, width, recorded);
    }

    fn term_of(&mut self, value: Value, width: Option<u32>) -> Option<Term> {
        let width = width?;
        Some(match value {
            Value::Known(value) => self.solver.constant(width, value),
            Value::Initial | Value::Of(_) => self.solver.unknown(width, 0),
        })
    }

    /// A term in this window.
    fn lower(&mut self, paths: &Paths, lowered: &mut Lowered, term: TermId) -> Term {
        if let Some(&known) = lowered.terms.get(&term) {
            return known;
        }
        let width = paths.terms.width(term);
        let made = match paths.terms.expression(term) {
            Expression::Constant(value) => self.solver.constant(width, value),
            Expression::Symbol(event) => self.symbol(lowered, event, width),
            Expression::Binary(operation, a, b) => {
                let (a, b) = (self.lower(paths, lowered, a), self.lower(paths, lowered, b));
                let solver = &mut self.solver;
                match operation {
                    Binary::Add => solver.add(a, b),
                    Binary::Sub => solver.sub(a, b),
                    Binary::Mul => solver.mul(a, b),
                    Binary::UDiv => solver.udiv(a, b),
                    Binary::SDiv => solver.sdiv(a, b),
                    Binary::URem => solver.urem(a, b),
                    Binary::SRem => solver.srem(a, b),
                    Binary::Shl => solver.shl(a, b),
                    Binary::LShr => solver.lshr(a, b),
                    Binary::AShr => solver.ashr(a, b),
                    Binary::And => solver.bv_and(a, b),
                    Binary::Or => solver.bv_or(a, b),
                    Binary::Xor => solver.bv_xor(a, b),
                }
            }
            Expression::Compare(comparison, a, b) => {
                let (a, b) = (self.lower(paths, lowered, a), self.lower(paths, lowered, b));
                let solver = &mut self.solver;
                let lit = match comparison {
                    Comparison::Equal => solver.equal(a, b),
                    Comparison::UnsignedLess => solver.unsigned_less(a, b),
                    Comparison::UnsignedAtMost => solver.unsigned_at_most(a, b),
                    Comparison::SignedLess => solver.signed_less(a, b),
                    Comparison::SignedAtMost => solver.signed_at_most(a, b),
                };
                solver.of_lit(lit)
            }
            Expression::Select(condition, yes, no) => {
                let condition = self.lower(paths, lowered, condition);
                let (yes, no) = (
                    self.lower(paths, lowered, yes),
                    self.lower(paths, lowered, no),
                );
                let one = self.solver.constant(1, 1);
                let chosen = self.solver.equal(condition, one);
                self.solver.chosen(chosen, yes, no)
            }
            Expression::ZeroExtend(a) => {
                let a = self.lower(paths, lowered, a);
                self.solver.zero_extend(a, width)
            }
            Expression::SignExtend(a) => {
                let a = self.lower(paths, lowered, a);
                self.solver.sign_extend(a, width)
            }
            Expression::Extract(a, low) => {
                let a = self.lower(paths, lowered, a);
                self.solver.extract(a, low, width)
            }
            Expression::Concat(upper, lower) => {
                let upper = self.lower(paths, lowered, upper);
                let lower = self.lower(paths, lowered, lower);
                self.solver.concat(upper, lower)
            }
        };
        lowered.terms.insert(term, made);
        made
    }

    /// What an event reads: what it read, if it lies before the window, and otherwise in each cell what it finds there.
    fn symbol(&mut self, lowered: &mut Lowered, event: u32, width: u32) -> Term {
        let recorded = access_of(&self.trace[event as usize]).copied();
        let Some(access) = recorded else {
            return self.solver.unknown(width, 0);
        };
        let pos = self.view.position(EventIndex(event.into()));
        let pos = pos.filter(|pos| self.window.contains(&pos.0));
        let Some(pos) = pos else {
            return self.solver.constant(width, access.value & mask(width));
        };
        let view = self.view;
        let mut whole: Option<Term> = None;
        let mut end = 0;
        for id in view.cells_of(pos) {
            let Some((low, bits)) = place(&access, &view.cells()[id.index()]) else {
                continue;
            };
            let hint = access.value >> low & mask(bits);
            let part = self.solver.unknown(bits, hint);
            lowered.parts.insert((event, id), part);
            if low > end {
                let own = access.value >> end & mask(low - end);
                let own = self.solver.constant(low - end, own);
                whole = Some(self.above(own, whole));
            }
            whole = Some(self.above(part, whole));
            end = low + bits;
        }
        if end < width {
            let own = access.value >> end & mask(width - end);
            let own = self.solver.constant(width - end, own);
            whole = Some(self.above(own, whole));
        }
        whole.unwrap_or_else(|| self.solver.constant(width, access.value & mask(width)))
    }

    /// Bits above those that there are.
    fn above(&mut self, upper: Term, lower: Option<Term>) -> Term {
        match lower {
            Some(lower) => self.solver.concat(upper, lower),
            None => upper,
        }
    }

    /// That the conditions before an event hold.
    pub(super) fn conditions_before(&self, pos: Pos) -> Vec<Lit> {
        let Some(paths) = &self.terms.paths else {
            return Vec::new();
        };
        let lits = paths.in_window(&(pos.0..pos.0 + 1));
        let lits = self.lowered.conditions.range(lits);
        lits.map(|(_, lit)| *lit).collect()
    }

    /// Whether a reordering leads a thread up to a branch, or another condition of this number, where it goes the other
    /// way.
    pub fn decide_otherwise(&mut self, number: usize, budget: Budget) -> Reached {
        let Some(paths) = self.terms.paths.clone() else {
            return Reached::Unknown;
        };
        let Some(&lit) = self.lowered.conditions.get(&number) else {
            return Reached::Never;
        };
        let pos = paths.conditions[number].before;
        let Some(node) = self.node(pos) else {
            return Reached::Unknown;
        };
        let mut assumptions = vec![self.solver.before(self.cut, node), !lit];
        if let Some(before) = self.node_before(pos) {
            let executed = self.executed(before);
            assumptions.push(executed);
        }
        let earlier = paths.in_window(&(pos.0..pos.0 + 1)).start..number;
        let earlier = self.lowered.conditions.range(earlier);
        assumptions.extend(earlier.map(|(_, lit)| *lit));
        let mut reached = self.ask_for(&assumptions, budget);
        if let Reached::By(order) = &mut reached {
            // It may not be one that the view keeps.
            let last = paths.conditions[number].last;
            order.extend(last.filter(|last| !order.contains(last)));
        }
        reached
    }
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width.clamp(1, 64))
}
