//! The solver against Z3 on problems of 30 to 300 events: windows of simulated runs and random problems.
//!
//! A model counts as proof once it has been evaluated; that there is none is asked of Z3, for the
//! assumptions that are said to clash.

mod support;

use raddle_solve::Budget;
use support::check::{caught, check};
use support::facts::Facts;
use support::instance::{Formula, Instance, Step};
use support::pipe::Z3;
use support::random::{Mix, problem};
use support::rng::Rng;
use support::run::Outcome;
use support::shrink::shrink;
use support::trace::{Shape, Trace};
use support::window::{Reads, Style, Window};

/// How many answers were which.
#[derive(Debug, Default)]
struct Tally {
    satisfiable: usize,
    unsatisfiable: usize,
}

fn judge(instance: &Instance, z3: &mut Z3) -> Result<Vec<Outcome>, String> {
    let satisfiable = |facts: &Facts<'_>, assumptions: &[&Formula]| z3.ask(facts, assumptions);
    caught(|| check(instance, |_| Budget::unlimited(), satisfiable))
}

fn compare(instance: &Instance, z3: &mut Z3, tally: &mut Tally, name: &str) {
    match judge(instance, z3) {
        Ok(outcomes) => {
            let satisfiable = |outcome: &&Outcome| matches!(outcome, Outcome::Satisfiable(_));
            let count = outcomes.iter().filter(satisfiable).count();
            tally.satisfiable += count;
            tally.unsatisfiable += outcomes.len() - count;
        }
        Err(what) => {
            let small = shrink(instance, |candidate| {
                judge(candidate, &mut Z3::start()).is_err()
            });
            panic!("{name}: {what}\n\nmade smaller:\n{small}");
        }
    }
}

impl Tally {
    fn assert_mixed(&self) {
        let tenth = (self.satisfiable + self.unsatisfiable) / 10;
        assert!(
            self.satisfiable >= tenth && self.unsatisfiable >= tenth,
            "the problems say little: {self:?}"
        );
    }
}

/// Windows of runs, several questions to each.
fn windows(first_seed: u64, count: u64, sizes: std::ops::RangeInclusive<usize>, computing: bool) {
    let mut z3 = Z3::start();
    let mut tally = Tally::default();
    for seed in first_seed..first_seed + count {
        let mut rng = Rng::new(seed);
        let shape = Shape {
            computing,
            ..Shape::new(rng.within(&sizes), 2 + rng.below(6))
        };
        let trace = Trace::simulate(shape, seed);
        let style = if rng.percent(60) {
            Style::Cut
        } else {
            Style::Adjacent
        };
        let reads = if computing {
            Reads::SameBranches
        } else {
            Reads::SameValue {
                percent: if rng.percent(50) { 30 } else { 100 },
            }
        };
        let window = Window::new(&trace, style, reads, seed);
        let mut instance = window.instance.clone();
        for pair in trace.candidates(&mut rng, 5) {
            instance.steps.push(Step::Solve(window.question(pair)));
        }
        compare(&instance, &mut z3, &mut tally, &format!("window {seed}"));
    }
    tally.assert_mixed();
}

#[test]
fn small_windows() {
    windows(0, 800, 30..=120, false);
}

#[test]
fn large_windows() {
    windows(10_000, 100, 120..=300, false);
}

#[test]
fn windows_with_values() {
    windows(20_000, 250, 30..=80, true);
}

fn random(number: u64, count: u64, mix: &Mix) {
    let mut z3 = Z3::start();
    let mut tally = Tally::default();
    for index in 0..count {
        let seed = number << 32 | index;
        let instance = problem(mix, seed);
        compare(&instance, &mut z3, &mut tally, &format!("problem {seed}"));
    }
    tally.assert_mixed();
}

#[test]
fn random_orders() {
    let mix = Mix {
        events: 30..=80,
        chains: 2..=8,
        lone_percent: 10,
        edges: 0..=10,
        booleans: 0..=10,
        clauses: 2..=30,
        run_percent: 97,
        resources: 5,
        holds: 0..=8,
        locations: 4,
        writes: 5..=25,
        reads: 2..=15,
        rmw_percent: 20,
        guard_percent: 40,
        adjacent_percent: 3,
        questions: 2..=4,
        ..Mix::orders()
    };
    random(100, 1_200, &mix);
}

#[test]
fn random_values() {
    let mix = Mix {
        events: 30..=50,
        chains: 2..=6,
        lone_percent: 10,
        edges: 0..=5,
        booleans: 0..=5,
        clauses: 2..=15,
        run_percent: 97,
        resources: 4,
        holds: 0..=5,
        locations: 4,
        writes: 5..=20,
        reads: 2..=10,
        rmw_percent: 20,
        guard_percent: 30,
        adjacent_percent: 2,
        compare_percent: 40,
        unknowns: 1..=4,
        widths: Some(1..=16),
        valued_reads: 10,
        questions: 2..=4,
        ..Mix::orders()
    };
    random(101, 800, &mix);
}
