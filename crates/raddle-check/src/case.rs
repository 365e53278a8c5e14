//! Predictions on their way to become findings.

use std::collections::BTreeSet;

use raddle_predict::predictor::Prediction;
use raddle_report::{Finding, Signature, signature};

use crate::describe::{self, Recorded};
use crate::own::is_own_line_of;
use crate::tries::Class;

/// A prediction, as a finding that nothing has confirmed yet.
pub(crate) struct Case<'p> {
    pub(crate) prediction: &'p Prediction,
    pub(crate) finding: Finding,
    pub(crate) key: Signature,
    /// What it has in common with others, if every prover refused it.
    pub(crate) class: Option<Class>,
    /// Whether nothing speaks for it but what the program does.
    pub(crate) is_guess: bool,
}

impl<'p> Case<'p> {
    pub(crate) fn new(prediction: &'p Prediction, recorded: Recorded<'_>) -> Self {
        let finding = describe::finding(prediction, recorded);
        let mut events = prediction.events.iter();
        let is_of_user =
            events.any(|it| is_own_line_of(recorded.timeline.event(*it), recorded.trailer));
        let is_thinned = recorded.timeline.has_gaps();
        let class = Class::of_refused(prediction, is_of_user);
        Self {
            prediction,
            class: class.filter(|_| !is_thinned),
            is_guess: prediction.is_refused || is_thinned,
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
