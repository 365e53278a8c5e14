//! The value of a term under a model.

use super::blast::Blaster;
use super::native::{apply, low, ones, signed};
use super::term::{Node, Term, Terms};
use crate::hash::Table;
use crate::lit::Lit;

/// The value of `term` if exactly the literals hold that `holds` says.
///
/// A term that was blasted has the value of its bits. One that was not is computed; an unknown has the
/// value that `unknown` says, or its hint. Not recursive: a term can be as deep as a run is long.
pub(crate) fn evaluate(
    term: Term,
    terms: &Terms,
    blaster: &Blaster,
    holds: impl Fn(Lit) -> bool,
    unknown: impl Fn(Term) -> Option<u64>,
) -> u64 {
    terms.check(term);
    let mut values: Table<Term, u64> = Table::default();
    let mut stack = vec![term];
    while let Some(&top) = stack.last() {
        let blasted = blaster.bits_of(top);
        let height = stack.len();
        if blasted.is_none() {
            let operands = terms.node(top).operands();
            stack.extend(operands.filter(|operand| !values.contains_key(operand)));
        }
        if stack.len() == height {
            stack.pop();
            let value = match blasted {
                Some(bits) => bits
                    .iter()
                    .rev()
                    .fold(0, |value, &bit| value << 1 | u64::from(holds(bit))),
                None => unknown(top).unwrap_or_else(|| compute(top, terms, &values, &holds)),
            };
            values.insert(top, value);
        }
    }
    values[&term]
}

/// The value of a term whose operands have one.
fn compute(
    term: Term,
    terms: &Terms,
    values: &Table<Term, u64>,
    holds: &impl Fn(Lit) -> bool,
) -> u64 {
    let width = term.width();
    match terms.node(term) {
        Node::Constant(value) => value,
        Node::Unknown { hint } => hint,
        Node::Literal(lit) => u64::from(holds(lit)),
        Node::Chosen(condition, a, b) => values[&if holds(condition) { a } else { b }],
        Node::Not(a) => values[&a] ^ ones(width),
        Node::Binary(operation, a, b) => apply(operation, width, values[&a], values[&b]),
        Node::SignExtend(a) => low(width, signed(a.width(), values[&a]).cast_unsigned()),
        Node::Extract(a, from) => low(width, values[&a] >> from),
        Node::Concat(high, rest) => values[&high] << rest.width() | values[&rest],
    }
}
