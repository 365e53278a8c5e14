//! Every gate against its truth table, with every combination of constants and repeated inputs.

use super::formula::{Formula, Naive};
use super::{Clauses, Gates};
use crate::lit::Lit;

type Build = fn(&mut Gates, &mut Formula, [Lit; 3]) -> Lit;
type Truth = fn([bool; 3]) -> bool;

const FUNCTIONS: &[(&str, Build, Truth)] = &[
    ("and", |g, s, lits| g.and(s, &lits), |[a, b, c]| a && b && c),
    ("or", |g, s, lits| g.or(s, &lits), |[a, b, c]| a || b || c),
    (
        "both",
        |g, s, [a, b, _]| g.both(s, a, b),
        |[a, b, _]| a && b,
    ),
    (
        "either",
        |g, s, [a, b, _]| g.either(s, a, b),
        |[a, b, _]| a || b,
    ),
    ("xor", |g, s, [a, b, _]| g.xor(s, a, b), |[a, b, _]| a ^ b),
    ("iff", |g, s, [a, b, _]| g.iff(s, a, b), |[a, b, _]| a == b),
    (
        "xor3",
        |g, s, [a, b, c]| g.xor3(s, a, b, c),
        |[a, b, c]| a ^ b ^ c,
    ),
    (
        "majority",
        |g, s, [a, b, c]| g.majority(s, a, b, c),
        |[a, b, c]| u8::from(a) + u8::from(b) + u8::from(c) >= 2,
    ),
    (
        "ite",
        |g, s, [a, b, c]| g.ite(s, a, b, c),
        |[a, b, c]| if a { b } else { c },
    ),
];

/// Three variables with their literals, and the constants.
fn inputs(sink: &mut Formula) -> (Vec<Lit>, [Lit; 3]) {
    let variables = [sink.fresh(false), sink.fresh(true), sink.fresh(false)];
    let mut lits = vec![Lit::TRUE, Lit::FALSE];
    lits.extend(variables.iter().flat_map(|&lit| [lit, !lit]));
    (lits, variables)
}

fn triples(lits: &[Lit]) -> impl Iterator<Item = [Lit; 3]> {
    lits.iter().flat_map(move |&a| {
        lits.iter()
            .flat_map(move |&b| lits.iter().map(move |&c| [a, b, c]))
    })
}

#[test]
fn gates_are_their_functions() {
    let mut sink = Formula::new();
    let mut gates = Gates::default();
    let (lits, variables) = inputs(&mut sink);
    let mut made = Vec::new();
    for &(name, build, truth) in FUNCTIONS {
        for inputs in triples(&lits) {
            made.push((name, truth, inputs, build(&mut gates, &mut sink, inputs)));
        }
    }
    let mut naive = Naive::new(&sink);
    for row in 0..8_u32 {
        let height = naive.height();
        let fixed = [0, 1, 2].map(|i| variables[i].negated_if(row >> i & 1 == 0));
        assert!(naive.assume(&fixed));
        for &(name, truth, inputs, out) in &made {
            let values = inputs.map(|lit| naive.value(lit).expect("inputs are fixed"));
            assert_eq!(
                naive.value(out),
                Some(truth(values)),
                "{name} of {inputs:?}, {values:?}"
            );
        }
        naive.undo(height);
    }
}

#[test]
fn gates_are_shared_and_fold_to_their_inputs() {
    let mut sink = Formula::new();
    let mut gates = Gates::default();
    let (lits, [x, y, z]) = inputs(&mut sink);
    for &(_, build, _) in FUNCTIONS {
        for inputs in triples(&lits) {
            build(&mut gates, &mut sink, inputs);
        }
    }
    // Up to signs: 12 conjunctions of two and 8 of three, 3 exclusive ors of two and 1 of three,
    // 4 majorities, and 3 choices of a condition with 2 relative signs of the arms and 2 orders.
    let gates_made = sink.fresh(false).var().index() - z.var().index() - 1;
    assert_eq!(gates_made, 12 + 8 + 3 + 1 + 4 + 3 * 2 * 2);
    assert_eq!(gates.xor(&mut sink, x, !y), !gates.xor(&mut sink, y, x));
    assert_eq!(
        gates.majority(&mut sink, !z, !x, y),
        !gates.majority(&mut sink, x, !y, z)
    );
    assert_eq!(
        gates.and(&mut sink, &[x, y, Lit::TRUE, x]),
        gates.both(&mut sink, y, x)
    );
    assert_eq!(gates.ite(&mut sink, x, y, !y), gates.iff(&mut sink, x, y));
}

#[test]
fn phases_are_a_model() {
    let mut sink = Formula::new();
    let mut gates = Gates::default();
    let (lits, _) = inputs(&mut sink);
    for &(_, build, _) in FUNCTIONS {
        for inputs in triples(&lits) {
            build(&mut gates, &mut sink, inputs);
        }
    }
    for clause in sink.clauses() {
        assert!(clause.iter().any(|&lit| sink.phase(lit)), "{clause:?}");
    }
}
