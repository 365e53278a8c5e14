//! Boolean functions as clauses (Tseitin's encoding).
//!
//! A gate is a literal that is equivalent to a function of other literals. Gates are normalised and
//! shared: constants and repeated or complementary inputs are folded away, signs and the order of the
//! inputs are made canonical, and a gate that was made before is found again. The clauses define a
//! gate in both directions, so that it can be used under any polarity and at any time.
//!
//! The phase of a gate is its function of its inputs' phases. So a search that follows the phases
//! finds the hinted values of all terms without a conflict.

#[cfg(test)]
pub(crate) mod formula;
#[cfg(test)]
mod tests;

use crate::hash::Table;
use crate::lit::Lit;
use crate::sat::Search;

/// Takes clauses over literals that it makes.
pub(crate) trait Clauses {
    /// A literal of a new variable. `phase` is the value to try first.
    fn fresh(&mut self, phase: bool) -> Lit;

    /// The disjunction must hold.
    fn clause(&mut self, lits: &[Lit]);

    /// The value of `lit` to try first.
    fn phase(&self, lit: Lit) -> bool;
}

impl Clauses for Search {
    fn fresh(&mut self, phase: bool) -> Lit {
        self.variable(false, phase).is(true)
    }

    fn clause(&mut self, lits: &[Lit]) {
        Search::clause(self, lits);
    }

    fn phase(&self, lit: Lit) -> bool {
        Search::phase(self, lit)
    }
}

/// The functions of two and three inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
enum Kind {
    And,
    Xor,
    Xor3,
    Ite,
    Majority,
}

/// All gates made so far.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    small: Table<(Kind, [Lit; 3]), Lit>,
    /// Conjunctions of three and more inputs, sorted.
    wide: Table<Box<[Lit]>, Lit>,
}

impl Gates {
    /// Whether all of `lits` hold.
    pub(crate) fn and(&mut self, sink: &mut impl Clauses, lits: &[Lit]) -> Lit {
        if let [a, b] = *lits {
            return self.both(sink, a, b);
        }
        let mut inputs: Vec<Lit> = lits.iter().copied().filter(|&l| l != Lit::TRUE).collect();
        inputs.sort_unstable();
        inputs.dedup();
        // A literal and its negation are neighbours in the order.
        if inputs.contains(&Lit::FALSE) || inputs.windows(2).any(|pair| pair[0] == !pair[1]) {
            return Lit::FALSE;
        }
        match *inputs {
            [] => Lit::TRUE,
            [a] => a,
            [a, b] => self.both(sink, a, b),
            _ => self.wide(sink, inputs),
        }
    }

    /// Whether one of `lits` holds.
    pub(crate) fn or(&mut self, sink: &mut impl Clauses, lits: &[Lit]) -> Lit {
        let negated: Vec<Lit> = lits.iter().map(|&lit| !lit).collect();
        !self.and(sink, &negated)
    }

    /// Whether both hold.
    pub(crate) fn both(&mut self, sink: &mut impl Clauses, a: Lit, b: Lit) -> Lit {
        if a == Lit::FALSE || b == Lit::FALSE || a == !b {
            return Lit::FALSE;
        }
        if a == Lit::TRUE || a == b {
            return b;
        }
        if b == Lit::TRUE {
            return a;
        }
        let [a, b] = [a.min(b), a.max(b)];
        self.shared(sink, Kind::And, [a, b, Lit::TRUE], |sink| {
            let out = sink.fresh(sink.phase(a) && sink.phase(b));
            sink.clause(&[!out, a]);
            sink.clause(&[!out, b]);
            sink.clause(&[out, !a, !b]);
            out
        })
    }

    /// Whether one of the two holds.
    pub(crate) fn either(&mut self, sink: &mut impl Clauses, a: Lit, b: Lit) -> Lit {
        !self.both(sink, !a, !b)
    }

    /// Whether exactly one of the two holds.
    pub(crate) fn xor(&mut self, sink: &mut impl Clauses, a: Lit, b: Lit) -> Lit {
        let ([a, b], negate) = unsigned([a, b]);
        if a == b {
            return Lit::FALSE.negated_if(negate);
        }
        if a == Lit::TRUE {
            return b.negated_if(!negate);
        }
        let out = self.shared(sink, Kind::Xor, [a, b, Lit::TRUE], |sink| {
            let out = sink.fresh(sink.phase(a) != sink.phase(b));
            sink.clause(&[!out, a, b]);
            sink.clause(&[!out, !a, !b]);
            sink.clause(&[out, !a, b]);
            sink.clause(&[out, a, !b]);
            out
        });
        out.negated_if(negate)
    }

    /// Whether both are the same.
    pub(crate) fn iff(&mut self, sink: &mut impl Clauses, a: Lit, b: Lit) -> Lit {
        !self.xor(sink, a, b)
    }

    /// Whether an odd number of the three hold: the sum of a full adder.
    pub(crate) fn xor3(&mut self, sink: &mut impl Clauses, a: Lit, b: Lit, c: Lit) -> Lit {
        let ([a, b, c], negate) = unsigned([a, b, c]);
        if a == b {
            return c.negated_if(negate);
        }
        if b == c {
            return a.negated_if(negate);
        }
        if a == Lit::TRUE {
            return self.xor(sink, b, c).negated_if(!negate);
        }
        let out = self.shared(sink, Kind::Xor3, [a, b, c], |sink| {
            let out = sink.fresh(sink.phase(a) ^ sink.phase(b) ^ sink.phase(c));
            for signs in 0..8_u32 {
                let [na, nb, nc] = [signs & 1 != 0, signs & 2 != 0, signs & 4 != 0];
                let [a, b, c] = [a.negated_if(na), b.negated_if(nb), c.negated_if(nc)];
                // All of the inputs in the clause are false exactly if each has the value of its sign.
                sink.clause(&[out.negated_if(!(na ^ nb ^ nc)), a, b, c]);
            }
            out
        });
        out.negated_if(negate)
    }

    /// Whether at least two of the three hold: the carry of a full adder.
    pub(crate) fn majority(&mut self, sink: &mut impl Clauses, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut inputs = [a, b, c];
        inputs.sort_unstable();
        let [a, b, c] = inputs;
        if a == b || b == c {
            return b;
        }
        if a == !b {
            return c;
        }
        if b == !c {
            return a;
        }
        if a == Lit::TRUE {
            return self.either(sink, b, c);
        }
        if a == Lit::FALSE {
            return self.both(sink, b, c);
        }
        // The function is its own dual: negating all of the inputs negates it.
        let negate = !a.is_positive();
        let [a, b, c] = [a, b, c].map(|lit| lit.negated_if(negate));
        let out = self.shared(sink, Kind::Majority, [a, b, c], |sink| {
            let [pa, pb, pc] = [a, b, c].map(|lit| sink.phase(lit));
            let out = sink.fresh(pa && (pb || pc) || pb && pc);
            for [x, y] in [[a, b], [a, c], [b, c]] {
                sink.clause(&[out, !x, !y]);
                sink.clause(&[!out, x, y]);
            }
            out
        });
        out.negated_if(negate)
    }

    /// `then` if `condition` holds, `other` if not.
    pub(crate) fn ite(
        &mut self,
        sink: &mut impl Clauses,
        condition: Lit,
        then: Lit,
        other: Lit,
    ) -> Lit {
        let (c, t, e) = if condition.is_positive() {
            (condition, then, other)
        } else {
            (!condition, other, then)
        };
        if c == Lit::TRUE || t == e {
            return t;
        }
        if t == !e {
            return self.iff(sink, c, t);
        }
        if t == Lit::TRUE || t == c {
            return self.either(sink, c, e);
        }
        if t == Lit::FALSE || t == !c {
            return self.both(sink, !c, e);
        }
        if e == Lit::TRUE || e == !c {
            return self.either(sink, !c, t);
        }
        if e == Lit::FALSE || e == c {
            return self.both(sink, c, t);
        }
        let negate = !t.is_positive();
        let [t, e] = [t, e].map(|lit| lit.negated_if(negate));
        let out = self.shared(sink, Kind::Ite, [c, t, e], |sink| {
            let out = sink.fresh(sink.phase(if sink.phase(c) { t } else { e }));
            sink.clause(&[!c, !out, t]);
            sink.clause(&[!c, out, !t]);
            sink.clause(&[c, !out, e]);
            sink.clause(&[c, out, !e]);
            // These two follow, but unit propagation does not see it.
            sink.clause(&[!out, t, e]);
            sink.clause(&[out, !t, !e]);
            out
        });
        out.negated_if(negate)
    }

    fn shared<S: Clauses>(
        &mut self,
        sink: &mut S,
        kind: Kind,
        inputs: [Lit; 3],
        make: impl FnOnce(&mut S) -> Lit,
    ) -> Lit {
        *self
            .small
            .entry((kind, inputs))
            .or_insert_with(|| make(sink))
    }

    fn wide(&mut self, sink: &mut impl Clauses, inputs: Vec<Lit>) -> Lit {
        if let Some(&out) = self.wide.get(inputs.as_slice()) {
            return out;
        }
        let out = sink.fresh(inputs.iter().all(|&lit| sink.phase(lit)));
        let mut all = Vec::with_capacity(inputs.len() + 1);
        all.push(out);
        for &lit in &inputs {
            sink.clause(&[!out, lit]);
            all.push(!lit);
        }
        sink.clause(&all);
        self.wide.insert(inputs.into_boxed_slice(), out);
        out
    }
}

/// The variables' own literals, sorted, and whether an odd number of the literals was negated.
fn unsigned<const N: usize>(lits: [Lit; N]) -> ([Lit; N], bool) {
    let negate = lits.iter().filter(|lit| !lit.is_positive()).count() % 2 == 1;
    let mut inputs = lits.map(|lit| lit.negated_if(!lit.is_positive()));
    inputs.sort_unstable();
    (inputs, negate)
}
