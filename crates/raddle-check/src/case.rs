//! Predictions on their way to become findings.

use std::collections::BTreeSet;

use raddle_predict::predictor::Prediction;
use raddle_report::{Finding, Signature, signature};

use crate::describe::{self, Recorded};

/// A prediction, as a finding that nothing has confirmed yet.
pub(crate) struct Case<'p> {
    pub(crate) prediction: &'p Prediction,
    pub(crate) finding: Finding,
    pub(crate) key: Signature,
}

impl<'p> Case<'p> {
    pub(crate) fn new(prediction: &'p Prediction, recorded: Recorded<'_>) -> Self {
        let finding = describe::finding(prediction, recorded);
        Self {
            prediction,
            key: signature(&finding),
            finding,
        }
    }
}

/// Of each case whether no other one before is known by the same: if that one is shown, the others need not be
/// tried.
pub(crate) fn first_of_their_kind(cases: &[Case<'_>]) -> Vec<bool> {
    let mut keys = BTreeSet::new();
    cases.iter().map(|case| keys.insert(&case.key)).collect()
}
