//! Record, predict, confirm, tell.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle_predict::predictor::{self, Prediction, Schedule, Weight};
use raddle_predict::races::Code;
use raddle_report::{
    Finding, Kind, Report, Severity, Signature, Status, merge, said_once, signature,
};
use raddle_run::Error;
use raddle_run::hang::Hang;
use raddle_run::host;
use raddle_run::launch::{Detail, Plan, Record, RunResult, launch};
use raddle_run::outcome::Failure;
use raddle_run::program::Program;
use raddle_run::replay;
use raddle_trace::event::Event;
use raddle_trace::file::Trailer;
use raddle_trace::ids::{EventIndex, SiteId, ThreadId};
use raddle_trace::schedule::Moment;
use raddle_trace::wire::{SiteRecord, StrategyKind};

use crate::allotment::Allotment;
use crate::atomic;
use crate::attempts::{Attempt, Attempts};
use crate::baseline::Baseline;
use crate::bench::{Bench, Ran};
use crate::case::{Case, first_of_their_kind};
use crate::cause::Explained;
use crate::clips::{self, Clips, Extent, Kept, NewPath, Repeatable, needed};
use crate::confirm::{self, Shown};
use crate::describe::{self, Recorded};
use crate::failures::{Failures, Found};
use crate::ground::Ground;
use crate::last_runs;
use crate::memory::{self, Budget, PassedOver, Scarce};
use crate::observe::{Evidence, Guided};
use crate::other_sides::{self, OtherSides};
use crate::own::{Own, is_own_site};
use crate::own_first;
use crate::places::Places;
use crate::reading::{self, Concerns, Events, Wanted};
use crate::sampler::Sampler;
use crate::search_races;
use crate::story::tell_story;
use crate::timeline::Timeline;
use crate::tries::{Prospects, Tries};
use crate::unordered::{Doubts, Made, Unordered};
use crate::volatile;

/// What to look for, and how hard.
#[derive(Clone, Debug)]
pub struct Options {
    /// Most runs to record and to predict from; none: as many as it takes. The first lets each thread run until it
    /// blocks.
    pub runs: Option<u64>,
    /// Runs of each strategy that come last, and are only looked at for failures and data races.
    pub search: u64,
    /// How threads are chosen in the others: by each of these in turn.
    pub strategies: Vec<StrategyKind>,
    /// PCT's depth.
    pub depth: u32,
    /// Seed of the first run; the others count up from it.
    pub seed: u64,
    /// What to predict.
    pub predict: predictor::Options,
    /// Names of functions whose calls are meant to be atomic; see [`atomic`].
    pub atomic: Vec<String>,
    /// Most predictions of a run that are tried on the program.
    pub most_tries: usize,
    /// How long predictions may be proved and tried on the program, all in all.
    pub time: Duration,
    /// How many predictions are tried at the same time.
    pub jobs: NonZeroUsize,
    /// Memory for the events of runs and what is made of them, in bytes.
    pub memory: u64,
}

/// A run may take this share of the time to show that it ends after all.
const SHARE_OF_A_HANG: u32 = 6;

/// So many runs that were ended are looked at whether they never would.
const MOST_HANGS_LOOKED_AT: u32 = 2;

/// So much time again is for finding out why runs fail.
const SHARE_OF_EXPLANATIONS: u32 = 10;

/// What several runs predict is tried this often in vain.
const MOST_IN_VAIN: u32 = 2;

/// Said of a finding whose run fails, though not because of it.
const FAILS_WITHOUT_IT: &str = "its run fails as runs without it do";

/// Said of a finding whose run was ended, which tells nothing of the program: it may be the guide that keeps a thread
/// from what another one spins for.
const ENDED: &str = "not known: its run was ended, and may have gone on";

/// How long a run that seems to hang may go on to show otherwise.
pub(crate) fn hang_time(options: &Options) -> Duration {
    options.time / SHARE_OF_A_HANG
}

/// What is said of a check that the user has ended.
pub const INTERRUPTED: &str = "interrupted: this is what was found until then";

/// How far a check has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// What has been found so far: told if the check does not come to its end.
    Found(Box<Report>),
    /// Records a run.
    Recording {
        /// Its number, from 1.
        run: u64,
        /// Of how many at most.
        of: Option<u64>,
    },
    /// Makes the runs that come last.
    Searching {
        /// How many were made.
        runs: u64,
        /// Of how many.
        of: u64,
    },
    /// Predicts from the events of a run.
    Predicting {
        /// How many they are.
        events: usize,
    },
    /// Tries a prediction on the program.
    Confirming {
        /// Its number, from 1.
        prediction: usize,
        /// Of how many.
        of: usize,
        /// Bugs confirmed before.
        bugs: usize,
    },
}

/// A run that was recorded to predict from.
struct Original {
    plan: Plan,
    result: RunResult,
    trace: PathBuf,
    trailer: Arc<Trailer>,
}

impl Original {
    /// How many events it has.
    fn len(&self) -> u64 {
        self.result.events.unwrap_or(0)
    }

    /// The run with these of its events.
    fn made<'m>(&'m self, events: &'m [Event]) -> Made<'m> {
        Made {
            plan: &self.plan,
            result: &self.result,
            events,
        }
    }
}

/// Whether a program does the same again under the same schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Steadiness {
    Unknown,
    Steady,
    Unsteady,
}

/// A check while it goes on.
struct Check<'a> {
    options: &'a Options,
    clips: &'a Clips<'a>,
    bench: Bench,
    /// Runs that others have made for it.
    runs: u64,
    passed_over: PassedOver,
    budget: Budget,
    /// Why only so many events of a run are looked at.
    scarce: Scarce,
    /// Which instructions concern other threads.
    concerns: Concerns,
    /// Whether runs can be repeated, once that was asked.
    steadiness: Steadiness,
    allotment: Allotment,
    /// When to stop predicting from the present run, and trying.
    deadline: Instant,
    /// How the program fails without anomalies.
    baseline: Baseline,
    /// Runs that were ended, and looked at whether they would go on for ever.
    hangs_looked_at: u32,
    /// How often something was tried in vain.
    in_vain: BTreeMap<Signature, u32>,
    /// Branches that go another way in another schedule.
    other_sides: OtherSides,
    /// How predictions fare that every prover refused.
    prospects: Prospects,
    /// Findings by signature.
    found: BTreeMap<Signature, Found>,
    /// What the program's code says of its sites, as far as runs have had them; none if it is not known.
    code: Option<Code<'a>>,
    /// What was tried and not shown.
    doubts: Doubts,
    /// Failures that came of nothing predicted, as far as was known.
    failures: Failures,
    notes: Vec<String>,
    /// Atomic functions that no run has called yet.
    missing: Vec<String>,
    /// Recorded runs and their events.
    recorded: (u64, u64),
    progress: &'a mut dyn FnMut(Progress),
}

/// Checks a program. Clips go to new paths.
///
/// # Errors
/// If the program cannot be run, or a file cannot be written.
pub fn check(
    program: &Program,
    options: &Options,
    new_clip: &NewPath<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, Error> {
    let mut program = program.clone();
    let budget = Budget::new(options.memory, options.jobs.get());
    let (most_events, scarce) = memory::most_events(budget, options.time);
    program.most_events = most_events;
    let program = &program;
    let allotment = Allotment::new(options.runs, Instant::now(), options.time);
    let clips = Clips::new(new_clip);
    let mut check = Check {
        options,
        clips: &clips,
        bench: Bench::new(program)?.until(allotment.end()),
        runs: 0,
        passed_over: PassedOver::default(),
        concerns: Concerns::default(),
        steadiness: Steadiness::Unknown,
        deadline: allotment.end(),
        allotment,
        budget,
        scarce,
        baseline: Baseline::default(),
        hangs_looked_at: 0,
        in_vain: BTreeMap::new(),
        other_sides: OtherSides::default(),
        prospects: Prospects::default(),
        found: BTreeMap::new(),
        code: program.model().map(Code::new),
        doubts: Doubts::default(),
        failures: Failures::default(),
        notes: Vec::new(),
        missing: options.atomic.clone(),
        recorded: (0, 0),
        progress,
    };
    let mut report = Report {
        program: program.name(),
        ..Report::default()
    };
    let model = program.model();
    report.instrumented.functions = model.map_or(0, |it| it.function_count() as u64);
    let mut sampler = Sampler::new(options);
    while let Some(plan) = check.next_plan(&mut sampler) {
        let Some(deadline) = check.allotment.deadline(sampler.runs(), Instant::now()) else {
            check.notes.push(sampler.note());
            break;
        };
        check.deadline = deadline;
        match check.record_and_look(&mut sampler, &plan, &mut report) {
            Err(Error::Interrupted) => {
                // What was found is shown by further runs.
                host::forget_interrupt();
                report.interrupted = true;
                break;
            }
            Err(Error::OutOfTime) => {
                check.notes.push(out_of_time(sampler.runs()));
                break;
            }
            result => result?,
        }
        if check.knows_bug() {
            sampler.note_bug();
        }
    }
    if !report.interrupted && sampler.has_meetings() {
        report.interrupted = check.search(sampler.runs())?;
    }
    report.runs += check.runs + check.bench.runs() + sampler.counting_runs();
    check.notes.extend(sampler.notes());
    let (findings, notes, unsteady) = check.settle(report.interrupted)?;
    report.findings = merge(findings);
    clips.settle(&report.findings)?;
    report.unsteady = unsteady;
    report.notes = said_once(notes);
    if report.interrupted {
        report.notes.push(INTERRUPTED.to_owned());
    }
    for finding in &mut report.findings {
        finding.input = describe::input(program).cloned();
    }
    let predicted = report
        .findings
        .iter()
        .filter(|it| it.status == Status::Predicted);
    report.unconfirmed = predicted.count() as u64;
    Ok(report)
}

/// What is said of a check whose time was over while it was at its `run`-th run.
fn out_of_time(run: u64) -> String {
    match run {
        1 => "the time was over before the undisturbed run was looked through (--time gives more)"
            .to_owned(),
        _ => format!(
            "the time was over while run {run} was made and looked through (--time gives more)"
        ),
    }
}

/// What is said of how a run ended that does not come of what it shows; nothing if it went well.
fn unattributed(ran: &Ran) -> Option<&'static str> {
    match (ran.hangs(), &ran.result.failure) {
        (true, _) => Some(ENDED),
        (false, Some(_)) => Some(FAILS_WITHOUT_IT),
        (false, None) => None,
    }
}

fn record(program: &Program, plan: &Plan, path: &Path) -> Result<Original, Error> {
    let mut plan = plan.clone();
    plan.record = Some(Record {
        path: path.to_owned(),
        detail: Detail::Positions,
    });
    let result = launch(program, &plan)?;
    plan.inputs = result.inputs.clone();
    // A run that was ended is as long as patience: it is not predicted from.
    let trailer = match result.cut {
        None => clips::read_tables(path)?,
        Some(_) => Arc::default(),
    };
    plan.record = None;
    Ok(Original {
        plan,
        result,
        trace: path.to_owned(),
        trailer,
    })
}

/// Whether a run has no threads but those that it has anyway, of which one at most accesses memory in the user's code:
/// then no other order of threads makes a difference.
fn is_sequential(program: &Program, original: &Original) -> Result<bool, Error> {
    if original.result.threads.len() > program.base_threads {
        return Ok(false);
    }
    let trailer = &original.trailer;
    let is_known = |site: SiteId| {
        trailer
            .site(site)
            .is_some_and(|it| !it.positions.is_empty())
    };
    let mut own: BTreeMap<SiteId, bool> = BTreeMap::new();
    let mut threads: BTreeSet<ThreadId> = BTreeSet::new();
    reading::each(&original.trace, program, |event| {
        let access = event.footprint().and_then(|_| event.site());
        let is_own = |site| is_known(site) && is_own_site(site, trailer);
        if access.is_some_and(|site| *own.entry(site).or_insert_with(|| is_own(site))) {
            threads.insert(event.thread);
        }
    })?;
    Ok(threads.len() <= 1)
}

impl Check<'_> {
    /// The next run to record: one that a schedule for a branch has led to, or else one of the sampler's.
    fn next_plan(&mut self, sampler: &mut Sampler<'_>) -> Option<Plan> {
        if self.may_record_more()
            && let Some(plan) = self.other_sides.next()
        {
            sampler.count_directed();
            return Some(plan);
        }
        sampler.next()
    }

    /// Whether fewer runs have been recorded than the user asks for.
    fn may_record_more(&self) -> bool {
        let (recorded, _) = self.recorded;
        self.options.runs.is_none_or(|most| recorded < most)
    }

    /// Makes the sampler's next run, and looks into it.
    fn record_and_look(
        &mut self,
        sampler: &mut Sampler<'_>,
        plan: &Plan,
        report: &mut Report,
    ) -> Result<(), Error> {
        (self.progress)(Progress::Recording {
            run: sampler.runs(),
            of: self.options.runs,
        });
        let trace = self.bench.path("recorded.trace");
        let mut original = record(self.bench.program(), plan, &trace)?;
        if original.result.cut.is_some() {
            let hangs = self.note_hang(&original.plan, &original.result)?;
            match sampler.runs() {
                1 => self.end_undisturbed(hangs, &original.result, sampler),
                _ if !hangs => sampler.pass_over(),
                _ => {}
            }
            return Ok(());
        }
        if sampler.runs() == 1 {
            let note = self.bench.learn_usual(&mut original.result);
            self.notes.extend(note);
            self.baseline.learn(&original.result);
            self.bench.allow_for(&original.result);
            sampler.limit(self.bench.most_ticks());
        }
        self.leave_room_for(&original);
        let sites = original.result.head.sites_len / size_of::<SiteRecord>() as u64;
        report.instrumented.sites = report.instrumented.sites.max(sites);
        report.runs += 1;
        report.events += original.len();
        self.recorded = (report.runs, report.events);
        self.publish();
        if sampler.runs() == 1 && is_sequential(self.bench.program(), &original)? {
            sampler.stop();
            self.note_run(&original);
            return Ok(());
        }
        let is_new = sampler.learn(
            self.bench.program(),
            &original.result,
            &original.trailer,
            &trace,
            self.budget,
        )?;
        self.bench.start_from(&original.result);
        self.look_for_unsteadiness(&original)?;
        match is_new || original.result.failure.is_some() {
            true => self.look_into(&original),
            false => Ok(()),
        }
    }

    /// What runs like this one take is not there for events.
    fn leave_room_for(&mut self, original: &Original) {
        let trace = self.bench.memory_of(&original.trace);
        self.budget.learn(&original.result, trace);
        let (most_events, scarce) = memory::most_events(self.budget, self.options.time);
        self.scarce = scarce;
        self.bench.look_at(most_events);
    }

    /// The undisturbed run was ended: there is nothing to judge others against, and they would hardly be faster.
    fn end_undisturbed(&mut self, hangs: bool, ended: &RunResult, sampler: &mut Sampler<'_>) {
        sampler.stop();
        if hangs {
            self.baseline.learn(ended);
        } else {
            self.notes.push(format!(
                "the undisturbed run was too slow here, and nothing was checked: {} events in {:.0} s, and not done (--timeout gives more)",
                ended.head.ticks,
                ended.duration.as_secs_f64()
            ));
        }
    }

    /// Predicts from a run, and tries what was predicted.
    fn look_into(&mut self, original: &Original) -> Result<(), Error> {
        self.note_run(original);
        self.publish();
        (self.progress)(Progress::Predicting {
            events: original.len() as usize,
        });
        let trailer = &original.trailer;
        let mut waits = BTreeSet::new();
        if let Some(code) = &mut self.code {
            code.learn(trailer);
            waits.extend(code.waits());
        }
        if let Some(code) = &self.code
            && original.len() > reading::WORTH_SIFTING
        {
            let private =
                self.concerns
                    .learn(self.bench.program(), &original.trace, code.hidden())?;
            self.bench.learn_private(private);
        }
        let program = self.bench.program().clone();
        let wanted = self.wanted_of(original)?;
        let is_thinned = matches!(wanted, Wanted::Thinned(_));
        if is_thinned {
            // That nothing orders two accesses shows only where nothing is missing.
            let beginning = self.read(original, Wanted::All)?;
            let made = original.made(&beginning.events);
            self.confirm_unordered(made, trailer, &program)?;
        }
        let Events {
            events,
            gaps,
            extent,
            ..
        } = self.read(original, wanted)?;
        let events = &events;
        // Code is executed again with all that its thread has read.
        let model = program.model().filter(|_| extent == Extent::Whole);
        let ground = Ground::new(events, trailer, model);
        let mut ground = ground.map_err(Error::runtime)?;
        if is_thinned {
            ground = ground.thinned();
        }
        let marked = atomic::find(&self.options.atomic, events, trailer);
        self.missing.retain(|name| marked.missing.contains(name));
        let mut options = self.options.predict.clone();
        options.marked.extend(&marked.entries);
        // Some turn out to be known by what others have shown, and are not tried.
        options.guesses = self.options.most_tries.saturating_mul(2);
        // The other half of the time is for trying what is found.
        let now = Instant::now();
        options.is_over = host::interrupted;
        options.until = Some(now + self.deadline.saturating_duration_since(now) / 2);
        let predicted = ground.with_run(&marked.stretches, |run| predictor::predict(run, &options));
        let predicted = predicted.map_err(Error::runtime)?;
        self.notes.extend(predicted.notes);
        let predictions = predicted.predictions;
        let named = describe::named_events(&predictions);
        let places = Places::new(events, trailer, &named);
        let mut timeline = Timeline::new(events).with_waits(waits).with_gaps(&gaps);
        if extent == Extent::Beginning {
            timeline = timeline.that_ends_early();
        }
        let recorded = Recorded {
            timeline: &timeline,
            trailer: &original.trailer,
            places: &places,
        };
        let cases: Vec<Case<'_>> = predictions
            .iter()
            .map(|prediction| Case::new(prediction, recorded))
            .collect();
        let again = |schedule: &Schedule, kept: &[(EventIndex, EventIndex)]| {
            ground.with_run(&marked.stretches, |run| {
                predictor::again(run, &options, schedule, kept)
            })
        };
        let like = self.bench.another()?.reading(match is_thinned {
            true => wanted,
            false => Wanted::Concerning,
        });
        let attempts = Attempts::new(&like, |bench, number| {
            let prediction = &predictions[number];
            confirm::attempt(bench, &original.plan, &timeline, prediction, &again)
        });
        let mut tries = Tries::new(self.options.most_tries);
        let mut result = Ok(());
        let mut dealt = 0;
        attempts.in_order(
            self.options.jobs,
            &first_of_their_kind(&cases),
            |number, made| {
                dealt = number + 1;
                let case = &cases[number];
                if self.is_worth_trying(case, &mut tries) {
                    self.show_progress(number, cases.len());
                    let made = made.unwrap_or_else(|| attempts.make(number));
                    result = made.and_then(|made| self.take_in(original, case, made, recorded));
                    self.publish();
                }
                match result.is_err() || tries.are_over() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            },
        );
        result?;
        for case in &cases[dealt..] {
            self.is_worth_trying(case, &mut tries);
        }
        self.notes.extend(tries.note());
        let made = original.made(events);
        if !is_thinned {
            self.confirm_unordered(made, trailer, &program)?;
        }
        self.publish();
        if let Some(code) = model
            && self.steadiness != Steadiness::Unsteady
            && !self.knows_bug()
            && self.may_record_more()
        {
            let examined = other_sides::Examined {
                code,
                tables: trailer,
                timeline: &timeline,
                deadline: self.deadline,
                options: &options,
            };
            let bench = &mut self.bench;
            let failed = self
                .other_sides
                .look(bench, &original.plan, &ground, examined)?;
            for ran in &failed {
                self.note_surprise(ran);
            }
        }
        let own = Own::new(events, trailer);
        let ran = own_first::run(&mut self.bench, made, &timeline, |event| own.has(event))?;
        if let Some(ran) = ran.filter(|it| !it.hangs()) {
            self.note_surprise(&ran);
            let made = Made {
                plan: &ran.plan,
                result: &ran.result,
                events: &ran.events,
            };
            self.confirm_unordered(made, trailer, &program)?;
        }
        Ok(())
    }

    /// What is looked at of a run that is predicted from.
    fn wanted_of(&self, original: &Original) -> Result<Wanted, Error> {
        let program = self.bench.program();
        match original.len() <= program.most_events {
            true => Ok(Wanted::All),
            false => reading::fitting(&original.trace, program),
        }
    }

    /// Reads a run that is predicted from.
    fn read(&mut self, original: &Original, wanted: Wanted) -> Result<Events, Error> {
        let program = self.bench.program();
        let count = original.result.events;
        let mut read = reading::read(&original.trace, program, count, wanted)?;
        volatile::interpret(program, &original.result, &mut read.events);
        if read.extent < Extent::Whole {
            self.passed_over.add(original.len(), read.left_out, wanted);
        }
        Ok(read)
    }

    /// Confirms the races that a run shows by itself, since nothing orders their accesses in it.
    fn confirm_unordered(
        &mut self,
        made: Made<'_>,
        trailer: &Trailer,
        program: &Program,
    ) -> Result<(), Error> {
        if self.steadiness == Steadiness::Unsteady {
            return Ok(());
        }
        let mut code = self.code.take();
        let unordered = Unordered::new(made.events, trailer, code.as_mut());
        let confirmed = self.confirm_all(unordered, made, trailer, program);
        self.code = code;
        confirmed
    }

    fn confirm_all(
        &mut self,
        mut unordered: Unordered<'_, '_>,
        made: Made<'_>,
        trailer: &Trailer,
        program: &Program,
    ) -> Result<(), Error> {
        let races = unordered.predictions();
        let places = Places::new(made.events, trailer, &describe::named_events(&races));
        let recorded = Recorded {
            timeline: &Timeline::new(made.events),
            trailer,
            places: &places,
        };
        for race in &races {
            let Case { finding, key, .. } = Case::new(race, recorded);
            let known = self.found.get(&key).map(|it| &it.finding);
            if known.is_some_and(|it| it.status == Status::Confirmed) {
                continue;
            }
            let finding = Finding {
                instances: known.map_or(finding.instances, |it| it.instances),
                ..finding
            };
            let run = Repeatable::new(made.plan, made.result);
            let accesses = [race.events[0], race.events[1]];
            let accesses = accesses.map(|it| made.events[it.0 as usize]);
            let confirmed = unordered.confirm(self.clips, program, run, accesses, finding)?;
            let Some(mut finding) = confirmed else {
                self.note_unrepeated_races();
                continue;
            };
            let failure = made.result.failure.as_ref();
            if failure.is_some_and(|it| self.baseline.is_undisturbed(&it.outcome)) {
                finding.set_outcome(None);
                finding.outcome_text = Some(FAILS_WITHOUT_IT.to_owned());
            }
            // Whether a failure comes of this race alone is found out when all runs are made.
            let found = Found {
                finding,
                weight: Weight::Bug,
                failure: None,
            };
            self.found.insert(key, found);
        }
        Ok(())
    }

    /// A run has shown a data race, and does not show it again under the same schedule.
    fn note_unrepeated_races(&mut self) {
        self.steadiness = Steadiness::Unsteady;
        self.notes.push(search_races::UNREPEATED.to_owned());
    }

    /// Notes a case, and says whether it is to be tried on the program. If not, notes what that says of it.
    fn is_worth_trying(&mut self, case: &Case<'_>, tries: &mut Tries) -> bool {
        let weight = case.prediction.weight;
        let known = self.found.entry(case.key.clone());
        let known = known.or_insert_with(|| Found {
            finding: Finding {
                instances: 0,
                ..case.finding.clone()
            },
            weight,
            failure: None,
        });
        known.finding.instances += case.prediction.instances;
        let is_weightier = weight < known.weight;
        if known.finding.status == Status::Confirmed && !is_weightier {
            return false;
        }
        known.weight = known.weight.min(weight);
        if self.is_covered(&case.key) {
            self.found.remove(&case.key);
            return false;
        }
        if Instant::now() > self.deadline {
            tries.stop();
        }
        if self.is_tried_out(&case.key) {
            return false;
        }
        let class = case.class.as_ref();
        if class.is_some_and(|it| !self.prospects.are_good(it)) {
            // It counts as tried: what is known of it is that its run cannot be reordered to show it.
            self.doubts.add(case, false);
            return false;
        }
        let may =
            self.steadiness != Steadiness::Unsteady && tries.take(weight == Weight::Suspicion);
        if !may {
            self.doubts.leave_open(&case.key);
        }
        may
    }

    /// Whether something was tried in vain as often as it is worth.
    fn is_tried_out(&self, key: &Signature) -> bool {
        self.in_vain.get(key).is_some_and(|it| *it >= MOST_IN_VAIN)
    }

    /// Tells what has been found so far.
    fn publish(&mut self) {
        let found = self.found.values().map(|it| &it.finding);
        let bugs: Vec<Finding> = found.filter(|it| it.is_confirmed_bug()).cloned().collect();
        let (runs, events) = self.recorded;
        (self.progress)(Progress::Found(Box::new(Report {
            program: self.bench.program().name(),
            runs: runs + self.runs + self.bench.runs(),
            events,
            interrupted: true,
            findings: merge(bugs),
            notes: self.failures.unkept(),
            ..Report::default()
        })));
    }

    fn show_progress(&mut self, number: usize, of: usize) {
        let found = self.found.values();
        let bugs = found.filter(|it| it.finding.is_confirmed_bug()).count();
        (self.progress)(Progress::Confirming {
            prediction: number + 1,
            of,
            bugs,
        });
    }

    /// Whether an anomaly of atomicity contains one that is known to be a bug.
    fn is_covered(&self, key: &Signature) -> bool {
        let is_atomicity =
            |kind: &Kind| matches!(kind, Kind::AtomicityViolation | Kind::AtomicSetViolation);
        is_atomicity(&key.kind)
            && self.found.iter().any(|(other, known)| {
                is_atomicity(&other.kind)
                    && known.finding.is_confirmed_bug()
                    && other.places.is_subset(&key.places)
            })
    }

    /// Keeps what came of a prediction.
    fn take_in(
        &mut self,
        original: &Original,
        case: &Case<'_>,
        made: Attempt,
        recorded: Recorded<'_>,
    ) -> Result<(), Error> {
        let Case {
            prediction,
            key,
            class,
            ..
        } = case;
        let Attempt { tried, runs } = made;
        self.runs += runs;
        if let Some(class) = class.clone().filter(|_| runs > 0) {
            self.prospects.learn(class, tried.shown.is_some());
        }
        let timeline = recorded.timeline;
        if let Some(surprise) = &tried.surprise {
            self.note_surprise(surprise);
        }
        let Some(shown) = tried.shown else {
            *self.in_vain.entry(key.clone()).or_default() += 1;
            self.doubts.add(case, tried.is_refuted);
            return Ok(());
        };
        let Some(kept) = self.keep(&shown, &prediction.kind, timeline)? else {
            return self.look_for_unsteadiness(original);
        };
        let failure = match tried.is_coincidence {
            true => None,
            false => self.consequence(original, prediction, &shown.ran, &kept, timeline)?,
        };
        let Some(found) = self.found.get_mut(key) else {
            return Ok(());
        };
        let finding = &mut found.finding;
        finding.status = Status::Confirmed;
        finding.proved_by = confirm::method_name(shown.method, timeline).to_owned();
        finding.clip = Some(kept.clip.clone());
        finding.set_outcome(failure.as_ref().map(|it| &it.outcome));
        if failure.is_none() {
            finding.outcome_text = unattributed(&shown.ran).map(str::to_owned);
        }
        finding.severity = match prediction.weight == Weight::Bug || failure.is_some() {
            true => Severity::Bug,
            false => Severity::Warning,
        };
        found.failure = failure;
        tell_story(finding, &shown, &kept, timeline);
        Ok(())
    }

    /// The failure that what a run shows has led to, if the program does not fail like that without it.
    fn consequence(
        &mut self,
        original: &Original,
        prediction: &Prediction,
        ran: &Ran,
        kept: &Kept,
        recorded: &Timeline<'_>,
    ) -> Result<Option<Failure>, Error> {
        let failure = match ran.hangs() {
            // A guide may keep a thread from what another one waits for.
            true => self.hangs(&ran.plan, &kept.result)?.map(|it| it.failure),
            // What is wrong by itself may have been so in the recorded run, and led to the same.
            false if prediction.weight == Weight::Bug => kept.result.failure.clone(),
            false => ran.failure().and(kept.result.failure.clone()),
        };
        let Some(failure) = failure.filter(|it| !self.baseline.is_undisturbed(&it.outcome)) else {
            return Ok(None);
        };
        if prediction.weight == Weight::Bug {
            return Ok(Some(failure));
        }
        let failing = self
            .baseline
            .run_serially(&mut self.bench, &original.plan, recorded)?;
        for ran in &failing {
            self.note_surprise(ran);
        }
        let is_serial = self.baseline.is_serial(&failure.outcome);
        Ok((!is_serial).then_some(failure))
    }

    /// Keeps a run that shows a prediction as a clip, if it shows it again when repeated: with the switches up
    /// to what it shows if that is enough, else with all.
    fn keep(
        &self,
        shown: &Shown,
        kind: &predictor::Kind,
        recorded: &Timeline<'_>,
    ) -> Result<Option<Kept>, Error> {
        let Ran {
            plan,
            result,
            events,
            ..
        } = &shown.ran;
        let last = match shown.evidence {
            Evidence::UpTo(event) => Some(&events[event.0 as usize]),
            Evidence::ItsEnd => None,
        };
        let all = result.switches.len();
        let needed = last.map_or(all, |it| needed(&result.switches, it));
        let shows_at = last.map(Moment::before);
        let run = Repeatable {
            wanted: shown.ran.wanted.for_a_clip(),
            ..Repeatable::new(plan, result)
        };
        let find = |kept: &Kept| {
            let again = Guided {
                old: recorded,
                new: &kept.timeline(),
                numbering: &shown.numbering,
                result: &kept.result,
            };
            again.evidence(shown.sought(kind))
        };
        let program = self.bench.program();
        let clips = self.clips;
        let kept = clips.keep_what_shows(program, run, needed, shows_at, find)?;
        Ok(kept.map(|(kept, _)| kept))
    }

    /// Repeats a recorded run, the first time that this is asked: if it goes another way, nothing can be shown.
    fn look_for_unsteadiness(&mut self, original: &Original) -> Result<(), Error> {
        if self.steadiness != Steadiness::Unknown {
            return Ok(());
        }
        let first = self.bench.path("recorded.trace");
        let mut plan = replay::plan(&original.plan, &original.result.switches);
        plan.record = Some(Record {
            path: self.bench.path("again.trace"),
            detail: Detail::Events,
        });
        let again = replay::replay(self.bench.program(), &plan, None, Some(&first))?;
        // It may take as much memory as the recorded one.
        let _ = std::fs::remove_file(self.bench.path("again.trace"));
        self.steadiness = match again.mismatch {
            None => Steadiness::Steady,
            Some(mismatch) => {
                self.notes.push(format!(
                    "this program does not repeat, so nothing can be confirmed: {mismatch}"
                ));
                Steadiness::Unsteady
            }
        };
        Ok(())
    }

    /// Whether a run has failed, or shown a bug.
    fn knows_bug(&self) -> bool {
        let mut found = self.found.values();
        !self.failures.is_empty() || found.any(|it| it.finding.is_confirmed_bug())
    }

    /// Makes the runs that come last, unless a bug is known: what is rare and not predicted shows itself in many
    /// runs only, and they are cheap where nothing is predicted from them. Returns whether the user interrupted them.
    fn search(&mut self, runs: u64) -> Result<bool, Error> {
        if self.knows_bug() || self.baseline.fails_undisturbed() || self.options.search == 0 {
            return Ok(false);
        }
        let end = self.allotment.end_of_search(Instant::now());
        let (searched, note) = last_runs::search(
            &self.bench,
            self.options,
            end,
            runs,
            self.budget,
            self.progress,
        )?;
        self.notes.extend(note);
        self.runs += searched.runs;
        for failed in &searched.findings {
            let (plan, result) = (&failed.plan, &failed.result);
            self.failures.add(plan, &result.switches, &failed.failure);
        }
        let program = self.bench.program().unhurried();
        let confirmed = search_races::confirm(&program, &searched.sightings, self.clips)?;
        if confirmed.unrepeated > 0 {
            self.note_unrepeated_races();
        }
        for race in confirmed.findings {
            let key = signature(&race);
            let known = self.found.get(&key).map(|it| it.finding.status);
            if known != Some(Status::Confirmed) {
                let found = Found {
                    finding: race,
                    weight: Weight::Bug,
                    failure: None,
                };
                self.found.insert(key, found);
            }
        }
        Ok(searched.interrupted)
    }

    /// Whether a run that was ended would go on for ever. It takes the time of many others to find out, so this is asked
    /// of few, and not again when one is known.
    fn hangs(&mut self, plan: &Plan, ended: &RunResult) -> Result<Option<Hang>, Error> {
        if self.hangs_looked_at >= MOST_HANGS_LOOKED_AT || self.failures.have_hang() {
            return Ok(None);
        }
        self.hangs_looked_at += 1;
        let start = Instant::now();
        let hang = self.bench.examine(plan, ended, hang_time(self.options));
        // Other runs do not have to pay for it.
        self.deadline = self.allotment.extend(self.deadline, start.elapsed());
        hang
    }

    /// Takes note of a run that was ended, if it would go on for ever. Returns whether it would.
    fn note_hang(&mut self, plan: &Plan, ended: &RunResult) -> Result<bool, Error> {
        let Some(hang) = self.hangs(plan, ended)? else {
            return Ok(false);
        };
        let plan = Plan {
            most_ticks: hang.most_ticks,
            ..plan.clone()
        };
        self.failures.add(&plan, &hang.switches, &hang.failure);
        Ok(true)
    }

    /// Takes note of a recorded run, if it failed.
    fn note_run(&mut self, original: &Original) {
        if let Some(failure) = &original.result.failure {
            self.failures
                .add(&original.plan, &original.result.switches, failure);
        }
    }

    /// A run failed that was to show something else.
    fn note_surprise(&mut self, ran: &Ran) {
        if let Some(failure) = ran.failure() {
            self.failures.add(&ran.plan, &ran.result.switches, failure);
        }
    }

    /// All that was found, with what makes those runs fail that nothing predicted explains.
    /// Says, too, whether a run that was repeated went another way.
    fn settle(mut self, is_interrupted: bool) -> Result<(Vec<Finding>, Vec<String>, bool), Error> {
        self.doubts.settle(&mut self.found);
        let failures = self.failures.settle(&mut self.found);
        let may_explain = !is_interrupted && !self.baseline.fails_undisturbed();
        self.bench.extend(self.options.time / SHARE_OF_EXPLANATIONS);
        let mut findings = Vec::new();
        for it in &failures {
            let explained = Explained::new(&mut self.bench, self.clips, it, may_explain)?;
            let Some(explained) = explained else {
                self.notes.push(it.unrepeated());
                self.steadiness = Steadiness::Unsteady;
                continue;
            };
            if !explained.attach(&mut self.found, self.code.as_mut()) {
                findings.push(explained.finding());
            }
        }
        findings.extend(self.found.into_values().map(|it| it.finding));
        let mut notes = self.notes;
        let most = self.bench.program().most_events;
        notes.extend(self.passed_over.note(most, self.scarce));
        notes.extend(self.budget.note());
        notes.extend(self.prospects.note());
        notes.extend(self.other_sides.note());
        notes.extend(self.missing.iter().map(|it| atomic::missing(it)));
        Ok((findings, notes, self.steadiness == Steadiness::Unsteady))
    }
}
