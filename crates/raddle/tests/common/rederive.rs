//! Derives a finding again from the recording of its clip: from the events themselves, not from what the report says.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use raddle_check::places::Places;
use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Region, Witness};
use raddle_model::Model;
use raddle_predict::races::{self, Code};
use raddle_trace::action::Action;
use raddle_trace::clip::Clip;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::file::{TraceReader, Trailer};
use raddle_trace::ids::EventIndex;
use raddle_trace::outcome::Ending;

use super::head::Finding;
use super::model_of;

/// The recording of a clip's run.
struct Recorded {
    /// Where the command keeps its files.
    state: PathBuf,
    clip: Clip,
    events: Vec<Event>,
    tables: Trailer,
}

/// Complains unless the clip, its recording and the report say the same.
pub fn check(finding: &Finding) -> Result<(), String> {
    let path = finding.clip.as_deref().ok_or("it has no clip")?;
    let recorded = Recorded::read(path)?;
    let shows = recorded.clip.shows.as_deref().unwrap_or_default();
    if shows != finding.headline {
        return Err(format!(
            "the clip shows `{shows}`, the report `{}`",
            finding.headline
        ));
    }
    recorded.check_outcome(finding)?;
    recorded.check_places(finding)?;
    let events: Vec<EventIndex> = finding.events();
    match (finding.kind.as_str(), events.as_slice()) {
        ("data-race", [a, b]) if finding.proved_by == "happens-before" => {
            recorded.is_unordered(*a, *b)
        }
        ("data-race", [a, b]) => recorded.is_moment(*a, *b),
        ("atomicity-violation" | "atomic-set-violation", [first, .., last]) => {
            let regions = recorded.regions(&events);
            if regions.is_empty() {
                return Err(format!("nothing comes between {first:?} and {last:?}"));
            }
            let events = events.clone();
            recorded.judge(last.0 + 1, Claim::Unserialisable { events, regions })
        }
        ("use-after-free" | "double-free", [free, then]) => recorded.is_used(*free, *then),
        ("data-race" | "atomicity-violation" | "atomic-set-violation", told) => {
            Err(format!("it is told by {} events", told.len()))
        }
        _ => Ok(()),
    }
}

impl Recorded {
    fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        let clip = Clip::parse(&text).map_err(|error| error.to_string())?;
        let reader = TraceReader::open(&path.with_extension("trace"));
        let mut reader = reader.map_err(|error| error.to_string())?;
        let events = reader.by_ref().collect::<Result<Vec<_>, _>>();
        let state = path.ancestors().nth(2).ok_or("a clip lies in `clips`")?;
        Ok(Self {
            state: state.to_owned(),
            clip,
            events: events.map_err(|error| error.to_string())?,
            tables: reader
                .trailer()
                .ok_or("the trace has no tables")?
                .as_ref()
                .clone(),
        })
    }

    /// The clip's run ends as the finding says.
    fn check_outcome(&self, finding: &Finding) -> Result<(), String> {
        let ending = self.clip.expected.as_ref().map(|it| it.ending);
        let ending = ending.unwrap_or(Ending::Success);
        let consequence = raddle_report::Consequence::from(ending);
        let is_told = match finding.consequence.as_str() {
            // How it ended need not come of what was found; then the message says so.
            "none" => !consequence.is_failure() || finding.message.is_some(),
            told => told == consequence.name(),
        };
        let is_kind = match finding.kind.as_str() {
            "deadlock" => ending == Ending::Deadlock,
            _ => true,
        };
        match is_told && is_kind {
            true => Ok(()),
            false => Err(format!("its clip ends with {ending:?}")),
        }
    }

    /// The events that the report tells are those of the recording, at its places, in its threads. What a thread waits for
    /// for ever is no event.
    fn check_places(&self, finding: &Finding) -> Result<(), String> {
        let told = finding.events().into_iter().collect();
        let places = Places::new(&self.events, &self.tables, &told);
        for step in &finding.interleaving {
            let Some(index) = step.event else {
                match finding.kind.as_str() {
                    "deadlock" => continue,
                    _ => return Err("a step of no event".to_owned()),
                }
            };
            let event = self.events.get(index as usize);
            let event = event.ok_or("a step beyond the recording")?;
            let mut stack = places.stack(EventIndex(index)).iter();
            let is_there = stack.any(|at| Path::new(&at.file) == step.file && at.line == step.line);
            if event.thread.to_string() != step.thread || !is_there {
                return Err(format!(
                    "event {index} is not {} at line {}",
                    step.what, step.line
                ));
            }
        }
        Ok(())
    }

    /// Judges the order of the recording itself, up to an event, as a witness.
    fn judge(&self, executed: u64, claim: Claim) -> Result<(), String> {
        let recording = Recording::new(&self.events, Some(&self.tables), None);
        let recording = recording.map_err(|error| error.to_string())?;
        let witness = Witness {
            order: (0..executed).map(EventIndex).collect(),
            listing: Listing::Every,
            rule: ReadRule::SameValue,
            claim,
        };
        let judged = Judge::new(&recording).judge(&witness);
        judged
            .map(drop)
            .map_err(|it| format!("the judge says: {it}"))
    }

    /// The second access's thread stood right before it when the first one came.
    fn is_moment(&self, a: EventIndex, b: EventIndex) -> Result<(), String> {
        let (a, b) = (a.0 as usize, b.0 as usize);
        let [first, second] = [a, b].map(|it| &self.events[it]);
        let [Some(one), Some(other)] = [first, second].map(touched_by) else {
            return Err("a race of no accesses".to_owned());
        };
        let meets = one.start < other.end && other.start < one.end;
        let writes = first.is_write() || second.is_write() || freed_by(second).is_some();
        let writes = writes || freed_by(first).is_some();
        let between = self.events.get(a + 1..b).unwrap_or_default();
        let is_next = between.iter().all(|it| it.thread != second.thread);
        match meets && writes && is_next && first.thread != second.thread {
            true => Ok(()),
            false => Err(format!(
                "events {a} and {b} are at no moment next to each other"
            )),
        }
    }

    /// What an event frees is used by a later one, or freed again, and was not allocated anew.
    fn is_used(&self, free: EventIndex, then: EventIndex) -> Result<(), String> {
        let (free, then) = (free.0 as usize, then.0 as usize);
        let freed = self
            .events
            .get(free)
            .and_then(freed_by)
            .ok_or("nothing is freed")?;
        let used = match (self.events[then].footprint(), freed_by(&self.events[then])) {
            (Some(access), _) => access.addr.0,
            (None, Some(again)) => again.start,
            // The runtime ends a program that frees twice before its allocator does.
            (None, None) => {
                let outcome = self.clip.expected.as_ref();
                let object = outcome.and_then(|it| it.object).ok_or("nothing is used")?;
                object.0
            }
        };
        let between = self.events.get(free + 1..then).unwrap_or_default();
        let is_new = between
            .iter()
            .filter_map(allocated_by)
            .any(|it| it.contains(&used));
        match freed.contains(&used) && free < then && !is_new {
            true => Ok(()),
            false => Err(format!("event {then} uses nothing that event {free} freed")),
        }
    }

    /// For each thread with several of these events, the region from its first to its last one.
    fn regions(&self, events: &[EventIndex]) -> Vec<Region> {
        let thread = |it: &EventIndex| self.events[it.0 as usize].thread;
        let mut threads: Vec<_> = events.iter().map(thread).collect();
        threads.sort_unstable();
        threads.dedup();
        let regions = threads.into_iter().filter_map(|it| {
            let own: Vec<_> = events.iter().filter(|event| thread(event) == it).collect();
            let [first, .., last] = own.as_slice() else {
                return None;
            };
            Some(Region::Marked {
                first: **first,
                last: **last,
            })
        });
        regions.collect()
    }

    /// By the language's rule nothing orders the two accesses.
    fn is_unordered(&self, a: EventIndex, b: EventIndex) -> Result<(), String> {
        let model = Model::read(&model_of(&self.state)).map_err(|error| error.to_string())?;
        let mut code = Code::new(&model);
        code.learn(&self.tables);
        let races = races::certain(&self.events, &code);
        let places = |a: EventIndex, b: EventIndex| {
            let mut sites = [a, b].map(|it| self.events[it.0 as usize].site());
            sites.sort_unstable();
            sites
        };
        match races.iter().any(|it| places(it.a, it.b) == places(a, b)) {
            true => Ok(()),
            false => Err("happens-before orders the accesses".to_owned()),
        }
    }
}

/// The bytes that an event accesses or frees.
fn touched_by(event: &Event) -> Option<Range<u64>> {
    let access = event.footprint();
    let access = access.map(|it| it.addr.0..it.addr.0 + it.len.max(1));
    access.or_else(|| freed_by(event))
}

/// The bytes that an event frees.
fn freed_by(event: &Event) -> Option<Range<u64>> {
    match event.kind {
        EventKind::Action {
            action: Action::Free { addr, size, .. },
            ..
        } => Some(addr.0..addr.0 + size.max(1)),
        _ => None,
    }
}

/// The bytes that an event allocates.
fn allocated_by(event: &Event) -> Option<Range<u64>> {
    match event.kind {
        EventKind::Action {
            action: Action::Alloc { addr, size, .. },
            ..
        } => Some(addr.0..addr.0 + size.max(1)),
        _ => None,
    }
}
