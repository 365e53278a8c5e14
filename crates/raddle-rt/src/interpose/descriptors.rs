//! Descriptors: what stands behind each, and how a replay gets the same numbers.
//!
//! What the program reads from a descriptor is the outside's word unless the descriptor was given to
//! the run (standard input is in the clip). In a replay sockets, files that are only read, timers
//! and the like are *absent*: a placeholder has their number, so that `close`, `dup` and `fcntl`
//! work. Pipes, pairs of sockets, event counters and files that are written are *shadowed*: the real
//! object is there and what is done to it is done again, because children and the program's own
//! threads may be at its other end; the outcome is the recorded one all the same.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use raddle_trace::wire::InputCall;

use super::ids::{kernel_id, shown_id};
use super::outside::{Question, ask};
use crate::call::Call;
use crate::control;
use crate::inputs::{self, Part, Source};
use crate::real;
use crate::stack::caller;
use crate::sys;

/// What stands behind a descriptor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// What the run was given: the same in every run.
    Given,
    /// Something outside; a placeholder in a replay.
    Absent,
    /// Something that a replay has too.
    Shadow,
}

/// Descriptors that can be told apart; those above count as given.
const MOST: usize = 1 << 16;
static KINDS: [AtomicU8; MOST] = [const { AtomicU8::new(0) }; MOST];

/// What stands behind a descriptor.
pub(super) fn kind(fd: c_int) -> Kind {
    let known = usize::try_from(fd).ok().and_then(|fd| KINDS.get(fd));
    match known.map(|it| it.load(Ordering::Relaxed)) {
        Some(1) => Kind::Absent,
        Some(2) => Kind::Shadow,
        _ => Kind::Given,
    }
}

/// Says what stands behind a descriptor.
pub(super) fn set_kind(fd: c_int, kind: Kind) {
    if let Some(known) = usize::try_from(fd).ok().and_then(|fd| KINDS.get(fd)) {
        let number = match kind {
            Kind::Given => 0,
            Kind::Absent => 1,
            Kind::Shadow => 2,
        };
        known.store(number, Ordering::Relaxed);
    }
}

/// Whether the program has opened itself to clients.
static LISTENS: AtomicBool = AtomicBool::new(false);

/// Notes that clients may come.
pub(super) fn note_listening() {
    LISTENS.store(true, Ordering::Relaxed);
}

/// Notes that a thread waits for the outside.
pub(super) fn note_waiting() {
    let control = control::get();
    if LISTENS.load(Ordering::Relaxed) && !control.is_null() {
        // SAFETY: the head stays mapped.
        unsafe { (*control).serves = 1 };
    }
}

/// Makes a call that gives a new descriptor, of this kind.
pub(super) fn new_descriptor(
    question: Question,
    made: Kind,
    flags: c_int,
    act: impl FnMut() -> i64,
) -> i64 {
    let result = new_descriptors(question, made, flags, core::ptr::null_mut(), act);
    super::outside::wipe_stack();
    result
}

/// Makes a call that gives a new descriptor as its result, or two of them at `pair`.
#[inline(never)]
fn new_descriptors(
    question: Question,
    made: Kind,
    flags: c_int,
    pair: *mut [c_int; 2],
    mut act: impl FnMut() -> i64,
) -> i64 {
    let Some(mut call) = Call::enter(question.pc) else {
        return act();
    };
    let numbers = |result: i64| match result {
        ..0 => [-1; 2],
        // SAFETY: the call has filled in the program's pair.
        _ if !pair.is_null() => unsafe { *pair },
        _ => [result as c_int, -1],
    };
    let key = (question.what, inputs::NO_OBJECT);
    let (result, errno, numbers) = match inputs::source(call.me, key) {
        Source::Recorded(entry) => {
            inputs::consume(call.me, &entry);
            let mut wanted = [-1; 2];
            if entry.result() >= 0 {
                entry.fill(&[Part::of(&raw mut wanted)]);
                stand_in(made, wanted, flags, || numbers(act()));
                // SAFETY: the program passed null or a place for two descriptors.
                if let Some(pair) = unsafe { pair.as_mut() } {
                    *pair = wanted;
                }
            }
            (entry.result(), entry.errno(), wanted)
        }
        _ => {
            let tick = inputs::tick(call.me);
            let result = call.in_program(|| (act(), crate::call::errno()));
            let mut made = numbers(result.0);
            inputs::note(call.me, key, tick, result, &[Part::of(&raw mut made)]);
            (result.0, result.1, made)
        }
    };
    numbers.into_iter().for_each(|fd| set_kind(fd, made));
    call.leave_with_errno(errno);
    result
}

/// Takes note of a connection that was accepted; in a replay, makes its placeholder.
pub(super) fn accepted(fd: c_int, flags: c_int) {
    if fd < 0 {
        return;
    }
    if inputs::answers() {
        stand_in(Kind::Absent, [fd, -1], flags, || [-1; 2]);
    }
    set_kind(fd, Kind::Absent);
}

/// Makes descriptors with the numbers of the recorded run.
fn stand_in(kind: Kind, wanted: [c_int; 2], flags: c_int, act: impl FnOnce() -> [c_int; 2]) {
    let made = if kind == Kind::Shadow { act() } else { [-1; 2] };
    let close_on_exec = flags & libc::O_CLOEXEC;
    // First out of the way of each other, then to their places.
    let spare = made.map(|fd| {
        if fd < 0 {
            -1
        } else {
            sys::dup_above(fd, SPARE)
        }
    });
    made.iter()
        .filter(|&&fd| fd >= 0)
        .for_each(|&fd| sys::close(fd));
    for (fd, to) in spare.into_iter().zip(wanted) {
        if to < 0 || inputs::is_own(to) {
            continue;
        }
        let fd = if fd >= 0 { fd } else { sys::open_null() };
        sys::move_descriptor(fd, to, close_on_exec);
    }
}
/// Numbers that the program's descriptors do not reach while others are moved.
const SPARE: c_int = 210;

#[unsafe(no_mangle)]
unsafe extern "C" fn close(fd: c_int) -> c_int {
    if inputs::is_own(fd) {
        crate::call::set_errno(libc::EBADF);
        return -1;
    }
    set_kind(fd, Kind::Given);
    real::close(fd)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dup(fd: c_int) -> c_int {
    let question = Question::general(caller(), InputCall::Descriptor);
    duplicate(question, fd, 0, || i64::from(real::dup(fd)))
}

fn duplicate(question: Question, fd: c_int, flags: c_int, act: impl FnMut() -> i64) -> c_int {
    let kind = kind(fd);
    // The placeholder, or what was given, is there to be copied.
    let result = new_descriptor(question, Kind::Shadow, flags, act);
    if result >= 0 {
        set_kind(result as c_int, kind);
    }
    result as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dup2(fd: c_int, to: c_int) -> c_int {
    let result = real::dup2(fd, to);
    if result >= 0 {
        set_kind(to, kind(fd));
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int {
    let result = real::dup3(fd, to, flags);
    if result >= 0 {
        set_kind(to, kind(fd));
    }
    result
}

fn control_descriptor(pc: u64, fd: c_int, command: c_int, argument: u64) -> c_int {
    let act = || {
        let argument = match command {
            libc::F_SETOWN => i64::from(kernel_id(argument as c_int)) as u64,
            _ => argument,
        };
        let result = real::fcntl(fd, command, argument);
        i64::from(match command {
            libc::F_GETOWN => shown_id(result),
            _ => result,
        })
    };
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => {
            let close_on_exec = command == libc::F_DUPFD_CLOEXEC;
            let flags = if close_on_exec { libc::O_CLOEXEC } else { 0 };
            let question = Question::general(pc, InputCall::Descriptor);
            duplicate(question, fd, flags, act)
        }
        _ if kind(fd) == Kind::Given => act() as c_int,
        _ => {
            let set = matches!(command, libc::F_SETFD | libc::F_SETFL);
            if set && inputs::answers() {
                act();
            }
            let lock = match command {
                libc::F_GETLK => Part::of(argument as *mut libc::flock),
                _ => inputs::NOTHING,
            };
            ask(Question::on(pc, InputCall::Control, fd), act, |_| [lock]) as c_int
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: u64) -> c_int {
    control_descriptor(caller(), fd, command, argument)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl64(fd: c_int, command: c_int, argument: u64) -> c_int {
    control_descriptor(caller(), fd, command, argument)
}

/// Bytes that an `ioctl` fills in.
fn filled_in(request: u64) -> usize {
    const READS: u64 = 2 << 30;
    match request {
        libc::TCGETS => 36,
        libc::TIOCGWINSZ => 8,
        libc::FIONREAD | libc::TIOCOUTQ | libc::TIOCGPGRP => 4,
        _ if request & READS != 0 => (request >> 16) as usize & 0x3fff,
        _ => 0,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ioctl(fd: c_int, request: u64, argument: u64) -> c_int {
    let act = || i64::from(real::ioctl(fd, request, argument));
    if kind(fd) == Kind::Given {
        return act() as c_int;
    }
    let question = Question::on(caller(), InputCall::Control, fd);
    let part = Part::new(argument as *mut u8, filled_in(request));
    ask(question, act, |_| [part]) as c_int
}

/// A pipe or a pair of sockets.
fn pair(pc: u64, place: *mut c_int, flags: c_int, act: impl Fn() -> c_int) -> c_int {
    let question = Question::general(pc, InputCall::Descriptor);
    let act = || i64::from(act());
    let result = new_descriptors(question, Kind::Shadow, flags, place.cast(), act);
    super::outside::wipe_stack();
    result as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pipe(place: *mut c_int) -> c_int {
    pair(caller(), place, 0, || real::pipe(place))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pipe2(place: *mut c_int, flags: c_int) -> c_int {
    pair(caller(), place, flags, || real::pipe2(place, flags))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn socketpair(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    place: *mut c_int,
) -> c_int {
    pair(caller(), place, kind, || {
        real::socketpair(domain, kind, protocol, place)
    })
}

macro_rules! makers {
    ($($kind:ident, $flags:expr => fn $name:ident($($arg:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type),*) -> c_int {
            let question = Question::general(caller(), InputCall::Descriptor);
            let act = || i64::from(real::$name($($arg),*));
            new_descriptor(question, Kind::$kind, $flags, act) as c_int
        }
    )*};
}

makers! {
    Absent, kind => fn socket(domain: c_int, kind: c_int, protocol: c_int);
    Absent, 0 => fn epoll_create(size: c_int);
    Absent, flags => fn epoll_create1(flags: c_int);
    Shadow, flags => fn eventfd(value: u32, flags: c_int);
    Absent, flags => fn timerfd_create(clock: c_int, flags: c_int);
    Absent, 0 => fn inotify_init();
    Absent, flags => fn inotify_init1(flags: c_int);
    Shadow, libc::O_CLOEXEC => fn memfd_create(name: *const core::ffi::c_char, flags: u32);
}

/// A new descriptor for signals, or another set for an old one.
#[unsafe(no_mangle)]
unsafe extern "C" fn signalfd(fd: c_int, set: *const core::ffi::c_void, flags: c_int) -> c_int {
    let act = || i64::from(real::signalfd(fd, set, flags));
    if fd >= 0 {
        return ask(Question::on(caller(), InputCall::Control, fd), act, |_| []) as c_int;
    }
    let question = Question::general(caller(), InputCall::Descriptor);
    new_descriptor(question, Kind::Absent, flags, act) as c_int
}
