//! What a view keeps of a trace.

use raddle_predict::clocks::Clocks;
use raddle_predict::view::{Kind, Lane, Pos, Survey, View};
use raddle_trace::event::LockMode;
use raddle_trace::ids::{EventIndex, SiteId};
use raddle_trace::sharing::SiteSet;

use crate::text::trace;

fn kept(text: &str) -> Vec<u64> {
    let view = View::new(&trace(text)).unwrap();
    let all = view.positions().map(|pos| view.event_index(pos).0);
    all.collect()
}

#[test]
fn private_accesses_are_dropped() {
    assert_eq!(
        kept(
            "T1: w(x) w(y) r(z) T2: r(x) r(z)"
                .replace(" T2", "\nT2")
                .as_str()
        ),
        [0, 3]
    );
    // Neighbouring bytes of one word are not shared.
    assert!(kept("T1: w(x:1)\nT2: w(x+1:1)").is_empty());
    // Freeing another's object makes its accesses matter.
    assert_eq!(kept("T1: alloc(x,8) w(x)\nT2: free(x)"), [0, 1, 2]);
}

#[test]
fn what_was_written_while_there_was_one_thread_is_no_conflict() {
    let text = "T1: w(x) w(y) fork(T2)\nT2: begin(T1) r(x) r(y) end\nT1: r(y) w(y)";
    // Of y all is kept, its first write, too; of x nothing.
    assert_eq!(kept(text), [1, 2, 3, 5, 6, 7, 8]);
    // Nobody created T3: what comes before it in the trace need not.
    let stranger = format!("{text}\nT3: r(z)");
    assert_eq!(kept(&stranger), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    // Another thread frees what was filled before.
    let text = "T1: alloc(x,8) w(x) fork(T2)\nT2: begin(T1) r(x) free(x)";
    assert_eq!(kept(text), [0, 1, 2, 3, 4, 5]);
}

/// The instructions that a trace executes and that concern no other thread.
fn private(text: &str, always: &[u32]) -> Vec<u32> {
    let events = trace(text);
    let mut survey = Survey::default();
    events.iter().for_each(|it| survey.observe(it).unwrap());
    let mut set = SiteSet::default();
    always.iter().for_each(|it| set.insert(SiteId(*it)));
    let mut sieve = survey.sieve(set);
    events.iter().for_each(|it| sieve.observe(it).unwrap());
    let sifted = sieve.finish();
    let executed = sifted.executed.iter();
    let private = executed.filter(|it| !sifted.concerning.contains(*it));
    private.map(|it| it.0).collect()
}

#[test]
fn an_instruction_concerns_others_if_one_of_its_accesses_does() {
    let text = "T1: fork(T2) w(x)@1 r(a)@2 w(b)@3 r(b)@4 acq(l) rel(l)
                T2: begin(T1) r(x)@2 w(c)@4";
    assert_eq!(private(text, &[]), [3, 4]);
    assert_eq!(private(text, &[3]), [4]);
    // So does a function, with all of its returns, if a call of it has such an event inside.
    let text = "T1: fork(T2) call(900)@50 w(p)@5 ret(900)@51
                T1: call(900)@60 w(p)@5 ret(900)@61 call(900)@60 call(800)@70 acq(l) rel(l) ret(800)@71 ret(900)@62
                T2: begin(T1) r(q)@7";
    assert_eq!(private(text, &[]), [5, 7, 50, 51]);
    // An access to what was written before there were others does not.
    let text = "T1: w(x)@1 fork(T2) r(x)@2\nT2: begin(T1) r(x)@2";
    assert_eq!(private(text, &[]), [1, 2]);
}

#[test]
fn cells_are_as_fine_as_accesses_are() {
    let view = View::new(&trace("T1: w(x:8) w(x+2:2)\nT2: rr(x:16)\nT1: w(x+12:4)")).unwrap();
    let lens: Vec<u64> = view.cells().iter().map(|cell| cell.len).collect();
    assert_eq!(lens, [2, 2, 4, 4]);
    let cells = |pos| {
        view.cells_of(Pos(pos))
            .map(|cell| cell.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(cells(0), [0, 1, 2]);
    assert_eq!(cells(1), [1]);
    assert_eq!(cells(2), [0, 1, 2, 3]);
    assert_eq!(cells(3), [3]);
}

#[test]
fn a_reentrant_hold_is_one() {
    let view = View::new(&trace("T1: acq(l) acq(l) acq(m) rel(l) rel(m) rel(l)")).unwrap();
    let holds: Vec<_> = view
        .holds()
        .iter()
        .map(|h| (h.acquire.0, h.release))
        .collect();
    assert_eq!(holds, [(0, Some(Pos(5))), (2, Some(Pos(4)))]);
    let held = |pos| view.lockset(view.lockset_of(Pos(pos))).len();
    assert_eq!([0, 1, 2, 3, 4, 5].map(held), [0, 1, 1, 2, 2, 1]);
}

#[test]
fn regions_are_outermost_and_end_at_boundaries() {
    let text = "T1: w(x) acq(l) acq(m) w(x) rel(m) notify(c) w(x) rel(l) w(x)
                T2: w(x)";
    let view = View::new(&trace(text)).unwrap();
    let region = |pos| view.region_of(Pos(pos)).map(|id| id.0);
    let regions: Vec<_> = (0..9).map(region).collect();
    let (a, b) = (Some(0), Some(1));
    assert_eq!(regions, [None, a, a, a, a, None, b, b, None]);
    let outer = view.regions()[1];
    assert_eq!((outer.first, outer.last), (Pos(6), Pos(7)));
    assert_eq!(view.holds()[outer.outermost.index()].acquire, Pos(1));
}

#[test]
fn modes_are_part_of_locksets() {
    let view = View::new(&trace("T1: racq(l) w(x) rrel(l)\nT2: w(x)")).unwrap();
    let lockset = view.lockset(view.lockset_of(Pos(1)));
    assert_eq!(lockset[0].1, LockMode::Shared);
}

#[test]
fn an_allocation_precedes_foreign_accesses_even_private_ones() {
    let view = View::new(&trace("T1: alloc(x,8)\nT2: w(x) w(x)")).unwrap();
    assert_eq!(view.len(), 2);
    assert_eq!((view.edges()[0].from, view.edges()[0].to), (Pos(0), Pos(1)));
    assert_eq!(view.dropped(), 1);
}

#[test]
fn recycled_memory_waits_for_its_freeing() {
    let view = View::new(&trace("T1: alloc(x,8) free(x)\nT2: alloc(x,4)")).unwrap();
    let edge = view.edges()[0];
    assert_eq!(view.event_index(edge.from), EventIndex(1));
    assert_eq!(view.event_index(edge.to), EventIndex(2));
}

#[test]
fn must_order_is_transitive() {
    let text = "T1: fork(T2)
                T2: begin(T1) post(s,1)
                T3: take(s,0) post(t,1)
                T1: w(x) take(t,0) w(x)
                T3: w(x) end";
    let view = View::new(&trace(text)).unwrap();
    let order = Clocks::must_order(&view, |_| true);
    let find = |kind, lane| {
        let mut own = view.lane_events(Lane(lane)).iter();
        *own.find(|pos| view.kind(**pos) == kind).unwrap()
    };
    let (begin, take) = (find(Kind::Begin, 1), find(Kind::SemWait, 0));
    assert!(order.before(&view, begin, take));
    assert!(order.before(&view, find(Kind::Fork, 0), find(Kind::SemWait, 2)));
    assert!(!order.before(&view, find(Kind::Access, 0), find(Kind::Access, 2)));
    assert!(!order.before(&view, begin, find(Kind::Access, 0)));
}
