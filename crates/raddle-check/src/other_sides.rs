//! Runs in which a branch goes to a side that no run has shown.
//!
//! A run takes one path, and random runs find others by chance. Where a branch of the user's code depends on what other
//! threads write, the solver finds a schedule under which it goes the other way
//! ([`raddle_predict::branches`]), if there is one; the program follows it, and the run that comes of it is looked into like
//! others. So a path that needs several branches to go against the odds takes as many runs, not their product. Once a bug is
//! known no more schedules are looked for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use raddle_model::{Model, ModuleId, is_library_file};
use raddle_predict::branches::{Branches, Place};
use raddle_predict::predictor;
use raddle_run::Error;
use raddle_run::launch::Plan;
use raddle_run::replay;
use raddle_trace::file::Trailer;

use crate::bench::{Bench, Ran};
use crate::confirm::run_with;
use crate::ground::Ground;
use crate::guide::Guide;
use crate::timeline::Timeline;

/// Runs of this kind, at most, all in all.
const MOST: u64 = 64;

/// Runs on which no schedule for a side is found, before it is given up: another path may lead there, but few do.
const MOST_IN_VAIN: u32 = 2;

/// For the schedules of one run's branches there is this share of the time that is left for the run.
const SHARE_OF_TIME: u32 = 4;

/// What following one event symbolically takes on a slow machine.
const TIME_AN_EVENT: Duration = Duration::from_micros(1);

/// Which sides of branches runs have shown, and runs that are to show more.
#[derive(Default)]
pub(crate) struct OtherSides {
    shown: BTreeSet<(Place, bool)>,
    /// Sides for which a schedule was found.
    sought: BTreeSet<(Place, bool)>,
    /// On how many runs one was looked for.
    asked: BTreeMap<(Place, bool), u32>,
    waiting: VecDeque<Plan>,
    made: u64,
    given_up: u64,
    /// Runs that there was no time for.
    left_out: u64,
}

impl OtherSides {
    /// The next run to look into; none if there is none.
    pub(crate) fn next(&mut self) -> Option<Plan> {
        self.waiting.pop_front()
    }

    /// What is to be known of branches that were not looked into.
    pub(crate) fn note(&self) -> Option<String> {
        let Self {
            given_up, left_out, ..
        } = self;
        let unknown = "it is not known whether another schedule takes them the other way";
        match (given_up, left_out) {
            (0, 0) => None,
            (_, 0) => Some(format!("of {given_up} branches {unknown}")),
            _ => Some(format!(
                "of {given_up} branches, and of those of {left_out} runs, {unknown}, for want of time (--time gives more)"
            )),
        }
    }

    /// Finds schedules for sides of branches that no run has shown, and follows them. Returns the runs that failed.
    ///
    /// # Errors
    /// If the program cannot be run, or the trace be viewed.
    pub(crate) fn look(
        &mut self,
        bench: &mut Bench,
        model: &Plan,
        ground: &Ground<'_>,
        examined: Examined<'_>,
    ) -> Result<Vec<Ran>, Error> {
        let Examined {
            code,
            tables,
            timeline,
            deadline,
            options,
        } = examined;
        let now = Instant::now();
        let time = deadline.saturating_duration_since(now) / SHARE_OF_TIME;
        if self.made >= MOST {
            return Ok(Vec::new());
        }
        let events = ground.with_run(&[], |run| run.events.len());
        if TIME_AN_EVENT * u32::try_from(events).unwrap_or(u32::MAX) > time {
            self.left_out += 1;
            return Ok(Vec::new());
        }
        let options = predictor::Options {
            until: Some(now + time),
            ..options.clone()
        };
        let found = ground.with_run(&[], |run| {
            let branches = Branches::new(run, code, tables)?;
            let sides = branches.sides();
            self.shown.extend(sides.iter().cloned());
            let mut wanted: BTreeSet<(Place, bool)> = BTreeSet::new();
            for (place, is_taken) in sides {
                let other = (place, !is_taken);
                let is_known = self.shown.contains(&other) || self.sought.contains(&other);
                let asked = self.asked.get(&other).copied().unwrap_or(0);
                if !is_known && asked < MOST_IN_VAIN && is_own(code, &other.0) {
                    self.asked.insert(other.clone(), asked + 1);
                    wanted.insert(other);
                }
            }
            let is_wanted =
                |place: &Place, is_taken: bool| wanted.contains(&(place.clone(), !is_taken));
            Ok(branches.sensitive(&options, &is_wanted))
        });
        let found = found.map_err(|error: raddle_predict::view::BadTrace| Error::runtime(error))?;
        self.given_up += found.given_up;
        let mut failed = Vec::new();
        for branch in found.branches {
            let side = (branch.place, !branch.is_taken);
            if !self.sought.insert(side) {
                continue;
            }
            if self.made >= MOST || bench.is_out_of_time() {
                self.given_up += 1;
                continue;
            }
            self.made += 1;
            let guide = Guide::new(timeline, &branch.schedule.order.to_vec(), &[]);
            let Some((ran, _)) = run_with(bench, model, timeline, &guide)? else {
                continue;
            };
            if !ran.hangs() {
                let plan = replay::plan(&ran.plan, &ran.result.switches);
                self.waiting.push_back(plan);
                failed.extend(ran.failure().is_some().then_some(ran));
            }
        }
        Ok(failed)
    }
}

/// A run whose branches are looked at.
#[derive(Clone, Copy)]
pub(crate) struct Examined<'a> {
    pub(crate) code: &'a Model,
    pub(crate) tables: &'a Trailer,
    pub(crate) timeline: &'a Timeline<'a>,
    /// When the run has to be done with.
    pub(crate) deadline: Instant,
    pub(crate) options: &'a predictor::Options,
}

/// Whether a branch is in the user's own lines.
fn is_own(code: &Model, (module, function, instruction): &Place) -> bool {
    let frames = || {
        let module = code.module(ModuleId(*module))?;
        let mut functions = module.functions.iter();
        let function =
            functions.find(|it| it.linkage_name == *function && !it.blocks.is_empty())?;
        let position = function.instruction(*instruction)?.position?;
        Some(module.frames(position))
    };
    // What was inlined from a library decides for its caller.
    frames().is_some_and(|mut frames| frames.any(|it| !is_library_file(it.file)))
}
