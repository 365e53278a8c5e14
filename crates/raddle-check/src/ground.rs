//! A recorded run with all that predictions stand on.

use std::cell::RefCell;
use std::sync::Arc;

use raddle_judge::{BadTrace, Judge, ReadRule, Recording, Sitting, Witness};
use raddle_model::Model;
use raddle_predict::maximal::Leeway;
use raddle_predict::patterns::Stretch;
use raddle_predict::predictor::{Relaxation, Run};
use raddle_trace::event::Event;
use raddle_trace::file::Trailer;
use raddle_trace::ids::EventIndex;

use crate::own::Own;

/// A run, what the judge knows of it, and whose code it is.
pub(crate) struct Ground<'t> {
    events: &'t [Event],
    rule: ReadRule,
    /// Which events are the user's, without packages; all if there is nothing to tell it by.
    own: Option<Own>,
    recording: Recording<'t>,
    hidden: Vec<(EventIndex, EventIndex)>,
    leeway: Option<Arc<Leeway>>,
}

impl<'t> Ground<'t> {
    /// Looks through a run. With the program's model, reads that decide nothing may find other values.
    ///
    /// # Errors
    /// If it is no run that the judge understands.
    pub(crate) fn new(
        events: &'t [Event],
        trailer: &'t Trailer,
        model: Option<&'t Model>,
    ) -> Result<Self, BadTrace> {
        let is_imported = trailer.names.is_some();
        let recording = Recording::new(events, Some(trailer), model)?;
        let known = model.filter(|_| !is_imported);
        Ok(Self {
            events,
            // Imported traces have no values.
            rule: match is_imported {
                true => ReadRule::SameWrite,
                false => ReadRule::SameValue,
            },
            own: (!is_imported).then(|| Own::without_packages(events, trailer)),
            hidden: recording.hidden_orders(),
            recording,
            leeway: known.map(|it| Arc::new(Leeway::new(it, trailer))),
        })
    }

    /// The same, of a run that was thinned: what memory holds is known only as far as its events say who wrote last.
    pub(crate) fn thinned(self) -> Self {
        Self {
            rule: ReadRule::SameWrite,
            hidden: Vec::new(),
            ..self
        }
    }

    /// A judge of many orders that begin as the run does.
    pub(crate) fn sitting(&self) -> Sitting<'_, 't> {
        Sitting::new(&self.recording)
    }

    /// The judge of orders of its events.
    pub(crate) fn judge(&self) -> Judge<'_, 't> {
        Judge::new(&self.recording)
    }

    /// How reads are justified: by their values, if the trace has them.
    pub(crate) fn rule(&self) -> ReadRule {
        self.rule
    }

    /// Does something with the run as predictions see it. Some parts of threads are meant to be atomic.
    pub(crate) fn with_run<R>(&self, atomic: &[Stretch], then: impl FnOnce(Run<'_>) -> R) -> R {
        let sitting = RefCell::new(self.sitting());
        let accepts = |start: usize, witness: &Witness| {
            let mut sitting = sitting.borrow_mut();
            sitting.judge(start, witness).is_ok()
        };
        then(Run {
            events: self.events,
            rule: self.rule,
            hidden: &self.hidden,
            atomic,
            is_own: &|event| self.own.as_ref().is_none_or(|it| it.has(event)),
            relaxation: self.leeway.as_ref().map(|leeway| Relaxation {
                leeway,
                accepts: &accepts,
            }),
        })
    }
}
