//! Pattern-directed search (PECAN, section 5.2).
//!
//! Patterns that differ only in reads and writes are searched for together. Such a group is taken apart
//! into what each thread contributes; for each thread's part all classes of tuples are listed once, and
//! the parts are joined by the cells that they have in common. What remains is held against the hybrid
//! condition, algorithms 1 and 2 made general: an event that stands between two steps of another thread
//! has to fit into a gap between their events, several such events into gaps in order, and no event may
//! have to come before one of an earlier step. That is necessary for a match to be possible, and not
//! sufficient: values and the order in which locks are taken are for a prover to look at.
//!
//! The cost is linear in the trace but for the joins, which depend on how many different ways there are
//! to access a cell, and are limited for each cell.

use std::collections::HashMap;

use super::language::{MAX_STEPS, Pattern, PatternKind, Shape, Step};
use super::matches::{Cut, Instance, Match, Matches};
use super::spots::Spots;
use super::stretches::{Gap, Mutations, Stretches};
use super::tuples::{Contents, NO_UNIT, TupleClass, Tuples, Wanted};
use super::units::{Basis, Units};
use crate::clocks::Clocks;
use crate::table::Table;
use crate::view::{CellId, Pos, View};

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Comparisons for each group of patterns and cell.
    pub comparisons: u64,
    /// Instances kept of a match besides the first.
    pub others: usize,
    /// Matches of a group of patterns between the same units of the program: what breaks one variable of a
    /// unit mostly breaks others.
    pub siblings: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            comparisons: 1 << 16,
            others: 3,
            siblings: 8,
        }
    }
}

/// All matches of patterns.
///
/// A match of several patterns that are not the user's and differ in reads and writes alone is given for
/// the first of them.
#[must_use]
pub fn search(
    view: &View,
    order: &Clocks,
    patterns: &[Pattern],
    units: &Units,
    limits: Limits,
) -> Matches {
    let mut mutations = Mutations::new(view, order);
    let mut stretches = Stretches::new(view);
    let spots = Spots::new(view, &stretches);
    let contents = Contents::new(&mut mutations, &stretches, &spots, units);
    let mut cut = Cut {
        accesses: spots.cut,
        units: contents.cut,
        ..Cut::default()
    };
    let groups = groups(patterns);
    let mut parts = Parts::default();
    let mut tuples = Tuples {
        view,
        stretches: &mut stretches,
        spots: &spots,
        units,
        contents: &contents,
        cut: 0,
    };
    for group in &groups {
        for part in &group.parts {
            parts.prepare(part, &mut tuples, limits);
        }
    }
    cut.units += tuples.cut;
    let mut matches = Vec::new();
    for group in &groups {
        let mut join = Join {
            patterns,
            group,
            classes: group.parts.iter().map(|part| parts.of(part)).collect(),
            indices: Vec::new(),
            mutations: &mut mutations,
            stretches: &stretches,
            spots: &spots,
            units,
            contents: &contents,
            limits,
            found: Found::default(),
            gaps: Vec::new(),
            left: limits.comparisons,
        };
        join.indices = (0..group.parts.len()).map(|part| join.index(part)).collect();
        cut.cells += join.run();
        cut.siblings += join.found.left_out;
        matches.extend(join.found.into_strongest());
    }
    cut.units += parts.cut;
    Matches { matches, cut }
}

/// Patterns with the same threads, variables and regions.
struct Group {
    patterns: Vec<usize>,
    steps: Vec<Step>,
    parts: Vec<Part>,
    /// For consecutive steps of a thread with others in between: the two.
    interrupted: Vec<(usize, usize)>,
    shape: Shape,
    kind: PatternKind,
}

/// What one thread contributes.
struct Part {
    /// Which steps.
    steps: Vec<usize>,
    /// By region of the thread, in order.
    regions: Vec<Wanted>,
    /// Places in `steps` of up to two variables that earlier parts bind.
    bound: Vec<usize>,
}

fn groups(patterns: &[Pattern]) -> Vec<Group> {
    let structure = |pattern: &Pattern| -> Vec<(u8, u8, u8)> {
        let steps = pattern.steps().iter();
        steps.map(|it| (it.thread, it.variable, it.region)).collect()
    };
    let mut groups: Vec<Group> = Vec::new();
    for (number, pattern) in patterns.iter().enumerate() {
        let alike = groups.iter_mut().find(|group| {
            let other = &patterns[group.patterns[0]];
            pattern.kind != PatternKind::User
                && other.kind == pattern.kind
                && structure(other) == structure(pattern)
        });
        match alike {
            Some(group) => group.patterns.push(number),
            None => groups.push(Group::new(number, pattern)),
        }
    }
    groups
}

impl Group {
    fn new(number: usize, pattern: &Pattern) -> Self {
        let steps = pattern.steps().to_vec();
        let mut interrupted = Vec::new();
        for (later, step) in steps.iter().enumerate() {
            let earlier = steps[..later].iter().rposition(|it| it.thread == step.thread);
            interrupted.extend(earlier.filter(|it| it + 1 < later).map(|it| (it, later)));
        }
        let mut group = Self {
            patterns: vec![number],
            parts: Vec::new(),
            interrupted,
            shape: pattern.shape(),
            kind: pattern.kind,
            steps,
        };
        group.parts = group.order_parts();
        group
    }

    /// Parts with several steps in a region first, since they are fewer; then those that have variables
    /// in common with earlier ones.
    fn order_parts(&self) -> Vec<Part> {
        let threads = self.steps.iter().map(|step| step.thread).max().unwrap_or(0);
        let mut left: Vec<Vec<usize>> = (0..=threads)
            .map(|thread| {
                let own = |at: &usize| self.steps[*at].thread == thread;
                (0..self.steps.len()).filter(own).collect()
            })
            .collect();
        let mut bound: Vec<u8> = Vec::new();
        let mut parts = Vec::new();
        while !left.is_empty() {
            let variable = |at: &usize| self.steps[*at].variable;
            let known = |steps: &[usize]| steps.iter().filter(|at| bound.contains(&variable(at))).count();
            let best = (0..left.len()).max_by_key(|&at| {
                (known(&left[at]) > 0, left[at].len(), std::cmp::Reverse(at))
            });
            let Some(best) = best else {
                break;
            };
            let steps = left.remove(best);
            let mut keys: Vec<usize> = Vec::new();
            for place in 0..steps.len() {
                let variable = variable(&steps[place]);
                let is_new = keys.iter().all(|&key| self.steps[steps[key]].variable != variable);
                if bound.contains(&variable) && is_new && keys.len() < 2 {
                    keys.push(place);
                }
            }
            bound.extend(steps.iter().map(variable));
            parts.push(Part {
                regions: self.regions(&steps),
                bound: keys,
                steps,
            });
        }
        parts
    }

    fn regions(&self, own: &[usize]) -> Vec<Wanted> {
        let by_region = own.chunk_by(|a, b| self.steps[*a].region == self.steps[*b].region);
        by_region.map(|steps| self.wanted(steps)).collect()
    }

    fn wanted(&self, own: &[usize]) -> Wanted {
        let thread = self.steps[own[0]].thread;
        let (start, end) = (own[0], own[own.len() - 1]);
        let variable = |at: usize| self.steps[at].variable;
        let number = |at: usize| {
            let first = own.iter().position(|&other| variable(other) == variable(at));
            first.unwrap_or(0) as u8
        };
        let is_exposed = |at: usize| {
            let mut between = start + 1..end;
            between.any(|it| self.steps[it].thread != thread && variable(it) == variable(at))
        };
        let intrudes = |at: usize| {
            let around = |&(first, last): &(usize, usize)| {
                let region = self.steps[first].region;
                let touches = |step: &Step| step.region == region && step.variable == variable(at);
                let of_one_region = self.steps[last].region == region;
                first < at && at < last && of_one_region && self.steps.iter().any(touches)
            };
            self.interrupted.iter().any(around)
        };
        Wanted {
            variables: own.iter().map(|&at| number(at)).collect(),
            exposed: own.iter().map(|&at| is_exposed(at)).collect(),
            intrudes: own.iter().map(|&at| intrudes(at)).collect(),
        }
    }
}

/// Classes of tuples, listed once for all groups that ask for the same.
#[derive(Default)]
struct Parts {
    known: Vec<(Vec<Wanted>, Vec<TupleClass>)>,
    cut: u64,
}

impl Parts {
    fn of(&self, part: &Part) -> &[TupleClass] {
        let known = self.known.iter().find(|(wanted, _)| *wanted == part.regions);
        known.map_or(&[], |(_, classes)| classes)
    }

    fn prepare(&mut self, part: &Part, tuples: &mut Tuples<'_>, limits: Limits) {
        if self.known.iter().any(|(wanted, _)| *wanted == part.regions) {
            return;
        }
        let mut classes: Vec<TupleClass> = Vec::new();
        for (number, wanted) in part.regions.iter().enumerate() {
            let own = match wanted.variables.len() {
                1 => {
                    let ids = tuples.spots.by_cell().iter();
                    ids.map(|&id| TupleClass::single(tuples.spots, id)).collect()
                }
                _ => tuples.of_region(wanted),
            };
            classes = match number {
                0 => own,
                _ => self.follow(&classes, &own, limits),
            };
        }
        self.known.push((part.regions.clone(), classes));
    }

    /// Regions of one thread, one after the other.
    fn follow(&mut self, first: &[TupleClass], second: &[TupleClass], limits: Limits) -> Vec<TupleClass> {
        let mut left = limits.comparisons;
        let mut both = Vec::new();
        for one in first {
            for other in second {
                if left == 0 {
                    self.cut += 1;
                    return both;
                }
                left -= 1;
                both.extend(one.followed_by(other));
            }
        }
        both
    }
}

/// Matches by instructions.
#[derive(Default)]
struct Found {
    /// Which match; none for one that was left out.
    numbers: HashMap<(Vec<u64>, Option<Basis>), Option<usize>>,
    matches: Vec<(Vec<u64>, Match)>,
    /// By the units in the program, and whether all is atomic: how many matches.
    siblings: HashMap<(Vec<(u64, u64)>, bool), usize>,
    left_out: u64,
}

impl Found {
    /// The matches, each with its best reason only.
    fn into_strongest(self) -> impl Iterator<Item = Match> {
        let Self {
            numbers, matches, ..
        } = self;
        let mut kept = Vec::new();
        for (sources, found) in matches {
            let stronger = [None, Some(Basis::Lock), Some(Basis::Marked)];
            let is_weaker = stronger.into_iter().any(|basis| {
                let stronger = numbers.get(&(sources.clone(), basis));
                basis < found.basis && stronger.is_some_and(Option::is_some)
            });
            if !is_weaker {
                kept.push(found);
            }
        }
        kept.into_iter()
    }
}

/// By cells that earlier parts bind: the classes of a part.
type Index = Table<(u32, u32), Vec<u32>>;

/// Joins the parts of a group.
struct Join<'a, 'v> {
    patterns: &'a [Pattern],
    group: &'a Group,
    classes: Vec<&'a [TupleClass]>,
    indices: Vec<Index>,
    mutations: &'a mut Mutations<'v>,
    stretches: &'a Stretches,
    spots: &'a Spots,
    units: &'a Units,
    contents: &'a Contents,
    limits: Limits,
    found: Found,
    gaps: Vec<Gap>,
    left: u64,
}

/// No cell.
const UNBOUND: u32 = u32::MAX;

impl Join<'_, '_> {
    fn index(&self, part: usize) -> Index {
        let mut index = Index::default();
        for (number, class) in self.classes[part].iter().enumerate() {
            let key = self.key(part, |place| class.cell(self.spots, place));
            index.entry(key).or_default().push(number as u32);
        }
        index
    }

    fn key(&self, part: usize, cell: impl Fn(usize) -> CellId) -> (u32, u32) {
        let bound = &self.group.parts[part].bound;
        let word = |at: usize| bound.get(at).map_or(UNBOUND, |&place| cell(place).0);
        (word(0), word(1))
    }

    /// Joins everything; the number of cells that were cut short.
    fn run(&mut self) -> u64 {
        let mut cut = 0;
        let first = self.classes[0];
        let spots = self.spots;
        for of_cell in first.chunk_by(|a, b| a.cell(spots, 0) == b.cell(spots, 0)) {
            self.left = self.limits.comparisons;
            for class in of_cell {
                self.extend(&mut vec![*class]);
            }
            cut += u64::from(self.left == 0);
        }
        cut
    }

    fn extend(&mut self, chosen: &mut Vec<TupleClass>) {
        let part = chosen.len();
        if part == self.group.parts.len() {
            self.complete(chosen);
            return;
        }
        let cells = self.cells(chosen);
        let steps = &self.group.parts[part].steps;
        let variable = |place: usize| usize::from(self.group.steps[steps[place]].variable);
        let key = self.key(part, |place| cells[variable(place)].unwrap_or(CellId(UNBOUND)));
        let count = self.indices[part].get(&key).map_or(0, Vec::len);
        for at in 0..count {
            let number = self.indices[part][&key][at];
            let class = self.classes[part][number as usize];
            if self.left == 0 {
                return;
            }
            if chosen.iter().any(|other| other.lane == class.lane) {
                continue;
            }
            self.left -= 1;
            if self.agrees(cells, part, &class) {
                chosen.push(class);
                self.extend(chosen);
                chosen.pop();
            }
        }
    }

    /// The cells that variables stand for so far.
    fn cells(&self, chosen: &[TupleClass]) -> [Option<CellId>; MAX_STEPS] {
        let mut cells = [None; MAX_STEPS];
        for (part, class) in self.group.parts.iter().zip(chosen) {
            for (place, &step) in part.steps.iter().enumerate() {
                let variable = usize::from(self.group.steps[step].variable);
                cells[variable] = Some(class.cell(self.spots, place));
            }
        }
        cells
    }

    /// Whether equal variables are equal cells, and different ones different.
    fn agrees(
        &self,
        mut cells: [Option<CellId>; MAX_STEPS],
        part: usize,
        class: &TupleClass,
    ) -> bool {
        let steps = self.group.parts[part].steps.iter().enumerate();
        for (place, &step) in steps {
            let variable = usize::from(self.group.steps[step].variable);
            let cell = class.cell(self.spots, place);
            let known = cells.iter().position(|other| *other == Some(cell));
            match (cells[variable], known) {
                (None, None) => cells[variable] = Some(cell),
                (Some(_), Some(known)) if known == variable => {}
                _ => return false,
            }
        }
        true
    }

    fn complete(&mut self, chosen: &[TupleClass]) {
        let len = self.group.steps.len();
        let mut events = [Pos(0); MAX_STEPS];
        for (part, class) in self.group.parts.iter().zip(chosen) {
            for (place, &step) in part.steps.iter().enumerate() {
                events[step] = class.first.events[place];
            }
        }
        let events = &events[..len];
        let Some(pattern) = self.pattern(events) else {
            return;
        };
        if !self.is_possible(events) {
            return;
        }
        let mut sources = vec![0; len];
        for (part, class) in self.group.parts.iter().zip(chosen) {
            for (place, &step) in part.steps.iter().enumerate() {
                sources[step] = self.spots.get(class.spots[place]).source;
            }
        }
        if self.group.kind == PatternKind::DataRace {
            sources.sort_unstable();
        }
        self.add(pattern, sources, events, chosen);
    }

    /// The first pattern of the group that the events' accesses match.
    fn pattern(&self, events: &[Pos]) -> Option<usize> {
        let view = self.mutations.view;
        let matches = |&&number: &&usize| {
            let steps = self.patterns[number].steps().iter();
            steps.zip(events).all(|(step, &pos)| match step.access.is_write() {
                true => view.writes(pos),
                false => view.reads(pos),
            })
        };
        let numbers = &self.group.patterns;
        let found = numbers.iter().find(matches).copied();
        let is_race = self.group.kind == PatternKind::DataRace;
        // A race has no order: it is looked at once.
        found.filter(|_| !is_race || events[0] < events[1] && view.conflict(events[0], events[1]))
    }

    /// The hybrid condition.
    fn is_possible(&mut self, events: &[Pos]) -> bool {
        if self.group.shape == Shape::Adjacent {
            return self.mutations.can_meet(events[0], events[1]);
        }
        let interrupted = &self.group.interrupted;
        let fits = interrupted.iter().all(|&(first, last)| {
            let between = &events[first + 1..last];
            let (view, gaps) = (self.mutations.view, &mut self.gaps);
            self.stretches.gaps(view, events[first], events[last], gaps);
            first_fit(self.mutations, between, gaps).is_some()
        });
        let view = self.mutations.view;
        let is_ordered = |later: usize| {
            let b = events[later];
            let mut earlier = events[..later].iter();
            earlier.all(|&a| view.lane(a) == view.lane(b) || !self.mutations.is_before(b, a))
        };
        fits && (1..events.len()).all(is_ordered)
    }

    fn add(&mut self, pattern: usize, sources: Vec<u64>, events: &[Pos], chosen: &[TupleClass]) {
        let basis = chosen.iter().map(|class| class.basis).max().flatten();
        let instances = chosen.iter().fold(1u64, |all, it| all.saturating_mul(it.count));
        let key = (sources, basis);
        if let Some(&number) = self.found.numbers.get(&key) {
            let Some(number) = number else {
                return;
            };
            let wants_more = self.found.matches[number].1.others.len() < self.limits.others;
            let instance = wants_more.then(|| self.instance(chosen, |class| class.first));
            let (_, known) = &mut self.found.matches[number];
            known.instances = known.instances.saturating_add(instances);
            known.others.extend(instance);
            return;
        }
        let (all_atomic, guarded) = self.conflicts(events);
        if !self.has_room(chosen, all_atomic) {
            self.found.left_out += 1;
            self.found.numbers.insert(key, None);
            return;
        }
        let first = self.instance(chosen, |class| class.first);
        let last = self.instance(chosen, |class| class.last);
        let has_last = last != first && self.limits.others > 0;
        let found = Match {
            pattern,
            others: if has_last { vec![last] } else { Vec::new() },
            first,
            basis,
            instances,
            all_atomic,
            guarded,
        };
        self.found.matches.push((key.0.clone(), found));
        let number = self.found.matches.len() - 1;
        self.found.numbers.insert(key, Some(number));
    }

    /// Whether another match of these units may be kept.
    fn has_room(&mut self, chosen: &[TupleClass], all_atomic: bool) -> bool {
        let units = chosen.iter().map(|class| class.first.units[0]);
        let codes = units.filter(|&unit| unit != NO_UNIT);
        let codes: Vec<(u64, u64)> = codes
            .map(|unit| self.contents.code(self.spots, unit))
            .collect();
        if codes.is_empty() {
            return true;
        }
        let count = self.found.siblings.entry((codes, all_atomic)).or_default();
        *count += 1;
        *count <= self.limits.siblings
    }

    fn instance(
        &self,
        chosen: &[TupleClass],
        which: impl Fn(&TupleClass) -> super::tuples::Instance,
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
            let region = self.units.get(unit).region;
            if !regions.contains(&region) {
                regions.push(region);
            }
        }
        Instance {
            events,
            units: regions,
        }
    }

    /// Whether all conflicts are between atomic accesses, and whether all are guarded by a lock.
    fn conflicts(&mut self, events: &[Pos]) -> (bool, bool) {
        let view = self.mutations.view;
        let (mut all_atomic, mut guarded) = (true, true);
        for (later, step) in self.group.steps.iter().enumerate() {
            for (earlier, other) in self.group.steps[..later].iter().enumerate() {
                let (a, b) = (events[earlier], events[later]);
                let writes = view.writes(a) || view.writes(b);
                if step.variable == other.variable && step.thread != other.thread && writes {
                    all_atomic &= view.is_atomic(a) && view.is_atomic(b);
                    guarded &= !self.mutations.share_no_lock(a, b);
                }
            }
        }
        (all_atomic, guarded)
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
        at += gaps[at..].iter().position(|&gap| mutations.fits(event, gap))?;
        first = first.or(Some(at));
    }
    first
}
