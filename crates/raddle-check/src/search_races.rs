//! Data races of the runs of a search.
//!
//! Every run is looked through by the language's rule as soon as it is made ([`RaceWatcher`]): its events pass by the
//! detector one by one. What was seen is told when the search is over ([`confirm`]): a run that showed something is
//! repeated for its source positions, and each race that is in the user's code becomes a clip as it does in a check
//! ([`crate::unordered`]).
//!
//! What the program's code says of its events can only add order, and to read the code of Rust's standard library takes
//! as long as many short runs. So it is read when a run has shown a race without it; from then on all runs share it.

use std::collections::btree_map::{BTreeMap, Entry};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use raddle_predict::races::{self, Code, Detector, Race};
use raddle_report::{Finding, Signature, merge};
use raddle_run::Error;
use raddle_run::launch::{Detail, Record, RunResult};
use raddle_run::program::{Program, Volatile};
use raddle_run::replay;
use raddle_run::watch::{
    Executed, Instruction, Pair, Recording, Seen, Shown, Sighting, Sightings, Watcher,
};
use raddle_trace::event::Event;
use raddle_trace::file::Trailer;
use raddle_trace::ids::SiteId;
use raddle_trace::outcome::{Ending, Outcome};
use raddle_trace::sites::ModuleSite;

use crate::case::Case;
use crate::clips::{self, Clips, Extent, Repeatable};
use crate::describe::{self, Recorded};
use crate::memory::PassedOver;
use crate::places::Places;
use crate::reading::{self, Concerns, Events, Wanted};
use crate::timeline::Timeline;
use crate::unordered::Unordered;
use crate::volatile;

/// Looks for data races in each run of a search.
pub struct RaceWatcher<'p> {
    program: &'p Program,
    /// What is asked until the program's own code is needed.
    least_ordered: Code<'static>,
    code: OnceLock<Option<SharedCode<'p>>>,
    /// What looking at a run may take.
    most_bytes: u64,
    /// Whether a run was not looked at to its end.
    is_short: AtomicBool,
}

/// The program's code. Each run adds the sites that it is the first to execute; others may go on with what they have.
type SharedCode<'p> = Mutex<Arc<Code<'p>>>;

impl<'p> RaceWatcher<'p> {
    /// For runs of this program.
    #[must_use]
    pub fn new(program: &'p Program) -> Self {
        Self {
            program,
            least_ordered: Code::least_ordered(),
            code: OnceLock::new(),
            most_bytes: u64::MAX,
            is_short: AtomicBool::new(false),
        }
    }

    /// The same, which looks at a run for as long as that takes no more memory than this.
    #[must_use]
    pub fn within(self, most_bytes: u64) -> Self {
        Self { most_bytes, ..self }
    }

    /// What is to be known of runs that were not looked at to their ends.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        self.is_short.load(Ordering::Relaxed).then(|| {
            "runs touch too much memory to be looked through for data races to their ends (--memory gives more)".to_owned()
        })
    }

    /// Whether a run may have a race, but the program's code is not known: then synchronisation may hide anywhere.
    #[must_use]
    pub fn is_blind(&self) -> bool {
        matches!(self.code.get(), Some(None))
    }

    /// Whether a run has no races whatever the program's code says.
    fn is_ordered(&self, run: Recording<'_>) -> Result<bool, Error> {
        let is_asked = self.code.get().is_none();
        Ok(is_asked && self.detect(run, &self.least_ordered)?.is_empty())
    }

    /// The races of a recorded run.
    fn detect(&self, run: Recording<'_>, code: &Code<'_>) -> Result<Vec<Race>, Error> {
        let Recording { trace, executed } = run;
        let is_volatile_atomic = self.program.volatile == Volatile::Atomic;
        let is_atomic = |site: SiteId| is_volatile_atomic && executed.is_volatile(site);
        let mut detector = Detector::new(code).within(self.most_bytes);
        reading::each(trace, self.program, |event| {
            detector.observe(&volatile::ordered(*event, is_atomic));
        })?;
        self.is_short
            .fetch_or(detector.is_over(), Ordering::Relaxed);
        Ok(detector.finish())
    }

    /// What the program's code says of the sites of a run; none if it is not known.
    fn learn(&self, executed: &Executed) -> Option<Arc<Code<'p>>> {
        let code = self.code.get_or_init(|| {
            let code = Code::new(self.program.model()?);
            Some(Mutex::new(Arc::new(code)))
        });
        let mut code = code
            .as_ref()?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let sites = executed.sites();
        let sites = sites.map(|(site, at)| (site, at.module, at.index));
        let new: Vec<_> = sites
            .filter(|(site, module, index)| !code.knows(*site, *module, *index))
            .collect();
        if !new.is_empty() {
            Arc::make_mut(&mut code).learn_sites(new);
        }
        Some(Arc::clone(&code))
    }
}

impl Watcher for RaceWatcher<'_> {
    fn look(&self, run: Recording<'_>) -> Result<Vec<Sighting>, Error> {
        if self.is_ordered(run)? {
            return Ok(Vec::new());
        }
        let Some(code) = self.learn(run.executed) else {
            return Ok(Vec::new());
        };
        let races = self.detect(run, &code)?.into_iter();
        let seen = races.filter_map(|race| {
            Some(Sighting {
                pair: pair(&race, |site| run.executed.place(site))?,
                instances: race.instances,
            })
        });
        Ok(seen.collect())
    }
}

/// The instructions of a race, by names that they have in every run.
fn pair(race: &Race, place: impl Fn(SiteId) -> Option<ModuleSite>) -> Option<Pair> {
    let name = |instruction| {
        Some(match instruction {
            races::Instruction::Site(site) => Instruction::Site(place(site)?),
            races::Instruction::Call(pc) => Instruction::Call(pc),
        })
    };
    let [one, other] = race.instructions;
    let mut pair = [name(one)?, name(other)?];
    pair.sort_unstable();
    Some(pair)
}

/// Confirms what a [`RaceWatcher`] saw, each pair of places once, by a clip of its own. What does not show up
/// again is left out. If the user interrupts it, it returns what was confirmed until then.
///
/// # Errors
/// If the program cannot be run, or a file cannot be written.
pub fn confirm(
    program: &Program,
    sightings: &Sightings,
    clips: &Clips<'_>,
) -> Result<Confirmed, Error> {
    // Reading the model takes longer than many a run.
    if sightings.runs().is_empty() {
        return Ok(Confirmed::default());
    }
    let scratch = tempfile::tempdir().map_err(Error::system("make a temporary directory"))?;
    let mut confirmation = Confirmation {
        program,
        sightings,
        clips,
        open: sightings.pairs().keys().collect(),
        found: BTreeMap::new(),
        differs: false,
        passed_over: PassedOver::default(),
    };
    let trace = scratch.path().join("positions.trace");
    let mut code = program.model().map(Code::new);
    for run in 0..sightings.runs().len() {
        match confirmation.look_into(run, &trace, code.as_mut()) {
            Err(Error::Interrupted) => break,
            looked => looked?,
        }
    }
    Ok(Confirmed {
        unrepeated: match confirmation.differs {
            true => confirmation.open.len(),
            false => 0,
        },
        passed_over: confirmation.passed_over,
        findings: merge(confirmation.found.into_values().collect()),
    })
}

/// Said where [`Confirmed::unrepeated`] is not 0.
pub(crate) const UNREPEATED: &str = "runs showed data races, and did something else when they were repeated: this program does not repeat";

/// What came of what was seen.
#[derive(Default)]
pub struct Confirmed {
    /// The races, each with a clip that shows it.
    pub findings: Vec<Finding>,
    /// Pairs of instructions that no run shows again, though it should: the program does not repeat.
    pub unrepeated: usize,
    /// What was not looked at, for want of memory.
    pub(crate) passed_over: PassedOver,
}

/// What was seen, on its way to become findings.
struct Confirmation<'a> {
    program: &'a Program,
    sightings: &'a Sightings,
    clips: &'a Clips<'a>,
    /// Pairs that no run has confirmed yet.
    open: BTreeSet<&'a Pair>,
    found: BTreeMap<Signature, Finding>,
    /// Whether a run that was repeated went another way.
    differs: bool,
    passed_over: PassedOver,
}

/// A race of a run that was repeated.
struct Suspect {
    pair: Pair,
    key: Signature,
    finding: Finding,
    accesses: [Event; 2],
}

impl Confirmation<'_> {
    /// Confirms what a run is the first to show, or what those before it showed in vain.
    fn look_into(
        &mut self,
        run: usize,
        trace: &Path,
        mut code: Option<&mut Code<'_>>,
    ) -> Result<(), Error> {
        let is_shown = |pair: &Pair| self.sightings.pairs()[pair].runs.contains(&run);
        if !self.open.iter().any(|pair| is_shown(pair)) {
            return Ok(());
        }
        let shown = &self.sightings.runs()[run];
        let Some(again) = record_again(self.program, shown, trace)? else {
            self.differs = true;
            return Ok(());
        };
        let mut program = self.program.clone();
        let count = again.events.unwrap_or(0);
        if count > program.most_events
            && let Some(code) = &mut code
        {
            code.learn(&*clips::read_tables(trace)?);
            let private = Concerns::default().learn(&program, trace, code.hidden())?;
            program.private = Arc::new(private);
        }
        let Events {
            mut events,
            trailer,
            extent,
            left_out,
            ..
        } = reading::read(trace, &program, again.events, Wanted::All)?;
        if extent < Extent::Whole {
            self.passed_over.add(count, left_out, Wanted::All);
        }
        volatile::interpret(&program, &again, &mut events);
        let mut unordered = Unordered::new(&events, &trailer, code);
        let suspects = suspects(&unordered, &events, &trailer);
        // Each clip brings the events of its own run.
        drop(events);
        for suspect in suspects {
            if self.open.contains(&suspect.pair) {
                self.take(suspect, &mut unordered, &program, shown)?;
            }
        }
        Ok(())
    }

    /// Confirms a race, unless one at the same places is confirmed already.
    fn take(
        &mut self,
        suspect: Suspect,
        unordered: &mut Unordered<'_, '_>,
        program: &Program,
        shown: &Shown,
    ) -> Result<(), Error> {
        let Suspect {
            pair,
            key,
            finding,
            accesses,
        } = suspect;
        let Seen { instances, runs } = &self.sightings.pairs()[&pair];
        let first = runs.first().map(|it| self.sightings.runs()[*it].run);
        match self.found.entry(key) {
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.instances += instances;
                known.first_run = known.first_run.min(first);
            }
            Entry::Vacant(entry) => {
                let run = Repeatable {
                    plan: &shown.plan,
                    switches: &shown.switches,
                    failure: shown.failure.as_ref(),
                    wanted: Wanted::All,
                };
                let finding = Finding {
                    instances: *instances,
                    first_run: first,
                    ..finding
                };
                let found = unordered.confirm(self.clips, program, run, accesses, finding)?;
                let Some(found) = found else {
                    self.differs = true;
                    return Ok(());
                };
                entry.insert(found);
            }
        }
        self.open.remove(&pair);
        Ok(())
    }
}

/// Repeats a run with source positions; none if it goes another way.
fn record_again(
    program: &Program,
    shown: &Shown,
    trace: &Path,
) -> Result<Option<RunResult>, Error> {
    let mut plan = replay::plan(&shown.plan, &shown.switches);
    plan.record = Some(Record {
        path: trace.to_owned(),
        detail: Detail::Positions,
    });
    let success = Outcome::new(Ending::Success);
    let expected = shown.failure.as_ref().unwrap_or(&success);
    let replayed = replay::replay(program, &plan, Some(expected), None)?;
    Ok(replayed.mismatch.is_none().then_some(replayed.result))
}

/// The races of a run in the user's code, with what is needed to confirm and to tell them.
fn suspects(unordered: &Unordered<'_, '_>, events: &[Event], trailer: &Trailer) -> Vec<Suspect> {
    let predictions = unordered.predictions();
    let places = Places::new(events, trailer, &describe::named_events(&predictions));
    let recorded = Recorded {
        timeline: &Timeline::new(events),
        trailer,
        places: &places,
    };
    let sites: HashMap<SiteId, ModuleSite> = trailer
        .sites
        .iter()
        .map(|it| {
            let (module, index) = (it.module, it.index);
            (it.site, ModuleSite { module, index })
        })
        .collect();
    let races = unordered.races().iter().zip(&predictions);
    let suspects = races.filter_map(|(race, prediction)| {
        let Case { finding, key, .. } = Case::new(prediction, recorded);
        Some(Suspect {
            pair: pair(race, |site| sites.get(&site).copied())?,
            key,
            finding,
            accesses: [race.a, race.b].map(|it| events[it.0 as usize]),
        })
    });
    suspects.collect()
}
