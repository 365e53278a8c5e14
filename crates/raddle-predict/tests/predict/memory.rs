//! Memory errors between threads: what becomes a candidate, and what of it can be reached.

use raddle_judge::{Claim, Judge, Listing, Objection, ReadRule, Recording, Witness};
use raddle_predict::candidate::{Candidate, Flaw};
use raddle_predict::clocks::Clocks;
use raddle_predict::memory::{self, Limits};
use raddle_predict::sync_preserving::{Proof, SyncPreserving};
use raddle_predict::view::View;
use raddle_trace::event::Event;

use crate::deadlocks::next_sites;
use crate::text::trace;

/// That a thread would follow null, only the program's model can show, and that a static is null at first,
/// only its image; everything before that, the judge sees without.
fn judge(events: &[Event], proof: &Proof) {
    let recording = Recording::new(events, None, None).unwrap();
    let mut witness = Witness {
        order: proof.order.clone(),
        listing: Listing::Some,
        rule: ReadRule::SameValue,
        claim: proof.way.claim.clone(),
    };
    match Judge::new(&recording).judge(&witness) {
        Ok(_) => {}
        Err(Objection::NoModel { .. } | Objection::NotNull { .. })
            if matches!(witness.claim, Claim::NullDereference { .. }) =>
        {
            witness.claim = Claim::Feasible;
            Judge::new(&recording).judge(&witness).unwrap();
        }
        Err(objection) => panic!("{objection}"),
    }
}

/// The candidates of a trace with the instructions that are next, and whether they can be reached. The
/// judge sees every witness.
fn check(text: &str, expected: &[(Flaw, u64, bool)]) {
    let events = trace(text);
    let view = View::new(&events).unwrap();
    let clocks = Clocks::must_order(&view, |edge| edge.kind.is_certain());
    let found = memory::candidates(&view, &events, &clocks, Limits::default());
    let search = SyncPreserving::new(&view);
    let outcome = |candidate: &Candidate| {
        let proof = search.prove(candidate);
        if let Some(proof) = &proof {
            judge(&events, proof);
        }
        let is_reached = proof.is_some();
        let shown = proof.unwrap_or_else(|| Proof {
            way: candidate.ways[0].clone(),
            order: Vec::new(),
        });
        (candidate.flaw, next_sites(&view, &shown)[0], is_reached)
    };
    let found: Vec<(Flaw, u64, bool)> = found.iter().map(outcome).collect();
    assert_eq!(found, expected);
}

#[test]
fn freed_while_in_use() {
    let text = "T1: alloc(x,16) fork(T2)
                T2: r(x)@1
                T1: free(x)";
    check(text, &[(Flaw::UseAfterFree, 1, true)]);
}

#[test]
fn freed_after_the_join() {
    let text = "T1: alloc(x,16) fork(T2)
                T2: r(x) end
                T1: join(T2) free(x)";
    check(text, &[]);
}

#[test]
fn used_before_the_fork_of_who_frees() {
    let text = "T1: alloc(x,16) w(x) fork(T2)
                T2: r(x) free(x)";
    check(text, &[]);
}

#[test]
fn freed_by_who_drops_the_last_reference() {
    let text = "T1: alloc(x,16) fork(T2)
                T2: r(x)@1 rmw(count)
                T1: rmw(count) free(x)";
    check(text, &[(Flaw::UseAfterFree, 1, false)]);
}

#[test]
fn used_again_after_the_lock_was_given_back() {
    let text = "T1: alloc(x,16) w(p:8)=x fork(T2)
                T2: acq(l) r(p:8)=x@2 rel(l)
                T2: acq(l) r(x)@1 rel(l)
                T1: acq(l) w(p:8)=0 free(x) rel(l)";
    let found = [
        (Flaw::UseAfterFree, 1, true),
        (Flaw::NullDereference, 2, true),
    ];
    check(text, &found);
}

#[test]
fn looked_up_and_used_under_the_lock() {
    let text = "T1: alloc(x,16) w(p:8)=x fork(T2)
                T2: acq(l) r(p:8)=x@1 r(x)@2 rel(l)
                T1: acq(l) w(p:8)=0 free(x) rel(l)";
    // Only that nobody has looked whether there is anything.
    check(text, &[(Flaw::NullDereference, 1, true)]);
}

#[test]
fn checked_and_used_under_the_lock() {
    let text = "T1: alloc(x,16) w(p:8)=x fork(T2)
                T2: acq(l) r(p:8)=x@1 r(p:8)=x@2 r(x) rel(l)
                T1: acq(l) w(p:8)=0 free(x) rel(l)";
    // That the first read only checks, the trace does not say.
    check(text, &[(Flaw::NullDereference, 1, true)]);
}

#[test]
fn nulled_while_in_use() {
    let text = "T1: alloc(x,16) w(p:8)=x fork(T2)
                T2: r(p:8)=x@1 r(p:8)=x@2 w(x)
                T1: w(p:8)=0";
    let both = [
        (Flaw::NullDereference, 1, true),
        (Flaw::NullDereference, 2, true),
    ];
    check(text, &both);
}

#[test]
fn nulled_after_the_join() {
    let text = "T1: alloc(x,16) w(p:8)=x fork(T2)
                T2: r(p:8)=x r(x) end
                T1: join(T2) w(p:8)=0";
    check(text, &[]);
}

#[test]
fn null_until_another_thread_sets_it() {
    let text = "T1: alloc(x,16) w(p:8)=0 fork(T2)
                T2: w(p:8)=x
                T1: r(p:8)=x@1 r(x)";
    check(text, &[(Flaw::NullDereference, 1, true)]);
}

#[test]
fn set_before_the_fork() {
    let text = "T1: alloc(x,16) w(p:8)=0 w(p:8)=x fork(T2)
                T2: r(p:8)=x r(x) w(p:8)=x";
    check(text, &[]);
}

#[test]
fn set_under_the_lock_and_waited_for() {
    let text = "T1: alloc(x,16) w(p:8)=0 fork(T2)
                T2: acq(l) w(p:8)=x w(ready)=1 rel(l)
                T1: acq(l) r(ready)=1 rel(l) r(p:8)=x@1 r(x)";
    check(text, &[(Flaw::NullDereference, 1, false)]);
}

#[test]
fn a_static_is_read_before_it_is_set() {
    let text = "T1: alloc(x,16) fork(T2)
                T2: r(q:8)=0 w(q:8)=x
                T1: r(q:8)=x@1 w(x)";
    check(text, &[(Flaw::NullDereference, 1, true)]);
}

#[test]
fn published_before_it_is_complete() {
    let text = "T1: alloc(x,16) alloc(node,16) fork(T2)
                T1: w(head:8)=node w(node:8)=x
                T2: r(head:8)=node@2 r(node:8)=x@1 r(x)";
    let found = [
        (Flaw::NullDereference, 2, true),
        (Flaw::UninitialisedRead, 1, true),
    ];
    check(text, &found);
}

#[test]
fn published_when_complete() {
    let text = "T1: alloc(x,16) alloc(node,16) fork(T2)
                T1: w(node:8)=x w(head:8)=node
                T2: r(head:8)=node@2 r(node:8)=x@1 r(x)";
    let found = [
        (Flaw::NullDereference, 2, true),
        (Flaw::UninitialisedRead, 1, false),
    ];
    check(text, &found);
}

#[test]
fn freed_again_by_who_looks_too_early() {
    let text = "T1: alloc(x,16) w(p:8)=x fork(T2) fork(T3)
                T2: r(p:8)=x@1 free(x) w(p:8)=0
                T3: r(p:8)=0@1";
    check(text, &[(Flaw::DoubleFree, 1, true)]);
}

#[test]
fn freed_and_nulled_under_the_lock() {
    let text = "T1: alloc(x,16) w(p:8)=x fork(T2) fork(T3)
                T2: acq(l) r(p:8)=x@1 free(x) w(p:8)=0 rel(l)
                T3: acq(l) r(p:8)=0@1 rel(l)";
    check(text, &[]);
}

#[test]
fn nulled_before_it_is_freed() {
    let text = "T1: alloc(x,16) w(p:8)=x fork(T2) fork(T3)
                T2: r(p:8)=x@1 w(p:8)=0 free(x)
                T3: r(p:8)=0@1";
    check(text, &[]);
}

#[test]
fn each_frees_what_it_finds() {
    let text = "T1: alloc(x,16) alloc(y,16) w(p:8)=x fork(T2) fork(T3)
                T2: r(p:8)=x@1 free(x) w(p:8)=y
                T3: r(p:8)=y@1 free(y)";
    check(text, &[(Flaw::DoubleFree, 1, true)]);
}
