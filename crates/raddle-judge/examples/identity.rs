//! Judges recorded runs as witnesses of themselves: `identity TRACE [MODEL]`.
//!
//! A run is feasible because it happened, so every prefix of it must be accepted under every rule;
//! what is refused is a mistake of the recorder's or of the judge's.

use std::path::Path;

use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Witness};
use raddle_model::Model;
use raddle_trace::file::TraceReader;
use raddle_trace::ids::EventIndex;

/// Prefixes that are judged, besides the whole.
const PREFIXES: u64 = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [trace, model @ ..] = &arguments[..] else {
        return Err("usage: identity TRACE [MODEL]".into());
    };
    let mut reader = TraceReader::open(Path::new(trace))?;
    let tables = reader.trailer().cloned();
    let events = reader.by_ref().collect::<Result<Vec<_>, _>>()?;
    let model = match model.first() {
        Some(path) => Some(Model::read(Path::new(path))?),
        None => None,
    };
    let recording = Recording::new(&events, tables.as_deref(), model.as_ref())?;
    let unexplained = recording.unexplained();
    let unseen = recording.unseen();
    println!(
        "{trace}: {} events, {} unexplained, {} show unseen writes",
        events.len(),
        unexplained.len(),
        unseen.len()
    );
    for index in unseen.iter().take(5) {
        println!("  unseen: {index} {}", events[index.0 as usize].kind);
    }
    for index in unexplained.iter().take(5) {
        println!("  unexplained: {index} {}", events[index.0 as usize].kind);
    }
    for thread in recording.threads().into_keys() {
        if let Some(rehearsal) = recording.rehearse(thread) {
            println!(
                "  {thread}: {} of {} events followed, {} of {} branches computed, {} calls lost",
                rehearsal.followed,
                rehearsal.events,
                rehearsal.decided,
                rehearsal.branches,
                rehearsal.lost.len()
            );
            for why in &rehearsal.lost {
                println!("    {why}");
            }
        }
    }
    let judge = Judge::new(&recording);
    let count = events.len() as u64;
    let mut refused = 0;
    for rule in [ReadRule::SameWrite, ReadRule::SameValue, ReadRule::Relaxed] {
        for part in 1..=PREFIXES {
            let witness = Witness {
                order: (0..count * part / PREFIXES).map(EventIndex).collect(),
                listing: Listing::Every,
                rule,
                claim: Claim::Feasible,
            };
            if let Err(objection) = judge.judge(&witness) {
                println!("  {rule:?}, {part}/{PREFIXES}: {objection}");
                refused += 1;
                break;
            }
        }
    }
    if refused > 0 {
        return Err(format!("{trace}: refused").into());
    }
    Ok(())
}
