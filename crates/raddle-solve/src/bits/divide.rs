//! Division: restoring, one bit of the quotient at a time, the remainder left at the end.
//!
//! Words that are narrower than they seem are common, as programs compute with widened bytes and
//! constants. The remainder needs no more bits than the divisor, and while the dividend has only shown
//! zeros there is nothing to subtract.

use super::circuit::Circuit;
use crate::gates::Clauses;
use crate::lit::Lit;

/// What a division leaves.
pub(super) struct Division {
    pub(super) quotient: Vec<Lit>,
    pub(super) remainder: Vec<Lit>,
}

impl<S: Clauses> Circuit<'_, S> {
    /// `a / b` without sign.
    pub(super) fn divide(&mut self, a: &[Lit], b: &[Lit]) -> Division {
        let nonzero = self.any(b);
        let Division {
            quotient,
            mut remainder,
        } = self.divide_by_nonzero(a, significant(b));
        remainder.resize(a.len(), Lit::FALSE);
        // The division by zero is put in at the end; where it is impossible this folds away.
        let division = Division {
            quotient: self.choose(nonzero, &quotient, &vec![Lit::TRUE; a.len()]),
            remainder: self.choose(nonzero, &remainder, a),
        };
        // This follows, but is hard to see from outside.
        let small = self.unsigned_less(&division.remainder, b);
        if small != Lit::TRUE && nonzero != Lit::FALSE {
            let clause: Vec<Lit> = [!nonzero, small]
                .into_iter()
                .filter(|&lit| lit != Lit::FALSE)
                .collect();
            self.sink.clause(&clause);
        }
        division
    }

    /// A quotient as wide as `a` and a remainder at most as wide as `b`; anything if `b` is zero.
    fn divide_by_nonzero(&mut self, a: &[Lit], b: &[Lit]) -> Division {
        let mut quotient = vec![Lit::FALSE; a.len()];
        let mut remainder: Vec<Lit> = Vec::with_capacity(b.len() + 1);
        for place in (0..a.len()).rev() {
            if !(remainder.is_empty() && a[place] == Lit::FALSE) {
                remainder.insert(0, a[place]);
            }
            // Below the width of the divisor, the remainder has as many bits as the dividend has shown.
            let (near, far) = b.split_at(remainder.len().min(b.len()));
            let mut near = near.to_vec();
            near.resize(remainder.len(), Lit::FALSE);
            let difference = self.subtract(&remainder, &near);
            let less = self.unsigned_less(&remainder, &near);
            let too_large = self.any(&[far, &[less]].concat());
            remainder = self.choose(too_large, &remainder, &difference);
            remainder.truncate(b.len());
            quotient[place] = !too_large;
        }
        Division {
            quotient,
            remainder,
        }
    }

    /// `a / b` with sign: the quotient of the magnitudes, negative if one of the two is; the remainder
    /// has the sign of `a`.
    pub(super) fn signed_divide(&mut self, a: &[Lit], b: &[Lit]) -> Division {
        let [sign_a, sign_b] = [a, b].map(|word| word[word.len() - 1]);
        let magnitude_a = self.negate_if(sign_a, a);
        let magnitude_b = self.negate_if(sign_b, b);
        let division = self.divide(&magnitude_a, &magnitude_b);
        let negative = self.gates.xor(self.sink, sign_a, sign_b);
        Division {
            quotient: self.negate_if(negative, &division.quotient),
            remainder: self.negate_if(sign_a, &division.remainder),
        }
    }
}

/// The bits up to the highest one that may be set.
fn significant(bits: &[Lit]) -> &[Lit] {
    let zeros = bits.iter().rev().take_while(|&&bit| bit == Lit::FALSE);
    &bits[..bits.len() - zeros.count()]
}
