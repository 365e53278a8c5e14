//! Each operation by itself, at every width.

use super::reference;
use super::*;

/// All pairs of values if there are few, else a choice of them.
fn samples(width: u32, number: usize, random: &mut Random) -> Vec<(u64, u64)> {
    if width <= 4 {
        let all = 0..=reference::ones(width);
        return all
            .clone()
            .flat_map(|a| all.clone().map(move |b| (a, b)))
            .collect();
    }
    (0..number)
        .map(|_| (random.value(width), random.value(width)))
        .collect()
}

#[test]
fn constants_fold() {
    let mut random = Random(1);
    let mut bench = Bench::new();
    for width in 1..=64 {
        for (a, b) in samples(width, 200, &mut random) {
            let [x, y] = [a, b].map(|value| bench.terms.constant(width, value));
            for operation in OPERATIONS {
                let term = bench.terms.binary(operation, x, y);
                let expected = reference::binary(operation, width, a, b);
                assert_eq!(
                    bench.terms.as_constant(term),
                    Some(expected),
                    "{operation:?} of {a:#x} and {b:#x}, {width} bits"
                );
            }
            let equal = bench.equal(x, y);
            assert_eq!(equal == Lit::TRUE, a == b);
            for comparison in [Comparison::UnsignedLess, Comparison::SignedLess] {
                let less = bench.compare(comparison, x, y);
                let expected = reference::compare(comparison, width, a, b);
                assert_eq!(
                    less,
                    Lit::FALSE.negated_if(expected),
                    "{comparison:?} {a:#x} {b:#x}"
                );
            }
        }
    }
    assert_eq!(bench.sink, Formula::new(), "constants need no clauses");
}

#[test]
fn circuits_compute_by_unit_propagation() {
    let mut random = Random(2);
    for width in 1..=64 {
        let mut bench = Bench::new();
        let [x, y] = [0, 1].map(|hint| bench.terms.unknown(width, hint));
        let [bits_x, bits_y] = [x, y].map(|term| bench.blast(term));
        let results = OPERATIONS.map(|operation| {
            let term = bench.terms.binary(operation, x, y);
            (operation, bench.blast(term))
        });
        let equal = bench.equal(x, y);
        let comparisons = [Comparison::UnsignedLess, Comparison::SignedLess]
            .map(|comparison| (comparison, bench.compare(comparison, x, y)));
        let mut naive = Naive::new(&bench.sink);
        for (a, b) in samples(width, 6, &mut random) {
            let height = naive.height();
            let inputs: Vec<Lit> = fixed(&bits_x, a).chain(fixed(&bits_y, b)).collect();
            assert!(naive.assume(&inputs));
            for (operation, bits) in &results {
                let expected = reference::binary(*operation, width, a, b);
                assert_eq!(
                    propagated(&naive, bits),
                    Some(expected),
                    "{operation:?} of {a:#x} and {b:#x}, {width} bits"
                );
            }
            assert_eq!(naive.value(equal), Some(a == b));
            for (comparison, less) in comparisons {
                let expected = reference::compare(comparison, width, a, b);
                assert_eq!(
                    naive.value(less),
                    Some(expected),
                    "{comparison:?} {a:#x} {b:#x}"
                );
            }
            naive.undo(height);
        }
    }
}

/// One operand is constant: other rules and other circuits.
#[test]
fn operations_with_a_constant() {
    let mut random = Random(3);
    for width in 1..=64 {
        let constants: Vec<u64> = if width <= 4 {
            (0..=reference::ones(width)).collect()
        } else {
            vec![random.value(width)]
        };
        for constant in constants {
            let mut bench = Bench::new();
            let x = bench.terms.unknown(width, 0);
            let c = bench.terms.constant(width, constant);
            let bits_x = bench.blast(x);
            let mut results = Vec::new();
            for operation in OPERATIONS {
                for flip in [false, true] {
                    let (left, right) = if flip { (c, x) } else { (x, c) };
                    let term = bench.terms.binary(operation, left, right);
                    results.push((operation, flip, term, bench.blast(term)));
                }
            }
            let mut naive = Naive::new(&bench.sink);
            for (a, _) in samples(width, 6, &mut random) {
                let height = naive.height();
                let inputs: Vec<Lit> = fixed(&bits_x, a).collect();
                assert!(naive.assume(&inputs));
                for (operation, flip, term, bits) in &results {
                    let (left, right) = if *flip { (constant, a) } else { (a, constant) };
                    let expected = reference::binary(*operation, width, left, right);
                    let what =
                        || format!("{operation:?} of {left:#x} and {right:#x}, {width} bits");
                    assert_eq!(propagated(&naive, bits), Some(expected), "{}", what());
                    let value = bench.evaluate(*term, |lit| naive.value(lit) == Some(true));
                    assert_eq!(value, expected, "{}", what());
                }
                naive.undo(height);
            }
        }
    }
}

/// Each operation with a constant, equal to each constant: what can be undone is undone rightly.
#[test]
fn equations_with_constants() {
    const WIDTH: u32 = 4;
    let mut bench = Bench::new();
    let x = bench.terms.unknown(WIDTH, 0);
    let bits = bench.blast(x);
    let mut equations = Vec::new();
    for operation in OPERATIONS {
        for (constant, flip) in (0..16).flat_map(|value| [(value, false), (value, true)]) {
            let c = bench.terms.constant(WIDTH, constant);
            let (left, right) = if flip { (c, x) } else { (x, c) };
            let term = bench.terms.binary(operation, left, right);
            for target in 0..16 {
                let value = bench.terms.constant(WIDTH, target);
                let equal = bench.equal(term, value);
                equations.push((operation, constant, flip, target, equal));
            }
        }
    }
    let mut naive = Naive::new(&bench.sink);
    for a in 0..16 {
        let height = naive.height();
        assert!(naive.assume(&fixed(&bits, a).collect::<Vec<_>>()));
        for &(operation, constant, flip, target, equal) in &equations {
            let (left, right) = if flip { (constant, a) } else { (a, constant) };
            let expected = reference::binary(operation, WIDTH, left, right) == target;
            assert_eq!(
                naive.value(equal),
                Some(expected),
                "{operation:?} of {left} and {right} is {target}"
            );
        }
        naive.undo(height);
    }
}

#[test]
fn a_link_makes_equal_only_under_its_condition() {
    let mut random = Random(4);
    for width in 1..=64 {
        let mut bench = Bench::new();
        let value = random.value(width);
        let low = bench.terms.unknown(width.div_ceil(2), 0);
        let written = bench.terms.zero_extend(low, width);
        let constant = bench.terms.constant(width, value);
        let read = bench.terms.unknown(width, 0);
        let [first, second] = [(); 2].map(|()| bench.sink.fresh(false));
        bench.link(read, written, first);
        bench.link(read, constant, second);
        let [bits, low] = [read, low].map(|term| bench.blast(term));
        let half = random.value(low.len() as u32);
        let mut naive = Naive::new(&bench.sink);
        let start = naive.height();

        assert!(naive.assume(&fixed(&low, half).chain([first]).collect::<Vec<_>>()));
        assert_eq!(propagated(&naive, &bits), Some(half));
        assert_eq!(naive.assume(&[second]), half == value);
        naive.undo(start);

        assert!(naive.assume(&[second]));
        assert_eq!(propagated(&naive, &bits), Some(value));
        naive.undo(start);

        let other = random.value(width);
        let free: Vec<Lit> = fixed(&bits, other).chain([!first, !second]).collect();
        assert!(naive.assume(&free));
    }
}

#[test]
fn links_with_opposite_and_equal_bits() {
    let mut bench = Bench::new();
    let a = bench.terms.unknown(3, 0);
    let b = bench.terms.not(a);
    let condition = bench.sink.fresh(true);
    bench.link(a, a, Lit::TRUE);
    bench.link(a, b, Lit::FALSE);
    assert_eq!(bench.sink.clauses().len(), 1, "nothing to say");
    bench.link(a, b, condition);
    assert_eq!(bench.sink.solve(&[condition]), None);
    assert!(bench.sink.solve(&[!condition]).is_some());
}

/// All concatenations of two parts of a word, which are joined only if they are neighbours.
#[test]
fn parts_are_put_together() {
    const WIDTH: u32 = 7;
    let value = 0b101_1001;
    let mut terms = Terms::default();
    let x = terms.unknown(WIDTH, value);
    let parts: Vec<(u32, u32)> = (0..WIDTH)
        .flat_map(|from| (1..=WIDTH - from).map(move |width| (from, width)))
        .collect();
    for &(from, width) in &parts {
        for &(other_from, other_width) in &parts {
            let high = terms.extract(x, from, width);
            let low = terms.extract(x, other_from, other_width);
            let term = terms.concat(high, low);
            let part = |from, width| value >> from & reference::ones(width);
            let expected = part(from, width) << other_width | part(other_from, other_width);
            let found = evaluate(
                term,
                &terms,
                &Blaster::default(),
                |_| unreachable!(),
                |_| None,
            );
            assert_eq!(
                found, expected,
                "{width} from {from}, {other_width} from {other_from}"
            );
        }
    }
}
