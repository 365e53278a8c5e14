//! The solver against the enumeration of all orders and values, on tiny random problems.
//!
//! Every question is asked four times: twice of fresh solvers, whose answers must be the same to the
//! last value; once with a small budget, which may end in *unknown* but never in a wrong answer; and
//! again without a limit after that. A model counts as proof once it has been evaluated, an
//! unsatisfiable core once no order satisfies it.

mod support;

use raddle_solve::Budget;
use support::brute::satisfiable;
use support::check::{caught, check};
use support::instance::{Instance, Step};
use support::random::{Mix, problem};
use support::run::Outcome;
use support::shrink::shrink;

/// In each family; there are eight.
const PROBLEMS: u64 = 13_000;

/// The answers, or what is wrong with them.
fn judge(instance: &Instance) -> Result<Vec<Outcome>, String> {
    let unlimited = |_| Budget::unlimited();
    let answers = check(instance, unlimited, satisfiable)?;
    if check(instance, unlimited, satisfiable)? != answers {
        return Err("the same script was answered in two ways".into());
    }
    // A limit in every other question: what it breaks off must not spoil the next answer.
    let limit = instance.steps.len() as u64 % 5;
    let limited = |question: usize| match question % 2 {
        0 => Budget::unlimited().conflicts(limit),
        _ => Budget::unlimited(),
    };
    let asked_twice = |step: &Step| match step {
        Step::Solve(_) => vec![step.clone(), step.clone()],
        _ => vec![step.clone()],
    };
    let steps = instance.steps.iter().flat_map(asked_twice).collect();
    check(&Instance { steps }, limited, satisfiable).map_err(|what| {
        format!("with at most {limit} conflicts in every other question: {what}")
    })?;
    Ok(answers)
}

/// A panic of the solver is a wrong answer too.
fn judge_caught(instance: &Instance) -> Result<Vec<Outcome>, String> {
    caught(|| judge(instance))
}

fn family(number: u64, mix: &Mix) {
    let mut answers = [0, 0];
    for index in 0..PROBLEMS {
        let seed = number << 32 | index;
        let instance = problem(mix, seed);
        match judge_caught(&instance) {
            Ok(outcomes) => {
                for outcome in outcomes {
                    answers[usize::from(matches!(outcome, Outcome::Satisfiable(_)))] += 1;
                }
            }
            Err(what) => {
                let small = shrink(&instance, |candidate| judge_caught(candidate).is_err());
                let small_what = judge_caught(&small).err().unwrap_or_default();
                panic!("seed {seed}: {what}\n\nmade smaller, {small_what}:\n{small}");
            }
        }
    }
    let [unsatisfiable, satisfiable] = answers;
    let tenth = (unsatisfiable + satisfiable) / 10;
    assert!(
        unsatisfiable >= tenth && satisfiable >= tenth,
        "the problems say little: {satisfiable} satisfiable, {unsatisfiable} not"
    );
}

#[test]
fn orders() {
    family(0, &Mix::orders());
}

#[test]
fn holds() {
    let mix = Mix {
        events: 4..=7,
        chains: 2..=3,
        lone_percent: 10,
        clauses: 0..=4,
        resources: 2,
        holds: 2..=5,
        guard_percent: 25,
        ..Mix::orders()
    };
    family(1, &mix);
}

#[test]
fn reads() {
    let mix = Mix {
        events: 4..=7,
        chains: 2..=3,
        lone_percent: 10,
        clauses: 0..=2,
        locations: 2,
        writes: 2..=5,
        reads: 1..=4,
        guard_percent: 20,
        ..Mix::orders()
    };
    family(2, &mix);
}

#[test]
fn reads_that_write() {
    let mix = Mix {
        events: 3..=6,
        chains: 1..=3,
        clauses: 0..=2,
        locations: 1,
        writes: 2..=5,
        reads: 2..=5,
        rmw_percent: 70,
        ..Mix::orders()
    };
    family(3, &mix);
}

#[test]
fn adjacency() {
    let mix = Mix {
        events: 4..=6,
        adjacent_percent: 35,
        clauses: 2..=6,
        resources: 1,
        holds: 0..=2,
        locations: 1,
        writes: 0..=2,
        reads: 0..=2,
        ..Mix::orders()
    };
    family(4, &mix);
}

#[test]
fn values() {
    let mix = Mix {
        events: 3..=5,
        chains: 1..=3,
        lone_percent: 10,
        clauses: 1..=5,
        booleans: 0..=1,
        locations: 2,
        writes: 1..=4,
        reads: 1..=3,
        rmw_percent: 20,
        guard_percent: 15,
        compare_percent: 60,
        unknowns: 0..=2,
        widths: Some(1..=3),
        valued_reads: 2,
        ..Mix::orders()
    };
    family(5, &mix);
}

#[test]
fn growing() {
    let mix = Mix {
        events: 1..=2,
        rounds: 2..=4,
        chains: 1..=3,
        clauses: 0..=2,
        edges: 0..=1,
        resources: 1,
        holds: 0..=1,
        locations: 1,
        writes: 0..=1,
        reads: 0..=1,
        guard_percent: 20,
        adjacent_percent: 10,
        compare_percent: 10,
        unknowns: 0..=1,
        widths: Some(1..=2),
        valued_reads: 2,
        ..Mix::orders()
    };
    family(6, &mix);
}

#[test]
fn everything() {
    family(7, &Mix::everything());
}
