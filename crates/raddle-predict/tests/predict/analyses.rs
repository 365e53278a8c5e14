//! What each analysis says of traces made by hand.

use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Witness};
use raddle_predict::Pair;
use raddle_predict::clocks::Clocks;
use raddle_predict::hb;
use raddle_predict::hybrid::{self, Limits};
use raddle_predict::sync_preserving::{Race, SyncPreserving};
use raddle_predict::view::{Pos, Source, View};
use raddle_trace::event::Event;

use crate::text::trace;

/// Pairs of instructions, as `2-5 3-7`, of happens-before, sync-preserving and hybrid races. Every
/// witness goes to the judge.
fn check(text: &str, hb: &str, sync_preserving: &str, hybrid: &str) {
    let events = trace(text);
    let view = View::new(&events).unwrap();
    let pairs = |pairs: &[Pair]| sites(&view, pairs.iter().map(|pair| (pair.a, pair.b)));
    assert_eq!(pairs(&hb::races(&view)), hb, "happens-before");
    let order = Clocks::must_order(&view, |_| true);
    let candidates = hybrid::candidates(&view, &order, Limits::default());
    assert_eq!(candidates.cut_cells, 0);
    let races = SyncPreserving::new(&view).races().races;
    let found = sites(&view, races.iter().map(|race| (race.a, race.b)));
    assert_eq!(found, sync_preserving, "sync-preserving");
    assert_eq!(pairs(&candidates.pairs), hybrid, "hybrid");
    judge(&events, &view, &races);
}

fn judge(events: &[Event], view: &View, races: &[Race]) {
    let recording = Recording::new(events, None, None).unwrap();
    for race in races {
        let witness = Witness {
            order: race.witness(view),
            listing: Listing::Some,
            rule: ReadRule::SameWrite,
            claim: Claim::Race {
                a: view.event_index(race.a),
                b: view.event_index(race.b),
            },
        };
        if let Err(objection) = Judge::new(&recording).judge(&witness) {
            panic!("{objection}");
        }
    }
}

fn sites(view: &View, pairs: impl Iterator<Item = (Pos, Pos)>) -> String {
    let number = |pos| match view.source(pos) {
        Source::Site(site) => site.0,
        Source::Code(_) => 0,
    };
    let mut numbers: Vec<(u32, u32)> = pairs
        .map(|(a, b)| (number(a), number(b)))
        .map(|(a, b)| (a.min(b), a.max(b)))
        .collect();
    numbers.sort_unstable();
    let words: Vec<String> = numbers.iter().map(|(a, b)| format!("{a}-{b}")).collect();
    words.join(" ")
}

#[test]
fn pecan_figure_1() {
    let text = "T1: fork(T2)@1
                T2: r(x)@5
                T1: w(x)@2 r(y)@3
                T2: r(x)@6 w(y)@7";
    check(text, "2-5 2-6 3-7", "2-5 2-6 3-7", "2-5 2-6 3-7");
}

#[test]
fn a_common_lock_excludes() {
    let text = "T1: acq(l) w(x)@1 rel(l)
                T2: acq(l) r(x)@2 rel(l)";
    check(text, "", "", "");
}

#[test]
fn a_critical_section_in_between_hides_a_race_from_happens_before() {
    let text = "T1: w(x)@1 acq(l) w(y)@2 rel(l)
                T2: acq(l) w(z)@3 rel(l) w(x)@4";
    check(text, "", "1-4", "1-4");
}

#[test]
fn a_value_passed_on_orders_what_locks_do_not() {
    let text = "T1: w(x)@1 acq(l) w(y)@2 rel(l)
                T2: acq(l) r(y)@3 rel(l) w(x)@4";
    check(text, "", "", "1-4");
}

#[test]
fn a_race_that_needs_sections_in_another_order_is_only_a_candidate() {
    let text = "T1: acq(l) w(y)@2 w(x)@3 rel(l)
                T2: acq(l) w(z)@6 rel(l) w(x)@8";
    check(text, "", "", "3-8");
}

#[test]
fn a_notification_orders() {
    let text = "T1: acq(l) rel(l) wait(c,l)
                T2: w(x)@1 notify(c)
                T1: wake(c,T2) acq(l) rel(l) w(x)@2";
    check(text, "", "", "");
}

#[test]
fn threads_are_ordered_by_creation_and_joining() {
    let text = "T1: w(x)@1 fork(T2)
                T2: begin(T1) w(x)@2 w(y)@3 end
                T1: w(y)@4 join(T2) w(x)@5";
    check(text, "3-4", "3-4", "3-4");
}

#[test]
fn two_readers_do_not_exclude_each_other() {
    let text = "T1: racq(l) w(x)@1 rrel(l)
                T2: racq(l) w(x)@2 rrel(l)
                T3: wacq(l) w(x)@3 wrel(l)";
    check(text, "1-2", "1-2", "1-2");
}

#[test]
fn atomics_race_with_plain_accesses_only() {
    let text = "T1: aw(x)@1 w(y)@2
                T2: ar(x)@3 aw(y)@4";
    check(text, "2-4", "2-4", "2-4");
}

#[test]
fn release_and_acquire_order_what_is_around_them() {
    let passes = |store: &str, load: &str, race: &str| {
        let text = format!(
            "T1: w(x)@1 aw(f,{store})@2
             T2: ar(f,{load})@3 w(x)@4"
        );
        check(&text, race, "", "1-4");
    };
    passes("r", "a", "");
    passes("s", "s", "");
    passes("x", "a", "1-4");
    passes("r", "x", "1-4");
}

#[test]
fn fences_make_relaxed_accesses_synchronise() {
    let text = "T1: w(x)@1 fence(r) aw(f,x)@2
                T2: ar(f,x)@3 fence(a) w(x)@4";
    check(text, "", "", "1-4");
}

#[test]
fn a_read_modify_write_continues_a_release_sequence() {
    let text = "T1: w(x)@1 aw(f,r)@2
                T2: rmw(f,x)@3
                T3: ar(f,a)@4 w(x)@5";
    check(text, "", "", "1-5");
}

#[test]
fn an_inlined_lock_may_be_taken_first() {
    let text = "T1: w(l)@9 fork(T2)
                T2: w(x)@4 lock(l) w(z)@3 unlock(l)
                T1: lock(l) w(y)@2 unlock(l) w(x)@1";
    let events = trace(text);
    let view = View::new(&events).unwrap();
    assert!(hb::races(&view).is_empty());
    let races = SyncPreserving::new(&view).races().races;
    assert_eq!(sites(&view, races.iter().map(|r| (r.a, r.b))), "1-4");
}

#[test]
fn accesses_of_different_sizes_overlap_exactly() {
    let text = "T1: w(x:8)@1
                T2: w(x+2:2)@2 w(y+4:1)@3
                T1: w(y:4)@4 rw(z:100)@5
                T2: r(z+99:1)@6 r(z+100:1)@7";
    check(text, "1-2 5-6", "1-2 5-6", "1-2 5-6");
}

#[test]
fn a_reused_address_is_another_object() {
    let text = "T1: alloc(x,8) w(x)@1 free(x)
                T2: alloc(x,8) w(x)@2 free(x)";
    check(text, "", "", "");
}

#[test]
fn semaphores_and_barriers_order() {
    let text = "T1: w(x)@1 post(s,1) arrive(b,0)
                T2: take(s,0) w(x)@2 arrive(b,0) leave(b,0) w(y)@3
                T1: leave(b,0) w(y)@4 w(x)@5";
    check(text, "3-4", "3-4", "3-4");
}

#[test]
fn a_try_fails_only_while_the_lock_is_held() {
    let text = "T1: acq(l) w(y)@1
                T2: try(l) w(y)@2
                T1: rel(l)";
    check(text, "1-2", "1-2", "1-2");
}
