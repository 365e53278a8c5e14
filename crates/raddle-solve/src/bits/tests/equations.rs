//! Random conditions on small programs: a solution satisfies them, and where there is none, trying all
//! inputs finds none.

use super::programs::Program;
use super::reference;
use super::*;

/// What is required of two steps.
#[derive(Clone, Copy, Debug)]
enum Condition {
    Equal,
    Compare(Comparison),
}

impl Condition {
    fn holds(self, width: u32, a: u64, b: u64) -> bool {
        match self {
            Self::Equal => a == b,
            Self::Compare(comparison) => reference::compare(comparison, width, a, b),
        }
    }
}

/// A condition on two steps of the same width, and whether it must hold or must not.
type Requirement = (Condition, usize, usize, bool);

fn requirement(random: &mut Random, program: &Program) -> Requirement {
    let a = random.below(program.steps.len());
    let alike: Vec<usize> = (0..program.steps.len())
        .filter(|&other| program.widths[other] == program.widths[a])
        .collect();
    let b = alike[random.below(alike.len())];
    let condition = match random.below(4) {
        0 => Condition::Compare(Comparison::UnsignedLess),
        1 => Condition::Compare(Comparison::SignedLess),
        _ => Condition::Equal,
    };
    (condition, a, b, random.below(4) != 0)
}

fn meets(program: &Program, requirements: &[Requirement], inputs: &[u64], flag: bool) -> bool {
    let values = program.run(inputs, &[flag]);
    requirements.iter().all(|&(condition, a, b, wanted)| {
        condition.holds(program.widths[a], values[a], values[b]) == wanted
    })
}

#[test]
fn answers_equal_enumeration() {
    let mut random = Random(9);
    let mut satisfiable = 0;
    const ROUNDS: usize = 1500;
    for _ in 0..ROUNDS {
        let width = 1 + random.below(4) as u32;
        let widths = [width, width, 1];
        let program = Program::random(&mut random, &widths, 1, 12);
        let requirements: Vec<Requirement> = (0..1 + random.below(3))
            .map(|_| requirement(&mut random, &program))
            .collect();

        let mut bench = Bench::new();
        let flag = bench.sink.fresh(false);
        let hints = widths.map(|width| random.value(width));
        let terms = program.terms(&mut bench.terms, &hints, &[flag]);
        let assumptions: Vec<Lit> = requirements
            .iter()
            .map(|&(condition, a, b, wanted)| {
                let lit = match condition {
                    Condition::Equal => bench.equal(terms[a], terms[b]),
                    Condition::Compare(comparison) => bench.compare(comparison, terms[a], terms[b]),
                };
                lit.negated_if(!wanted)
            })
            .collect();

        let span = 1_u64 << width;
        let mut all = (0..span * span * 4).map(|code| {
            let inputs = [code % span, code / span % span, code / span / span % 2];
            (inputs, code / span / span / 2 == 1)
        });
        let possible = all.any(|(inputs, flag)| meets(&program, &requirements, &inputs, flag));
        match bench.sink.solve(&assumptions) {
            None => assert!(!possible, "{program:?} {requirements:?}"),
            Some(model) => {
                satisfiable += 1;
                let holds = |lit: Lit| model[lit.var().index()] == lit.is_positive();
                let inputs = [0, 1, 2].map(|input| bench.evaluate(terms[input], holds));
                assert!(
                    meets(&program, &requirements, &inputs, holds(flag)),
                    "{inputs:?} for {program:?} {requirements:?}"
                );
            }
        }
    }
    assert!(satisfiable > ROUNDS / 5 && satisfiable < ROUNDS * 4 / 5);
}
