//! How a program ends when nothing disturbs its threads: what other runs are judged against.
//!
//! An exit status other than 0, or a panic that a joining thread bears, is no failure if it is the program's own way:
//! if the undisturbed run, which lets each thread run until it blocks, ends in the same way. In another run it is.
//! Until that run was made nothing is known: an exit status other than 0 is a failure, a borne panic is none.

use raddle_trace::outcome::{Ending, Outcome};

use crate::launch::RunResult;
use crate::outcome::Failure;

/// A program's usual end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usual {
    exit: Option<i32>,
    /// The panics that joining threads bear, once that is known.
    panics: Option<Vec<Outcome>>,
}

impl Usual {
    /// A program that ends with this exit status, whatever the undisturbed run says.
    #[must_use]
    pub fn with_exit(status: i32) -> Self {
        Self {
            exit: Some(status),
            ..Self::default()
        }
    }

    /// What a run that ended as expected is judged against, when it is repeated by itself.
    #[must_use]
    pub fn of_clip(expected: Option<&Outcome>) -> Self {
        let is_panic = expected.is_some_and(|it| it.ending == Ending::Panic);
        Self {
            exit: None,
            panics: is_panic.then(Vec::new),
        }
    }

    /// Learns from the undisturbed run, and takes back its failure if that is how the program ends.
    /// Returns the exit status that is taken for usual because of it, if it is another than 0.
    pub fn learn(&mut self, undisturbed: &mut RunResult) -> Option<i32> {
        let borne = undisturbed.borne.as_ref().map(|it| it.outcome.clone());
        self.panics.get_or_insert_default().extend(borne);
        let failure = undisturbed.failure.as_ref()?;
        match failure.outcome.ending {
            Ending::Exit(status) if self.exit.is_none() => {
                self.exit = Some(status);
                undisturbed.failure = None;
                Some(status)
            }
            _ => None,
        }
    }

    /// What is to be said of an exit status that [`Usual::learn`] took for usual.
    #[must_use]
    pub fn note(status: i32) -> String {
        format!(
            "the undisturbed run ends with exit status {status}; other runs are judged against that (--expect-exit 0 makes it a failure)"
        )
    }

    /// The exit status.
    #[must_use]
    pub fn exit(&self) -> i32 {
        self.exit.unwrap_or(0)
    }

    /// Whether a panic that a joining thread bears is a failure.
    pub(crate) fn minds(&self, borne: &Failure) -> bool {
        let is_usual = |known: &Vec<Outcome>| known.iter().any(|it| borne.is_like(it));
        self.panics.as_ref().is_some_and(|it| !is_usual(it))
    }

    /// The outcome of a run that did not fail.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self.exit() {
            0 => Outcome::new(Ending::Success),
            status => Outcome {
                message: format!("exit status {status}"),
                ..Outcome::new(Ending::Exit(status))
            },
        }
    }
}
