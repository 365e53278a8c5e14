//! Bit-vector terms of 1 to 64 bits, blasted into the search.
//!
//! A [`Term`] is made without cost to the search: [`Terms`] folds constants, simplifies and shares.
//! Only when a condition on terms is asked for does the [`Blaster`] turn the terms that it depends on
//! into literals, with [`Gates`](crate::gates::Gates) of one bit. Any term can be evaluated under a
//! model, whether it was blasted or not.
//!
//! The operations mean what they mean in SMT-LIB's theory of fixed-size bit-vectors: `x udiv 0` is all
//! ones, `x urem 0` is `x`, `sdiv` and `srem` truncate towards zero and are defined through the unsigned
//! operations on magnitudes, and a shift by the width or more leaves nothing but the fill.

mod api;
mod blast;
mod circuit;
mod divide;
mod equality;
mod evaluate;
mod multiply;
mod native;
mod rewrite;
mod shape;
mod shift;
mod term;
#[cfg(test)]
mod tests;

pub(crate) use blast::Blaster;
pub(crate) use evaluate::evaluate;
pub use term::Term;
pub(crate) use term::Terms;
