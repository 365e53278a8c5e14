//! Deadlocks and lost notifications: what becomes a candidate, and what of it can be reached.

use raddle_judge::{Judge, Listing, ReadRule, Recording, Witness};
use raddle_predict::candidate::{Candidate, Flaw};
use raddle_predict::clocks::Clocks;
use raddle_predict::deadlock::{self, Limits};
use raddle_predict::sync_preserving::{Proof, SyncPreserving};
use raddle_predict::view::{Source, View};
use raddle_trace::event::Event;
use raddle_trace::ids::Address;

use crate::text::trace;

/// What a witness leaves next, by the instructions' numbers, and what kind of bug that is.
type Found = (Flaw, Vec<u64>);

fn certain(view: &View) -> Clocks {
    Clocks::must_order(view, |edge| edge.kind.is_certain())
}

pub fn judge(events: &[Event], proof: &Proof) {
    let recording = Recording::new(events, None, None).unwrap();
    let witness = Witness {
        order: proof.order.clone(),
        listing: Listing::Some,
        rule: ReadRule::SameValue,
        claim: proof.way.claim.clone(),
    };
    if let Err(objection) = Judge::new(&recording).judge(&witness) {
        panic!("{objection}");
    }
}

/// The numbers of a way's next instructions.
pub fn next_sites(view: &View, proof: &Proof) -> Vec<u64> {
    let number = |pos| match view.source(pos) {
        Source::Site(site) => site.0.into(),
        Source::Code(Address(pc)) => pc,
    };
    proof.way.goal.next.iter().map(|pos| number(*pos)).collect()
}

/// How many candidates a trace has, and those that can be reached. The judge sees every witness.
fn check(text: &str, candidates: usize, reached: &[(Flaw, &[u64])]) {
    let events = trace(text);
    let view = View::new(&events).unwrap();
    let clocks = certain(&view);
    let found = deadlock::candidates(&view, &events, &clocks, Limits::default());
    assert_eq!(found.len(), candidates, "{found:#?}");
    let search = SyncPreserving::new(&view);
    let prove = |candidate: &Candidate| -> Option<Found> {
        let proof = search.prove(candidate)?;
        judge(&events, &proof);
        Some((candidate.flaw, next_sites(&view, &proof)))
    };
    let proved: Vec<Found> = found.iter().filter_map(prove).collect();
    let expected: Vec<Found> = reached
        .iter()
        .map(|(flaw, sites)| (*flaw, sites.to_vec()))
        .collect();
    assert_eq!(proved, expected);
}

#[test]
fn opposite_orders() {
    let text = "T1: fork(T2) acq(a) acq(b)@1 rel(b) rel(a)
                T2: acq(b) acq(a)@2 rel(a) rel(b)";
    check(text, 1, &[(Flaw::Deadlock, &[1, 2])]);
}

/// Five philosophers, one after another; `gate` is taken first by each.
fn philosophers(gate: &str, gate_off: &str) -> String {
    let mut text = String::from("T1: fork(T2) fork(T3) fork(T4) fork(T5) fork(T6)\n");
    let forks = ["a", "b", "c", "d", "e"];
    for seat in 0..5 {
        let (left, right) = (forks[seat], forks[(seat + 1) % 5]);
        text += &format!(
            "T{}: {gate} acq({left}) acq({right})@{} rel({right}) rel({left}) {gate_off}\n",
            seat + 2,
            seat + 1
        );
    }
    text
}

#[test]
fn five_philosophers() {
    let sites = &[1, 2, 3, 4, 5][..];
    check(&philosophers("", ""), 1, &[(Flaw::Deadlock, sites)]);
}

#[test]
fn five_philosophers_and_a_gate() {
    check(&philosophers("acq(g)", "rel(g)"), 0, &[]);
}

#[test]
fn many_threads_with_the_same_code_are_one_candidate() {
    let text = "T1: fork(T2) fork(T3) fork(T4) fork(T5)
                T2: acq(a) acq(b)@1 rel(b) rel(a)
                T3: acq(a) acq(b)@1 rel(b) rel(a)
                T4: acq(b) acq(a)@2 rel(a) rel(b)
                T5: acq(b) acq(a)@2 rel(a) rel(b)";
    check(text, 1, &[(Flaw::Deadlock, &[1, 2])]);
}

#[test]
fn the_right_one_of_many_instances() {
    // The first round of T1 is over when T2 begins.
    let text = "T1: acq(a) acq(b)@1 rel(b) rel(a) fork(T2)
                T1: acq(a) acq(b)@2 rel(b) rel(a)
                T2: acq(b) acq(a)@3 rel(a) rel(b)";
    check(text, 1, &[(Flaw::Deadlock, &[2, 3])]);
}

#[test]
fn only_before_the_fork() {
    let text = "T1: acq(a) acq(b) rel(b) rel(a) fork(T2)
                T2: acq(b) acq(a) rel(a) rel(b)";
    check(text, 0, &[]);
}

#[test]
fn only_after_the_join() {
    let text = "T1: fork(T2)
                T2: acq(b) acq(a) rel(a) rel(b) end
                T1: join(T2) acq(a) acq(b) rel(b) rel(a)";
    check(text, 0, &[]);
}

#[test]
fn a_value_decides() {
    let text = "T1: fork(T2) acq(a) acq(b) rel(b) rel(a) w(x)
                T2: r(x) acq(b) acq(a) rel(a) rel(b)";
    check(text, 1, &[]);
}

#[test]
fn a_try_does_not_wait() {
    let text = "T1: fork(T2) acq(a) tryacq(b) rel(b) rel(a)
                T2: acq(b) acq(a) rel(a) rel(b)";
    check(text, 0, &[]);
}

#[test]
fn readers_and_writers_in_a_circle() {
    let text = "T1: fork(T2) racq(a) wacq(b)@1 wrel(b) rrel(a)
                T2: racq(b) wacq(a)@2 wrel(a) rrel(b)";
    check(text, 1, &[(Flaw::Deadlock, &[1, 2])]);
}

#[test]
fn readers_do_not_wait_for_readers() {
    let text = "T1: fork(T2) racq(a) racq(b) rrel(b) rrel(a)
                T2: racq(b) racq(a) rrel(a) rrel(b)";
    check(text, 0, &[]);
}

#[test]
fn a_gate_that_both_read_is_no_gate() {
    let text = "T1: fork(T2) racq(g) acq(a) acq(b)@1 rel(b) rel(a) rrel(g)
                T2: racq(g) acq(b) acq(a)@2 rel(a) rel(b) rrel(g)";
    check(text, 1, &[(Flaw::Deadlock, &[1, 2])]);
}

#[test]
fn a_lock_is_held_while_its_next_holder_is_joined() {
    let text = "T1: fork(T2)
                T2: acq(l)@1 rel(l) end
                T1: acq(l) join(T2)@2 rel(l)";
    check(text, 1, &[(Flaw::Deadlock, &[1, 2])]);
}

#[test]
fn a_lock_is_given_back_before_the_join() {
    let text = "T1: fork(T2)
                T2: acq(l) rel(l) end
                T1: acq(l) rel(l) join(T2)";
    check(text, 0, &[]);
}

#[test]
fn a_join_in_a_circle_of_three() {
    let text = "T1: fork(T2) fork(T3)
                T2: acq(b)@1 rel(b) end
                T3: acq(b) acq(a)@2 rel(a) rel(b)
                T1: acq(a) join(T2)@3 rel(a)";
    check(text, 1, &[(Flaw::Deadlock, &[1, 2, 3])]);
}

#[test]
fn the_run_itself_ends_in_one() {
    let text = "T1: fork(T2) acq(a)
                T2: acq(b) ask(a)@2
                T1: ask(b)@1";
    check(text, 1, &[(Flaw::Deadlock, &[1, 2])]);
}

#[test]
fn a_thread_waits_for_itself() {
    check("T1: acq(a) ask(a)@1", 1, &[(Flaw::Deadlock, &[1])]);
}

#[test]
fn the_run_itself_ends_joining() {
    let text = "T1: fork(T2) acq(a)
                T2: ask(a)@2
                T1: askjoin(T2)@1";
    check(text, 1, &[(Flaw::Deadlock, &[1, 2])]);
}

#[test]
fn nobody_checks_before_waiting() {
    let text = "T1: fork(T2) acq(m) rel(m)@1 wait(c,m)
                T2: acq(m) notify(c)@2 rel(m)
                T1: wake(c,T2) acq(m) rel(m)";
    check(text, 1, &[(Flaw::LostWakeUp, &[1])]);
}

#[test]
fn the_check_is_outside_the_lock() {
    let text = "T1: fork(T2) r(flag) acq(m) rel(m)@1 wait(c,m)
                T2: w(flag)=1 acq(m) notify(c) rel(m)
                T1: wake(c,T2) acq(m) rel(m)";
    check(text, 1, &[(Flaw::LostWakeUp, &[1])]);
}

#[test]
fn the_check_is_under_the_lock() {
    let text = "T1: fork(T2) acq(m) r(flag) rel(m) wait(c,m)
                T2: acq(m) w(flag)=1 notify(c) rel(m)
                T1: wake(c,T2) acq(m) r(flag)=1 rel(m)";
    check(text, 1, &[]);
}

#[test]
fn somebody_else_notifies_later() {
    let text = "T1: fork(T2) acq(m) rel(m) wait(c,m)
                T2: acq(m) notify(c) rel(m)
                T1: wake(c,T2) acq(m) rel(m)
                T2: notifyall(c,0)";
    check(text, 0, &[]);
}

#[test]
fn a_notification_that_woke_nobody_ended_no_wait() {
    // The wait ends by the first notification; the second finds nobody and would do as well.
    let text = "T1: fork(T2) acq(m) rel(m) wait(c,m)
                T2: notify(c) notifyall(c,0)
                T1: wake(c,T2) acq(m) rel(m)";
    check(text, 0, &[]);
}

#[test]
fn the_notifier_is_created_before_the_wait() {
    let text = "T1: acq(m) rel(m) fork(T2) wait(c,m)
                T2: acq(m) notify(c) rel(m)
                T1: wake(c,T2)";
    // The wait comes after the fork and may come too late.
    check(text, 1, &[(Flaw::LostWakeUp, &[103])]);
}

#[test]
fn a_futex_is_notified_before_its_word_is_read() {
    let text = "T1: fork(T2) ar(f,x)@1 ar(f,x) fwait(f)
                T2: aw(f,x)=1 fnotify(f)@2
                T1: fwake(f,T2)";
    check(text, 1, &[(Flaw::LostWakeUp, &[1, 2])]);
}

#[test]
fn the_word_of_a_futex_says_who_waits() {
    let text = "T1: fork(T2) rmw(f,x) ar(f,x) fwait(f)
                T2: aw(f,x)=1 fnotify(f)
                T1: fwake(f,T2)";
    check(text, 0, &[]);
}

#[test]
fn a_waiter_keeps_its_notifier_out() {
    let text = "T1: fork(T2)
                T2: acq(g)@1 rel(g)
                T1: acq(g) acq(m) r(flag) rel(m) wait(c,m)
                T2: acq(m) w(flag)=1 notify(c) rel(m)
                T1: wake(c,T2)@2 acq(m) r(flag)=1 rel(m) rel(g)";
    check(text, 2, &[(Flaw::Deadlock, &[2, 1])]);
}

#[test]
fn a_reader_asks_again_behind_a_writer() {
    let text = "T1: fork(T2) rlock(l)=0 rlock(l)=1@1 runlock(l)=2 runlock(l)=1
                T2: wlock(l)=0@2 wunlock(l)=1";
    check(text, 1, &[(Flaw::Deadlock, &[1, 2])]);
}

#[test]
fn a_reader_asks_again_and_nobody_writes() {
    let text = "T1: fork(T2) rlock(l)=0 rlock(l)=1 runlock(l)=2 runlock(l)=1
                T2: rlock(l)=0 runlock(l)=1";
    check(text, 0, &[]);
}

#[test]
fn a_gate_keeps_the_writer_from_the_reader() {
    let text = "T1: fork(T2) acq(g) rlock(l)=0 rlock(l)=1 runlock(l)=2 runlock(l)=1 rel(g)
                T2: acq(g) wlock(l)=0 wunlock(l)=1 rel(g)";
    check(text, 0, &[]);
}

#[test]
fn readers_of_libc_are_let_in() {
    let text = "T1: fork(T2) racq(l) racq(l) rrel(l) rrel(l)
                T2: wacq(l) wrel(l)";
    check(text, 0, &[]);
}
