//! One finding for one set of source positions.
//!
//! What an analysis finds in a loop, in several threads or in several runs is one bug to whoever mends it. Two
//! findings are the same if they are of one kind and their positions make the same set; the one that says most
//! stays, with the instances of all.

use std::cmp::Reverse;
use std::collections::btree_map::{BTreeMap, Entry};
use std::collections::{BTreeSet, HashMap};
use std::fmt;

use raddle_trace::position::SourcePosition;

use crate::finding::{Finding, Location};
use crate::kind::Kind;

/// What makes two findings the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature {
    /// The kind.
    pub kind: Kind,
    /// Where.
    pub places: BTreeSet<Place>,
}

/// A source position without its function, which inlining and generics change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file; where it is unknown the function or, failing that, the variable.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// The signature of a finding. Accesses to memory that are wrong by themselves are told apart by where in a package
/// they are, too: one line of the user's may call it to do several.
#[must_use]
pub fn signature(finding: &Finding) -> Signature {
    let places = finding.locations.iter().map(Place::of);
    let inside = finding.locations.iter().filter_map(|it| it.inside.as_ref());
    let inside = inside.map(|it| Place::at(it, None));
    Signature {
        kind: finding.kind.clone(),
        places: match finding.kind == Kind::DataRace || is_memory_error(&finding.kind) {
            true => places.chain(inside).collect(),
            false => places.collect(),
        },
    }
}

/// Makes one finding of those with the same signature, numbers them and links siblings.
///
/// A race between a free and an access is told by the use after free that a run did, if there is one.
///
/// Of several the best stays: a confirmed one before a predicted one, a bug before a warning, one that made the
/// program fail before one that did not, one with a clip; among equals the first. Confirmed bugs come first,
/// then confirmed warnings, then what is only predicted; within these by kind and place. The result depends on
/// nothing but the findings and, among equals, their order.
#[must_use]
pub fn merge(findings: Vec<Finding>) -> Vec<Finding> {
    let mut unique: BTreeMap<Signature, Finding> = BTreeMap::new();
    for finding in findings {
        match unique.entry(signature(&finding)) {
            Entry::Vacant(entry) => {
                entry.insert(finding);
            }
            Entry::Occupied(mut entry) => {
                let instances = entry.get().instances.saturating_add(finding.instances);
                if worth(&finding) > worth(entry.get()) {
                    entry.insert(finding);
                }
                entry.get_mut().instances = instances;
            }
        }
    }
    let memory_errors: Vec<Signature> = unique
        .iter()
        .filter(|(key, it)| is_memory_error(&key.kind) && it.is_confirmed_bug())
        .map(|(key, _)| key.clone())
        .collect();
    unique.retain(|key, _| {
        let mut errors = memory_errors.iter();
        key.kind != Kind::DataRace || !errors.any(|it| key.places.is_subset(&it.places))
    });
    let mut merged: Vec<Finding> = unique.into_values().collect();
    // The sort is stable: what has the same rank stays in the order of signatures.
    merged.sort_by_key(|it| (it.status, it.severity));
    number(&mut merged);
    link(&mut merged);
    merged
}

fn is_memory_error(kind: &Kind) -> bool {
    matches!(kind, Kind::UseAfterFree | Kind::DoubleFree)
}

fn worth(finding: &Finding) -> impl Ord + use<> {
    (
        Reverse(finding.status),
        Reverse(finding.severity),
        finding.consequence.is_failure(),
        finding.clip.is_some(),
    )
}

fn number(findings: &mut [Finding]) {
    let mut last: HashMap<char, u64> = HashMap::new();
    for finding in findings {
        let letter = finding.kind.letter();
        let number = last.entry(letter).or_default();
        *number += 1;
        finding.id = format!("{letter}{number}");
    }
}

/// Siblings are at one place at least in common. An unknown place is nobody's.
fn link(findings: &mut [Finding]) {
    let mut at: BTreeMap<Place, BTreeSet<usize>> = BTreeMap::new();
    for (index, finding) in findings.iter().enumerate() {
        for location in &finding.locations {
            if location.position.line != 0 {
                at.entry(Place::of(location)).or_default().insert(index);
            }
        }
    }
    let mut siblings: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); findings.len()];
    for together in at.values() {
        for index in together {
            siblings[*index].extend(together.iter().filter(|it| *it != index));
        }
    }
    let ids: Vec<String> = findings.iter().map(|it| it.id.clone()).collect();
    for (finding, siblings) in findings.iter_mut().zip(siblings) {
        finding.siblings = siblings.into_iter().map(|it| ids[it].clone()).collect();
    }
}

impl Place {
    fn of(location: &Location) -> Self {
        Self::at(&location.position, location.variable.as_ref())
    }

    fn at(position: &SourcePosition, variable: Option<&String>) -> Self {
        let names = [Some(&position.file), Some(&position.function), variable];
        let mut names = names.into_iter().flatten();
        Self {
            file: names.find(|it| !it.is_empty()).cloned().unwrap_or_default(),
            line: position.line,
            column: position.column,
        }
    }
}

impl fmt::Display for Signature {
    /// `data-race bank.rs:26:9 bank.rs:35:20`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind.name())?;
        let mut places = self.places.iter();
        places.try_for_each(|Place { file, line, column }| write!(f, " {file}:{line}:{column}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{Access, Consequence, Severity, Status};
    use raddle_trace::ids::ThreadId;

    fn finding(kind: Kind, lines: &[u32]) -> Finding {
        let location = |line: &u32| {
            let position = SourcePosition {
                file: "a.c".into(),
                line: *line,
                column: 1,
                ..SourcePosition::default()
            };
            Location::new(ThreadId(1), Access::Write, position)
        };
        Finding {
            locations: lines.iter().map(location).collect(),
            ..Finding::new(kind)
        }
    }

    fn ids(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|it| it.id.as_str()).collect()
    }

    #[test]
    fn a_signature_is_a_kind_and_a_set_of_places() {
        let one = finding(Kind::DataRace, &[3, 20, 3]);
        let other = finding(Kind::DataRace, &[20, 3]);
        assert_eq!(signature(&one), signature(&other));
        assert_eq!(signature(&one).to_string(), "data-race a.c:3:1 a.c:20:1");
        assert_ne!(
            signature(&one),
            signature(&finding(Kind::AtomicityViolation, &[3, 20]))
        );
        assert_ne!(
            signature(&one),
            signature(&finding(Kind::DataRace, &[3, 21]))
        );
    }

    #[test]
    fn places_without_files_are_told_apart_by_what_else_is_known() {
        let race = |variable: &str| {
            let mut finding = finding(Kind::DataRace, &[0]);
            finding.locations[0].position.file.clear();
            finding.locations[0].variable = Some(variable.into());
            finding
        };
        assert_eq!(merge(vec![race("x"), race("y"), race("x")]).len(), 2);
    }

    #[test]
    fn races_in_a_package_are_told_apart_though_the_same_lines_call_it() {
        let inside = |kind, line| {
            let mut finding = finding(kind, &[1, 2]);
            finding.locations[0].inside = Some(SourcePosition {
                file: "deque.rs".into(),
                line,
                ..SourcePosition::default()
            });
            finding
        };
        let merged = |kind: Kind| merge(vec![inside(kind.clone(), 7), inside(kind, 9)]).len();
        assert_eq!(merged(Kind::DataRace), 2);
        assert_eq!(merged(Kind::AtomicityViolation), 1);
    }

    #[test]
    fn the_best_stays_with_the_instances_of_all() {
        let predicted = Finding {
            proved_by: "first".into(),
            instances: 3,
            ..finding(Kind::DataRace, &[1, 2])
        };
        let confirmed = Finding {
            status: Status::Confirmed,
            proved_by: "second".into(),
            ..predicted.clone()
        };
        let failing = Finding {
            consequence: Consequence::Crash,
            proved_by: "third".into(),
            ..confirmed.clone()
        };
        let again = Finding {
            proved_by: "fourth".into(),
            ..failing.clone()
        };
        let all = [predicted, confirmed, failing, again];
        let forwards = merge(all.to_vec());
        assert_eq!(forwards.len(), 1);
        assert_eq!(forwards[0].proved_by, "third");
        assert_eq!(forwards[0].instances, 12);
        let backwards = merge(all.into_iter().rev().collect());
        assert_eq!(backwards[0].proved_by, "fourth");
        assert_eq!(backwards[0].instances, 12);
    }

    #[test]
    fn a_race_is_told_by_the_use_after_free_it_leads_to() {
        let used = Finding {
            status: Status::Confirmed,
            ..finding(Kind::UseAfterFree, &[3, 20])
        };
        let race = finding(Kind::DataRace, &[20, 3]);
        let other = finding(Kind::DataRace, &[20, 4]);
        let merged = merge(vec![race.clone(), used.clone(), other.clone()]);
        assert_eq!(ids(&merged), ["M1", "R1"]);
        assert_eq!(merged[1].locations, other.locations);
        let predicted = Finding {
            status: Status::Predicted,
            ..used
        };
        assert_eq!(merge(vec![race, predicted]).len(), 2);
    }

    #[test]
    fn bugs_come_first_whatever_the_order_was() {
        let confirmed = |kind, lines: &[u32]| Finding {
            status: Status::Confirmed,
            ..finding(kind, lines)
        };
        let warning = Finding {
            severity: Severity::Warning,
            ..confirmed(Kind::AtomicityViolation, &[1, 2, 3])
        };
        let all = vec![
            finding(Kind::DataRace, &[1, 9]),
            warning,
            confirmed(Kind::Panic, &[40]),
            confirmed(Kind::DataRace, &[10, 11]),
            confirmed(Kind::UseAfterFree, &[30]),
            confirmed(Kind::DataRace, &[9, 11]),
            confirmed(Kind::DoubleFree, &[30]),
        ];
        let merged = merge(all.clone());
        assert_eq!(ids(&merged), ["R1", "R2", "M1", "M2", "F1", "A1", "R3"]);
        assert_eq!(merged[0].locations[0].position.line, 9);
        assert_eq!(merge(all.into_iter().rev().collect()), merged);
        assert_eq!(
            merge(merged.clone()),
            merged,
            "merging again changes nothing"
        );
    }

    #[test]
    fn siblings_share_a_place() {
        let merged = merge(vec![
            finding(Kind::DataRace, &[1, 2]),
            finding(Kind::DataRace, &[2, 3]),
            finding(Kind::AtomicityViolation, &[1, 2, 4]),
            finding(Kind::Deadlock, &[7, 8]),
        ]);
        let siblings: Vec<_> = merged.iter().map(|it| it.siblings.join(" ")).collect();
        assert_eq!(siblings, ["R2 A1", "R1 A1", "R1 R2", ""]);
    }
}
