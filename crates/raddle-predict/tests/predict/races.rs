//! Races by the language's rule, on traces written by hand. Expected are pairs of instructions.

use raddle_predict::races::{Code, certain};
use raddle_trace::event::Event;

use crate::text::trace;

fn pairs(events: &[Event], code: &Code<'_>) -> String {
    let site = |index: u64| {
        let site = events[index as usize].site();
        site.map_or(0, |it| it.0)
    };
    let races = certain(events, code);
    let mut pairs: Vec<(u32, u32)> = races
        .iter()
        .map(|race| (site(race.a.0), site(race.b.0)))
        .map(|(a, b)| (a.min(b), a.max(b)))
        .collect();
    pairs.sort_unstable();
    let words: Vec<String> = pairs.iter().map(|(a, b)| format!("{a}-{b}")).collect();
    words.join(" ")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let found = pairs(&trace(text), &Code::all_traced());
    assert_eq!(found, expected, "{text}");
}

/// One thread writes data and publishes it, another one takes it and reads: with these operations.
#[track_caller]
fn published(publish: &str, take: &str, expected: &str) {
    check(
        &format!("T1: w(x)@1 {publish}\n T2: {take} r(x)@2"),
        expected,
    );
}

#[test]
fn publication_needs_release_and_acquire() {
    published("aw(f,r)=1", "ar(f,a)=1", "");
    published("aw(f,s)=1", "ar(f,s)=1", "");
    published("aw(f,x)=1", "ar(f,a)=1", "1-2");
    published("aw(f,r)=1", "ar(f,x)=1", "1-2");
    published("aw(f,x)=1", "ar(f,x)=1", "1-2");
    published("aw(f,s)=1", "ar(f,x)=1", "1-2");
}

#[test]
fn an_exchange_that_fails_may_acquire_nothing() {
    let events = trace("T1: w(x)@1 aw(l,r)=1\n T2: refused(l,a) r(x)@2");
    assert_eq!(pairs(&events, &Code::all_traced()), "");
    assert_eq!(pairs(&events, &Code::least_ordered()), "1-2");
}

#[test]
fn an_initialiser_is_ordered_before_later_calls_even_if_it_was_left_by_an_exception() {
    check("T1: once(o) w(x)@1 done(o)\n T2: pass(o) r(x)@2", "");
    check("T1: once(o) w(x)@1\n T2: once(o) w(x)@2 done(o)", "");
    check("T1: once(o) w(x)@1\n T2: once(p) w(x)@2 done(p)", "1-2");
    // What comes after the initialiser is not.
    check("T1: once(o) done(o) w(x)@1\n T2: pass(o) r(x)@2", "1-2");
}

#[test]
fn fences_stand_in_for_the_accesses_around_them() {
    published("fence(r) aw(f,x)=1", "ar(f,x)=1 fence(a)", "");
    published("fence(s) aw(f,x)=1", "ar(f,x)=1 fence(s)", "");
    published("fence(r) aw(f,x)=1", "ar(f,a)=1", "");
    published("aw(f,r)=1", "ar(f,x)=1 fence(a)", "");
    // On the wrong side, or of the wrong kind.
    published("aw(f,x)=1 fence(r)", "ar(f,a)=1", "1-2");
    published("fence(a) aw(f,x)=1", "ar(f,a)=1", "1-2");
    published("fence(r) aw(f,x)=1", "fence(a) ar(f,x)=1", "1-2");
    published("fence(r) aw(f,x)=1", "ar(f,x)=1 fence(r)", "1-2");
    // Two fences in one order are no synchronisation by themselves.
    published("fence(s)", "fence(s)", "1-2");
}

#[test]
fn only_read_modify_writes_continue_a_release_sequence() {
    let between = |step: &str, expected: &str| {
        let text = format!("T1: w(x)@1 aw(f,r)\n {step}\n T2: ar(f,a) r(x)@2");
        check(&text, expected);
    };
    between("T3: rmw(f,x)", "");
    between("T3: rmw(f,x) rmw(f,x)", "");
    between("T3: aw(f,x)", "1-2");
    between("T3: aw(f,r)", "1-2");
    between("T1: aw(f,x)", "1-2");
    between("T3: aw(f,x) rmw(f,x)", "1-2");
}

#[test]
fn a_relaxed_update_after_a_fence_releases_what_the_fence_knows() {
    let text = "T1: w(x)@1 fence(r) w(y)@2 rmw(f,x)
                T2: rmw(f,x) fence(a) r(x)@3 r(y)@4";
    check(text, "2-4");
}

#[test]
fn what_was_released_before_the_update_stays_released() {
    let text = "T1: w(x)@1 rmw(f,r)
                T3: w(y)@2 rmw(f,r)
                T2: ar(f,a) r(x)@3 r(y)@4";
    check(text, "");
}

#[test]
fn a_compare_exchange_that_fails_is_a_load() {
    // `refused` finds 1; without the program's code the ordering is that of success.
    let text = "T1: w(x)@1 aw(f,r)=1
                T2: refused(f,a) r(x)@2 w(y)@3
                T1: ar(f,a)=1 r(y)@4";
    check(text, "3-4");
    let text = "T1: w(x)@1 aw(f,r)=1
                T2: refused(f,x) r(x)@2";
    check(text, "1-2");
}

#[test]
fn making_an_atomic_is_ordered_by_its_own_release() {
    let text = "T1: w(f)=0@1 aw(f,r)=1@2
                T2: ar(f,a)=1@3";
    check(text, "");
    let text = "T1: w(f)=0@1 aw(f,x)=1@2
                T2: ar(f,a)=1@3";
    check(text, "1-3");
}

#[test]
fn a_value_that_nothing_shown_wrote_comes_from_what_is_not_shown() {
    // f was 0 and is 1: a library released it.
    let text = "T2: ar(f,a)=0
                T1: w(x)@1
                T2: ar(f,a)=1 r(x)@2
                T3: ar(f,a)=1 r(x)@3
                T4: ar(f,x)=1 r(x)@4";
    check(text, "1-4");
}

#[test]
fn a_plain_write_releases_nothing() {
    let text = "T1: w(x)@1 aw(f,r)=1@5 w(f)=1@6
                T2: ar(f,a)=1@7 r(x)@2";
    // What T2 reads in the race on f orders what follows.
    check(text, "6-7");
}

#[test]
fn bytes_that_are_released_together_are_taken_together() {
    // Two counters, read at once.
    let text = "T1: w(x)@1 rmw(f:4,r)
                T2: ar(f:8,a)=0 r(x)@2
                T3: ar(f+4:4,a)=0 r(x)@3";
    check(text, "1-3");
}

#[test]
fn what_follows_a_race_is_certain_only_if_the_race_did_not_lead_there() {
    let text = "T1: w(x)@1 w(f)=1@2
                T2: r(f)=1@3 r(x)@4";
    check(text, "2-3");
    let text = "T1: w(f)=1@2 w(x)@1
                T2: r(f)=1@3 r(x)@4";
    check(text, "1-4 2-3");
}

#[test]
fn locks_order_and_failed_tries_do_not() {
    check("T1: acq(l) w(x)@1 rel(l)\n T2: acq(l) r(x)@2 rel(l)", "");
    check("T1: w(x)@1 acq(l) rel(l)\n T2: try(l) r(x)@2", "1-2");
    let readers = "T1: racq(l) w(x)@1 rrel(l)
                   T2: racq(l) w(x)@2 rrel(l)
                   T3: wacq(l) w(x)@3 wrel(l)
                   T4: racq(l) r(x)@4 rrel(l)";
    check(readers, "1-2");
}

#[test]
fn a_lock_is_inherited_from_an_owner_that_ended() {
    check("T1: acq(l) w(x)@1 end\n T2: acq(l) r(x)@2 rel(l)", "");
    check(
        "T1: acq(l) rel(l) w(x)@1 end\n T2: acq(l) r(x)@2 rel(l)",
        "1-2",
    );
}

#[test]
fn an_inlined_lock_is_what_it_consists_of() {
    check(
        "T1: lock(l,a) w(x)@1 unlock(l,r)\n T2: lock(l,a) r(x)@2 unlock(l,r)",
        "",
    );
    check(
        "T1: lock(l,a) w(x)@1 unlock(l,x)\n T2: lock(l,a) r(x)@2 unlock(l,r)",
        "1-2",
    );
}

#[test]
fn other_objects_order_what_they_promise_to() {
    check("T1: w(x)@1 post(s,1)\n T2: take(s,0) r(x)@2", "");
    check("T2: w(x)@2 take(s,0)\n T1: post(s,1) r(x)@1", "1-2");
    check("T1: w(x)@1 notify(c)\n T2: wake(c,T1) r(x)@2", "");
    check("T1: w(x)@1 fnotify(c)\n T2: fwake(c,T1) r(x)@2", "");
    check("T2: w(x)@2 fwait(c,0)\n T1: fnotify(c) r(x)@1", "1-2");
    let barrier = "T1: w(x)@1 arrive(b,1)
                   T2: w(y)@2 arrive(b,1) leave(b,1) r(x)@3
                   T1: leave(b,1) r(y)@4 w(x)@5
                   T2: arrive(b,2)";
    check(barrier, "3-5");
    let threads = "T1: w(x)@1 fork(T2)
                   T2: begin(T1) w(x)@2 w(y)@3 end
                   T1: w(y)@4 join(T2) w(x)@5";
    check(threads, "3-4");
}

#[test]
fn memory_is_held_against_its_own_life_only() {
    let text = "T1: alloc(h,8) w(h)@1 free(h)
                T2: alloc(h,8) w(h)@2
                T3: w(h)@3";
    check(text, "2-3");
}

#[test]
fn what_frees_a_block_has_to_know_of_all_accesses_to_it() {
    // A free has no instruction here.
    check(
        "T1: alloc(h,8) w(h)@1 aw(c,r)=1\n T2: ar(c,a)=1 free(h,8)",
        "",
    );
    check(
        "T1: alloc(h,8) w(h)@1 aw(c,x)=1\n T2: ar(c,a)=1 free(h,8)",
        "0-1",
    );
    check(
        "T1: alloc(h,8) ar(h,s)@1 aw(c,x)=1\n T2: ar(c,a)=1 free(h,8)",
        "0-1",
    );
}

#[test]
fn every_byte_counts() {
    check("T1: w(x:4)@1\n T2: w(x+4:4)@2", "");
    check("T1: w(x:4)@1\n T2: w(x+3:1)@2", "1-2");
    check("T1: w(x+6:4)@1\n T2: w(x+8:1)@2", "1-2");
    check("T1: rw(x:40)@1\n T2: r(x+36:4)@2 r(x+40:4)@3", "1-2");
}

#[test]
fn a_pair_of_instructions_is_told_once_and_counted() {
    let text = "T1: w(x)@1 w(y)@1
                T2: r(x)@2 r(y)@2";
    let events = trace(text);
    let races = certain(&events, &Code::all_traced());
    let told: Vec<(u64, u64, u64)> = races
        .iter()
        .map(|it| (it.a.0, it.b.0, it.instances))
        .collect();
    assert_eq!(told, [(0, 2, 2)]);
}
