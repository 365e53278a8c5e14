//! Matches while they are found: one for each combination of instructions.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use super::language::MAX_STEPS;
use super::matches::Match;
use super::units::Basis;
use crate::table::Table;

/// The instructions of a match, by steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sources {
    pub(super) len: usize,
    pub(super) numbers: [u64; MAX_STEPS],
}

impl Hash for Sources {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let numbers = &self.numbers[..self.len];
        numbers.iter().for_each(|&number| state.write_u64(number));
    }
}

/// Where units are in the program, by parts.
pub(super) type Codes = [(u64, u64); MAX_STEPS];

/// Matches by instructions.
#[derive(Default)]
pub(super) struct Found {
    /// Which match; none for one that was left out.
    pub(super) numbers: Table<(Sources, Option<Basis>), Option<usize>>,
    pub(super) matches: Vec<(Sources, Match)>,
    /// By the units in the program, and whether all is atomic: how many matches.
    pub(super) siblings: HashMap<(Codes, bool), usize>,
    /// Matches between units of which there are enough.
    pub(super) left_out: u64,
    /// Cells for which not everything was compared.
    pub(super) cut_cells: u64,
}

impl Found {
    /// The matches, each with its best reason only.
    pub(super) fn into_strongest(self) -> impl Iterator<Item = Match> {
        let numbers = self.numbers;
        let matches = self.matches.into_iter();
        let strongest = matches.filter(move |(sources, found)| {
            let better = [None, Some(Basis::Lock), Some(Basis::Marked)].into_iter();
            let mut better = better.filter(|basis| *basis < found.basis);
            !better.any(|basis| matches!(numbers.get(&(*sources, basis)), Some(Some(_))))
        });
        strongest.map(|(_, found)| found)
    }
}
