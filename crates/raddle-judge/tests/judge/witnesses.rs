//! Orders that are feasible, and orders that are wrong in one way each.

use crate::text;
use raddle_judge::{Claim, Judge, Listing, ReadRule, Recording, Witness};
use raddle_trace::ids::EventIndex;

/// What is judged, and what should be said. `ok` stands for acceptance.
fn check_witness(
    trace: &str,
    order: &str,
    listing: Listing,
    rule: ReadRule,
    claim: &Claim,
    expected: &str,
) {
    let events = text::trace(trace);
    let recording = Recording::new(&events, None, None).expect("a trace");
    let witness = Witness {
        order: text::order(order),
        listing,
        rule,
        claim: claim.clone(),
    };
    let said = match Judge::new(&recording).judge(&witness) {
        Ok(_) => "ok".to_owned(),
        Err(objection) => objection.to_string(),
    };
    assert_eq!(said, expected, "\n{trace}\norder {order}, {claim:?}");
}

pub fn check_claim(trace: &str, order: &str, claim: &Claim, expected: &str) {
    check_witness(
        trace,
        order,
        Listing::Every,
        ReadRule::SameValue,
        claim,
        expected,
    );
}

fn check(trace: &str, order: &str, expected: &str) {
    check_claim(trace, order, &Claim::Feasible, expected);
}

pub fn index(at: u64) -> EventIndex {
    EventIndex(at)
}

pub fn race(a: u64, b: u64) -> Claim {
    Claim::Race {
        a: index(a),
        b: index(b),
    }
}

#[test]
fn orders() {
    let trace = "T1: w(x,1) w(x,2)
                 T2: w(y,1)";
    check(trace, "", "ok");
    check(trace, "2 0 1", "ok");
    check(
        trace,
        "0 7",
        "the witness names event 7, and the trace has 3 events",
    );
    check(
        trace,
        "0 0",
        "event 0 (T1 write 0x1000 (4 bytes) = 1) is in the order twice",
    );
    check(
        trace,
        "1 0",
        "event 1 (T1 write 0x1000 (4 bytes) = 2) comes before event 0 (T1 write 0x1000 (4 bytes) = 1), which its thread executed first",
    );
    check(
        trace,
        "2 1",
        "event 1 (T1 write 0x1000 (4 bytes) = 2) is in the order without event 0 (T1 write 0x1000 (4 bytes) = 1), which its thread executes before it",
    );
}

#[test]
fn events_left_out_are_filled_in() {
    let trace = "T1: w(x,1) value(7) w(y,1)
                 T2: r(y,1) value(8) r(x,1)";
    let some = |order, claim: &Claim, expected| {
        check_witness(
            trace,
            order,
            Listing::Some,
            ReadRule::SameValue,
            claim,
            expected,
        );
    };
    some("2 5", &Claim::Feasible, "ok");
    some(
        "2 1",
        &Claim::Feasible,
        "event 2 (T1 write 0x1100 (4 bytes) = 1) comes before event 1 (T1 value = 7), which its thread executed first",
    );
    some(
        "1 0",
        &Claim::Feasible,
        "event 1 (T1 value = 7) comes before event 0 (T1 write 0x1000 (4 bytes) = 1), which its thread executed first",
    );
    // Event 3 has to come before event 5, and then reads what is not there yet.
    some(
        "5 2",
        &Claim::Feasible,
        "event 3 (T2 read 0x1100 (4 bytes) = 1) would read bytes of memory that nobody has written, whose values the trace does not show",
    );
    some(
        "5 3",
        &Claim::Feasible,
        "event 5 (T2 read 0x1000 (4 bytes) = 1) comes before event 3 (T2 read 0x1100 (4 bytes) = 1), which its thread executed first",
    );
    let trace = "T1: w(x,1) value(7) w(y,1)
                 T2: value(8) r(y,1)";
    check_witness(
        trace,
        "0",
        Listing::Some,
        ReadRule::SameValue,
        &race(2, 4),
        "ok",
    );
    check_witness(
        trace,
        "0",
        Listing::Every,
        ReadRule::SameValue,
        &race(2, 4),
        "event 2 (T1 write 0x1100 (4 bytes) = 1) is not the next event of its thread: the witness ends its thread after event 0 (T1 write 0x1000 (4 bytes) = 1)",
    );
}

#[test]
fn threads() {
    let trace = "T0: begin fork(T1)
                 T1: begin(T0) w(x,1) end
                 T0: join(T1)";
    check(trace, "0-5", "ok");
    check(
        trace,
        "0 2",
        "event 2 (T1 begin by T0) comes before its thread is created by event 1 (T0 fork T1)",
    );
    check(
        trace,
        "0-3 5",
        "event 5 (T0 join T1) comes before the end of T1",
    );
    let trace = "T0: fork(T1) reqjoin(T1) value(16)
                 T1: w(x,1) end
                 T0: join(T1)";
    check(trace, "0 3 1 2 4 5", "ok");
    check(
        trace,
        "0 3 4 1",
        "event 1 (T0 request 0x1 to join) did not get what it asked for in the trace, and would get it here",
    );
}

#[test]
fn mutexes() {
    let trace = "T1: acq(l) w(x,1) rel(l)
                 T2: acq(l) w(x,2) rel(l)";
    check(trace, "3-5 0-2", "ok");
    check(
        trace,
        "0 1 3",
        "event 3 (T2 lock 0x1000) is impossible while T1 holds the lock since event 0 (T1 lock 0x1000)",
    );
    // The holder of a recursive mutex takes it again; it is free only after the last release.
    let trace = "T1: acq(l) acq(l) rel(l) rel(l)
                 T2: acq(l) rel(l)";
    check(trace, "4 5 0-3", "ok");
    check(
        trace,
        "0-2 4",
        "event 4 (T2 lock 0x1000) is impossible while T1 holds the lock since event 0 (T1 lock 0x1000)",
    );
    // A request that was granted means nothing; a try that failed fails again.
    let trace = "T1: acq(l)
                 T2: req(l)
                 T1: rel(l)
                 T2: acq(l) rel(l)";
    check(trace, "1 3 4 0 2", "ok");
    let trace = "T1: acq(l)
                 T2: busy(l) try(l)
                 T1: rel(l)";
    check(&trace.replace(" try(l)", ""), "0 1 2", "ok");
    check(
        trace,
        "1",
        "event 1 (T2 request 0x1000 to lock (tried)) did not get what it asked for in the trace, and would get it here",
    );
    check(
        "T1: acq(l)
         T1: w(x,1)
         T2: rel(l) w(x,2)",
        "0-3",
        "ok",
    );
}

#[test]
fn a_release_by_another_thread_stays_where_it_was() {
    // The lock is used as a signal, which no rule explains.
    let trace = "T1: acq(l) w(x,1)
                 T2: rel(l)
                 T1: acq(l)";
    check(trace, "0-3", "ok");
    check(
        trace,
        "2 0 1",
        "event 2 (T2 unlock 0x1000) is one that no rule explains, and T1 has not come as far as in the trace",
    );
    let trace = "T1: acq(l)
                 T2: rel(l) acq(l) rel(l)";
    check(trace, "0-3", "ok");
    let trace = "T1: acq(l)
                 T2: rel(l)
                 T3: acq(l) rel(l)";
    check(
        trace,
        "2 3 0 1",
        "event 1 (T2 unlock 0x1000) is one that no rule explains, so event 3 (T3 unlock 0x1000), which came after it in the trace, may not come before it",
    );
}

#[test]
fn inlined_locks() {
    let trace = "T1: lock(l) w(x,1) unlock(l)
                 T2: lock(l) w(x,2) unlock(l)";
    check(trace, "3-5 0-2", "ok");
    check(
        trace,
        "0 3",
        "event 3 (T2 cas 0x1000 (4 bytes) = 0 -> 1) is impossible while T1 holds the lock since event 0 (T1 cas 0x1000 (4 bytes) = 0 -> 1)",
    );
}

#[test]
fn read_write_locks() {
    let trace = "T1: racq(l) rrel(l)
                 T2: racq(l) rrel(l)
                 T3: wacq(l) wrel(l)";
    check(trace, "0 2 1 3 4 5", "ok");
    check(
        trace,
        "0 4",
        "event 4 (T3 write-lock 0x1000) is impossible while T1 holds the lock since event 0 (T1 read-lock 0x1000)",
    );
    check(
        trace,
        "4 2",
        "event 2 (T2 read-lock 0x1000) is impossible while T3 holds the lock since event 4 (T3 write-lock 0x1000)",
    );
    let trace = "T1: wacq(l) rel(m)";
    check(trace, "0 1", "ok");
    // Failing to read needs a writer, not a reader.
    let trace = "T1: wacq(l)
                 T2: reqread(l) value(16)
                 T1: wrel(l) racq(l) rrel(l)";
    check(trace, "0-5", "ok");
    check(
        trace,
        "0 3 4 1",
        "event 1 (T2 request 0x1000 to read-lock) did not get what it asked for in the trace, and would get it here",
    );
}

#[test]
fn downgrades() {
    let trace = "T1: lock(l) w(x,1) downgrade(l) rrel(l)
                 T2: racq(l) rrel(l)";
    check(trace, "0-2 4 3 5", "ok");
    check(
        trace,
        "0 1 4",
        "event 4 (T2 read-lock 0x1000) is impossible while T1 holds the lock since event 0 (T1 cas 0x1000 (4 bytes) = 0 -> 1)",
    );
}

#[test]
fn conditions() {
    let trace = "T1: acq(m) rel(m) wait(c,m)
                 T2: acq(m) w(x,1) notify(c,1) rel(m)
                 T1: wake(c,T2) acq(m) rel(m)";
    check(trace, "0-9", "ok");
    check(trace, "0-5 7 6 8 9", "ok");
    check(
        trace,
        "3-6 0-2 7",
        "event 7 (T1 cond-wake 0x1100 by T2) comes before a notification that could wake its thread",
    );
    // A timeout needs no notification.
    let trace = "T1: acq(m) rel(m) wait(c,m) timeout(c) acq(m) rel(m)
                 T2: notify(c,0)";
    check(trace, "6 0-5", "ok");
    // A signal wakes one waiter, whichever; a broadcast wakes all.
    let trace = "T1: wait(c,m)
                 T2: wait(c,m)
                 T3: notify(c,1) notify(c,1)
                 T1: wake(c,T3)
                 T2: wake(c,T3)";
    // Who begins to wait after a notification is not woken by it.
    check(
        trace,
        "0 2 1 5",
        "event 5 (T2 cond-wake 0x1000 by T3) comes before a notification that could wake its thread",
    );
    check(trace, "0 1 2 5 3 4", "ok");
    check(
        trace,
        "0 1 2 4 5",
        "event 5 (T2 cond-wake 0x1000 by T3) comes before a notification that could wake its thread",
    );
    let trace = "T1: wait(c,m)
                 T2: wait(c,m)
                 T3: notifyall(c,2)
                 T1: wake(c,T3)
                 T2: wake(c,T3)";
    check(trace, "1 0 2 4 3", "ok");
    check(
        trace,
        "0 2 1 3 4",
        "event 4 (T2 cond-wake 0x1000 by T3) comes before a notification that could wake its thread",
    );
}

#[test]
fn broadcasts_that_woke_few() {
    // It found one waiter, and finds two here.
    let trace = "T1: wait(c,m)
                 T3: notifyall(c,1)
                 T2: wait(c,m)
                 T3: notifyall(c,1)
                 T1: wake(c,T3)
                 T2: wake(c,T3)";
    check(trace, "0 2 1 4 5", "ok");
    let trace = trace.replace("notifyall(c,1)", "notify(c,1)");
    check(
        &trace,
        "0 2 1 4 5",
        "event 5 (T2 cond-wake 0x1000 by T3) comes before a notification that could wake its thread",
    );
}

#[test]
fn what_nothing_explains_stays_where_it_was() {
    // T1 is woken by T3, who notified nobody: it may have cancelled T1.
    let trace = "T1: wait(c,m)
                 T2: wait(c,m) timeout(c)
                 T3: yield w(x,1)
                 T1: wake(c,T3)";
    check(trace, "0-5", "ok");
    check(trace, "0-3 4 5", "ok");
    check(
        trace,
        "0 3 4 5",
        "event 5 (T1 cond-wake 0x1000 by T3) is one that no rule explains, and T2 has not come as far as in the trace",
    );
    check(
        trace,
        "0 1 2 3 5",
        "event 5 (T1 cond-wake 0x1000 by T3) is one that no rule explains, and T3 has not come as far as in the trace",
    );
    // T2 gets the lock because T1 has died with it.
    let trace = "T1: acq(l) w(x,1) end
                 T2: acq(l)";
    check(trace, "0-3", "ok");
    check(
        trace,
        "0 3",
        "event 3 (T2 lock 0x1000) is one that no rule explains, and T1 has not come as far as in the trace",
    );
}

#[test]
fn futexes() {
    let trace = "T1: w(f,1) fwait(f,1)
                 T2: aw(f,0) fnotify(f,1)
                 T1: fwake(f,T2)";
    check(trace, "0-4", "ok");
    check(
        trace,
        "0 1 4",
        "event 4 (T1 futex-wake 0x1000 by T2) comes before a notification that could wake its thread",
    );
    check(
        trace,
        "0 2 1",
        "event 1 (T1 futex-wait 0x1000 expected 1) would read 0x0",
    );
    let trace = "T2: fnotify(f,0)
                 T1: fwait(f,0)";
    check(
        trace,
        "1 0",
        "event 0 (T2 futex-notify 0x1000 woken 0 of 1) woke another number of threads in the trace: here 1 are waiting",
    );
    // A wake may leave others waiting if it is for no more.
    let trace = "T1: fwait(f,0)
                 T3: fnotify(f,1,1)
                 T1: fwake(f,T3)
                 T2: fwait(f,0)";
    check(trace, "0 3 1 2", "ok");
    let trace = trace.replace("fnotify(f,1,1)", "fnotify(f,1,9)");
    check(
        &trace,
        "0 3 1",
        "event 1 (T3 futex-notify 0x1000 woken 1 of 9) woke another number of threads in the trace: here 2 are waiting",
    );
    let trace = "T1: fwait(f,0)
                 T2: fwait(f,0)
                 T3: fnotify(f,1)
                 T2: fwake(f,T3)
                 T1: ftimeout(f)";
    check(trace, "1 2 3 0 4", "ok");
    check(
        trace,
        "2",
        "event 2 (T3 futex-notify 0x1000 woken 1 of 1) woke another number of threads in the trace: here 0 are waiting",
    );
    check(
        trace,
        "0 2 4",
        "event 4 (T1 futex-wake 0x1000 errno 110) ends by itself, and every waiter has been woken by then",
    );
    let late = "T1: fwait(f,0)
                T2: fwait(f,0)
                T3: fnotify(f,1) fnotify(f,1)
                T1: fwake(f,T3)
                T2: fwake(f,T3)";
    check(late, "0-5", "ok");
    check(
        late,
        "0 2 1 5",
        "event 5 (T2 futex-wake 0x1000 by T3) comes before a notification that could wake its thread",
    );
    // A wait that was refused is refused again.
    let trace = "T1: w(f,1)
                 T2: fwait(f,0) frefused(f)
                 T1: w(f,0) w(f,2)";
    check(trace, "0 3 4 1 2", "ok");
    check(
        trace,
        "0 3 1",
        "event 1 (T2 futex-wait 0x1000 expected 0) would find the word to be 0x0, and was answered otherwise in the trace",
    );
}

#[test]
fn semaphores() {
    let trace = "T1: post(s)
                 T2: take(s)
                 T1: post(s)
                 T3: take(s)";
    check(trace, "0 2 3 1", "ok");
    check(
        trace,
        "0 3 1",
        "event 1 (T2 sem-wait 0x1000 to 0) takes from a semaphore that has none",
    );
    // It had one at first.
    let trace = "T1: take(s,0)
                 T2: post(s) take(s)";
    check(trace, "1 2 0", "ok");
    // It had two at first, and nobody ever found it empty.
    let trace = "T1: take(s,1) post(s)
                 T2: take(s)";
    check(trace, "0 2", "ok");
    let trace = "T1: reqsem(s) value(11) post(s)
                 T2: take(s)";
    check(trace, "0-3", "ok");
    let trace = "T2: post(s) take(s)
                 T1: reqsem(s) value(11)";
    check(
        trace,
        "0 2",
        "event 2 (T1 request 0x1000 to sem-wait (tried)) did not get what it asked for in the trace, and would get it here",
    );
}

#[test]
fn bytes_from_outside() {
    let trace = "T1: input(x:8)
                 T2: r(x+4,7) yield
                 T1: input(y:4)";
    check(trace, "0 3 1 2", "ok");
    check(
        trace,
        "1 2",
        "event 1 (T2 read 0x1004 (4 bytes) = 7) would read bytes of memory that nobody has written, whose values the trace does not show",
    );
    check_claim(trace, "", &race(0, 1), "ok");
}

#[test]
fn what_libc_copies() {
    let trace = "T1: w(x,5) from(x:4) to(y:4)
                 T2: r(y,5) yield
                 T3: w(x,5) w(x,6)";
    check(trace, "0 5 1-4", "ok");
    check(
        trace,
        "0 1 3 4",
        "event 3 (T2 read 0x1100 (4 bytes) = 5) would read bytes of memory that nobody has written, whose values the trace does not show",
    );
    check(
        trace,
        "0 5 6 1",
        "event 1 (T1 copy-from 0x1000 (4 bytes)) would read other bytes of event 6 (T3 write 0x1000 (4 bytes) = 6)",
    );
    // Other bytes are copied all the same; who reads the copy depends on them.
    let relaxed = |order, expected| {
        let rule = ReadRule::Relaxed;
        check_witness(
            trace,
            order,
            Listing::Every,
            rule,
            &Claim::Feasible,
            expected,
        );
    };
    relaxed("0 5 6 1 2", "ok");
    relaxed(
        "0 5 6 1 2 3 4",
        "event 3 (T2 read 0x1100 (4 bytes) = 5) reads another value, and without a program model nobody knows what follows",
    );
}

#[test]
fn barriers() {
    let trace = "T1: arrive(b,0)
                 T2: arrive(b,0) leave(b,0)
                 T1: leave(b,0) arrive(b,1)
                 T2: arrive(b,1) leave(b,1)";
    check(trace, "1 0 3 4 2 5 6", "ok");
    check(
        trace,
        "0 3",
        "event 3 (T1 barrier-leave 0x1000 round 0) comes before event 1 (T2 barrier-arrive 0x1000 round 0 of 2), which its round of the barrier waits for",
    );
    let trace = "T1: arrive(b,0)
                 T2: arrive(b,0)
                 T3: arrive(b,1)
                 T2: arrive(b,1)";
    check(
        trace,
        "0 2",
        "event 2 (T3 barrier-arrive 0x1000 round 1 of 2) comes before event 1 (T2 barrier-arrive 0x1000 round 0 of 2), which its round of the barrier waits for",
    );
}

#[test]
fn onces() {
    let trace = "T1: start(o) w(x,1) done(o)
                 T2: pass(o)";
    check(trace, "0-3", "ok");
    check(
        trace,
        "0 1 3",
        "event 3 (T2 once-pass 0x1000) needs an initialiser that has not been run to its end",
    );
    // The first attempt failed.
    let trace = "T1: start(o) giveup(o)
                 T2: start(o) done(o)
                 T3: pass(o)";
    check(trace, "0 1 2 3 4", "ok");
    check(
        trace,
        "2 3 4 0",
        "event 0 (T1 once-start 0x1000) begins an initialiser that has been done",
    );
    check(
        trace,
        "0 2",
        "event 2 (T2 once-start 0x1000) begins an initialiser that T1 is still running",
    );
}

#[test]
fn destroyed_objects() {
    let trace = "T1: acq(l) rel(l)
                 T2: destroy(l) acq(l) rel(l)";
    check(trace, "0-4", "ok");
    check(
        trace,
        "2 0",
        "event 0 (T1 lock 0x1000) uses an object after event 2 (T2 destroy 0x1000)",
    );
    let trace = "T1: destroy(l)
                 T2: acq(l)";
    check(
        trace,
        "1",
        "event 1 (T2 lock 0x1000) uses an object that exists only after event 0 (T1 destroy 0x1000) of the one before it",
    );
}

#[test]
fn allocations() {
    let trace = "T1: alloc(p,16) w(p,1)
                 T2: r(p,1)
                 T1: free(p)
                 T2: alloc(p,16) w(p,2)";
    check(trace, "0-5", "ok");
    check(
        trace,
        "2",
        "event 2 (T2 read 0x1000 (4 bytes) = 1) touches memory before event 0 (T1 alloc 0x1000 (16 bytes) A1)",
    );
    check(
        trace,
        "0 1 3 2",
        "event 2 (T2 read 0x1000 (4 bytes) = 1) touches memory after event 3 (T1 free 0x1000 (0 bytes) A1)",
    );
    check(
        "T1: alloc(p,16) free(p)
         T2: alloc(p,8)",
        "0 2",
        "event 2 (T2 alloc 0x1000 (8 bytes) A2) gives out memory that is in use since event 0 (T1 alloc 0x1000 (16 bytes) A1)",
    );
    // The second object's bytes are not the first one's.
    let trace = "T1: alloc(p,16) w(p,1) free(p)
                 T2: alloc(p,16)
                 T2: r(p,1) w(x,1)";
    check(
        trace,
        "3-5 0",
        "event 0 (T1 alloc 0x1000 (16 bytes) A1) gives out memory that is in use since event 3 (T2 alloc 0x1000 (16 bytes) A2)",
    );
    check(trace, "3-5", "ok");
}

#[test]
fn values() {
    let trace = "T1: w(x,1)
                 T2: w(x,1)
                 T3: r(x,1) w(y,1)";
    let rule = |rule, order, expected| {
        check_witness(
            trace,
            order,
            Listing::Every,
            rule,
            &Claim::Feasible,
            expected,
        );
    };
    rule(ReadRule::SameValue, "0 2 3 1", "ok");
    rule(ReadRule::SameWrite, "0 1 2 3", "ok");
    rule(
        ReadRule::SameWrite,
        "1 0 2 3",
        "event 2 (T3 read 0x1000 (4 bytes) = 1) takes a value from event 0 (T1 write 0x1000 (4 bytes) = 1), and in the trace from event 1 (T2 write 0x1000 (4 bytes) = 1)",
    );
    rule(
        ReadRule::Relaxed,
        "2 3",
        "event 2 (T3 read 0x1000 (4 bytes) = 1) reads another value, and without a program model nobody knows what follows",
    );
    let trace = "T1: w(x,1)
                 T3: r(x,1) w(y,1)
                 T2: w(x,2)";
    check(
        trace,
        "0 3 1 2",
        "event 1 (T3 read 0x1000 (4 bytes) = 1) would read 0x2",
    );
    // The last load of a thread may read anything, unless the claim is about what follows it.
    check(trace, "0 3 1", "ok");
    let trace = "T1: w(x,1)
                 T3: r(x,1) w(y,1)
                 T2: w(x,2) r(y,1)";
    check_claim(
        trace,
        "0 3 1",
        &race(2, 4),
        "event 1 (T3 read 0x1000 (4 bytes) = 1) would read 0x2",
    );
    check_claim(trace, "0 1 3", &race(2, 4), "ok");
}

#[test]
fn initial_values() {
    // T2 shows that x is 0 at first, so T3 may read it then.
    let trace = "T2: r(x,0) w(x,5) w(x,0)
                 T3: r(x,0) w(y,1)";
    check(trace, "3 4", "ok");
    check(
        trace,
        "0 1 3 4",
        "event 3 (T3 read 0x1000 (4 bytes) = 0) would read 0x5",
    );
    let trace = "T2: w(x,0)
                 T3: r(x,0) w(y,1)";
    check(
        trace,
        "1 2",
        "event 1 (T3 read 0x1000 (4 bytes) = 0) would read bytes of memory that nobody has written, whose values the trace does not show",
    );
}

#[test]
fn bytes_of_mixed_sizes() {
    let trace = "T1: w(x:4,258) w(x+1:1,7)
                 T2: r(x:2,1794) w(y,1)
                 T3: w(x+3:1,9)";
    check(trace, "4 0 1 2 3", "ok");
    check(
        trace,
        "0 2 3",
        "event 2 (T2 read 0x1000 (2 bytes) = 1794) would read 0x102",
    );
    // Eight bytes of which four are another's.
    let trace = "T1: w(x:8,0)
                 T2: w(x+4:4,1)
                 T3: r(x:8,4294967296) w(y,1)";
    check(trace, "0-3", "ok");
    check(
        trace,
        "1 0 2 3",
        "event 2 (T3 read 0x1000 (8 bytes) = 0x100000000) would read 0x0",
    );
}

#[test]
fn ranges() {
    let trace = "T1: rw(x:16)
                 T2: rr(x:8) w(y,1)
                 T3: w(x+4:2,3)";
    check(trace, "0 1 2 3", "ok");
    check(
        trace,
        "0 3 1 2",
        "event 1 (T2 range-read 0x1000 (8 bytes)) would read other bytes of event 3 (T3 write 0x1004 (2 bytes) = 3)",
    );
    check(
        trace,
        "1 2",
        "event 1 (T2 range-read 0x1000 (8 bytes)) would read other bytes of memory that nobody has written",
    );
    // A read shows what a range write left.
    let trace = "T1: rw(x:16) r(x+8:4,6)
                 T2: w(x+8:4,6)
                 T3: r(x+8:4,6) w(y,1)";
    check(trace, "0 3 4", "ok");
}

#[test]
fn atomic_updates_have_the_outcome_they_had() {
    let trace = "T1: rmw(x,0,1)
                 T2: rmw(x,1,2) w(y,1)";
    check(trace, "0 1 2", "ok");
    check(
        trace,
        "1 2",
        "event 1 (T2 rmw 0x1000 (4 bytes) = 1 -> 2) would read 0x0",
    );
    let trace = "T1: cas(x,0,1)
                 T2: casfail(x,1,1)";
    check(trace, "0 1", "ok");
    check(
        trace,
        "1",
        "event 1 (T2 cas 0x1000 (4 bytes) = 1 -> 1 (failed)) would read 0x0",
    );
}

#[test]
fn a_last_update_may_find_another_value() {
    let trace = "T1: w(x,0) rmw(x,0,1)
                 T2: rmw(x,1,2)
                 T3: r(x,2) w(y,1)";
    check(trace, "0 2", "ok");
    check(trace, "0 2 3", "ok");
    // Nobody knows what it writes then.
    let unknown = "event 3 (T3 read 0x1000 (4 bytes) = 2) would read bytes of event 2 \
                   (T2 rmw 0x1000 (4 bytes) = 1 -> 2), whose values the trace does not show";
    check(trace, "0 2 3 4", unknown);
    let (every, claim) = (Listing::Every, Claim::Feasible);
    check_witness(
        trace,
        "0 2 3 4",
        every,
        ReadRule::SameWrite,
        &claim,
        unknown,
    );
    check(trace, "0 1 2 3 4", "ok");
    // A claim about what its thread does next depends on what it finds.
    let trace = "T1: w(x,0) rmw(x,0,1) w(y,1)
                 T2: rmw(x,1,2) w(y,2)";
    check_claim(
        trace,
        "0 3 1",
        &race(2, 4),
        "event 3 (T2 rmw 0x1000 (4 bytes) = 1 -> 2) would read 0x0",
    );
    check_claim(trace, "0 1 3", &race(2, 4), "ok");
}

#[test]
fn writes_that_were_not_recorded() {
    // Between the write of 1 and the read of 9, somebody wrote 9: T1 called something.
    let trace = "T1: w(x,1) value(0)
                 T2: r(x,9) w(y,1)";
    check(trace, "0-3", "ok");
    check(
        trace,
        "0 2 3",
        "event 2 (T2 read 0x1000 (4 bytes) = 9) shows a write that was not recorded, and T1, who may have done it, has not come as far as in the trace",
    );
    let trace = "T1: w(x,1) value(0) w(y,2)
                 T2: r(x,9) w(y,1)
                 T3: w(x,3)";
    check(
        trace,
        "0 1 5 3",
        "event 3 (T2 read 0x1000 (4 bytes) = 9) takes a value from event 5 (T3 write 0x1000 (4 bytes) = 3), and in the trace from event 0 (T1 write 0x1000 (4 bytes) = 1)",
    );
    // Memory that only one thread touches is its own affair.
    let trace = "T1: w(x,1)
                 T2: value(0)
                 T1: r(x,9) w(z,1)";
    check(trace, "0 2 3", "ok");
}

#[test]
fn hidden_orders() {
    let orders = |trace: &str| {
        let events = text::trace(trace);
        let recording = Recording::new(&events, None, None).expect("a trace");
        let orders = recording.hidden_orders().into_iter();
        orders.map(|(from, to)| (from.0, to.0)).collect::<Vec<_>>()
    };
    assert_eq!(orders("T1: w(x,1) rmw(y,0,1)\nT2: r(x,1)"), []);
    // T1 may have written 9 when it called something; T3 reads what T2 has shown.
    let unseen = "T1: w(x,1) value(0)
                  T2: r(x,9) w(y,1)
                  T3: r(x,9)";
    assert_eq!(orders(unseen), [(1, 2), (2, 4)]);
    // Nobody holds what T2 gives back.
    let unexplained = "T1: acq(l) rel(l)
                       T2: rel(l)
                       T3: acq(l)";
    assert_eq!(orders(unexplained), [(1, 2), (2, 3)]);
}
