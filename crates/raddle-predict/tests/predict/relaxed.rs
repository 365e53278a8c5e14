//! Reads that decide nothing may find other values: what the solver reaches then, and what it still does not.
//!
//! Which reads are free, and what is stored of them, is said by hand; text traces have no code that the judge
//! could execute again. How the two work together, the programs that `raddle check` is run on show.

use std::sync::Arc;

use raddle_judge::ReadRule;
use raddle_predict::goal::{Goal, Reached};
use raddle_predict::maximal::{BUDGET, Leeway, Maximal, Windows};
use raddle_predict::view::{Pos, View};
use raddle_trace::event::Event;
use raddle_trace::ids::{EventIndex, SiteId};

use crate::machine::Random;
use crate::text::trace;

/// The load of a counter, and the store of what it has become.
const LOAD: SiteId = SiteId(1);
const STORE: SiteId = SiteId(2);

/// What is loaded there only goes into the store.
fn counter() -> Leeway {
    let mut leeway = Leeway::default();
    leeway.free(LOAD);
    leeway.feed(LOAD, STORE, false);
    leeway
}

fn goal(view: &View, in_order: &[u64], next: &[u64]) -> Goal {
    let pos = |index: &u64| view.position(EventIndex(*index)).expect("a kept event");
    Goal {
        in_order: in_order.iter().map(pos).collect(),
        next: next.iter().map(pos).collect(),
        sees: None,
    }
}

/// The order that reaches a goal about numbered events.
fn order(events: &[Event], leeway: Leeway, in_order: &[u64], next: &[u64]) -> Option<Vec<u64>> {
    let view = View::new(events).unwrap();
    let goal = goal(&view, in_order, next);
    let all = Pos(0)..Pos(view.len() as u32);
    let mut maximal =
        Maximal::new(&view, events, ReadRule::SameValue, all).with_leeway(Arc::new(leeway));
    match maximal.reach(&goal, BUDGET) {
        Reached::Unknown => panic!("it is not hard"),
        Reached::Never => None,
        Reached::By(order) => Some(order.iter().map(|event| event.0).collect()),
    }
}

fn reaches(text: &str, leeway: Leeway, in_order: &[u64], next: &[u64]) -> bool {
    order(&trace(text), leeway, in_order, next).is_some()
}

/// Two threads count under a lock; before and behind, they access a variable.
const HANDOFF: &str = "T1: fork(T2) w(y) acq(l) r(x)=0@1 w(x)=1@2 rel(l)
                       T2: acq(l) r(x)=1@1 w(x)=2@2 rel(l) r(y)";

#[test]
fn counting_sections_change_places() {
    assert!(!reaches(HANDOFF, Leeway::default(), &[9, 2], &[]));
    assert!(!reaches(HANDOFF, Leeway::default(), &[], &[1, 10]));
    assert!(reaches(HANDOFF, counter(), &[9, 2], &[]));
    assert!(reaches(HANDOFF, counter(), &[], &[1, 10]));
    let events = trace(HANDOFF);
    let order = order(&events, counter(), &[9, 5], &[]).expect("both sections");
    assert_eq!(order, [0, 1, 6, 7, 8, 9, 2, 3, 4, 5]);
}

#[test]
fn a_read_that_decides_keeps_its_value() {
    // T2's load is another instruction's.
    let text = HANDOFF.replace("r(x)=1@1", "r(x)=1@3");
    assert!(!reaches(&text, counter(), &[9, 2], &[]));
    assert!(!reaches(&text, counter(), &[], &[1, 10]));
}

#[test]
fn a_lock_finds_what_it_found() {
    let text = "T1: fork(T2) w(y) lock(m)@1 unlock(m)@1 T2: lock(m)@1 unlock(m)@1 r(y)";
    let text = text.replace(" T2:", "\nT2:");
    let events = trace(&text);
    assert!(events.iter().all(|event| !counter().is_free(event)));
}

/// T1 counts after T2, T3 looks at the count and goes on.
const WATCHED: &str = "T1: fork(T2) fork(T3)
                       T2: r(x)=0@1 w(x)=1@2
                       T1: r(x)=1@1 w(x)=2@2
                       T3: r(x)=2 r(y)
                       T1: w(y)";

#[test]
fn what_a_changed_read_stores_does_not_count() {
    // T1 alone leaves 1, and T3 would have to find 2.
    assert!(!reaches(WATCHED, counter(), &[7, 2], &[]));
    // Together they come to 2, but which of them is last is not for the solver to compute.
    assert!(!reaches(WATCHED, counter(), &[5, 2, 3, 7], &[]));
    assert!(reaches(WATCHED, counter(), &[3, 5, 7], &[8]));
    // A free read does not care.
    let text = WATCHED.replace("r(x)=2", "r(x)=2@1");
    assert!(reaches(&text, counter(), &[7, 2], &[]));
}

#[test]
fn a_store_of_something_else_counts() {
    let mut leeway = Leeway::default();
    leeway.free(LOAD);
    // What T1 stores does not come from what it loads.
    assert!(reaches(WATCHED, leeway, &[7, 2], &[]));
}

#[test]
fn a_read_that_keeps_its_value_leaves_its_store_as_it_was() {
    // Whoever wrote 0, T1 stores 1 if it finds it; T3 goes on if it finds that.
    let text = "T1: fork(T2) fork(T3) r(x)=0@1 w(x)=1@2
                T2: w(x)=0 r(x)=0 w(x)=1
                T3: r(x)=1 w(y)
                T2: r(y)";
    assert!(reaches(text, counter(), &[4, 2, 3, 7, 8], &[5]));
    assert!(reaches(text, counter(), &[5, 2, 3, 7, 8], &[6]));
    let text = text.replace("w(x)=0 r(x)=0", "w(x)=5 r(x)=5");
    assert!(!reaches(&text, counter(), &[5, 2, 3, 7, 8], &[6]));
    assert!(reaches(&text, counter(), &[2, 3, 7, 8], &[4]));
}

#[test]
fn what_earlier_turns_of_a_loop_read_is_carried_on() {
    let text = "T1: fork(T2) r(x)=0@1
                T2: w(x)=5
                T1: r(x)=5@1 w(s)=5@2
                T2: r(s)=5 w(y)
                T1: w(y)";
    // The first load finds 5, too.
    assert!(reaches(text, counter(), &[2, 1, 5], &[6, 7]));
    let mut carried = Leeway::default();
    carried.free(LOAD);
    carried.feed(LOAD, STORE, true);
    assert!(!reaches(text, carried.clone(), &[2, 1, 5], &[6, 7]));
    assert!(reaches(text, carried, &[1, 2, 5], &[6, 7]));
}

#[test]
fn an_update_feeds_itself() {
    // It finds 0 and leaves 0.
    let text = "T1: fork(T2) rmw(x)@1
                T2: w(x)=7 r(x)=7 w(x)=0
                T1: r(y)
                T2: w(y)";
    let mut leeway = Leeway::default();
    leeway.free(LOAD);
    leeway.feed(LOAD, LOAD, false);
    assert!(!reaches(text, Leeway::default(), &[2, 1, 5, 3], &[4]));
    assert!(!reaches(text, Leeway::default(), &[3, 1, 5, 4], &[]));
    assert!(reaches(text, leeway.clone(), &[3, 1, 5, 4], &[]));
    // What it leaves of 7 is not known.
    assert!(!reaches(text, leeway, &[2, 1, 3, 4], &[]));
}

#[test]
fn windows_know_whether_they_have_leeway() {
    let events = trace(HANDOFF);
    let view = View::new(&events).unwrap();
    let windows = |leeway| {
        Windows::new(&view, &events, ReadRule::SameValue, 100).with_leeway(Arc::new(leeway))
    };
    let goal = goal(&view, &[], &[1, 10]);
    assert!(windows(counter()).has_leeway(&goal));
    assert!(!windows(Leeway::default()).has_leeway(&goal));
    let mut elsewhere = Leeway::default();
    elsewhere.free(SiteId(77));
    assert!(!windows(elsewhere).has_leeway(&goal));
    assert!(matches!(
        windows(counter()).reach(&goal, BUDGET),
        Reached::By(_)
    ));
}

/// A statement of a thread that has one register.
#[derive(Clone, Copy, Debug)]
enum Statement {
    Load(usize),
    Put(usize, u64),
    /// Stores one more than the register holds.
    Count(usize),
    /// Goes on only if the register holds what it held.
    Decide,
    Lock(usize),
    Unlock(usize),
}

use Statement::{Count, Decide, Load, Lock, Put, Unlock};

const VARIABLES: usize = 2;
const THREADS: usize = 3;

fn program(random: &mut Random) -> Vec<Vec<Statement>> {
    let thread = |_| {
        let mut code = Vec::new();
        for _ in 0..1 + random.below(3) {
            let variable = random.below(VARIABLES as u64) as usize;
            let lock = random.below(2) as usize;
            match random.below(7) {
                0..=2 => code.extend([Lock(lock), Load(variable), Count(variable), Unlock(lock)]),
                3 => code.extend([Lock(lock), Load(variable), Decide, Unlock(lock)]),
                4 => code.extend([Load(variable), Decide]),
                5 => code.push(Count(variable)),
                _ => code.push(Put(variable, random.below(2))),
            }
        }
        code
    };
    (0..THREADS).map(thread).collect()
}

/// What threads share, and how far each has come.
#[derive(Clone, Default)]
struct Machine {
    memory: [u64; VARIABLES],
    holders: [Option<usize>; 2],
    registers: [u64; THREADS],
    done: [usize; THREADS],
}

impl Machine {
    /// Executes the next statement of a thread; false if it has to wait for a lock.
    fn step(&mut self, thread: usize, statement: Statement) -> bool {
        let register = &mut self.registers[thread];
        match statement {
            Load(variable) => *register = self.memory[variable],
            Put(variable, value) => self.memory[variable] = value,
            Count(variable) => self.memory[variable] = *register + 1,
            Decide => {}
            Lock(lock) if self.holders[lock].is_some() => return false,
            Lock(lock) => self.holders[lock] = Some(thread),
            Unlock(lock) => self.holders[lock] = None,
        }
        self.done[thread] += 1;
        true
    }
}

/// A program with one of its runs.
struct Recorded {
    program: Vec<Vec<Statement>>,
    text: String,
    leeway: Leeway,
    /// By event: the statement's thread and number.
    statements: Vec<Option<(usize, usize)>>,
    /// What the register of a thread held at a decision.
    decided: Vec<((usize, usize), u64)>,
}

fn record(random: &mut Random) -> Recorded {
    let program = program(random);
    let mut text = "T0: w(v0) w(v1) fork(T1) fork(T2) fork(T3)\n".to_owned();
    let mut statements = vec![None; 5];
    let mut decided = Vec::new();
    let mut leeway = Leeway::default();
    let site = |thread: usize, number: usize| 1000 * (1 + thread) + number;
    for (thread, code) in program.iter().enumerate() {
        for (number, statement) in code.iter().enumerate() {
            let load = SiteId(site(thread, number) as u32);
            let uses = code.iter().enumerate().skip(number + 1);
            let uses = uses.take_while(|(_, other)| !matches!(other, Load(_)));
            if !matches!(statement, Load(_)) || uses.clone().any(|it| matches!(it.1, Decide)) {
                continue;
            }
            leeway.free(load);
            for (number, _) in uses.filter(|it| matches!(it.1, Count(_))) {
                leeway.feed(load, SiteId(site(thread, number) as u32), false);
            }
        }
    }
    let mut machine = Machine::default();
    while let Some(thread) = {
        let mut left: Vec<usize> = (0..THREADS)
            .filter(|&it| machine.done[it] < program[it].len())
            .collect();
        left.sort_by_key(|_| random.below(100));
        let mut left = left.into_iter();
        left.find(|&it| machine.step(it, program[it][machine.done[it]]))
    } {
        let number = machine.done[thread] - 1;
        let (value, at) = (machine.registers[thread], site(thread, number));
        let event = match program[thread][number] {
            Load(variable) => format!("r(v{variable})={value}@{at}"),
            Put(variable, value) => format!("w(v{variable})={value}@{at}"),
            Count(variable) => format!("w(v{variable})={}@{at}", value + 1),
            Lock(lock) => format!("acq(l{lock})"),
            Unlock(lock) => format!("rel(l{lock})"),
            Decide => {
                decided.push(((thread, number), value));
                continue;
            }
        };
        text.push_str(&format!("T{}: {event}\n", thread + 1));
        statements.push(Some((thread, number)));
    }
    Recorded {
        program,
        text,
        leeway,
        statements,
        decided,
    }
}

impl Recorded {
    /// Whether a machine can execute these events in this order and then stands before the next ones.
    fn can_run(&self, order: &[u64], next: &[u64]) -> bool {
        let mut machine = Machine::default();
        let stops = next.iter().map(|event| (event, false));
        let executed = order.iter().map(|event| (event, true));
        executed.chain(stops).all(|(event, is_executed)| {
            let Some((thread, number)) = self.statements[*event as usize] else {
                return true;
            };
            let end = number + usize::from(is_executed);
            (machine.done[thread]..end).all(|at| {
                let register = machine.registers[thread];
                let decision = self.decided.iter().find(|it| it.0 == (thread, at));
                decision.is_none_or(|it| it.1 == register)
                    && machine.step(thread, self.program[thread][at])
            })
        })
    }
}

#[test]
fn orders_with_leeway_can_be_run() {
    let mut random = Random(11);
    let (mut strict, mut relaxed) = (0, 0);
    for _ in 0..400 {
        let recorded = record(&mut random);
        let events = trace(&recorded.text);
        let view = View::new(&events).unwrap();
        let all = Pos(0)..Pos(view.len() as u32);
        let mut without = Maximal::new(&view, &events, ReadRule::SameValue, all.clone());
        let leeway = Arc::new(recorded.leeway.clone());
        let mut with = Maximal::new(&view, &events, ReadRule::SameValue, all).with_leeway(leeway);
        for _ in 0..12 {
            let mut any = || {
                let among = view.len() as u64 - 5;
                view.event_index(Pos(5 + random.below(among) as u32)).0
            };
            let (a, b, together) = (any(), any(), any() % 2 == 0);
            let (in_order, next) = if together {
                (vec![], vec![a, b])
            } else {
                (vec![a, b], vec![])
            };
            let goal = goal(&view, &in_order, &next);
            let reached = with.reach(&goal, BUDGET);
            if matches!(without.reach(&goal, BUDGET), Reached::By(_)) {
                strict += 1;
                assert!(
                    matches!(reached, Reached::By(_)),
                    "{goal:?}\n{}",
                    recorded.text
                );
            }
            if let Reached::By(order) = reached {
                relaxed += 1;
                let order: Vec<u64> = order.iter().map(|event| event.0).collect();
                assert!(
                    recorded.can_run(&order, &next),
                    "{goal:?} by {order:?}\n{}{:?}",
                    recorded.text,
                    recorded.program
                );
            }
        }
    }
    assert!(relaxed > strict + strict / 20, "{relaxed} against {strict}");
}
