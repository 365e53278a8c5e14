//! Shifts by a distance that is not constant: a stage for each bit of the distance.

use super::circuit::Circuit;
use crate::gates::Clauses;
use crate::lit::Lit;

impl<S: Clauses> Circuit<'_, S> {
    /// The bits of `a` moved up, zeros below.
    pub(super) fn shift_left(&mut self, a: &[Lit], distance: &[Lit]) -> Vec<Lit> {
        let mut mirrored: Vec<Lit> = a.iter().rev().copied().collect();
        mirrored = self.shift_right(&mirrored, distance, Lit::FALSE);
        mirrored.reverse();
        mirrored
    }

    /// The bits of `a` moved down, `fill` above.
    pub(super) fn shift_right(&mut self, a: &[Lit], distance: &[Lit], fill: Lit) -> Vec<Lit> {
        let width = a.len();
        let stages = width.next_power_of_two().trailing_zeros() as usize;
        let (near, far) = distance.split_at(stages);
        let mut bits = a.to_vec();
        for (stage, &condition) in near.iter().enumerate() {
            let step = 1 << stage;
            let moved: Vec<Lit> = (step..width + step)
                .map(|place| bits.get(place).copied().unwrap_or(fill))
                .collect();
            bits = self.choose(condition, &moved, &bits);
        }
        let all = self.any(far);
        self.choose(all, &vec![fill; width], &bits)
    }
}
