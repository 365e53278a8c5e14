//! Random formulas and bit-vector terms.

use super::super::instance::{Bits, Formula, OPERATIONS, Operation, RELATIONS, Relation};
use super::Maker;

impl Maker<'_> {
    pub(super) fn assumption(&mut self) -> Formula {
        match self.rng.below(20) {
            0 => Formula::Constant(true),
            1 => self.formula(2),
            _ => self.formula(0),
        }
    }

    pub(super) fn formula(&mut self, depth: usize) -> Formula {
        if depth > 0 && self.rng.percent(25) {
            return self.tree(depth - 1);
        }
        let atom = self.atom();
        if self.rng.percent(30) {
            atom.negated()
        } else {
            atom
        }
    }

    fn tree(&mut self, depth: usize) -> Formula {
        match self.rng.below(6) {
            0 => {
                let count = self.rng.below(4);
                Formula::And((0..count).map(|_| self.formula(depth)).collect())
            }
            1 => {
                let count = self.rng.below(4);
                Formula::Or((0..count).map(|_| self.formula(depth)).collect())
            }
            2 => Formula::Xor(Box::new([self.formula(depth), self.formula(depth)])),
            3 => Formula::Iff(Box::new([self.formula(depth), self.formula(depth)])),
            4 => Formula::Implies(Box::new([self.formula(depth), self.formula(depth)])),
            _ => Formula::Ite(Box::new([
                self.formula(depth),
                self.formula(depth),
                self.formula(depth),
            ])),
        }
    }

    fn atom(&mut self) -> Formula {
        if self.rng.percent(self.mix.adjacent_percent) {
            let (a, b) = self.two_events();
            return Formula::Adjacent(a, b);
        }
        if self.rng.percent(self.mix.compare_percent) {
            return self.comparison();
        }
        if self.booleans > 0 && self.rng.percent(20) {
            return Formula::Boolean(self.rng.below(self.booleans));
        }
        let (a, b) = self.two_events();
        Formula::Before(a, b)
    }

    fn comparison(&mut self) -> Formula {
        // Comparing a read with a number is what branches do.
        let reads: Vec<usize> = (0..self.reads.len())
            .filter(|&r| self.reads[r].0.is_some())
            .collect();
        let relation = if self.rng.percent(50) {
            Relation::Equal
        } else {
            *self.rng.pick(&RELATIONS)
        };
        if !reads.is_empty() && self.rng.percent(60) {
            let read = *self.rng.pick(&reads);
            let width = self.reads[read].0.unwrap_or(1);
            let other = self.bits(width, 1);
            return Formula::Compare(relation, Box::new([Bits::Read(read), other]));
        }
        let width = self.width();
        let sides = [self.bits(width, 2), self.bits(width, 1)];
        Formula::Compare(relation, Box::new(sides))
    }

    pub(super) fn width(&mut self) -> u32 {
        let widths = self.mix.widths.as_ref();
        widths.map_or(1, |widths| self.rng.within(widths) as u32)
    }

    pub(super) fn bits(&mut self, width: u32, depth: usize) -> Bits {
        if depth > 0 && self.rng.percent(60) {
            return self.operation(width, depth - 1);
        }
        let mut known: Vec<Bits> = Vec::new();
        known.extend(
            (0..self.unknowns.len())
                .filter(|&u| self.unknowns[u] == width)
                .map(Bits::Unknown),
        );
        let usable = |&r: &usize| self.reads[r].0 == Some(width) && self.may_use(self.reads[r].1);
        known.extend((0..self.reads.len()).filter(usable).map(Bits::Read));
        if known.is_empty() || self.rng.percent(35) {
            let value = self.rng.next() & (u64::MAX >> (64 - width));
            return Bits::Constant { width, value };
        }
        self.rng.pick(&known).clone()
    }

    /// Whether the value being made may depend on a read of this event.
    fn may_use(&self, event: usize) -> bool {
        let Some(writer) = self.writer else {
            return true;
        };
        let in_order = |((one, first), (other, last))| one == other && first < last;
        event == writer
            || self.chain_of[event]
                .zip(self.chain_of[writer])
                .is_some_and(in_order)
    }

    fn operation(&mut self, width: u32, depth: usize) -> Bits {
        match self.rng.below(12) {
            0 => Bits::Not(Box::new(self.bits(width, depth))),
            1 => Bits::Neg(Box::new(self.bits(width, depth))),
            2 => {
                let condition = Box::new(self.formula(0));
                Bits::Chosen(
                    condition,
                    Box::new([self.bits(width, depth), self.bits(width, depth)]),
                )
            }
            3 if width == 1 => Bits::OfLit(Box::new(self.formula(0))),
            4 if width > 1 => Bits::ZeroExtend(Box::new(self.bits(width - 1, depth)), width),
            5 if width > 1 => Bits::SignExtend(Box::new(self.bits(width - 1, depth)), width),
            6 if width < 64 => Bits::Truncate(Box::new(self.bits(width + 1, depth)), width),
            7 if width < 63 => {
                let low = self.rng.below(3) as u32;
                Bits::Extract {
                    of: Box::new(self.bits(width + 2, depth)),
                    low,
                    width,
                }
            }
            8 if width > 1 => {
                let high = self.bits(1, depth);
                Bits::Concat(Box::new([high, self.bits(width - 1, depth)]))
            }
            9 | 10 => self.binary(Operation::Add, width, depth),
            _ => {
                let operation = *self.rng.pick(&OPERATIONS);
                self.binary(operation, width, depth)
            }
        }
    }

    fn binary(&mut self, operation: Operation, width: u32, depth: usize) -> Bits {
        Bits::Binary(
            operation,
            Box::new([self.bits(width, depth), self.bits(width, depth)]),
        )
    }
}
