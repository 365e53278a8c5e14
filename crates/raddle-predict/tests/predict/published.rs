//! Published traces of other people's programs, in RAPID's text format.

use std::fs;
use std::path::PathBuf;

use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Witness};
use raddle_predict::clocks::Clocks;
use raddle_predict::hb;
use raddle_predict::hybrid::{self, Limits};
use raddle_predict::sync_preserving::SyncPreserving;
use raddle_predict::view::View;
use raddle_trace::event::Event;
use raddle_trace::file::Trailer;
use raddle_trace::std_format::StdImport;

/// Races by happens-before and sync-preserving ones, and candidates. Every witness goes to the
/// judge.
fn check(name: &str, expected: [usize; 3]) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/std");
    let text = fs::read(folder.join(name)).expect("a readable trace");
    let mut import = StdImport::new(&text[..]);
    let events: Result<Vec<Event>, _> = import.by_ref().collect();
    let events = events.expect("a trace");
    let tables = Trailer {
        names: Some(import.into_names()),
        ..Trailer::default()
    };
    let view = View::new(&events).unwrap();
    let order = Clocks::must_order(&view, |_| true);
    let candidates = hybrid::candidates(&view, &order, Limits::default());
    let races = SyncPreserving::new(&view).races();
    assert_eq!((races.cut_pairs, candidates.cut_cells), (0, 0));
    let recording = Recording::new(&events, Some(&tables), None).expect("a trace");
    for race in &races.races {
        let witness = Witness {
            order: race.witness(&view),
            listing: Listing::Some,
            rule: ReadRule::SameWrite,
            claim: Claim::Race {
                a: view.event_index(race.a),
                b: view.event_index(race.b),
            },
        };
        if let Err(objection) = Judge::new(&recording).judge(&witness) {
            panic!("{name}: {objection}");
        }
    }
    let found = [
        hb::races(&view).len(),
        races.races.len(),
        candidates.pairs.len(),
    ];
    assert_eq!(found, expected, "{name}");
}

#[test]
fn published_traces() {
    check("Account.std", [6, 3, 22]);
    check("Bensalem.std", [0, 0, 0]);
    check("Deadlock.std", [2, 2, 9]);
    check("DiningPhil.std", [0, 0, 0]);
    check("StringBuffer.std", [0, 0, 0]);
    check("Transfer.std", [0, 0, 0]);
}
