//! Random programs: every anomaly of a lock region that some reordering shows is found, and most of them
//! have a schedule. What tightening leaves of an order shows the same.

use std::collections::BTreeSet;

use raddle_judge::{Judge, Listing, ReadRule, Recording, Witness};
use raddle_predict::clocks::Clocks;
use raddle_predict::goal::Goal;
use raddle_predict::patterns::{
    Basis, Instance, Limits, Matches, Pattern, Units, builtin, schedule, search, tighten,
};
use raddle_predict::view::{Kind, Pos, Source, View};
use raddle_trace::event::Event;
use raddle_trace::ids::EventIndex;

use crate::machine::{Features, Random, run};
use crate::reorderings::Reorderings;

const FEATURES: Features = Features {
    threads: 3,
    steps: 5,
    inlined_locks: false,
    nested_locks: false,
    waiting: false,
    handing: false,
    freeing: false,
    relaxed: false,
};

struct Case {
    events: Vec<Event>,
    view: View,
    order: Clocks,
    units: Units,
    patterns: Vec<Pattern>,
}

impl Case {
    fn new(events: Vec<Event>) -> Self {
        let view = View::new(&events).unwrap();
        Self {
            order: Clocks::must_order(&view, |edge| edge.kind.is_certain()),
            units: Units::with(&view, &[Basis::Lock]),
            patterns: builtin::unserialisable(),
            view,
            events,
        }
    }

    fn search(&self) -> Matches {
        let limits = Limits {
            siblings: usize::MAX,
            alike: true,
            ..Limits::default()
        };
        search(&self.view, &self.order, &self.patterns, &self.units, limits)
    }

    /// All sequences of accesses that match a pattern, whatever their order in the trace.
    fn instances(&self) -> Vec<(usize, Instance)> {
        let mut all = Vec::new();
        for (number, pattern) in self.patterns.iter().enumerate() {
            let len = pattern.steps().len();
            let mut chosen: Vec<Pos> = Vec::with_capacity(len);
            self.choose(number, pattern, &mut chosen, &mut all);
        }
        all
    }

    fn choose(
        &self,
        number: usize,
        pattern: &Pattern,
        chosen: &mut Vec<Pos>,
        all: &mut Vec<(usize, Instance)>,
    ) {
        let steps = pattern.steps();
        let Some(step) = steps.get(chosen.len()) else {
            if let Some(instance) = self.instance(pattern, chosen) {
                all.push((number, instance));
            }
            return;
        };
        let view = &self.view;
        for pos in view.positions() {
            let fits = view.kind(pos) == Kind::Access
                && (if step.access.is_write() {
                    view.writes(pos)
                } else {
                    view.reads(pos)
                })
                && chosen.iter().zip(steps).all(|(&other, earlier)| {
                    let same_lane = view.lane(other) == view.lane(pos);
                    let in_order = !same_lane || other < pos;
                    same_lane == (earlier.thread == step.thread) && in_order
                });
            if fits {
                chosen.push(pos);
                self.choose(number, pattern, chosen, all);
                chosen.pop();
            }
        }
    }

    /// With cells for the variables and lock regions for the units, if there are.
    fn instance(&self, pattern: &Pattern, chosen: &[Pos]) -> Option<Instance> {
        let steps = pattern.steps();
        let cells = |variable: u8| -> BTreeSet<u32> {
            let own = chosen
                .iter()
                .zip(steps)
                .filter(|(_, step)| step.variable == variable);
            own.map(|(&pos, _)| self.view.cells_of(pos).map(|cell| cell.0).collect())
                .reduce(|a: BTreeSet<u32>, b| &a & &b)
                .unwrap_or_default()
        };
        let variables = steps.iter().map(|step| step.variable).max().unwrap_or(0);
        let [first, last] = [cells(0), cells(variables)];
        let distinct = variables == 0 || first.iter().any(|a| last.iter().any(|b| a != b));
        if first.is_empty() || last.is_empty() || !distinct {
            return None;
        }
        let mut units = Vec::new();
        for region in 0..2 {
            let own = chosen
                .iter()
                .zip(steps)
                .filter(|(_, step)| step.region == region);
            let own: Vec<Pos> = own.map(|(&pos, _)| pos).collect();
            if own.len() < 2 {
                continue;
            }
            let unit = self.units.iter().find(|unit| {
                let (first, last) = unit.bounds();
                let inside = |pos: &Pos| first <= *pos && *pos <= last;
                unit.lane == self.view.lane(own[0]) && own.iter().all(inside)
            });
            units.push(unit?.region);
        }
        let events = chosen.to_vec();
        Some(Instance { events, units })
    }

    fn sources(&self, instance: &Instance) -> Vec<Source> {
        instance
            .events
            .iter()
            .map(|&pos| self.view.source(pos))
            .collect()
    }

    fn indices(&self, instance: &Instance) -> Vec<EventIndex> {
        let events = instance.events.iter();
        events.map(|&pos| self.view.event_index(pos)).collect()
    }

    fn is_scheduled(&self, number: usize, instance: &Instance) -> bool {
        let pattern = &self.patterns[number];
        let order = schedule(&self.view, &self.order, &instance.events, pattern.shape());
        order.is_some_and(|order| self.is_accepted(order, number, instance))
    }

    fn is_accepted(&self, order: Vec<EventIndex>, number: usize, instance: &Instance) -> bool {
        let recording = Recording::new(&self.events, None, None).unwrap();
        let witness = Witness {
            order,
            listing: Listing::Some,
            rule: ReadRule::SameValue,
            claim: instance.claim(&self.view, &self.patterns[number]),
        };
        Judge::new(&recording).judge(&witness).is_ok()
    }

    /// An order that shows an instance: the trace itself, or a schedule.
    fn shown(&self, number: usize, instance: &Instance) -> Option<Vec<EventIndex>> {
        let positions = self.view.positions();
        let trace = positions.map(|pos| self.view.event_index(pos)).collect();
        let events = &instance.events;
        let order = match events.is_sorted() {
            true => trace,
            false => schedule(
                &self.view,
                &self.order,
                events,
                self.patterns[number].shape(),
            )?,
        };
        self.is_accepted(order.clone(), number, instance)
            .then_some(order)
    }
}

fn dump(events: &[Event]) -> String {
    let lines = events.iter().enumerate();
    let lines = lines.map(|(at, event)| format!("{at}: {} {}", event.thread, event.kind));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_some_reordering_shows_is_found() {
    let mut random = Random(11);
    let (mut possible, mut scheduled) = (0, 0);
    for round in 0..1000 {
        let features = Features {
            inlined_locks: round % 3 == 0,
            nested_locks: round % 5 == 0,
            waiting: round % 4 == 0,
            ..FEATURES
        };
        let case = Case::new(run(&mut random, features));
        let Some(all) = Reorderings::of(&case.events) else {
            continue;
        };
        let found = case.search();
        assert!(found.cut.is_empty());
        let known = found.matches.iter();
        let known: BTreeSet<Vec<Source>> = known.map(|it| case.sources(&it.first)).collect();
        for (number, instance) in case.instances() {
            if !all.in_order(&case.indices(&instance)) {
                continue;
            }
            possible += 1;
            let name = &case.patterns[number].name;
            assert!(
                known.contains(&case.sources(&instance)),
                "{name} {instance:?} of\n{}",
                dump(&case.events)
            );
            scheduled += usize::from(case.is_scheduled(number, &instance));
        }
    }
    assert!(
        possible > 100 && scheduled * 10 > possible * 8,
        "{scheduled} of {possible}"
    );
}

#[test]
fn what_is_left_of_an_order_still_shows_it() {
    let mut random = Random(12);
    let (mut looked_at, mut shortened) = (0, 0);
    for round in 0..600 {
        let features = Features {
            inlined_locks: round % 3 == 0,
            nested_locks: round % 5 == 0,
            waiting: round % 2 == 0,
            handing: round % 4 == 0,
            ..FEATURES
        };
        let case = Case::new(run(&mut random, features));
        for (number, instance) in case.instances() {
            let Some(order) = case.shown(number, &instance) else {
                continue;
            };
            let goal = Goal::in_order(&instance.events);
            let left = tighten(&case.view, order.clone(), &goal);
            looked_at += 1;
            shortened += usize::from(left.len() < order.len());
            assert!(
                case.is_accepted(left.clone(), number, &instance),
                "{left:?} of {order:?} for {instance:?} of\n{}",
                dump(&case.events)
            );
        }
    }
    assert!(
        looked_at > 100 && shortened * 2 > looked_at,
        "{shortened} of {looked_at}"
    );
}
