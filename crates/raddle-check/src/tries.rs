//! How much is tried on the program.

use std::collections::BTreeMap;

use raddle_predict::predictor::{Kind, Prediction, Weight};

/// How many more predictions are tried on the program. What is only suspected is tried less: it is plentiful,
/// and mostly harmless.
pub(crate) struct Tries {
    most: usize,
    left: usize,
    left_suspected: usize,
    refused: usize,
    out_of_time: bool,
}

impl Tries {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            left: most,
            left_suspected: most.div_ceil(4),
            refused: 0,
            out_of_time: false,
        }
    }

    /// Whether one more may be tried.
    pub(crate) fn take(&mut self, suspected: bool) -> bool {
        let may = self.left > 0 && (!suspected || self.left_suspected > 0);
        if may {
            self.left -= 1;
            self.left_suspected -= usize::from(suspected);
        } else {
            self.refused += 1;
        }
        may
    }

    /// Whether nothing more will be tried.
    pub(crate) fn are_over(&self) -> bool {
        self.left == 0
    }

    /// No more, for want of time.
    pub(crate) fn stop(&mut self) {
        self.left = 0;
        self.out_of_time = true;
    }

    pub(crate) fn note(&self) -> Option<String> {
        let enough = (self.most + self.refused) * 4;
        let how = match self.out_of_time {
            true => "for want of time (--time gives more)".to_owned(),
            false => format!("(--most-tries {enough} would)"),
        };
        let refused = self.refused;
        (refused > 0).then(|| format!("{refused} predictions were not tried on the program {how}"))
    }
}

/// So many refused predictions of a class in the user's own lines are tried in vain, one after another.
const MOST_IN_VAIN_OF_THE_USERS: u32 = 32;
/// The same for those in libraries and packages only.
const MOST_IN_VAIN_OF_LIBRARIES: u32 = 8;

/// Predictions that are likely to fare alike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Class {
    kind: Kind,
    weight: Weight,
    /// Whether an event is in a line of the user's.
    is_of_user: bool,
}

impl Class {
    /// The class of a prediction that every prover refused: no reordering of its run leads there, and it is tried in case
    /// the program takes another path. None for any other prediction.
    pub(crate) fn of_refused(prediction: &Prediction, is_of_user: bool) -> Option<Self> {
        prediction.is_refused.then(|| Self {
            kind: prediction.kind.clone(),
            weight: prediction.weight,
            is_of_user,
        })
    }

    fn most_in_vain(&self) -> u32 {
        match self.is_of_user {
            true => MOST_IN_VAIN_OF_THE_USERS,
            false => MOST_IN_VAIN_OF_LIBRARIES,
        }
    }
}

/// How refused predictions fare, over all runs of a check.
///
/// An executor's internals alone give hundreds of them, which take most of a check's time and show nothing. Of the 30
/// bugs that the test programs' refused predictions led to, 29 had an event in the user's own lines and came after at
/// most five vain tries of their class.
#[derive(Debug, Default)]
pub(crate) struct Prospects {
    /// Tries in a row that showed nothing.
    in_vain: BTreeMap<Class, u32>,
    given_up: u64,
}

impl Prospects {
    /// Whether one more of a class is worth a try; counts it if not.
    pub(crate) fn are_good(&mut self, class: &Class) -> bool {
        let in_vain = self.in_vain.get(class).copied().unwrap_or(0);
        let are_good = in_vain < class.most_in_vain();
        self.given_up += u64::from(!are_good);
        are_good
    }

    /// One of a class was tried.
    pub(crate) fn learn(&mut self, class: Class, is_shown: bool) {
        let in_vain = self.in_vain.entry(class).or_default();
        *in_vain = match is_shown {
            true => 0,
            false => *in_vain + 1,
        };
    }

    pub(crate) fn note(&self) -> Option<String> {
        let given_up = self.given_up;
        (given_up > 0).then(|| format!(
            "{given_up} predictions to which no reordering of their run leads were not tried on the program, because others like them had shown nothing"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(kind: Kind, is_refused: bool) -> Prediction {
        Prediction {
            kind,
            events: Vec::new(),
            weight: Weight::Bug,
            schedules: Vec::new(),
            instances: 1,
            is_refused,
        }
    }

    #[test]
    fn what_shows_nothing_is_given_up_by_class_and_only_if_refused() {
        let race = refused(Kind::DataRace, true);
        assert_eq!(
            Class::of_refused(&refused(Kind::DataRace, false), true),
            None
        );
        let mut prospects = Prospects::default();
        let mut tries = |prediction: &Prediction, is_of_user, shows: Option<u32>| {
            let class = Class::of_refused(prediction, is_of_user);
            let class = class.expect("it is refused");
            let mut made = 0;
            while made < 1000 && prospects.are_good(&class) {
                made += 1;
                prospects.learn(class.clone(), Some(made) == shows);
            }
            made
        };
        assert_eq!(tries(&race, false, None), MOST_IN_VAIN_OF_LIBRARIES);
        assert_eq!(tries(&race, false, None), 0);
        // Neither the same kind in the user's lines nor another kind is affected, and a success counts.
        assert_eq!(tries(&race, true, Some(3)), 3 + MOST_IN_VAIN_OF_THE_USERS);
        let free = refused(Kind::DoubleFree, true);
        assert_eq!(tries(&free, false, None), MOST_IN_VAIN_OF_LIBRARIES);
        let note = prospects.note().expect("some were given up");
        assert!(note.starts_with("4 predictions"), "{note}");
    }
}
