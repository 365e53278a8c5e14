//! Terms as deep as a long run makes them.

use super::*;

const DEPTH: usize = 100_000;

/// A word that a loop changes in ways that do not simplify, and its value.
fn deep(bench: &mut Bench, hints: [u64; 3]) -> (Term, [Term; 3], u64) {
    let inputs = hints.map(|hint| bench.terms.unknown(2, hint));
    let (mut term, mut value) = (inputs[0], hints[0]);
    for step in 0..DEPTH {
        let (operation, input) = [
            (Operation::Add, 1),
            (Operation::And, 2),
            (Operation::Xor, 1),
            (Operation::Or, 2),
        ][step % 4];
        term = bench.terms.binary(operation, term, inputs[input]);
        value = reference::binary(operation, 2, value, hints[input]);
    }
    (term, inputs, value)
}

#[test]
fn deep_terms_are_evaluated_and_blasted() {
    let hints = [1, 3, 2];
    let mut bench = Bench::new();
    let (term, inputs, value) = deep(&mut bench, hints);
    assert_eq!(bench.evaluate(term, |_| unreachable!()), value);

    let target = bench.terms.constant(2, value);
    let equal = bench.equal(term, target);
    let mut fixed_inputs = Vec::new();
    for (input, hint) in inputs.into_iter().zip(hints) {
        fixed_inputs.extend(fixed(&bench.blast(input), hint));
    }
    let mut naive = Naive::new(&bench.sink);
    assert!(naive.assume(&fixed_inputs));
    assert_eq!(naive.value(equal), Some(true));
    let holds = |lit| naive.value(lit) == Some(true);
    assert_eq!(bench.evaluate(term, holds), value);
}
