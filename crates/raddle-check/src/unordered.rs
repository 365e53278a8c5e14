//! Races that a run shows by the language's rule: nothing orders the two accesses in it.
//!
//! Such a run is its own proof ([`raddle_predict::races`]), so its clip is the run itself: `check` looks for them in the
//! runs that it predicts from, `run` in all of its runs ([`crate::search_races`]). Races of which an access
//! is in library code that no function of the user's has called are left to the other proof, that both threads
//! stood right before their accesses.

use std::collections::{BTreeMap, BTreeSet};

use raddle_predict::predictor::{Kind, Prediction, Weight};
use raddle_predict::races::{self, Code, Race};
use raddle_report::{Finding, Signature, Status};
use raddle_run::Error;
use raddle_run::launch::{Plan, RunResult};
use raddle_run::program::Program;
use raddle_trace::event::Event;
use raddle_trace::file::Trailer;
use raddle_trace::ids::EventIndex;
use raddle_trace::schedule::Moment;

use crate::case::Case;
use crate::clips::{Clips, Kept, Repeatable, needed};
use crate::failures::Found;
use crate::own::Own;
use crate::story::tell;
use crate::timeline::is_same_step;

/// What `proved_by` says of a race that a run shows by the language's rule.
const PROVED_BY: &str = "happens-before";

/// A run that was made, with its events.
#[derive(Clone, Copy)]
pub(crate) struct Made<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) result: &'a RunResult,
    pub(crate) events: &'a [Event],
}

/// The races of a run that nothing orders.
pub(crate) struct Unordered<'c, 'm> {
    /// None if the program's code is not known: then synchronisation may hide anywhere.
    code: Option<&'c mut Code<'m>>,
    races: Vec<Race>,
}

impl<'c, 'm> Unordered<'c, 'm> {
    /// Looks through a run, or through one of the same program whose sites these are.
    pub(crate) fn new(
        events: &[Event],
        trailer: &Trailer,
        mut code: Option<&'c mut Code<'m>>,
    ) -> Self {
        let mut races = match &mut code {
            Some(code) => {
                code.learn(trailer);
                races::certain(events, code)
            }
            None => Vec::new(),
        };
        if !races.is_empty() {
            let own = Own::new(events, trailer);
            races.retain(|race| own.has(race.a) && own.has(race.b));
        }
        Self { code, races }
    }

    /// The races, in the order of [`Unordered::predictions`].
    pub(crate) fn races(&self) -> &[Race] {
        &self.races
    }

    /// The races as predictions, which need no order of events.
    pub(crate) fn predictions(&self) -> Vec<Prediction> {
        let races = self.races.iter().map(|race| Prediction {
            kind: Kind::DataRace,
            events: vec![race.a, race.b],
            weight: Weight::Bug,
            schedules: Vec::new(),
            instances: race.instances,
            is_refused: false,
        });
        races.collect()
    }

    /// Confirms the race of these accesses by a clip of the run that showed it, and tells it; none if it is not
    /// there when the run is repeated.
    ///
    /// # Errors
    /// If the program cannot be run or a file cannot be written.
    pub(crate) fn confirm(
        &mut self,
        clips: &Clips<'_>,
        program: &Program,
        run: Repeatable<'_>,
        accesses: [Event; 2],
        finding: Finding,
    ) -> Result<Option<Finding>, Error> {
        let needed = needed(run.switches, &accesses[1]);
        let find = |kept: &Kept| self.find(accesses, kept);
        let shows_at = Some(Moment::before(&accesses[1]));
        let kept = clips.keep_what_shows(program, run, needed, shows_at, find)?;
        let Some((kept, events)) = kept else {
            return Ok(None);
        };
        let mut finding = finding;
        self.tell(&mut finding, &events, &kept);
        finding.set_outcome(kept.result.failure.as_ref().map(|it| &it.outcome));
        Ok(Some(finding))
    }

    /// Puts into the finding of a race what a kept run shows of it.
    pub(crate) fn tell(&self, finding: &mut Finding, accesses: &[EventIndex], kept: &Kept) {
        finding.status = Status::Confirmed;
        finding.proved_by = PROVED_BY.to_owned();
        finding.clip = Some(kept.clip.clone());
        finding.locations = tell(finding, accesses, kept);
    }

    /// The same race in another run.
    fn find(&mut self, sought: [Event; 2], kept: &Kept) -> Option<[EventIndex; 2]> {
        let code = self.code.as_mut()?;
        code.learn(&kept.trailer);
        let event = |index: EventIndex| &kept.events[index.0 as usize];
        let is_it = |race: &Race| {
            let found = [event(race.a), event(race.b)];
            let is_pair =
                |one, other| is_same_step(&sought[0], one) && is_same_step(&sought[1], other);
            is_pair(found[0], found[1]) || is_pair(found[1], found[0])
        };
        let races = races::certain(&kept.events, code);
        let race = races.iter().find(|race| is_it(race))?;
        Some([race.a, race.b])
    }
}

/// Which predictions are left unconfirmed with reason, and which are not worth telling.
///
/// A prediction that no reordering of its run leads to, since a value that a branch depends on comes from the
/// other thread, is only a guess, and so is one from a run that was thinned. If the program does not show it when made to try, nothing speaks for it any
/// more: of a race the run itself says that happens-before orders the accesses, or it would be confirmed.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    refuted: BTreeSet<Signature>,
    open: BTreeSet<Signature>,
}

impl Doubts {
    /// A prediction was tried, and no run showed it; `is_refuted`: one came there, and nothing was wrong.
    pub(crate) fn add(&mut self, case: &Case<'_>, is_refuted: bool) {
        let is_guess = is_refuted || case.is_guess;
        let key = case.key.clone();
        match is_guess && case.prediction.weight != Weight::Suspicion {
            true => self.refuted.insert(key),
            false => self.open.insert(key),
        };
    }

    /// A prediction was not tried.
    pub(crate) fn leave_open(&mut self, key: &Signature) {
        self.open.insert(key.clone());
    }

    /// Takes away what nothing speaks for.
    pub(crate) fn settle(&self, found: &mut BTreeMap<Signature, Found>) {
        found.retain(|key, it| {
            let is_refuted = self.refuted.contains(key) && !self.open.contains(key);
            it.finding.status == Status::Confirmed || !is_refuted
        });
    }
}
