//! Arbitrary events and runs, for the property tests.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use raddle_trace::action::{Action, RawAction};
use raddle_trace::event::{Access, Atomicity, Event, EventKind, Outcomes};
use raddle_trace::file::MAX_SITES;
use raddle_trace::ids::{Address, BuildId, SiteId, ThreadId, Tick};
use raddle_trace::outcome::{Ending, Outcome};
use raddle_trace::position::SourcePosition;
use raddle_trace::run::{Clock, Cwd, RunSpec, Stdin, Strategy as RunStrategy, TimeMode};
use raddle_trace::schedule::Switch;
use raddle_trace::wire::{Mark, Ordering, Role, SwitchReason};

/// Small numbers, addresses, and anything.
pub fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..200_u64,
        0x7fff_0000_0000..0x7fff_0000_1000_u64,
        any::<u64>()
    ]
}

fn site() -> impl Strategy<Value = SiteId> {
    prop_oneof![0..30_u32, 0..MAX_SITES].prop_map(SiteId)
}

fn access() -> impl Strategy<Value = Access> {
    (site(), number(), any::<u8>(), number()).prop_map(|(site, addr, size, value)| Access {
        site,
        addr: Address(addr),
        size,
        value,
    })
}

fn atomicity() -> impl Strategy<Value = Atomicity> {
    (select(Ordering::ALL), select(Role::ALL)).prop_map(|(order, role)| Atomicity { order, role })
}

pub fn action() -> impl Strategy<Value = Action> {
    (select(Mark::ALL), number(), number(), number()).prop_filter_map(
        "numbers that mean an action",
        |(mark, object, argument, second)| {
            Action::try_from(RawAction {
                mark,
                object,
                argument,
                second,
            })
            .ok()
        },
    )
}

pub fn event_kind() -> impl Strategy<Value = EventKind> {
    let range = || (site(), number().prop_map(Address), number());
    prop_oneof![
        access().prop_map(EventKind::Read),
        access().prop_map(EventKind::Write),
        (access(), atomicity())
            .prop_map(|(access, atomicity)| EventKind::AtomicLoad(access, atomicity)),
        (access(), atomicity())
            .prop_map(|(access, atomicity)| EventKind::AtomicStore(access, atomicity)),
        (access(), atomicity(), number()).prop_map(|(access, atomicity, new)| EventKind::Rmw {
            access,
            atomicity,
            new
        }),
        (access(), atomicity(), number(), any::<bool>()).prop_map(
            |(access, atomicity, new, success)| EventKind::Cas {
                access,
                atomicity,
                new,
                success
            }
        ),
        (site(), select(Ordering::ALL)).prop_map(|(site, order)| EventKind::Fence { site, order }),
        range().prop_map(|(site, addr, len)| EventKind::RangeRead { site, addr, len }),
        range().prop_map(|(site, addr, len)| EventKind::RangeWrite { site, addr, len }),
        range().prop_map(|(site, addr, value)| EventKind::Value { site, addr, value }),
        range().prop_map(|(site, frame, to)| EventKind::Enter {
            site,
            frame,
            return_address: Address(to)
        }),
        range().prop_map(|(site, frame, _)| EventKind::Exit { site, frame }),
        (1..=u64::MAX)
            .prop_filter_map("a sentinel", Outcomes::from_sentinel)
            .prop_map(EventKind::Branches),
        (number(), action()).prop_map(|(pc, action)| EventKind::Action {
            pc: Address(pc),
            action
        }),
    ]
}

/// Threads take turns; ticks mostly go on where they stopped.
pub fn events(len: usize) -> impl Strategy<Value = Vec<Event>> {
    let turn = (
        0..4_u32,
        vec(event_kind(), 1..8),
        option::weighted(0.2, number()),
    );
    vec(turn, 0..len).prop_map(|turns| {
        let mut ticks = std::collections::BTreeMap::new();
        let mut events = Vec::new();
        for (thread, kinds, jump) in turns {
            let thread = ThreadId(thread);
            let mut tick = jump
                .map(Tick)
                .or(ticks.get(&thread).copied())
                .unwrap_or_default();
            for kind in kinds {
                let event = Event { thread, tick, kind };
                tick = event.next_tick();
                events.push(event);
            }
            ticks.insert(thread, tick);
        }
        events
    })
}

fn os() -> impl Strategy<Value = OsString> {
    prop_oneof![
        any::<Vec<u8>>().prop_map(OsString::from_vec),
        ".*".prop_map(OsString::from)
    ]
}

fn path() -> impl Strategy<Value = PathBuf> {
    os().prop_map(PathBuf::from)
}

pub fn position() -> impl Strategy<Value = SourcePosition> {
    (".*", ".*", any::<u32>(), any::<u32>()).prop_map(|(function, file, line, column)| {
        SourcePosition {
            function,
            file,
            line,
            column,
        }
    })
}

pub fn run() -> impl Strategy<Value = RunSpec> {
    let stdin = prop_oneof![
        Just(Stdin::Empty),
        any::<Vec<u8>>().prop_map(Stdin::Inline),
        (path(), any::<u64>()).prop_map(|(path, digest)| Stdin::File { path, digest }),
    ];
    let cwd = prop_oneof![Just(Cwd::Inherit), path().prop_map(Cwd::Path)];
    let clock = (any::<u64>(), any::<u64>()).prop_map(|(start_ns, ns_per_tick)| Clock {
        start_ns,
        ns_per_tick,
    });
    let time = select(vec![TimeMode::Virtual, TimeMode::Real]);
    let strategy = (".*", vec((".*", ".*"), 0..3))
        .prop_map(|(name, parameters)| RunStrategy { name, parameters });
    let program = (path(), vec(os(), 0..3), ".*".prop_map(BuildId));
    let input = (vec(os(), 0..3), vec((os(), os()), 0..3), stdin, cwd);
    (program, input, any::<u64>(), clock, time, strategy).prop_map(
        |((program, build_args, build), (args, env, stdin, cwd), seed, clock, time, strategy)| {
            RunSpec {
                program,
                build_args,
                build,
                args,
                env,
                stdin,
                cwd,
                seed,
                clock,
                time,
                strategy,
            }
        },
    )
}

pub fn outcome() -> impl Strategy<Value = Outcome> {
    let plain = [
        Ending::Success,
        Ending::Panic,
        Ending::Deadlock,
        Ending::UseAfterFree,
        Ending::Hang,
    ];
    let ending = prop_oneof![
        select(plain.to_vec()),
        any::<i32>().prop_map(Ending::Exit),
        any::<i32>().prop_map(Ending::Signal),
        any::<i32>().prop_map(Ending::Oracle),
    ];
    let thread = option::of(any::<u32>().prop_map(ThreadId));
    let tick = option::of(any::<u64>().prop_map(Tick));
    let object = option::of(any::<u64>().prop_map(Address));
    (ending, thread, tick, object, option::of(position()), ".*").prop_map(
        |(ending, thread, tick, object, position, message)| Outcome {
            ending,
            thread,
            tick,
            object,
            position,
            message,
        },
    )
}

pub fn switch() -> impl Strategy<Value = Switch> {
    let site = option::of((0..u32::MAX).prop_map(SiteId));
    (
        any::<u32>(),
        any::<u64>(),
        any::<u32>(),
        select(SwitchReason::ALL),
        site,
    )
        .prop_map(|(from, tick, to, reason, site)| Switch {
            from: ThreadId(from),
            tick: Tick(tick),
            to: ThreadId(to),
            reason,
            site,
        })
}
