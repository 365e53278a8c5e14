//! Joins what threads contribute to a pattern, and holds it against the hybrid condition.
//!
//! Classes are joined step by step. Whether an access fits between two others of another thread is the same for all
//! accesses of a context and all gaps that are alike, so it is found out once, and what does not fit is left out before
//! anything else is made of it.

use super::alike::Orders;
use super::contents::Contents;
use super::found::{Codes, Found, Sources};
use super::index::{self, Accesses, Index};
use super::language::{MAX_STEPS, PatternKind, Shape};
use super::matches::{Instance, Match};
use super::plan::Group;
use super::search::Limits;
use super::spots::Spots;
use super::stretches::{ContextId, Gap, GapsId, Mutations, Stretches};
use super::tuples::{self, NO_UNIT, TupleClass};
use super::units::{Basis, Units};
use crate::table::Table;
use crate::view::{CellId, Pos};

/// Joins the parts of a group.
pub(super) struct Join<'a, 'v> {
    group: &'a Group,
    classes: &'a [&'a [TupleClass]],
    mutations: &'a mut Mutations<'v>,
    stretches: &'a Stretches,
    spots: &'a Spots,
    limits: Limits,
    gaps: Vec<Gap>,
    /// Whether an access of a context fits into one of some gaps.
    fitting: Table<(GapsId, ContextId), bool>,
    left: u64,
    found: Found,
}

/// What matches are completed with.
struct Rest<'r> {
    indices: Vec<Index>,
    units: &'r Units,
    contents: &'r Contents,
}

/// How the steps of a match conflict.
struct Conflicts {
    /// Only by atomic accesses.
    all_atomic: bool,
    /// A common lock guards all other conflicts.
    guarded: bool,
    /// A common lock guards all of them.
    locked: bool,
}

/// The classes chosen for the first parts, and the cells that variables stand for.
struct Chosen<'a> {
    classes: Vec<&'a TupleClass>,
    cells: [Option<CellId>; MAX_STEPS],
    accesses: Accesses,
}

impl<'a, 'v> Join<'a, 'v> {
    pub(super) fn new(
        group: &'a Group,
        classes: &'a [&'a [TupleClass]],
        mutations: &'a mut Mutations<'v>,
        stretches: &'a Stretches,
        spots: &'a Spots,
        limits: Limits,
    ) -> Self {
        Self {
            group,
            classes,
            mutations,
            stretches,
            spots,
            limits,
            gaps: Vec::new(),
            fitting: Table::default(),
            left: 0,
            found: Found::default(),
        }
    }

    /// Joins everything.
    pub(super) fn run(
        mut self,
        units: &Units,
        contents: &Contents,
        orders: &mut Orders<'_>,
    ) -> Found {
        let parts = 1..self.group.parts.len();
        let rest = Rest {
            indices: parts
                .map(|part| Index::new(&self.group.parts[part], self.classes[part], self.spots))
                .collect(),
            units,
            contents,
        };
        let spots = self.spots;
        let first: &'a [TupleClass] = self.classes[0];
        for of_cell in first.chunk_by(|a, b| a.cell(spots, 0) == b.cell(spots, 0)) {
            self.left = match self.limits.is_late() {
                true => 0,
                false => self.limits.comparisons,
            };
            for class in of_cell {
                let mut chosen = Chosen {
                    classes: Vec::with_capacity(self.group.parts.len()),
                    cells: [None; MAX_STEPS],
                    accesses: Accesses::of(&self.group.parts[0], class),
                };
                let Accesses {
                    known,
                    reads,
                    writes,
                } = chosen.accesses;
                if !self.group.has_pattern(known, reads, writes) {
                    continue;
                }
                if let Some(cells) = self.bind(&chosen, class) {
                    chosen.cells = cells;
                    chosen.classes.push(class);
                    self.extend(&mut chosen, &rest, orders);
                }
            }
            self.found.cut_cells += u64::from(self.left == 0);
        }
        self.found
    }

    fn extend(&mut self, chosen: &mut Chosen<'a>, rest: &Rest<'_>, orders: &mut Orders<'_>) {
        let part = chosen.classes.len();
        if part == self.group.parts.len() {
            self.complete(chosen, rest, orders);
            return;
        }
        let steps = &self.group.parts[part].steps;
        let variable = |place: usize| usize::from(self.group.steps[steps[place]].variable);
        let cells = chosen.cells;
        let key = index::key(&self.group.parts[part], |place| {
            cells[variable(place)].unwrap_or(CellId(index::UNBOUND))
        });
        let classes: &'a [TupleClass] = self.classes[part];
        let index = &rest.indices[part - 1];
        let Some(listed) = index.listed.get(&key) else {
            return;
        };
        let of_kinds = index.kinds.iter().map(|it| chosen.accesses.and(*it));
        let of_kinds = of_kinds.map(|it| {
            self.group
                .has_pattern(it.known, it.reads, it.writes)
                .then_some(it)
        });
        let of_kinds: Vec<Option<Accesses>> = of_kinds.collect();
        for listed in listed {
            if chosen.classes.iter().any(|other| other.lane == listed.lane) {
                continue;
            }
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let Some(accesses) = of_kinds[usize::from(listed.kind)] else {
                continue;
            };
            let class = &classes[listed.number as usize];
            if !self.fits(chosen, class) {
                continue;
            }
            if let Some(cells) = self.bind(chosen, class) {
                let cells = std::mem::replace(&mut chosen.cells, cells);
                let accesses = std::mem::replace(&mut chosen.accesses, accesses);
                chosen.classes.push(class);
                self.extend(chosen, rest, orders);
                chosen.classes.pop();
                (chosen.cells, chosen.accesses) = (cells, accesses);
            }
        }
    }

    /// Whether each access of another class fits in where it comes between two of a chosen one, and each that was chosen
    /// where it comes between two of this one. They may still not fit in all together.
    fn fits(&mut self, chosen: &Chosen<'_>, class: &TupleClass) -> bool {
        let part = |number: usize| chosen.classes.get(number).copied().unwrap_or(class);
        let mut intrusions = self.group.parts[chosen.classes.len()].intrusions.iter();
        intrusions.all(|it| {
            let (around, last) = (part(it.around.0), it.around.1);
            let (intruder, place) = (part(it.step.0), it.step.1);
            let gaps = around.gaps[last];
            if gaps == GapsId::UNKNOWN {
                return true;
            }
            let context = self.spots.get(intruder.spots[place]).context;
            if let Some(&known) = self.fitting.get(&(gaps, context)) {
                return known;
            }
            let (view, events) = (self.mutations.view, &around.first.events);
            let gaps_between = &mut self.gaps;
            self.stretches
                .gaps(view, events[last - 1], events[last], gaps_between);
            let event = intruder.first.events[place];
            let fits = first_fit(self.mutations, &[event], gaps_between).is_some();
            self.fitting.insert((gaps, context), fits);
            fits
        })
    }

    /// The cells of variables with those of another class, if equal variables are equal cells and different
    /// ones different.
    fn bind(&self, chosen: &Chosen<'_>, class: &TupleClass) -> Option<[Option<CellId>; MAX_STEPS]> {
        let mut cells = chosen.cells;
        let part = &self.group.parts[chosen.classes.len()];
        for (place, &step) in part.steps.iter().enumerate() {
            let variable = usize::from(self.group.steps[step].variable);
            let cell = class.cell(self.spots, place);
            if cells[variable] == Some(cell) {
                continue;
            }
            if cells[variable].is_some() || cells.contains(&Some(cell)) {
                return None;
            }
            cells[variable] = Some(cell);
        }
        Some(cells)
    }

    fn complete(&mut self, chosen: &Chosen<'_>, rest: &Rest<'_>, orders: &mut Orders<'_>) {
        let Accesses { reads, writes, .. } = chosen.accesses;
        let chosen = chosen.classes.as_slice();
        let mut events = [Pos(0); MAX_STEPS];
        for (part, class) in self.group.parts.iter().zip(chosen) {
            for (place, &step) in part.steps.iter().enumerate() {
                events[step] = class.first.events[place];
            }
        }
        let events = &events[..self.group.steps.len()];
        let mut patterns = self.group.patterns.iter();
        let matching = patterns.find(|it| it.reads & !reads == 0 && it.writes & !writes == 0);
        if let Some(pattern) = matching
            && self.is_possible(events)
        {
            self.add(pattern.pattern, events, chosen, rest, orders);
        }
    }

    /// The hybrid condition.
    fn is_possible(&mut self, events: &[Pos]) -> bool {
        let view = self.mutations.view;
        if self.group.kind == PatternKind::DataRace
            && (events[0] > events[1] || !view.conflict(events[0], events[1]))
        {
            // A race has no order, so it is looked at once.
            return false;
        }
        if self.group.shape == Shape::Adjacent {
            return self.mutations.can_meet(events[0], events[1]);
        }
        let fits = self.group.interrupted.iter().all(|&(first, last)| {
            let between = &events[first + 1..last];
            let gaps = &mut self.gaps;
            self.stretches.gaps(view, events[first], events[last], gaps);
            first_fit(self.mutations, between, gaps).is_some()
        });
        let is_ordered = |later: usize| {
            let b = events[later];
            let mut earlier = events[..later].iter();
            earlier.all(|&a| view.lane(a) == view.lane(b) || !self.mutations.is_before(b, a))
        };
        fits && (1..events.len()).all(is_ordered)
    }

    fn add(
        &mut self,
        pattern: usize,
        events: &[Pos],
        chosen: &[&TupleClass],
        rest: &Rest<'_>,
        orders: &mut Orders<'_>,
    ) {
        let basis = chosen.iter().map(|class| class.basis).max().flatten();
        let counts = chosen.iter().map(|class| class.count);
        let instances = counts.fold(1u64, u64::saturating_mul);
        let key = (self.sources(chosen), basis);
        if let Some(&number) = self.found.numbers.get(&key) {
            if let Some(number) = number {
                let wants_more = self.found.matches[number].1.others.len() < self.limits.others;
                let other = wants_more.then(|| self.instance(chosen, rest, |class| &class.first));
                let (_, known) = &mut self.found.matches[number];
                known.instances = known.instances.saturating_add(instances);
                known.left_out += u64::from(!wants_more);
                known.others.extend(other);
            }
            return;
        }
        let next = self.found.matches.len();
        let conflicts = self.conflicts(events);
        let by_regions = !self.limits.alike
            && conflicts.locked
            && basis == Some(Basis::Suspected)
            && self.group.kind != PatternKind::User;
        let place = match by_regions {
            true => orders.place(events, next),
            false => self
                .has_room(chosen, conflicts.all_atomic, rest)
                .then_some(next),
        };
        self.found.left_out += u64::from(place != Some(next));
        self.found.numbers.insert(key, place);
        let Some(place) = place else {
            return;
        };
        let first = self.instance(chosen, rest, |class| &class.first);
        let odd = self.instance(chosen, rest, |class| {
            class.odd.as_ref().unwrap_or(&class.first)
        });
        let last = self.instance(chosen, rest, |class| &class.last);
        let mut others: Vec<Instance> = Vec::new();
        for other in [odd, last] {
            if other != first && !others.contains(&other) && others.len() < self.limits.others {
                others.push(other);
            }
        }
        let found = Match {
            pattern,
            others,
            first,
            basis,
            instances,
            left_out: 0,
            all_atomic: conflicts.all_atomic,
            guarded: conflicts.guarded,
        };
        match self.found.matches.get_mut(place) {
            Some(known) => {
                let (worse, _) = std::mem::replace(known, (key.0, found));
                self.found.numbers.insert((worse, basis), None);
            }
            None => self.found.matches.push((key.0, found)),
        }
    }

    fn sources(&self, chosen: &[&TupleClass]) -> Sources {
        let len = self.group.steps.len();
        let mut numbers = [0; MAX_STEPS];
        for (part, class) in self.group.parts.iter().zip(chosen) {
            for (place, &step) in part.steps.iter().enumerate() {
                numbers[step] = self.spots.get(class.spots[place]).source;
            }
        }
        if self.group.kind == PatternKind::DataRace {
            numbers[..len].sort_unstable();
        }
        Sources { len, numbers }
    }

    /// Whether another match of these units may be kept.
    fn has_room(&mut self, chosen: &[&TupleClass], all_atomic: bool, rest: &Rest<'_>) -> bool {
        let mut codes: Codes = [(0, 0); MAX_STEPS];
        let units = chosen.iter().map(|class| class.first.units[0]);
        for (code, unit) in codes.iter_mut().zip(units) {
            if unit != NO_UNIT {
                *code = rest.contents.code(self.spots, unit);
            }
        }
        if codes == Codes::default() {
            return true;
        }
        let count = self.found.siblings.entry((codes, all_atomic)).or_default();
        *count += 1;
        *count <= self.limits.siblings
    }

    fn instance(
        &self,
        chosen: &[&TupleClass],
        rest: &Rest<'_>,
        which: impl Fn(&TupleClass) -> &tuples::Instance,
    ) -> Instance {
        let mut events = vec![Pos(0); self.group.steps.len()];
        let mut units = vec![NO_UNIT; events.len()];
        for (part, class) in self.group.parts.iter().zip(chosen) {
            let instance = which(class);
            for (place, &step) in part.steps.iter().enumerate() {
                events[step] = instance.events[place];
                units[step] = instance.units[place];
            }
        }
        let mut regions = Vec::new();
        for &unit in units.iter().filter(|&&unit| unit != NO_UNIT) {
            let region = rest.units.get(unit).region;
            if !regions.contains(&region) {
                regions.push(region);
            }
        }
        Instance {
            events,
            units: regions,
        }
    }

    fn conflicts(&mut self, events: &[Pos]) -> Conflicts {
        let view = self.mutations.view;
        let mut conflicts = Conflicts {
            all_atomic: true,
            guarded: true,
            locked: true,
        };
        for (later, step) in self.group.steps.iter().enumerate() {
            for (earlier, other) in self.group.steps[..later].iter().enumerate() {
                let (a, b) = (events[earlier], events[later]);
                let writes = view.writes(a) || view.writes(b);
                if step.variable == other.variable && step.thread != other.thread && writes {
                    let atomic = view.is_atomic(a) && view.is_atomic(b);
                    let locked = !self.mutations.share_no_lock(a, b);
                    conflicts.all_atomic &= atomic;
                    conflicts.guarded &= atomic || locked;
                    conflicts.locked &= locked;
                }
            }
        }
        conflicts
    }
}

/// The first gap of another thread that an event fits into, if others that follow it fit into that one or
/// later ones, in order.
pub(super) fn first_fit(
    mutations: &mut Mutations<'_>,
    events: &[Pos],
    gaps: &[Gap],
) -> Option<usize> {
    let mut at = 0;
    let mut first = None;
    for &event in events {
        at += gaps[at..]
            .iter()
            .position(|&gap| mutations.fits(event, gap))?;
        first = first.or(Some(at));
    }
    first
}
