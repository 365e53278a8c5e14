//! Claims that a feasible order shows, and claims that are wrong in one way each.

use crate::text;
use crate::witnesses::{check_claim, index, race};
use raddle_judge::{Claim, Region};

fn deadlock(cycle: &[u64]) -> Claim {
    Claim::Deadlock {
        cycle: cycle.iter().copied().map(index).collect(),
    }
}

fn unserialisable(events: &[u64], regions: &[Region]) -> Claim {
    Claim::Unserialisable {
        events: events.iter().copied().map(index).collect(),
        regions: regions.to_vec(),
    }
}

fn marked(first: u64, last: u64) -> Region {
    Region::Marked {
        first: index(first),
        last: index(last),
    }
}

fn locked(acquire: u64, release: u64) -> Region {
    Region::Lock {
        acquire: index(acquire),
        release: index(release),
    }
}

#[test]
fn a_race_with_an_update_needs_its_value_only_if_that_decides_whether_it_writes() {
    let trace = "T1: w(x,0) rmw(x,0,1)
                 T2: r(x,1)
                 T3: w(x,5)";
    check_claim(trace, "0 3", &race(1, 2), "ok");
    let trace = "T1: w(x,0) cas(x,0,1)
                 T2: r(x,1)
                 T3: w(x,5)";
    check_claim(trace, "0", &race(1, 2), "ok");
    check_claim(
        trace,
        "0 3",
        &race(1, 2),
        "event 1 (T1 cas 0x1000 (4 bytes) = 0 -> 1) would read 0x5",
    );
}

#[test]
fn races() {
    let trace = "T1: w(x,1) w(y:8,1)
                 T2: r(x,1) r(y+4:4,0) aw(y,2) r(z,0)
                 T3: aw(y,3) r(y,3) r(y+4:4,0)";
    let said = |order, a, b, expected| check_claim(trace, order, &race(a, b), expected);
    said("0 2", 1, 3, "ok");
    said(
        "0-3",
        4,
        6,
        "event 4 (T2 atomic-store 0x1100 (4 bytes) = 2) and event 6 (T3 atomic-store 0x1100 (4 bytes) = 3) are atomic operations",
    );
    said(
        "0 2",
        1,
        2,
        "event 2 (T2 read 0x1000 (4 bytes) = 1) is not the next event of its thread: the witness ends its thread after event 2 (T2 read 0x1000 (4 bytes) = 1)",
    );
    said(
        "0",
        1,
        3,
        "event 3 (T2 read 0x1104 (4 bytes) = 0) is not the next event of its thread: the witness ends before its thread has begun",
    );
    said(
        "0",
        1,
        2,
        "event 1 (T1 write 0x1100 (8 bytes) = 1) and event 2 (T2 read 0x1000 (4 bytes) = 1) touch no byte in common",
    );
    said(
        "0 2 6",
        3,
        7,
        "event 3 (T2 read 0x1104 (4 bytes) = 0) and event 7 (T3 read 0x1100 (4 bytes) = 3) only read",
    );
    said(
        "",
        0,
        0,
        "event 0 (T1 write 0x1000 (4 bytes) = 1) and event 0 (T1 write 0x1000 (4 bytes) = 1) are of one thread",
    );
    let trace = "T1: acq(l) w(x,1)
                 T2: fork(T3)
                 T3: w(x,2)";
    check_claim(trace, "0 2", &race(1, 3), "ok");
    check_claim(
        trace,
        "0",
        &race(1, 3),
        "event 3 (T3 write 0x1100 (4 bytes) = 2) comes before its thread is created by event 2 (T2 fork T3)",
    );
    check_claim(
        trace,
        "2",
        &race(0, 3),
        "event 0 (T1 lock 0x1000) is not such an access to memory",
    );
    // Another object at the same address is another object.
    let trace = "T1: alloc(p,8) w(p,1) free(p)
                 T2: alloc(p,8) w(p,2)";
    check_claim(
        trace,
        "0 3",
        &race(1, 4),
        "event 3 (T2 alloc 0x1000 (8 bytes) A2) gives out memory that is in use since event 0 (T1 alloc 0x1000 (8 bytes) A1)",
    );
    // The exchange that would write fails here.
    let trace = "T1: w(x,1)
                 T2: cas(x,1,2)
                 T3: r(x,2)";
    check_claim(trace, "0", &race(1, 2), "ok");
    check_claim(
        trace,
        "",
        &race(1, 2),
        "event 1 (T2 cas 0x1000 (4 bytes) = 1 -> 2) would read bytes of memory that nobody has written, whose values the trace does not show",
    );
}

#[test]
fn deadlocks() {
    let trace = "T1: acq(a) acq(b) rel(b) rel(a)
                 T2: acq(b) acq(a) rel(a) rel(b)";
    check_claim(trace, "0 4", &deadlock(&[1, 5]), "ok");
    check_claim(
        trace,
        "0",
        &deadlock(&[]),
        "a cycle of 0 events is no deadlock",
    );
    check_claim(
        trace,
        "0",
        &deadlock(&[1, 1]),
        "event 1 (T1 lock 0x1100) and event 1 (T1 lock 0x1100) are of one thread",
    );
    check_claim(
        trace,
        "4",
        &deadlock(&[0, 5]),
        "event 0 (T1 lock 0x1000) does not wait for T2",
    );
    check_claim(
        trace,
        "0-2 4",
        &deadlock(&[3, 5]),
        "event 3 (T1 unlock 0x1000) waits for nobody",
    );
    // Nobody waits who only tries.
    check_claim(
        &trace.replace("T2: acq(b) acq(a)", "T2: acq(b) try(a)"),
        "0 4",
        &deadlock(&[1, 5]),
        "event 5 (T2 lock 0x1000 (tried)) waits for nobody",
    );
    // Readers do not wait for readers.
    let trace = "T1: racq(a) racq(b) rrel(b) rrel(a)
                 T2: racq(b) wacq(a) wrel(a) rrel(b)";
    check_claim(
        trace,
        "0 4",
        &deadlock(&[1, 5]),
        "event 1 (T1 read-lock 0x1100) does not wait for T2",
    );
    // A join waits for a thread that waits for a lock.
    let trace = "T1: fork(T2)
                 T2: acq(a) rel(a) end
                 T1: acq(a) join(T2)";
    check_claim(trace, "0 4", &deadlock(&[5, 1]), "ok");
    check_claim(
        trace,
        "0-4",
        &deadlock(&[5]),
        "event 5 (T1 join T2) does not wait for T1",
    );
    // A request that was never granted, of one's own lock.
    let trace = "T1: acq(a) req(a)";
    check_claim(trace, "0", &deadlock(&[1]), "ok");
    // A try does not wait.
    let trace = "T1: acq(a)
                 T2: acq(b) req(a) value(16)
                 T1: req(b)";
    check_claim(
        trace,
        "0 1",
        &deadlock(&[2, 4]),
        "event 2 (T2 request 0x1000 to lock) waits for nobody",
    );
}

#[test]
fn unserialisable_sequences() {
    // T1 reads and writes in two lock regions, or in one that is only marked.
    let trace = "T1: acq(l) r(x,0) rel(l) acq(l) w(x,1) rel(l)
                 T2: acq(l) w(x,1) rel(l)";
    let claim = unserialisable(&[1, 7, 4], &[marked(0, 5)]);
    check_claim(trace, "0-2 6-8 3-5", &claim, "ok");
    check_claim(
        trace,
        "0-8",
        &claim,
        "event 7 (T2 write 0x1100 (4 bytes) = 1) comes after event 4 (T1 write 0x1100 (4 bytes) = 1) in the order",
    );
    check_claim(
        trace,
        "0-2 6-8",
        &claim,
        "event 4 (T1 write 0x1100 (4 bytes) = 1) is not in the order",
    );
    let apart = unserialisable(&[1, 7, 4], &[locked(0, 2), locked(3, 5)]);
    check_claim(
        trace,
        "0-2 6-8 3-5",
        &apart,
        "the accesses are serialisable: no cycle of conflicts joins their regions",
    );
    let wrong = |region, expected| {
        let claim = unserialisable(&[1, 7, 4], &[region]);
        check_claim(trace, "0-2 6-8 3-5", &claim, expected);
    };
    wrong(
        locked(0, 5),
        "event 0 (T1 lock 0x1000) and event 5 (T1 unlock 0x1000) do not bound a region: they are not acquisition and release of one lock",
    );
    wrong(
        marked(0, 8),
        "event 0 (T1 lock 0x1000) and event 8 (T2 unlock 0x1000) do not bound a region: they are of different threads",
    );
    wrong(
        marked(5, 0),
        "event 5 (T1 unlock 0x1000) and event 0 (T1 lock 0x1000) do not bound a region: the second comes first",
    );
    wrong(
        Region::Call {
            enter: index(0),
            exit: index(5),
        },
        "event 0 (T1 lock 0x1000) and event 5 (T1 unlock 0x1000) do not bound a region: they are not entry and exit of one call",
    );
    check_claim(
        trace,
        "0-8",
        &unserialisable(&[0], &[]),
        "event 0 (T1 lock 0x1000) is not such an access to memory",
    );
}

#[test]
fn sequences() {
    let trace = "T1: w(x,1) r(x,1)
                 T2: w(x,1) acq(l)";
    let sequence = |events: &[u64]| Claim::Sequence {
        events: events.iter().copied().map(index).collect(),
    };
    check_claim(trace, "0 2 1", &sequence(&[0, 2, 1]), "ok");
    check_claim(
        trace,
        "0 1 2",
        &sequence(&[0, 2, 1]),
        "event 2 (T2 write 0x1000 (4 bytes) = 1) comes after event 1 (T1 read 0x1000 (4 bytes) = 1) in the order",
    );
    check_claim(
        trace,
        "0 1",
        &sequence(&[0, 2, 1]),
        "event 2 (T2 write 0x1000 (4 bytes) = 1) is not in the order",
    );
    check_claim(
        trace,
        "0-3",
        &sequence(&[0, 3]),
        "event 3 (T2 lock 0x1100) is not such an access to memory",
    );
}

/// Vaziri, Tip, Dolby, figure 3: `u` is T1's unit of work, a prime T2's.
const PATTERNS: &[&str] = &[
    "R1 W1' W1",
    "R1 W1' R1",
    "W1 R1' W1",
    "W1 W1' R1",
    "W1 W1' W1",
    "W1 W1' W2' W2",
    "W1 W2' W2 W1'",
    "W1 R1' R2' W2",
    "R1 W1' W2' R2",
    "R1 W2' R2 W1'",
    "W1 R2' W2 R1'",
];

/// Sequences that are equivalent to one in which one unit comes first.
const SERIALISABLE: &[&str] = &[
    "R1 R1' R1",
    "R1 R1' W1",
    "W1 R1' R1",
    "W1 W2' W1",
    "R1 W2' R1",
    "R1 W1' W2' W2'",
    "R1 R1' R2' R2",
    "W1 W2 W1' W2'",
];

/// Unserialisable, although not among the eleven: each reads what the other then writes.
const WRITE_SKEW: &str = "R1 R2' W2 W1'";

/// A trace with the accesses as a pattern has them, and the claim that they are unserialisable.
fn pattern(text: &str) -> (String, Claim) {
    let mut trace = String::new();
    let mut units: [Vec<u64>; 2] = Default::default();
    for (at, access) in text.split_whitespace().enumerate() {
        let remote = usize::from(access.ends_with('\''));
        let operation = access[..1].to_lowercase();
        trace.push_str(&format!(
            "T{}: {operation}(x{},0)\n",
            remote + 1,
            &access[1..2]
        ));
        units[remote].push(at as u64);
    }
    let regions = units
        .iter()
        .map(|unit| marked(unit[0], unit[unit.len() - 1]));
    let events: Vec<u64> = (0..text.split_whitespace().count() as u64).collect();
    let regions: Vec<Region> = regions.collect();
    (trace, unserialisable(&events, &regions))
}

#[test]
fn the_eleven_patterns_are_unserialisable() {
    for text in PATTERNS.iter().chain([&WRITE_SKEW]) {
        let (trace, claim) = pattern(text);
        let order = format!("0-{}", text.split_whitespace().count() - 1);
        check_claim(&trace, &order, &claim, "ok");
    }
    for text in SERIALISABLE {
        let (trace, claim) = pattern(text);
        let order = format!("0-{}", text.split_whitespace().count() - 1);
        let expected = "the accesses are serialisable: no cycle of conflicts joins their regions";
        check_claim(&trace, &order, &claim, expected);
    }
}

#[test]
fn uses_after_free() {
    let trace = "T1: alloc(p,8) w(p,1)
                 T2: r(p,1) r(p,1)
                 T1: free(p) alloc(q,8) w(q,1)";
    let claim = |free, access| Claim::UseAfterFree {
        free: index(free),
        access: index(access),
    };
    check_claim(trace, "0 1 2 4", &claim(4, 3), "ok");
    check_claim(
        trace,
        "0 1 2",
        &claim(4, 3),
        "event 4 (T1 free 0x1000 (0 bytes) A1) is not in the order",
    );
    check_claim(
        trace,
        "0 1 2 4 5",
        &claim(4, 6),
        "event 6 (T1 write 0x1100 (4 bytes) = 1) does not touch what event 4 (T1 free 0x1000 (0 bytes) A1) freed",
    );
    check_claim(
        trace,
        "0 1 2 4",
        &claim(1, 3),
        "event 1 (T1 write 0x1000 (4 bytes) = 1) frees nothing",
    );
    check_claim(
        trace,
        "0 1 2 4",
        &claim(4, 5),
        "event 5 (T1 alloc 0x1100 (8 bytes) A2) is not such an access to memory",
    );
}

#[test]
fn double_frees() {
    let trace = "T1: alloc(p,8) free(p)
                 T2: alloc(p,8)
                 T3: free(p) alloc(q,8) free(q)";
    let claim = |first, second| Claim::DoubleFree {
        first: index(first),
        second: index(second),
    };
    check_claim(trace, "0 1", &claim(1, 3), "ok");
    check_claim(
        trace,
        "0-2",
        &claim(1, 3),
        "event 3 (T3 free 0x1000 (0 bytes) A2) finds its memory allocated",
    );
    check_claim(
        trace,
        "0-4",
        &claim(1, 5),
        "event 5 (T3 free 0x1100 (0 bytes) A3) does not touch what event 1 (T1 free 0x1000 (0 bytes) A1) freed",
    );
}

#[test]
fn reads_of_nothing() {
    let trace = "T1: alloc(p,8) w(p:8,4096) w(x,1)
                 T2: r(p:8,4096) w(y,1)
                 T3: r(x,1)";
    let uninitialised = |read| Claim::UninitialisedRead { read: index(read) };
    check_claim(trace, "0", &uninitialised(3), "ok");
    check_claim(
        trace,
        "0 1",
        &uninitialised(3),
        "event 3 (T2 read 0x1000 (8 bytes) = 4096) would read what event 1 (T1 write 0x1000 (8 bytes) = 4096) wrote",
    );
    check_claim(
        trace,
        "0",
        &uninitialised(5),
        "event 5 (T3 read 0x1100 (4 bytes) = 1) would read what the program's start wrote",
    );
    check_claim(
        trace,
        "0 1",
        &uninitialised(2),
        "event 2 (T1 write 0x1100 (4 bytes) = 1) is not such an access to memory",
    );
    let trace = "T1: alloc(p,8)
                 T2: r(p,1)";
    check_claim(
        trace,
        "0",
        &uninitialised(1),
        "event 1 (T2 read 0x1000 (4 bytes) = 1) reads uninitialised memory in the trace too",
    );
}

#[test]
fn branches_need_other_values() {
    let trace = "T1: r(x,0) w(y,1)";
    let flip = |thread: &str, branch| Claim::BranchFlip {
        thread: text::thread(thread),
        branch,
    };
    check_claim(
        trace,
        "0",
        &flip("T1", 0),
        "T1 takes branch 0 as in the trace",
    );
    check_claim(
        trace,
        "0",
        &flip("T9", 0),
        "T9 executes nothing in the trace",
    );
}

#[test]
fn pointers_are_eight_bytes_and_not_null() {
    let trace = "T1: r(p,5) r(q:8,0) w(x,1)";
    let null = |read| Claim::NullDereference {
        read: index(read),
        access: index(2),
    };
    check_claim(
        trace,
        "",
        &null(0),
        "event 0 (T1 read 0x1000 (4 bytes) = 5) read no pointer in the trace",
    );
    check_claim(
        trace,
        "0",
        &null(1),
        "event 1 (T1 read 0x1100 (8 bytes) = 0) read no pointer in the trace",
    );
}
