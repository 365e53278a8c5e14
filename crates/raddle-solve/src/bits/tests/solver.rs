//! The solver's own functions, and its answers to conditions that are too large to enumerate.

use super::programs::Program;
use super::reference;
use super::*;
use crate::{Answer, Budget, Solver};

type Function<T> = fn(&mut Solver, Term, Term) -> T;

#[test]
fn functions_are_named_rightly() {
    let operations: [(Operation, Function<Term>); 13] = [
        (Operation::And, Solver::bv_and),
        (Operation::Or, Solver::bv_or),
        (Operation::Xor, Solver::bv_xor),
        (Operation::Add, Solver::add),
        (Operation::Sub, Solver::sub),
        (Operation::Mul, Solver::mul),
        (Operation::Udiv, Solver::udiv),
        (Operation::Sdiv, Solver::sdiv),
        (Operation::Urem, Solver::urem),
        (Operation::Srem, Solver::srem),
        (Operation::Shl, Solver::shl),
        (Operation::Lshr, Solver::lshr),
        (Operation::Ashr, Solver::ashr),
    ];
    let mut solver = Solver::new();
    for a in 0..16 {
        for b in 0..16 {
            let [x, y] = [a, b].map(|value| solver.constant(4, value));
            for (operation, function) in operations {
                let expected = solver.constant(4, reference::binary(operation, 4, a, b));
                assert_eq!(function(&mut solver, x, y), expected, "{operation:?}");
            }
            let (sa, sb) = (reference::signed(4, a), reference::signed(4, b));
            let conditions: [(Function<Lit>, bool); 5] = [
                (Solver::equal, a == b),
                (Solver::unsigned_less, a < b),
                (Solver::unsigned_at_most, a <= b),
                (Solver::signed_less, sa < sb),
                (Solver::signed_at_most, sa <= sb),
            ];
            for (place, (function, expected)) in conditions.into_iter().enumerate() {
                let lit = function(&mut solver, x, y);
                assert_eq!(lit, Lit::FALSE.negated_if(expected), "{place}: {a} {b}");
            }
            let joined = solver.concat(x, y);
            assert_eq!(joined, solver.constant(8, a << 4 | b));
            assert_eq!(solver.extract(joined, 4, 4), x);
            assert_eq!(solver.truncate(joined, 4), y);
        }
        let x = solver.constant(4, a);
        let [plus, minus, flipped] = [i128::from(a), -i128::from(a), -1 - i128::from(a)]
            .map(|value| solver.constant(4, reference::wrap(4, value)));
        assert_eq!(
            [x, solver.bv_neg(x), solver.bv_not(x)],
            [plus, minus, flipped]
        );
        assert_eq!(solver.zero_extend(x, 9), solver.constant(9, a));
        let extended = reference::wrap(9, reference::signed(4, a));
        assert_eq!(solver.sign_extend(x, 9), solver.constant(9, extended));
    }
}

#[test]
fn models_satisfy_random_conditions() {
    let mut random = Random(10);
    let mut satisfiable = 0;
    for _ in 0..200 {
        let width = 5 + random.below(28) as u32;
        let widths = [width, width, 7, 1];
        let program = Program::random(&mut random, &widths, 2, 15);
        let hints = widths.map(|width| random.value(width));
        let mut solver = Solver::new();
        let flags = [(); 2].map(|()| solver.boolean());
        let terms = program.terms(&mut solver.terms, &hints, &flags);

        // Values that are taken together by some input, so that there is a solution.
        let inputs = widths.map(|width| random.value(width));
        let values = program.run(&inputs, &[true, false]);
        let mut conditions = Vec::new();
        for _ in 0..3 {
            let step = random.below(terms.len());
            let value = solver.constant(program.widths[step], values[step]);
            conditions.push((step, solver.equal(terms[step], value)));
        }
        let assumptions: Vec<Lit> = conditions.iter().map(|&(_, lit)| lit).collect();
        match solver.solve(&assumptions, Budget::unlimited().conflicts(3000)) {
            Answer::Satisfiable(model) => {
                satisfiable += 1;
                let found = [0, 1, 2, 3].map(|input| model.value(terms[input]));
                let run = program.run(&found, &flags.map(|flag| model.holds(flag)));
                for (step, &term) in terms.iter().enumerate() {
                    assert_eq!(model.value(term), run[step], "step {step} of {program:?}");
                }
                for (step, _) in conditions {
                    assert_eq!(run[step], values[step], "step {step} of {program:?}");
                }
            }
            Answer::Unsatisfiable(_) => panic!("{inputs:?} solves {program:?} {conditions:?}"),
            Answer::Unknown(_) => {}
        }
    }
    assert!(satisfiable > 150, "only {satisfiable} solved");
}

/// Identities that take a search to prove.
#[test]
fn identities_have_no_counterexample() {
    let mut solver = Solver::new();
    let [x, y] = [(); 2].map(|()| solver.unknown(8, 0));
    let quotient = solver.udiv(x, y);
    let remainder = solver.urem(x, y);
    let product = solver.mul(quotient, y);
    let back = solver.add(product, remainder);
    let same = solver.equal(back, x);

    let [narrow_x, narrow_y] = [x, y].map(|term| solver.truncate(term, 5));
    let quotient = solver.sdiv(narrow_x, narrow_y);
    let remainder = solver.srem(narrow_x, narrow_y);
    let product = solver.mul(quotient, narrow_y);
    let back = solver.add(product, remainder);
    let signed_same = solver.equal(back, narrow_x);

    let both = solver.bv_and(x, y);
    let any = solver.bv_or(x, y);
    let [left, right] = [solver.add(x, y), solver.add(both, any)];
    let sum_same = solver.equal(left, right);

    for lit in [same, signed_same, sum_same] {
        let answer = solver.solve(&[!lit], Budget::unlimited());
        assert!(matches!(answer, Answer::Unsatisfiable(_)));
        let answer = solver.solve(&[lit], Budget::unlimited());
        assert!(matches!(answer, Answer::Satisfiable(_)));
    }
}
