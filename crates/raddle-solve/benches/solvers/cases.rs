//! The questions that are measured, and this solver's answers to them.
//!
//! Pairs of conflicting accesses of simulated runs that neither a common lock nor the order of threads
//! keeps apart. A part of them is refuted by drawing conclusions alone; of these the one that takes the
//! most rounds is an unsatisfiable case. Of the rest nothing is known in advance, and none is left out:
//! each is a case of the kind that this solver finds it to be. A model is evaluated; what is
//! unsatisfiable must be refuted by conclusions or by another solver.

use std::time::{Duration, Instant};

use raddle_solve::Budget;

use crate::support::check::check_model;
use crate::support::facts::Facts;
use crate::support::instance::{Formula, Instance};
use crate::support::rng::Rng;
use crate::support::run::{Outcome, Session};
use crate::support::saturate::refutes;
use crate::support::smtlib::Writer;
use crate::support::trace::{Shape, Trace};
use crate::support::window::{Reads, Style, Window};

/// Short measurements are repeated, and the median counts.
const REPETITIONS: usize = 3;
/// Pairs that are looked at for one case of each kind.
const PAIRS: usize = 10;

/// What the answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Satisfiable,
    Unsatisfiable,
    /// This solver's time ran out.
    Undecided,
}

/// Questions of one sort.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    pub size: usize,
    pub threads: usize,
    /// Whether there are bit-vectors in them.
    pub values: bool,
    /// Everybody's time for each.
    pub limit: Duration,
}

/// A question.
pub struct Case {
    pub name: String,
    pub group: Group,
    pub kind: Kind,
    /// Building and solving, by this solver.
    pub seconds: f64,
    instance: Instance,
    question: Vec<Formula>,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Satisfiable => "sat",
            Self::Unsatisfiable => "unsat",
            Self::Undecided => "?",
        }
    }

    /// Whether another solver's verdict agrees.
    pub fn agrees(self, satisfiable: bool) -> bool {
        self == Self::Undecided || satisfiable == (self == Self::Satisfiable)
    }
}

impl Case {
    /// The question for other solvers, without a logic.
    pub fn smtlib(&self) -> String {
        let facts = Facts::of(&self.instance.steps);
        let mut writer = Writer::new(&facts);
        self.question
            .iter()
            .for_each(|formula| writer.require(formula));
        writer.take()
    }

    fn new(group: Group, window: &Window, pair: (usize, usize), name: &str) -> Self {
        let mut case = Self {
            name: format!("{name}, events {} and {}", pair.0, pair.1),
            group,
            kind: Kind::Undecided,
            seconds: 0.0,
            instance: window.asking(pair),
            question: window.question(pair),
        };
        let mut times = Vec::new();
        while times.len() < REPETITIONS && times.iter().sum::<f64>() < 0.3 {
            let (kind, seconds) = case.solve();
            case.kind = kind;
            times.push(seconds);
        }
        times.sort_by(f64::total_cmp);
        case.seconds = times[times.len() / 2];
        case
    }

    /// Builds a solver and asks it.
    fn solve(&self) -> (Kind, f64) {
        let facts = Facts::of(&self.instance.steps);
        let begun = Instant::now();
        let mut session = Session::of(&self.instance.steps);
        let built = begun.elapsed();
        let budget = Budget::unlimited().time(self.group.limit);
        let outcome = session.solve(&facts, &self.question, budget);
        let seconds = (built + session.spent).as_secs_f64();
        let kind = match outcome {
            Outcome::Satisfiable(found) => {
                let verdict = check_model(&self.instance.steps, &facts, &found, &self.question);
                verdict.unwrap_or_else(|what| panic!("{}: the model is wrong: {what}", self.name));
                Kind::Satisfiable
            }
            Outcome::Unsatisfiable(_) => Kind::Unsatisfiable,
            Outcome::Unknown(_) => Kind::Undecided,
        };
        (kind, seconds)
    }
}

/// The cases of a group, at least one of each kind for a seed if possible.
pub fn of(group: Group, seeds: u64) -> Vec<Case> {
    if group.values {
        values(group, seeds)
    } else {
        order(group, seeds)
    }
}

/// Cases without values: a seed gives at least one that conclusions refute and one that they do not.
fn order(group: Group, seeds: u64) -> Vec<Case> {
    let Group { size, threads, .. } = group;
    let mut cases = Vec::new();
    for seed in 0..seeds {
        let style = if seed % 2 == 0 {
            Style::Cut
        } else {
            Style::Adjacent
        };
        let percent = if seed % 4 < 2 { 100 } else { 30 };
        let trace = Trace::simulate(Shape::new(size, threads), seed);
        let window = Window::new(&trace, style, Reads::SameValue { percent }, seed);
        let name = format!(
            "{size} events, {threads} threads, {style:?}, {percent} % of reads, seed {seed}"
        );
        let pairs = trace.candidates(&mut Rng::new(seed), PAIRS);
        let judged = pairs.into_iter().map(|pair| {
            let instance = window.asking(pair);
            (
                refutes(&Facts::of(&instance.steps), &window.question(pair)),
                pair,
            )
        });
        let (refuted, open): (Vec<_>, Vec<_>) = judged.partition(|(rounds, _)| rounds.is_some());
        if let Some((_, pair)) = refuted.iter().max_by_key(|(rounds, _)| *rounds) {
            let case = Case::new(group, &window, *pair, &name);
            assert!(
                case.kind != Kind::Satisfiable,
                "{}: satisfied, though conclusions refute it",
                case.name
            );
            cases.push(case);
        }
        // Until one is satisfiable: those before it are cases as well.
        for (_, pair) in open {
            let case = Case::new(group, &window, pair, &name);
            let satisfiable = case.kind == Kind::Satisfiable;
            cases.push(case);
            if satisfiable {
                break;
            }
        }
    }
    cases
}

/// Cases with values: reads may read anything that keeps the branches as they were.
fn values(group: Group, seeds: u64) -> Vec<Case> {
    let Group { size, threads, .. } = group;
    let mut cases: Vec<Case> = Vec::new();
    for seed in 0..seeds {
        let shape = Shape {
            computing: true,
            ..Shape::new(size, threads)
        };
        let trace = Trace::simulate(shape, seed);
        let window = Window::new(&trace, Style::Cut, Reads::SameBranches, seed);
        let name = format!("{size} events with values, seed {seed}");
        let mut found = [false; 3];
        for pair in trace.candidates(&mut Rng::new(seed), PAIRS) {
            let case = Case::new(group, &window, pair, &name);
            if !std::mem::replace(&mut found[case.kind as usize], true) {
                cases.push(case);
            }
        }
    }
    cases
}
