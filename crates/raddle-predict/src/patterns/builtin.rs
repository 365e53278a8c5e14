//! The patterns that are always searched for.
//!
//! - Data races: `r-w`, `w-r`, `w-w`.
//! - Atomicity violations: the five triples on one variable that no serial order explains.
//! - Atomic-set violations: two units that touch two variables. Vaziri, Tip and Dolby ("Associating
//!   synchronization constraints with data in an object-oriented language", POPL 2006) list six, which
//!   with the five triples make their eleven. They suffice for units that either read or write all
//!   they touch of an atomic set, and where two accesses of the inner unit follow each other their
//!   order is left open.
//! - For two variables the conflict graph has a cycle in 27 minimal sequences: three interleavings,
//!   and for each variable three ways to conflict. The 21 that the eleven leave out come from the other
//!   order of inner accesses, and from units that read one variable and write the other (write skew).
//!
//! A prime marks what the second unit does: `w1-r1'-r2'-w2`.

use super::language::{Access, Pattern, PatternKind, Step};
use Access::{Read, Write};

/// The conflicts between an earlier and a later access.
const CONFLICTS: [(Access, Access); 3] = [(Read, Write), (Write, Read), (Write, Write)];

/// Interleavings of two units on two variables with a cycle: for each step unit and variable.
const INTERLEAVINGS: [[(u8, u8); 4]; 3] = [
    [(0, 0), (1, 0), (1, 1), (0, 1)],
    [(0, 0), (1, 1), (0, 1), (1, 0)],
    [(0, 0), (1, 1), (1, 0), (0, 1)],
];

/// How many of the interleavings are listed by Vaziri, Tip and Dolby.
const LISTED_INTERLEAVINGS: usize = 2;

/// The three kinds of data races.
#[must_use]
pub fn data_races() -> Vec<Pattern> {
    let pairs = CONFLICTS.iter();
    pairs
        .map(|&(first, second)| {
            let steps = [(0, 0, first), (1, 0, second)];
            pattern(PatternKind::DataRace, &steps)
        })
        .collect()
}

/// The five unserialisable triples on one variable.
#[must_use]
pub fn atomicity_violations() -> Vec<Pattern> {
    let triples = [
        (Read, Write, Read),
        (Write, Write, Read),
        (Write, Read, Write),
        (Read, Write, Write),
        (Write, Write, Write),
    ];
    let triples = triples.iter();
    triples
        .map(|&(first, between, last)| {
            let steps = [(0, 0, first), (1, 0, between), (0, 0, last)];
            pattern(PatternKind::AtomicityViolation, &steps)
        })
        .collect()
}

/// The eleven patterns of Vaziri, Tip and Dolby: five on one variable, six on two.
#[must_use]
pub fn eleven() -> Vec<Pattern> {
    let listed = &INTERLEAVINGS[..LISTED_INTERLEAVINGS];
    let uniform = [(Write, Write), (Write, Read), (Read, Write)];
    let six = listed.iter().flat_map(|interleaving| {
        uniform.map(|(first, second)| {
            let steps = interleaving.map(|(unit, variable)| {
                let access = if unit == 0 { first } else { second };
                (unit, variable, access)
            });
            pattern(PatternKind::AtomicSetViolation, &steps)
        })
    });
    atomicity_violations().into_iter().chain(six).collect()
}

/// All minimal unserialisable sequences of two units on one or two variables: the eleven, then the rest.
#[must_use]
pub fn unserialisable() -> Vec<Pattern> {
    let mut patterns = eleven();
    for interleaving in INTERLEAVINGS {
        for one in CONFLICTS {
            for other in CONFLICTS {
                let mut conflicts = [one, other];
                let steps = interleaving.map(|(unit, variable)| {
                    let (next, later) = &mut conflicts[usize::from(variable)];
                    let access = *next;
                    *next = *later;
                    (unit, variable, access)
                });
                let made = pattern(PatternKind::AtomicSetViolation, &steps);
                if !patterns.contains(&made) {
                    patterns.push(made);
                }
            }
        }
    }
    patterns
}

/// A pattern of two units, each of a thread of its own.
fn pattern(kind: PatternKind, steps: &[(u8, u8, Access)]) -> Pattern {
    let two_variables = steps.iter().any(|&(_, variable, _)| variable > 0);
    let names = steps.iter().map(|&(unit, variable, access)| {
        let letter = if access.is_write() { "w" } else { "r" };
        match two_variables {
            true => format!("{letter}{}{}", variable + 1, ["", "'"][usize::from(unit)]),
            false => letter.to_owned(),
        }
    });
    let name = names.collect::<Vec<_>>().join("-");
    let steps = steps.iter().map(|&(unit, variable, access)| Step {
        thread: unit,
        variable,
        region: unit,
        access,
    });
    Pattern::built_in(kind, name, steps.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Longer than any minimal sequence, so that longer ones would show.
    const LENGTH: usize = 6;

    type Sequence = Vec<(u8, u8, Access)>;

    fn sequence(pattern: &Pattern) -> Sequence {
        let steps = pattern.steps().iter();
        steps
            .map(|it| (it.region, it.variable, it.access))
            .collect()
    }

    /// Of two units one can be first exactly if all their conflicts have the same direction.
    fn is_serialisable(steps: &[(u8, u8, Access)]) -> bool {
        let mut directions = BTreeSet::new();
        for (at, b) in steps.iter().enumerate() {
            for a in &steps[..at] {
                let conflict = a.0 != b.0 && a.1 == b.1 && (a.2 == Write || b.2 == Write);
                if conflict {
                    directions.insert(a.0);
                }
            }
        }
        directions.len() < 2
    }

    fn is_minimal(steps: &[(u8, u8, Access)]) -> bool {
        (0..steps.len()).all(|left_out| {
            let mut fewer = steps.to_vec();
            fewer.remove(left_out);
            is_serialisable(&fewer)
        })
    }

    /// All sequences of two units on one or two variables, numbered by first appearance.
    fn all(length: usize) -> Vec<Sequence> {
        let mut all: Vec<Sequence> = vec![Vec::new()];
        for _ in 0..length {
            all = all.into_iter().flat_map(longer).collect();
        }
        all
    }

    fn longer(shorter: Sequence) -> Vec<Sequence> {
        let bound = |used: Option<u8>| used.map_or(1, |used| (used + 2).min(2));
        let units = bound(shorter.iter().map(|it| it.0).max());
        let variables = bound(shorter.iter().map(|it| it.1).max());
        let mut all = Vec::new();
        for unit in 0..units {
            for variable in 0..variables {
                for access in [Read, Write] {
                    all.push([&shorter[..], &[(unit, variable, access)]].concat());
                }
            }
        }
        all
    }

    #[test]
    fn the_patterns_are_exactly_the_minimal_unserialisable_sequences() {
        let mut expected = BTreeSet::new();
        for length in 1..=LENGTH {
            let found = all(length).into_iter();
            expected.extend(found.filter(|it| !is_serialisable(it) && is_minimal(it)));
        }
        let patterns = unserialisable();
        let ours: BTreeSet<Sequence> = patterns.iter().map(sequence).collect();
        assert_eq!(ours, expected);
        assert_eq!(ours.len(), patterns.len());
        assert!(patterns.iter().all(|pattern| !pattern.is_serialisable()));
    }

    #[test]
    fn the_eleven_cover_units_that_only_read_or_only_write() {
        let mut eleven: BTreeSet<Sequence> = eleven().iter().map(sequence).collect();
        assert_eq!(eleven.len(), 11);
        let one_variable: BTreeSet<Sequence> = all(3)
            .into_iter()
            .filter(|it| it.iter().all(|step| step.1 == 0) && !is_serialisable(it))
            .collect();
        assert_eq!(one_variable.len(), 5);
        eleven.retain(|it| !one_variable.contains(it));
        let is_uniform = |it: &Sequence| {
            let same = |a: &(u8, u8, Access), b: &(u8, u8, Access)| a.0 != b.0 || a.2 == b.2;
            it.iter().all(|a| it.iter().all(|b| same(a, b)))
        };
        let two_variables = all(4)
            .into_iter()
            .filter(|it| is_uniform(it) && !is_serialisable(it) && is_minimal(it));
        // The inner unit's neighbouring accesses may change places.
        let listed: BTreeSet<Sequence> = two_variables
            .map(|mut it| {
                if it[1].0 == it[2].0 {
                    it[1..3].sort_unstable();
                }
                it
            })
            .collect();
        assert_eq!(listed, eleven);
    }
}
