//! What the caller must not do, and the forms that terms take.

use super::*;

#[test]
#[should_panic(expected = "a term has 1 to 64 bits, not 0")]
fn no_bits() {
    Terms::default().constant(0, 0);
}

#[test]
#[should_panic(expected = "a term has 1 to 64 bits, not 65")]
fn too_many_bits() {
    Terms::default().unknown(65, 0);
}

#[test]
#[should_panic(expected = "a term has 1 to 64 bits, not 80")]
fn too_long_a_concatenation() {
    let mut terms = Terms::default();
    let a = terms.unknown(40, 0);
    terms.concat(a, a);
}

#[test]
#[should_panic(expected = "the value 0x100 does not fit into 8 bits")]
fn too_large_a_value() {
    Terms::default().constant(8, 256);
}

#[test]
#[should_panic(expected = "two terms of the same width, not of 8 and 9 bits")]
fn operands_of_two_widths() {
    let mut terms = Terms::default();
    let [a, b] = [8, 9].map(|width| terms.unknown(width, 0));
    terms.binary(Operation::Add, a, b);
}

#[test]
#[should_panic(expected = "an equation takes two terms of the same width, not of 1 and 2 bits")]
fn sides_of_two_widths() {
    let mut bench = Bench::new();
    let [a, b] = [1, 2].map(|width| bench.terms.unknown(width, 0));
    bench.equal(a, b);
}

#[test]
#[should_panic(expected = "an extension of 8 bits to 7 bits would lose some")]
fn narrower_extension() {
    let mut terms = Terms::default();
    let a = terms.unknown(8, 0);
    terms.sign_extend(a, 7);
}

#[test]
#[should_panic(expected = "4 bits from bit 5 on do not lie within 8 bits")]
fn extraction_beyond_the_end() {
    let mut terms = Terms::default();
    let a = terms.unknown(8, 0);
    terms.extract(a, 5, 4);
}

#[test]
#[should_panic(expected = "a term of another solver")]
fn foreign_term() {
    let a = Terms::default().unknown(8, 0);
    Terms::default().not(a);
}

#[test]
fn terms_take_their_simplest_form() {
    let mut terms = Terms::default();
    let [x, y] = [(); 2].map(|()| terms.unknown(32, 0));
    let byte = terms.unknown(8, 0);
    let [zero, three, eight] = [0, 3, 8].map(|value| terms.constant(32, value));

    let sum = terms.binary(Operation::Add, x, y);
    assert_eq!(terms.binary(Operation::Add, y, x), sum);
    assert_eq!(terms.binary(Operation::Sub, sum, x), y);
    assert_eq!(terms.binary(Operation::Add, zero, x), x);
    let more = terms.binary(Operation::Add, x, three);
    assert_eq!(terms.binary(Operation::Sub, more, three), x);
    let minus = terms.neg(x);
    assert_eq!(terms.neg(minus), x);
    assert_eq!(terms.binary(Operation::Add, minus, x), zero);
    assert_eq!(terms.binary(Operation::Xor, x, x), zero);

    let shifted = terms.binary(Operation::Shl, x, three);
    assert_eq!(terms.binary(Operation::Mul, x, eight), shifted);
    let down = terms.binary(Operation::Lshr, x, three);
    assert_eq!(terms.binary(Operation::Udiv, x, eight), down);

    let parts = [24, 16, 8, 0].map(|from| terms.extract(x, from, 8));
    let joined = parts
        .into_iter()
        .reduce(|high, low| terms.concat(high, low));
    assert_eq!(joined, Some(x));
    let wide = terms.sign_extend(byte, 64);
    let word = terms.truncate(wide, 16);
    assert_eq!(word, terms.sign_extend(byte, 16));
    assert_eq!(terms.extract(wide, 0, 8), byte);
}

#[test]
fn equations_are_solved_before_they_are_blasted() {
    let mut bench = Bench::new();
    let x = bench.terms.unknown(32, 0);
    let [factor, offset, mask] = [5, 7, 0xff].map(|value| bench.terms.constant(32, value));
    let term = bench.terms.binary(Operation::Mul, x, factor);
    let term = bench.terms.binary(Operation::Add, term, offset);
    let term = bench.terms.binary(Operation::Xor, term, mask);
    let term = bench.terms.not(term);
    let value = bench
        .terms
        .constant(32, !((1234_u32 * 5 + 7) ^ 0xff) as u64);
    let solution = bench.terms.constant(32, 1234);
    let equation = bench.equal(term, value);
    assert_eq!(equation, bench.equal(x, solution));
    assert_eq!(bench.sink.clauses().len(), 1 + 32 + 1, "one conjunction");
}
