//! Multiplication: shift and add, row by row. Adding up the partial products column by column (Wallace,
//! Dadda) gives as many gates; refuting a counterexample to the distributive law at 5 and 6 bits took it
//! two and seven times as many conflicts, while factoring showed no clear difference.
//!
//! A constant factor is written in the canonical signed digit form (Reitwiesner 1960), which has the
//! fewest digits that are not zero; each of them costs one adder.

use super::circuit::{Circuit, as_constant};
use super::native::signed;
use crate::gates::Clauses;
use crate::lit::Lit;

impl<S: Clauses> Circuit<'_, S> {
    /// `a * b`, as wide as each of them.
    pub(super) fn multiply(&mut self, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        if let Some(factor) = as_constant(b) {
            return self.multiply_by(a, factor);
        }
        if let Some(factor) = as_constant(a) {
            return self.multiply_by(b, factor);
        }
        // The factor with fewer bits that may be set gives fewer rows.
        let rows = |bits: &[Lit]| bits.iter().filter(|&&bit| bit != Lit::FALSE).count();
        let (a, b) = if rows(a) < rows(b) { (b, a) } else { (a, b) };
        let mut product = vec![Lit::FALSE; a.len()];
        for (place, &bit) in b.iter().enumerate() {
            if bit != Lit::FALSE {
                let row: Vec<Lit> = a[..a.len() - place]
                    .iter()
                    .map(|&other| self.both(other, bit))
                    .collect();
                let sum = self.add(&product[place..], &row, Lit::FALSE);
                product.splice(place.., sum);
            }
        }
        product
    }

    fn multiply_by(&mut self, a: &[Lit], factor: u64) -> Vec<Lit> {
        let mut product = vec![Lit::FALSE; a.len()];
        for (place, digit) in signed_digits(factor, a.len()) {
            let row = &a[..a.len() - place];
            let sum = match digit {
                Digit::Plus => self.add(&product[place..], row, Lit::FALSE),
                Digit::Minus => self.subtract(&product[place..], row),
            };
            product.splice(place.., sum);
        }
        product
    }
}

/// A digit that is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Digit {
    Plus,
    Minus,
}

/// The places and digits whose sum is `factor`, modulo two to the power of `width`; no two places are
/// neighbours.
fn signed_digits(factor: u64, width: usize) -> Vec<(usize, Digit)> {
    let mut rest = i128::from(signed(width as u32, factor));
    let mut digits = Vec::new();
    for place in 0..width {
        if rest & 1 == 1 {
            // Of the two digits, the one that makes the next digit zero.
            let digit = if rest & 3 == 1 {
                Digit::Plus
            } else {
                Digit::Minus
            };
            rest -= if digit == Digit::Plus { 1 } else { -1 };
            digits.push((place, digit));
        }
        rest >>= 1;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_add_up_and_are_no_neighbours() {
        for width in 1..=10_usize {
            for factor in 0..1_u64 << width {
                let digits = signed_digits(factor, width);
                let sum: i64 = digits
                    .iter()
                    .map(|&(place, digit)| match digit {
                        Digit::Plus => 1 << place,
                        Digit::Minus => -(1 << place),
                    })
                    .sum();
                assert_eq!(sum.rem_euclid(1 << width), factor.cast_signed());
                assert!(digits.windows(2).all(|pair| pair[0].0 + 1 < pair[1].0));
            }
        }
    }
}
