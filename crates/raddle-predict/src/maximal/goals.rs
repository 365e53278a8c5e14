//! Goals, as assumptions about the cut and the order before it.
//!
//! # Reads that end a thread's part
//!
//! Whatever the last event of a thread reads, it is executed. That matters only for the events of
//! `in_order`: another one could be left out. If such an event is a load, or a read-modify-write that
//! takes place whatever it finds, it gets a *probe*: a second node that stands for it, comes after what
//! precedes it in its thread, and reads nothing. Either the event itself is executed, or its probe is, and
//! nothing of its thread from the event on. What a probe writes is a source of nothing.

use raddle_solve::{Answer, Budget, Event as Node, Lit, Source, When};
use raddle_trace::event::EventKind;
use raddle_trace::ids::EventIndex;
use raddle_trace::wire::Role;

use super::Maximal;
use super::values::write_before;
use crate::goal::{Goal, Reached, Sees};
use crate::view::{EdgeKind, Kind, Pos};

/// Each probe is a chain, and the solver's work grows with their number: at so many, what was learnt is
/// given up and the window is made anew.
const MOST_PROBES: usize = 32;

/// A node that stands for the last event of a thread's part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    node: Node,
    /// Whether it is executed in the event's place.
    stands_in: Lit,
}

/// A goal within the solver.
struct Question {
    /// Holds while it is asked.
    asked: Lit,
    assumptions: Vec<Lit>,
    probes: Vec<(Pos, Probe)>,
}

/// That a goal cannot be reached from the window's beginning on, whatever the solver says.
struct Hopeless;

impl Maximal<'_> {
    /// Whether a reordering reaches a goal. Unknown if the budget ends first, or if the goal lies outside
    /// the window.
    pub fn reach(&mut self, goal: &Goal, budget: Budget) -> Reached {
        if !goal.is_sensible(self.view) {
            return Reached::Never;
        }
        if !self.covers(goal) {
            return Reached::Unknown;
        }
        if self.probes.len() >= MOST_PROBES {
            *self = Self::on_terms(self.view, self.trace, self.terms.clone(), self.window());
        }
        let asked = self.solver.boolean();
        let mut question = Question {
            asked,
            assumptions: vec![asked],
            probes: Vec::new(),
        };
        let posed = self.pose(goal, &mut question);
        let reached = match posed {
            Ok(()) => self.ask(&question, budget),
            Err(Hopeless) => Reached::Never,
        };
        self.solver.require(&[!asked]);
        reached
    }

    fn covers(&self, goal: &Goal) -> bool {
        let next = goal.next.iter().copied();
        let mut next = next.chain(goal.sees.map(|sees| sees.read));
        next.all(|pos| self.window.contains(&pos.0))
            && goal.events().all(|pos| pos.0 < self.window.end)
    }

    fn pose(&mut self, goal: &Goal, question: &mut Question) -> Result<(), Hopeless> {
        for &pos in &goal.next {
            self.is_next(pos, goal, question)?;
        }
        self.in_order(goal, question)?;
        match goal.sees {
            Some(sees) => {
                let intact = sees.write.and_then(|write| self.intact.get(&write));
                question.assumptions.extend(intact);
                self.sees(sees, question)
            }
            None => Ok(()),
        }
    }

    /// Looks for an order in which these hold.
    pub(super) fn ask_for(&mut self, assumptions: &[Lit], budget: Budget) -> Reached {
        let question = Question {
            asked: Lit::TRUE,
            assumptions: assumptions.to_vec(),
            probes: Vec::new(),
        };
        self.ask(&question, budget)
    }

    fn ask(&mut self, question: &Question, budget: Budget) -> Reached {
        match self.solver.solve(&question.assumptions, budget) {
            Answer::Satisfiable(model) => {
                let end = model.position(self.cut);
                let executed = model.order()[..end].iter().filter_map(|node| {
                    // The window's events come first among the nodes, then cut and probes.
                    if let Some(event) = self.nodes.events.get(node.index()) {
                        return Some(*event);
                    }
                    let mut probes = question.probes.iter();
                    let stands_in =
                        |probe: &Probe| probe.node == *node && model.holds(probe.stands_in);
                    let found = probes.find(|(_, probe)| stands_in(probe));
                    found.map(|(pos, _)| self.view.event_index(*pos))
                });
                let executed: Vec<EventIndex> = executed.collect();
                let mut order = self.executed_before();
                order.extend(executed);
                Reached::By(order)
            }
            Answer::Unsatisfiable(_) => Reached::Never,
            Answer::Unknown(_) => Reached::Unknown,
        }
    }

    /// That an event is the first of its thread beyond the prefix, and that its thread has come to it.
    fn is_next(&mut self, pos: Pos, goal: &Goal, question: &mut Question) -> Result<(), Hopeless> {
        let node = self.node(pos).ok_or(Hopeless)?;
        question
            .assumptions
            .push(self.solver.before(self.cut, node));
        question.assumptions.extend(self.conditions_before(pos));
        let is_free = self.view.kind(pos) == Kind::Free;
        let needed = self.view.edges_to(pos).iter().filter(|edge| {
            matches!(edge.kind, EdgeKind::Fork | EdgeKind::Destroyed)
                || edge.kind == EdgeKind::Heap && !is_free
        });
        let needed = needed.map(|edge| self.view.event_index(edge.from));
        let index = self.view.event_index(pos);
        let needed: Vec<Node> = needed
            .chain(self.terms.hidden.before(index))
            .filter_map(|before| self.node_of(before))
            .chain(self.node_before(pos))
            .collect();
        for before in needed {
            question.assumptions.push(self.executed(before));
        }
        if is_free {
            return self.frees_again(pos, question);
        }
        // An access finds its memory alive, unless the goal is that it does not.
        for life in self.lives_of(pos) {
            if let Some(free) = self.node(life.free)
                && !goal.in_order.contains(&life.free)
            {
                question
                    .assumptions
                    .push(self.solver.before(self.cut, free));
            }
        }
        self.exchanges(pos, goal, question);
        Ok(())
    }

    /// What a next freeing frees is not allocated again in the meantime.
    fn frees_again(&mut self, pos: Pos, question: &mut Question) -> Result<(), Hopeless> {
        let object = self.view.object_of(pos);
        let alloc = object.map(|object| self.view.objects()[object.index()].alloc);
        let Some(alloc) = alloc.and_then(|alloc| self.view.position(alloc)) else {
            return Ok(());
        };
        let alloc = self.node(alloc).ok_or(Hopeless)?;
        question
            .assumptions
            .push(self.solver.before(self.cut, alloc));
        Ok(())
    }

    /// A compare-exchange writes, and so conflicts with a read that is next too, if it finds its value.
    fn exchanges(&mut self, pos: Pos, goal: &Goal, question: &Question) {
        let view = self.view;
        let is_exchange = matches!(self.event(pos).kind, EventKind::Cas { .. });
        let touches = |other: Pos| {
            let mut cells = view.cells_of(pos);
            cells.any(|cell| view.cells_of(other).any(|own| own == cell))
        };
        let mut others = goal.next.iter().filter(|other| **other != pos);
        let is_watched = others.any(|other| !view.writes(*other) && touches(*other));
        if !is_exchange || !view.writes(pos) || !is_watched {
            return;
        }
        for cell in view.cells_of(pos) {
            let contents = self.cells.get(&cell);
            let found = contents.and_then(|it| Some((it.location, it.sources_of(pos)?)));
            if let Some((location, from)) = found {
                let when = When::If(question.asked);
                self.solver.read(location, self.cut, from, when);
            }
        }
    }

    /// That what is in the cells of a next read is what a write left there.
    fn sees(&mut self, sees: Sees, question: &Question) -> Result<(), Hopeless> {
        let start = Pos(self.window.start);
        for cell in self.view.cells_of(sees.read) {
            let contents = self.cells.get(&cell).ok_or(Hopeless)?;
            let source = match sees.write {
                Some(write) if write >= start => {
                    Source::Write(contents.write_of(write).ok_or(Hopeless)?)
                }
                earlier if write_before(self.view, cell, start) == earlier => Source::Initial,
                _ => return Err(Hopeless),
            };
            let location = contents.location;
            let from = self.solver.sources(location, &[source]);
            let when = When::If(question.asked);
            self.solver.read(location, self.cut, from, when);
        }
        Ok(())
    }

    /// That events are executed, one before the other.
    fn in_order(&mut self, goal: &Goal, question: &mut Question) -> Result<(), Hopeless> {
        let start = self.window.start;
        let events = &goal.in_order;
        let (early, late) = events.split_at(events.partition_point(|pos| pos.0 < start));
        if late.iter().any(|pos| pos.0 < start) || !early.is_sorted() {
            return Err(Hopeless);
        }
        // The nodes that may stand for the event before, each with when it does.
        let mut before: Vec<(Node, Lit)> = Vec::new();
        for &pos in late {
            let node = self.node(pos).ok_or(Hopeless)?;
            let executed = self.executed(node);
            let stands = match self.probe(pos, goal) {
                None => {
                    question.assumptions.push(executed);
                    vec![(node, Lit::TRUE)]
                }
                Some(probe) => {
                    question.probes.push((pos, probe));
                    let instead = self.executed(probe.node);
                    let Probe { stands_in, .. } = probe;
                    self.solver.require(&[!question.asked, stands_in, executed]);
                    self.solver.require(&[!question.asked, !stands_in, instead]);
                    self.solver
                        .require(&[!question.asked, !stands_in, !executed]);
                    vec![(node, !stands_in), (probe.node, stands_in)]
                }
            };
            for &(first, if_first) in &before {
                for &(second, if_second) in &stands {
                    let order = self.solver.before(first, second);
                    self.solver
                        .require(&[!question.asked, !if_first, !if_second, order]);
                }
            }
            before = stands;
        }
        Ok(())
    }

    /// The probe of an event, if it may end its thread's part whatever it reads.
    fn probe(&mut self, pos: Pos, goal: &Goal) -> Option<Probe> {
        let lane = self.view.lane(pos);
        let is_last = |other: &Pos| self.view.lane(*other) != lane || *other <= pos;
        if !goal.events().all(|other| is_last(&other)) || !self.takes_place(pos) {
            return None;
        }
        if let Some(probe) = self.probes.get(&pos) {
            return Some(*probe);
        }
        let probe = Probe {
            node: self.solver.event(),
            stands_in: self.solver.boolean(),
        };
        self.probes.insert(pos, probe);
        let edges = self.view.edges_to(pos).iter();
        let edges = edges.map(|edge| self.view.event_index(edge.from));
        let index = self.view.event_index(pos);
        let needed: Vec<Node> = edges
            .chain(self.terms.hidden.before(index))
            .filter_map(|before| self.node_of(before))
            .chain(self.node_before(pos))
            .collect();
        for before in needed {
            self.solver.order(before, probe.node);
        }
        for condition in self.conditions_before(pos) {
            self.solver.require(&[!probe.stands_in, condition]);
        }
        self.access_alive(pos, probe.node);
        if self.view.writes(pos) {
            for cell in self.view.cells_of(pos) {
                if let Some(contents) = self.cells.get(&cell) {
                    self.solver.write(contents.location, probe.node, None);
                }
            }
        }
        Some(probe)
    }

    /// Whether an event takes place whatever it reads.
    fn takes_place(&self, pos: Pos) -> bool {
        let fits = match self.event(pos).kind {
            EventKind::Read(_) | EventKind::AtomicLoad(..) | EventKind::RangeRead { .. } => true,
            EventKind::Rmw { atomicity, .. } => atomicity.role == Role::None,
            _ => false,
        };
        fits && !self.out_of_nowhere.contains(&pos)
    }
}
