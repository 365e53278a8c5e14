//! The tasks of an executor that are suspended at the end of a run, and where.
//!
//! The body of an `async` function or block is a function that is called whenever its future is polled. It reads the
//! future's state first, goes on from there, and when it has to wait writes the state in which it is suspended as the
//! last thing before it returns; the line of that write is that of the `await`. States from 3 on are suspended ones (0 is
//! a future that was never polled, 1 one that has returned, 2 one that has panicked). So a future whose body's last event
//! is such a write is suspended there. A future is known by the heap block that it lies in, or by its address.

use std::collections::BTreeMap;

use raddle_model::ASYNC_BODY;
use raddle_report::{Access, Location};
use raddle_run::symbols::is_library;
use raddle_trace::allocations::{self, Allocations};
use raddle_trace::event::{Event, EventKind};
use raddle_trace::file::Trailer;
use raddle_trace::ids::{Address, AllocId, SiteId, ThreadId};
use raddle_trace::position::SourcePosition;

/// The first state of a future that is suspended.
const FIRST_SUSPENDED: u64 = 3;

/// Which future: its body's name, and where it lies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Future<'a> {
    body: &'a str,
    block: Result<AllocId, Address>,
}

/// What is known of a future.
#[derive(Debug)]
struct Polled {
    /// Its first event.
    first: usize,
    /// How many there were.
    events: u64,
    /// Where its state lies.
    state: Option<Address>,
    /// Where it is suspended, as far as its last event tells.
    suspended: Option<Location>,
}

/// Where the user's futures are suspended at the end of a run, in the order in which they came to be.
pub(crate) fn suspended(events: &[Event], trailer: &Trailer) -> Vec<Location> {
    let bodies: BTreeMap<SiteId, &SourcePosition> = trailer
        .sites
        .iter()
        .filter_map(|it| Some((it.site, body(&it.positions)?)))
        .collect();
    if bodies.is_empty() {
        return Vec::new();
    }
    let mut allocations = Allocations::default();
    let mut known: BTreeMap<Future<'_>, Polled> = BTreeMap::new();
    let mut before: BTreeMap<ThreadId, &Event> = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        allocations.observe(event);
        let previous = before.insert(event.thread, event);
        let Some(position) = event.site().and_then(|it| bodies.get(&it)) else {
            continue;
        };
        let future = |addr: Address| Future {
            body: &position.function,
            block: match allocations.locate(addr) {
                allocations::Location::Heap { alloc, .. } => Ok(alloc),
                allocations::Location::Other(address) => Err(address),
            },
        };
        if let (EventKind::Value { .. }, Some(previous)) = (event.kind, previous) {
            // The body decides where to go on: the read before is that of the state, if it is the first of all.
            if let EventKind::Read(read) = previous.kind {
                let polled = known.get_mut(&future(read.addr));
                if let Some(polled) = polled.filter(|it| it.events == 1) {
                    polled.state = Some(read.addr);
                }
            }
            continue;
        }
        let Some(footprint) = event.footprint() else {
            continue;
        };
        let polled = known.entry(future(footprint.addr)).or_insert(Polled {
            first: index,
            events: 0,
            state: None,
            suspended: None,
        });
        polled.events += 1;
        let is_suspension = is_suspension(event) && polled.state == Some(footprint.addr);
        polled.suspended = is_suspension.then(|| location(event, position));
    }
    let mut found: Vec<(usize, Location)> = known
        .into_values()
        .filter_map(|it| Some((it.first, it.suspended?)))
        .collect();
    found.sort_by_key(|it| it.0);
    found.into_iter().map(|it| it.1).collect()
}

/// The position in the body of an `async` function of the user's own, if an instruction is in one.
fn body(positions: &[SourcePosition]) -> Option<&SourcePosition> {
    let own = positions.iter().find(|it| !is_library(it))?;
    (own.line != 0 && own.function.ends_with(ASYNC_BODY)).then_some(own)
}

fn is_suspension(event: &Event) -> bool {
    match event.kind {
        EventKind::Write(it) => it.size <= 4 && it.value >= FIRST_SUSPENDED,
        _ => false,
    }
}

fn location(event: &Event, position: &SourcePosition) -> Location {
    let task = position.function.trim_end_matches(ASYNC_BODY);
    let task = task.trim_end_matches("::");
    Location {
        note: Some(format!("task `{task}` is suspended at this await")),
        stack: vec![position.clone()],
        ..Location::new(event.thread, Access::Wait, position.clone())
    }
}
