//! In which order cases are put to the provers, and how long.
//!
//! First every case is asked about in the ways that promise most. Then other groups of instances have their
//! turn, of those cases only that are not proved yet: the second one of each case before the third of any, since
//! what one case is denied for another one's sake is lost. All further questions to the solver together are
//! no more than there are cases, so that they cannot take much longer than the first ones. What is not asked is
//! counted and told.

use crate::case::Case;
use crate::predictor::Kind;
use crate::provers::{Patience, Provers};
use crate::view::View;

/// Further questions that are always allowed.
const FEW_QUESTIONS: u64 = 256;

/// Proofs in the making.
pub(crate) struct Proving<'v> {
    view: &'v View,
    provers: Provers<'v>,
    patience: Patience,
}

impl<'v> Proving<'v> {
    pub(crate) fn new(view: &'v View, provers: Provers<'v>, patience: Patience) -> Self {
        Self {
            view,
            provers,
            patience,
        }
    }

    /// Proves what can be; returns notes about what was left out.
    pub(crate) fn prove(mut self, cases: &mut [Case], alternatives: usize) -> Vec<String> {
        let mut notes = Vec::new();
        let mut left = 0;
        for case in cases.iter_mut() {
            match self.patience.is_over() {
                true => left += u64::from(!case.is_proved()),
                false => case.prove(self.view, &mut self.provers),
            }
        }
        if left > 0 {
            notes.push(format!(
                "for {left} candidates no proof was looked for, for want of time (--time gives more)"
            ));
        }
        let most = self.provers.asked() + FEW_QUESTIONS.max(cases.len() as u64);
        notes.extend(self.prove_others(cases, most));
        if alternatives > 0 {
            let most = self.provers.asked() + FEW_QUESTIONS.max(cases.len() as u64);
            self.add_alternatives(cases, alternatives, most);
        }
        notes
    }

    /// Asks about the other groups of what is not proved.
    fn prove_others(&mut self, cases: &mut [Case], most: u64) -> Option<String> {
        let longest = cases.iter().map(|it| it.ways.len()).max().unwrap_or(0);
        let mut untried: u64 = 0;
        let mut of_cases = vec![false; cases.len()];
        for round in 0..longest {
            for (case, is_cut) in cases.iter_mut().zip(&mut of_cases) {
                let way = case.eager.saturating_add(round);
                if case.is_proved() || way >= case.ways.len() {
                    continue;
                }
                if self.provers.asked() >= most || self.patience.is_over() {
                    untried += 1;
                    *is_cut = true;
                    continue;
                }
                case.prove_ways(self.view, &mut self.provers, way..way + 1);
            }
        }
        for (case, is_cut) in cases.iter().zip(&mut of_cases) {
            if !case.is_proved() && case.left_out > 0 {
                untried += case.left_out;
                *is_cut = true;
            }
        }
        let candidates = of_cases.iter().filter(|is_cut| **is_cut).count();
        (untried > 0).then(|| {
            format!(
                "{candidates} candidates that nothing proved have {untried} more groups of instances that \
                 were not tried, because they are too many"
            )
        })
    }

    /// Looks for orders to other instances of what is proved: of a race only such as are cheap to find.
    fn add_alternatives(&mut self, cases: &mut [Case], alternatives: usize, most: u64) {
        for case in cases.iter_mut().filter(|it| it.is_proved()) {
            let mut left = alternatives;
            for way in 0..case.ways.len() {
                if left == 0 || self.provers.asked() >= most || self.patience.is_over() {
                    break;
                }
                let is_found = match case.kind {
                    _ if case.has_gone(way) => false,
                    Kind::DataRace => case.preserve(self.view, &self.provers, way),
                    _ => case.prove_ways(self.view, &mut self.provers, way..way + 1),
                };
                left -= usize::from(is_found);
            }
        }
    }
}
