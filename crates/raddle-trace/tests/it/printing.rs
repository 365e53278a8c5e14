//! A trace as a person sees it: dump, figures, stacks, STD export.

use std::sync::Arc;

use raddle_trace::action::Action;
use raddle_trace::dump::Dumper;
use raddle_trace::event::{Access, Atomicity, Event, EventKind, Outcomes};
use raddle_trace::file::Trailer;
use raddle_trace::ids::{Address, AllocId, EventIndex, SiteId, ThreadId, Tick};
use raddle_trace::position::{CodePosition, SiteInfo, SourcePosition, Variable};
use raddle_trace::sites::SiteShape;
use raddle_trace::stack::{Stacks, frames_at};
use raddle_trace::stats::Stats;
use raddle_trace::std_format::{StdExport, StdImport};
use raddle_trace::used::Used;
use raddle_trace::wire::{Ordering, OutcomeKind, Role, SiteKind};

fn access(site: u32, addr: u64, value: u64) -> Access {
    Access {
        site: SiteId(site),
        addr: Address(addr),
        size: 4,
        value,
    }
}

fn act(action: Action) -> EventKind {
    EventKind::Action {
        pc: Address(0x5000),
        action,
    }
}

/// A thread makes an object, another one changes it under an inlined lock and frees it.
fn events() -> Vec<Event> {
    let (addr, size, id) = (Address(0x9000), 32, AllocId(3));
    let atomicity = |role| Atomicity {
        order: Ordering::Acquire,
        role,
    };
    let lock = access(5, 0x9010, 0);
    let unlock = Access {
        value: 1,
        ..access(6, 0x9010, 0)
    };
    let main = ThreadId(0);
    let child = ThreadId(1);
    let kinds = [
        (
            main,
            act(Action::Begin {
                creator: None,
                stack_low: Address(1),
                stack_size: 2,
            }),
        ),
        (
            main,
            EventKind::Enter {
                site: SiteId(1),
                frame: Address(0x7000),
                return_address: Address(0x5008),
            },
        ),
        (main, act(Action::Alloc { addr, size, id })),
        (main, EventKind::Write(access(2, 0x9004, 70_000))),
        (main, act(Action::Fork { child })),
        (
            child,
            act(Action::Begin {
                creator: Some(main),
                stack_low: Address(1),
                stack_size: 2,
            }),
        ),
        (
            child,
            EventKind::Cas {
                access: lock,
                atomicity: atomicity(Role::Lock),
                new: 1,
                success: true,
            },
        ),
        (
            child,
            EventKind::Rmw {
                access: access(7, 0x9004, 5),
                atomicity: atomicity(Role::None),
                new: 6,
            },
        ),
        (
            child,
            EventKind::Branches(Outcomes::from_sentinel(0b1_101).unwrap()),
        ),
        (
            child,
            EventKind::Rmw {
                access: unlock,
                atomicity: atomicity(Role::Unlock),
                new: 0,
            },
        ),
        (
            child,
            act(Action::ReadLock {
                lock: Address(0x77),
                tried: true,
            }),
        ),
        (
            child,
            act(Action::ReadUnlock {
                lock: Address(0x77),
            }),
        ),
        (
            child,
            EventKind::RangeRead {
                site: SiteId(8),
                addr: Address(0x9008),
                len: 12,
            },
        ),
        (child, act(Action::Free { addr, size, id })),
        (child, EventKind::Read(access(2, 0x9004, 1))),
        (
            child,
            act(Action::Fail {
                kind: OutcomeKind::UseAfterFree,
            }),
        ),
    ];
    let mut ticks = [Tick(0); 2];
    let event = |(thread, kind): (ThreadId, EventKind)| {
        let tick = &mut ticks[thread.0 as usize];
        let event = Event {
            thread,
            tick: *tick,
            kind,
        };
        *tick = event.next_tick();
        event
    };
    kinds.into_iter().map(event).collect()
}

fn position(function: &str, line: u32) -> SourcePosition {
    let (function, file) = (function.to_owned(), "src/bank.rs".to_owned());
    SourcePosition {
        function,
        file,
        line,
        column: 9,
    }
}

fn trailer() -> Arc<Trailer> {
    let shape = SiteShape {
        kind: SiteKind::Write,
        order: Ordering::Plain,
        size: 4,
        role: Role::None,
    };
    let site = SiteInfo {
        site: SiteId(2),
        module: 1,
        index: 0,
        shape,
        positions: vec![position("bank::deposit", 14), position("bank::main", 40)],
        variable: Some(Variable {
            name: "balance".to_owned(),
            ..Variable::default()
        }),
    };
    let code = |pc, name, line| CodePosition {
        pc: Address(pc),
        positions: vec![position(name, line)],
        object: None,
    };
    let code = vec![code(0x5000, "bank::worker", 20), code(0x5008, "start", 1)];
    Arc::new(Trailer {
        sites: vec![site],
        code,
        ..Trailer::default()
    })
}

const DUMP: &str = "
       0  T0@0         begin                                       src/bank.rs:20:9 bank::worker
       1  T0@2         call           frame 0x7000                 s1
       2  T0@3         alloc          0x9000 (32 bytes) A3         src/bank.rs:20:9 bank::worker
       3  T0@5         write          A3+4:4 = 0x11170             src/bank.rs:14:9 bank::deposit (balance)
       4  T0@6         fork           T1                           src/bank.rs:20:9 bank::worker
       5  T1@0         begin          by T0                        src/bank.rs:20:9 bank::worker
       6  T1@2         acquire        A3+16:4 = 0 -> 1             s5
       7  T1@4         rmw            A3+4:4 = 5 -> 6              s7
       8  T1@6         branches       101
       9  T1@7         release        A3+16:4 = 1 -> 0             s6
      10  T1@9         acquire-shared 0x77 (tried)                 src/bank.rs:20:9 bank::worker
      11  T1@11        release-shared 0x77                         src/bank.rs:20:9 bank::worker
      12  T1@13        range-read     A3+8:12                      s8
      13  T1@14        free           0x9000 (32 bytes) A3         src/bank.rs:20:9 bank::worker
      14  T1@16        read           0x9004:4 = 1                 src/bank.rs:14:9 bank::deposit (balance)
      15  T1@17        fail           UseAfterFree                 src/bank.rs:20:9 bank::worker
";

#[test]
fn a_dump_shows_each_event_on_a_line() {
    let mut dumper = Dumper::new(Some(trailer()));
    let mut out = b"\n".to_vec();
    events()
        .iter()
        .for_each(|event| dumper.write(event, &mut out).unwrap());
    assert_eq!(String::from_utf8(out).unwrap(), DUMP);
}

#[test]
fn a_dump_may_skip_events_and_lack_positions() {
    let mut dumper = Dumper::new(None);
    let events = events();
    events[..6].iter().for_each(|event| dumper.skip(event));
    let mut out = Vec::new();
    events[6..8]
        .iter()
        .for_each(|event| dumper.write(event, &mut out).unwrap());
    let expected = "       6  T1@2         acquire        A3+16:4 = 0 -> 1             s5
       7  T1@4         rmw            A3+4:4 = 5 -> 6              s7\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

const STD: &str = "\
T0|begin(0)|20480
T0|w(V3.4)|2
T0|fork(T1)|20480
T1|begin(0)|20480
T1|acq(L3.16)|5
T1|r(V3.4)|7
T1|w(V3.4)|7
T1|rel(L3.16)|6
T1|r(V0x77)|20480
T1|r(V3.8)|8
T1|r(V3.16)|8
T1|r(V0x9004)|2
";

#[test]
fn a_recorded_trace_exports_as_std() {
    let mut export = StdExport::new(None);
    let mut out = Vec::new();
    events()
        .iter()
        .for_each(|event| export.write(event, &mut out).unwrap());
    export.finish(&mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), STD);
}

const STATS: &str = "\
events          16
bytes an event  6.25
threads         2
switches        1
locks           2, acquired 2 times
shared memory   1 words, touched by 2 sites
branches        3
by kind
  begin         2
  rmw           2
  alloc         1
  branches      1
  call          1
  cas           1
  fail          1
  fork          1
  free          1
  range-read    1
  read          1
  read-lock     1
  read-unlock   1
  write         1
by thread
  T0            5
  T1            11
";

#[test]
fn stats_count() {
    let mut stats = Stats::default();
    events().iter().for_each(|event| stats.observe(event));
    let mut out = Vec::new();
    stats.write(100, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), STATS);
}

#[test]
fn a_stack_has_inlined_calls_and_callers() {
    let events = events();
    let mut stacks = Stacks::default();
    events[..4].iter().for_each(|event| stacks.observe(event));
    let functions: Vec<_> = stacks
        .positions(&events[3], &trailer())
        .into_iter()
        .map(|position| position.function)
        .collect();
    assert_eq!(functions, ["bank::deposit", "bank::main", "start"]);
    let frames =
        |index| frames_at(events.iter().copied().map(Ok::<_, ()>), EventIndex(index)).unwrap();
    assert_eq!(frames(3).unwrap().len(), 1);
    assert_eq!(frames(5).unwrap().len(), 0);
    assert_eq!(frames(99), None);
}

#[test]
fn what_is_used_is_gathered() {
    let mut used = Used::default();
    events().iter().for_each(|event| used.observe(event));
    assert_eq!(
        used.sites.iter().map(|site| site.0).collect::<Vec<_>>(),
        [1, 2, 5, 6, 7, 8]
    );
    assert_eq!(
        used.pcs.into_iter().map(|pc| pc.0).collect::<Vec<_>>(),
        [0x5000, 0x5008]
    );
}

#[test]
fn an_imported_trace_is_dumped_with_its_own_names() {
    let text = "main|w(V0)|12\nT1|acq(L 7)|x.c:3\nmain|fork(T1)|13\n";
    let mut import = StdImport::new(text.as_bytes());
    let events: Vec<Event> = import.by_ref().map(Result::unwrap).collect();
    let names = Some(import.into_names());
    let mut dumper = Dumper::new(Some(Arc::new(Trailer {
        names,
        ..Trailer::default()
    })));
    let mut out = b"\n".to_vec();
    events
        .iter()
        .for_each(|event| dumper.write(event, &mut out).unwrap());
    let expected = "
       0  main@0       write          V0                           12
       1  T1@0         acquire        L 7                          x.c:3
       2  main@1       fork           T1                           13
";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}
