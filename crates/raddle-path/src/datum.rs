//! Scalars and aggregates.

use crate::compute::{DatumOf, ValueOf, unknown};
use crate::domain::Domain;
use crate::value::Value;

/// A scalar or an aggregate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Datum<C> {
    Scalar(Value<C>),
    Parts(Vec<Datum<C>>),
}

impl<C: Clone> Datum<C> {
    pub(crate) const SAME: Self = Datum::Scalar(Value::SAME);

    pub(crate) fn is_same(&self) -> bool {
        match self {
            Datum::Scalar(value) => value.is_same(),
            Datum::Parts(parts) => parts.iter().all(Datum::is_same),
        }
    }

    /// Its scalars, in order.
    pub(crate) fn leaves(&self, out: &mut Vec<Value<C>>) {
        match self {
            Datum::Scalar(value) => out.push(value.clone()),
            Datum::Parts(parts) => parts.iter().for_each(|part| part.leaves(out)),
        }
    }

    /// The scalar; an aggregate as something that follows from its parts.
    pub(crate) fn scalar<D: Domain<Change = C>>(&self, domain: &mut D) -> Value<C> {
        match self {
            Datum::Scalar(value) => value.clone(),
            Datum::Parts(_) if self.is_same() => Value::SAME,
            Datum::Parts(_) => {
                let mut leaves = Vec::new();
                self.leaves(&mut leaves);
                unknown(domain, &leaves)
            }
        }
    }

    /// The part at a path.
    pub(crate) fn part<D: Domain<Change = C>>(&self, domain: &mut D, path: &[u32]) -> Self {
        match (self, path) {
            (datum, []) => datum.clone(),
            (Datum::Parts(parts), [first, rest @ ..]) => {
                let part = parts.get(*first as usize);
                part.map_or(Datum::SAME, |part| part.part(domain, rest))
            }
            (Datum::Scalar(value), _) => {
                Datum::Scalar(unknown(domain, std::slice::from_ref(value)))
            }
        }
    }

    /// The same with another part at a path.
    pub(crate) fn with_part<D: Domain<Change = C>>(
        &self,
        domain: &mut D,
        path: &[u32],
        part: Self,
    ) -> Self {
        let [first, rest @ ..] = path else {
            return part;
        };
        let first = *first as usize;
        let mut parts = match self {
            Datum::Parts(parts) => parts.clone(),
            Datum::Scalar(_) => Vec::new(),
        };
        while parts.len() <= first {
            let filler = self.scalar(domain);
            parts.push(Datum::Scalar(unknown(domain, &[filler])));
        }
        parts[first] = parts[first].with_part(domain, rest, part);
        Datum::Parts(parts)
    }
}

/// Scalars of several, each an aggregate's as something that follows from its parts.
pub(crate) fn scalars<D: Domain>(domain: &mut D, data: &[DatumOf<D>]) -> Vec<ValueOf<D>> {
    data.iter().map(|it| it.scalar(domain)).collect()
}

/// The scalars that data are made of.
pub(crate) fn all_leaves<C: Clone>(data: &[Datum<C>]) -> Vec<Value<C>> {
    let mut leaves = Vec::new();
    data.iter().for_each(|it| it.leaves(&mut leaves));
    leaves
}
