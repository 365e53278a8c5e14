//! The oracles against each other: enumeration and Z3 must agree before they judge the solver.

mod support;

use support::brute::satisfiable;
use support::facts::Facts;
use support::instance::{Formula, Step};
use support::pipe::Z3;
use support::random::{Mix, problem};
use support::rng::Rng;
use support::saturate::refutes;
use support::trace::{Shape, Trace};
use support::window::{Reads, Style, Window};

#[test]
fn enumeration_agrees_with_z3() {
    let mix = Mix {
        events: 3..=5,
        rounds: 1..=2,
        ..Mix::everything()
    };
    let mut z3 = Z3::start();
    for seed in 0..1_500 {
        let instance = problem(&mix, 99 << 32 | seed);
        for (index, step) in instance.steps.iter().enumerate() {
            let Step::Solve(assumptions) = step else {
                continue;
            };
            let facts = Facts::of(instance.prefix(index + 1));
            let asked: Vec<&Formula> = assumptions.iter().collect();
            let (enumerated, answered) = (satisfiable(&facts, &asked), z3.ask(&facts, &asked));
            assert_eq!(
                enumerated, answered,
                "seed {seed}, step {index} of\n{instance}"
            );
        }
    }
}

#[test]
fn what_saturation_refutes_is_refuted_by_z3() {
    let mut z3 = Z3::start();
    let (mut refuted, mut possible) = (0, 0);
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let trace = Trace::simulate(Shape::new(60 + rng.below(60), 2 + rng.below(4)), seed);
        let style = if seed % 2 == 0 {
            Style::Cut
        } else {
            Style::Adjacent
        };
        let reads = Reads::SameValue {
            percent: if seed % 3 == 0 { 30 } else { 100 },
        };
        let window = Window::new(&trace, style, reads, seed);
        for pair in trace.candidates(&mut rng, 6) {
            let instance = window.asking(pair);
            let facts = Facts::of(&instance.steps);
            let question = window.question(pair);
            let truth = z3.ask(&facts, &question.iter().collect::<Vec<_>>());
            match (refutes(&facts, &question).is_some(), truth) {
                (true, true) => panic!("saturation refutes what is true: seed {seed}, {pair:?}"),
                (true, false) => refuted += 1,
                (false, false) => {}
                (false, true) => possible += 1,
            }
        }
    }
    assert!(
        refuted > 50 && possible > 50,
        "{refuted} refuted, {possible} true"
    );
}
