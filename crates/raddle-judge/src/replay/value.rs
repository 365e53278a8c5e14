//! Values of a thread that is executed for the second time.
//!
//! Every value is kept as it was in the trace and as it is now. Either may be unknown; what counts is
//! whether they are the same, and that is often known of values that are not: an operation whose
//! operands are the same gives the same result.

/// A scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    /// Its bits in the trace.
    pub(super) old: Option<u128>,
    /// Its bits now.
    pub(super) new: Option<u128>,
    /// Whether both are the same, known or not.
    pub(super) same: bool,
    /// Whether the bits stand for an address that is not the real one.
    pub(super) fake: bool,
}

impl Value {
    /// The same as in the trace, whatever that is.
    pub(super) const SAME: Value = Value {
        old: None,
        new: None,
        same: true,
        fake: false,
    };

    /// Not known to be the same as in the trace.
    pub(super) const LOST: Value = Value {
        old: None,
        new: None,
        same: false,
        fake: false,
    };

    /// A constant.
    pub(super) fn known(bits: u128) -> Value {
        Value {
            old: Some(bits),
            new: Some(bits),
            same: true,
            fake: false,
        }
    }

    /// What a read gives.
    pub(super) fn read(old: u128, new: Option<u128>) -> Value {
        Value {
            old: Some(old),
            new,
            same: new == Some(old),
            fake: false,
        }
    }

    /// The result of an operation on these operands.
    pub(super) fn compute(
        operands: &[Value],
        operation: impl Fn(&[u128]) -> Option<u128>,
    ) -> Value {
        let old = apply(operands, |value| value.old, &operation);
        let are_same = operands.iter().all(|value| value.same);
        let new = match are_same {
            // Of what is the same, both are known or neither.
            true => old,
            false => apply(operands, |value| value.new, &operation),
        };
        Value {
            old,
            new,
            same: are_same || (old.is_some() && old == new),
            fake: operands.iter().any(|value| value.fake),
        }
    }
}

/// An operation on what is picked of its operands, if all of that is known.
fn apply(
    operands: &[Value],
    pick: impl Fn(&Value) -> Option<u128>,
    operation: impl Fn(&[u128]) -> Option<u128>,
) -> Option<u128> {
    /// Operations on more are rare.
    const FEW: usize = 8;
    if operands.len() > FEW {
        let bits: Option<Vec<u128>> = operands.iter().map(pick).collect();
        return operation(&bits?);
    }
    let mut bits = [0; FEW];
    for (bits, value) in bits.iter_mut().zip(operands) {
        *bits = pick(value)?;
    }
    operation(&bits[..operands.len()])
}

/// A scalar or an aggregate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Datum {
    Scalar(Value),
    Parts(Vec<Datum>),
}

impl Datum {
    pub(super) const SAME: Datum = Datum::Scalar(Value::SAME);
    pub(super) const LOST: Datum = Datum::Scalar(Value::LOST);

    /// The scalar; of an aggregate only whether it is the same.
    pub(super) fn scalar(&self) -> Value {
        match self {
            Datum::Scalar(value) => *value,
            Datum::Parts(_) if self.is_same() => Value::SAME,
            Datum::Parts(_) => Value::LOST,
        }
    }

    pub(super) fn is_same(&self) -> bool {
        match self {
            Datum::Scalar(value) => value.same,
            Datum::Parts(parts) => parts.iter().all(Datum::is_same),
        }
    }

    /// The part at a path.
    pub(super) fn part(&self, path: &[u32]) -> Datum {
        match (self, path) {
            (datum, []) => datum.clone(),
            (Datum::Parts(parts), [first, rest @ ..]) => parts
                .get(*first as usize)
                .map_or(Datum::SAME, |part| part.part(rest)),
            (Datum::Scalar(value), _) if value.same => Datum::SAME,
            (Datum::Scalar(_), _) => Datum::LOST,
        }
    }

    /// The same with another part at a path.
    pub(super) fn with_part(&self, path: &[u32], part: Datum) -> Datum {
        let [first, rest @ ..] = path else {
            return part;
        };
        let first = *first as usize;
        let mut parts = match self {
            Datum::Parts(parts) => parts.clone(),
            Datum::Scalar(_) => Vec::new(),
        };
        let filler = if self.is_same() {
            Datum::SAME
        } else {
            Datum::LOST
        };
        while parts.len() <= first {
            parts.push(filler.clone());
        }
        parts[first] = parts[first].with_part(rest, part);
        Datum::Parts(parts)
    }

    /// Its scalars, in order.
    pub(super) fn leaves(&self, out: &mut Vec<Value>) {
        match self {
            Datum::Scalar(value) => out.push(*value),
            Datum::Parts(parts) => parts.iter().for_each(|part| part.leaves(out)),
        }
    }
}
