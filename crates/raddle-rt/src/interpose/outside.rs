//! How a call is made whose outcome is the outside's.
//!
//! Recording makes the real call and writes its outcome to the input log; a replay gives the
//! recorded outcome. A call that may block leaves the scheduler first: two marks frame it whether
//! or not it had to leave, so that a thread's ticks do not depend on how fast the outside was. One
//! that is known not to block now is made in place. The call counts as the program's own code: it
//! may be cancelled in there, and the thread's next step, whatever it is, asks for the turn.
//!
//! What a real call leaves below the program's stack pointer is wiped, because a replay makes none
//! and programs copy such bytes (padding).

use core::ffi::c_int;

use raddle_trace::wire::{InputCall, Mark};

use super::descriptors::{Kind, kind};
use super::jumps::Interrupted;
use super::signal;
use crate::call::{self, Call, errno};
use crate::control;
use crate::inputs::{self, Entry, NO_OBJECT, Part, Source};
use crate::proc;
use crate::sched::{self, SCHED};
use crate::sys;

/// What is asked of the outside.
#[derive(Clone, Copy)]
pub(super) struct Question {
    /// Where the program called from.
    pub pc: u64,
    /// The kind of call.
    pub what: InputCall,
    /// The descriptor concerned, or -1.
    pub fd: c_int,
    /// Where bytes go that come from outside; null if they go to several places.
    pub buffer: Option<*mut u8>,
    /// Whether an interrupted call begins anew if the handler allows it.
    pub restarts: bool,
    /// Whether a replay makes the call too, for what it does besides.
    pub repeats: bool,
    /// What it waits for.
    pub awaited: Awaited,
}

/// What a call that may block waits for.
#[derive(Clone, Copy)]
pub(super) enum Awaited {
    /// Something that another thread of the program may give: the other end of a pipe.
    Inside,
    /// Something that only the outside gives, as far as is known.
    Outside,
    /// What the descriptors of an epoll instance stand for.
    Epoll(c_int),
}

impl Awaited {
    fn behind(fd: c_int) -> Awaited {
        match kind(fd) {
            Kind::Shadow => Awaited::Inside,
            Kind::Given | Kind::Absent => Awaited::Outside,
        }
    }

    /// Whether another thread may give it. Asked when the call has to wait, because the descriptors of an epoll instance
    /// come and go.
    fn is_inside(self) -> bool {
        match self {
            Awaited::Inside => true,
            Awaited::Outside => false,
            Awaited::Epoll(fd) => proc::epoll_watches_only(fd, |it| kind(it) == Kind::Shadow),
        }
    }
}

impl Question {
    /// A call that concerns a descriptor.
    pub fn on(pc: u64, what: InputCall, fd: c_int) -> Question {
        Question {
            pc,
            what,
            fd,
            buffer: None,
            restarts: false,
            repeats: false,
            awaited: Awaited::behind(fd),
        }
    }

    /// A call that concerns none.
    pub fn general(pc: u64, what: InputCall) -> Question {
        Question::on(pc, what, -1)
    }

    /// The same, of a call that goes on after a signal.
    pub fn restarting(self) -> Question {
        Question {
            restarts: true,
            ..self
        }
    }

    /// The same, of a call that a replay makes too.
    pub fn repeating(self) -> Question {
        Question {
            repeats: true,
            ..self
        }
    }

    /// The same, of a call that waits for any of these descriptors, and for nothing else.
    pub fn waiting_for(self, fds: impl IntoIterator<Item = c_int>) -> Question {
        let mut fds = fds.into_iter().filter(|&fd| fd >= 0).peekable();
        let is_inside = fds.peek().is_some() && fds.all(|fd| kind(fd) == Kind::Shadow);
        let awaited = match is_inside {
            true => Awaited::Inside,
            false => Awaited::Outside,
        };
        Question { awaited, ..self }
    }

    /// The same, of a call that waits for what an epoll instance watches.
    pub fn waiting_for_epoll(self) -> Question {
        Question {
            awaited: Awaited::Epoll(self.fd),
            ..self
        }
    }

    /// The same, of a call that takes bytes in.
    pub fn reading<T>(self, buffer: *mut T) -> Question {
        Question {
            buffer: Some(buffer.cast()),
            ..self
        }
    }

    fn key(&self) -> (InputCall, u64) {
        let object = u64::try_from(self.fd).unwrap_or(NO_OBJECT);
        (self.what, object)
    }

    /// Whether the answer comes from outside: what is done to a file that the run was given is the
    /// same in every run.
    fn is_recorded(&self) -> bool {
        self.fd < 0 || kind(self.fd) != Kind::Given
    }
}

/// Makes a call that does not block. `parts` says what it fills in, given its result.
pub(super) fn ask<const N: usize>(
    question: Question,
    act: impl FnMut() -> i64,
    parts: impl Fn(i64) -> [Part; N],
) -> i64 {
    let result = ask_here(question, act, parts);
    wipe_stack();
    result
}

#[inline(never)]
fn ask_here<const N: usize>(
    question: Question,
    mut act: impl FnMut() -> i64,
    parts: impl Fn(i64) -> [Part; N],
) -> i64 {
    let Some(mut call) = Call::enter(question.pc) else {
        return ask_in_handler(question, act, parts);
    };
    let result = match source(&call, question) {
        Source::Recorded(entry) => {
            let shadowed = kind(question.fd) == Kind::Shadow && entry.result() >= 0;
            if shadowed || question.repeats {
                act();
            }
            give(&mut call, &entry, &parts)
        }
        _ => {
            let tick = inputs::tick(call.me);
            let result = (act(), errno());
            note(&call, question, tick, result, &parts);
            result
        }
    };
    call.leave_with_errno(result.1);
    result.0
}

/// Makes a call that may block: `first` tries without waiting, and is all if it gives a result,
/// else `act` is called outside the scheduler.
pub(super) fn ask_and_wait<const N: usize>(
    question: Question,
    first: impl FnOnce() -> Option<i64>,
    act: impl FnMut() -> i64,
    parts: impl Fn(i64) -> [Part; N],
) -> i64 {
    let result = ask_and_wait_here(question, first, act, parts);
    wipe_stack();
    result
}

#[inline(never)]
fn ask_and_wait_here<const N: usize>(
    question: Question,
    first: impl FnOnce() -> Option<i64>,
    mut act: impl FnMut() -> i64,
    parts: impl Fn(i64) -> [Part; N],
) -> i64 {
    let Some(mut call) = Call::enter(question.pc) else {
        return ask_in_handler(question, act, parts);
    };
    let object = question.key().1;
    let marked = if object == NO_OBJECT { 0 } else { object };
    call.mark(Mark::Block, 0, marked);
    let mut first = Some(first);
    let result = loop {
        let tick = inputs::tick(call.me);
        match source(&call, question) {
            Source::Live => {
                let tried = first.take().and_then(|first| first());
                if tried.is_none() {
                    super::descriptors::note_waiting();
                }
                call.me.waits_inside = tried.is_none() && question.awaited.is_inside();
                call.me.left_for = question.fd;
                sched::leave(call.me, tried.is_some());
                let act = || (tried.unwrap_or_else(&mut act), errno());
                let result = call.in_program(act);
                let interrupted = result == (-1, libc::EINTR);
                let restart = interrupted && signal::deliver_arrived(call.me);
                if restart && question.restarts {
                    continue;
                }
                note(&call, question, tick, result, &parts);
                break result;
            }
            Source::Signal => {
                sched::leave(call.me, true);
                call.in_program(|| ());
                signal::deliver_recorded(call.me);
            }
            Source::Recorded(entry) => {
                sched::leave(call.me, true);
                call.in_program(|| {
                    if question.repeats {
                        act();
                    }
                });
                shadow(question, &entry, &mut act);
                break give(&mut call, &entry, &parts);
            }
            Source::Never => {
                sched::leave(call.me, true);
                let id = call.me.id;
                call.in_program(|| inputs::never(id));
            }
        }
    };
    call.mark(Mark::Unblock, 0, marked);
    if let Some(buffer) = question.buffer.filter(|_| result.0 > 0) {
        // A datagram that was cut short may be said to be longer.
        let len = parts(result.0)[0].len().min(result.0 as usize);
        let len = if buffer.is_null() {
            result.0 as usize
        } else {
            len
        };
        call.mark_with(Mark::Input, buffer as u64, len as u64, marked);
    }
    call.leave_with_errno(result.1);
    result.0
}

/// Makes a call of a thread that is not scheduled: a signal handler's, whose calls are recorded in the place
/// of the thread that it has interrupted, or one that nobody follows.
fn ask_in_handler<const N: usize>(
    question: Question,
    mut act: impl FnMut() -> i64,
    parts: impl Fn(i64) -> [Part; N],
) -> i64 {
    let thread = Interrupted::thread().filter(|_| !control::get().is_null());
    let Some(thread) = thread.filter(|_| question.is_recorded()) else {
        return act();
    };
    match inputs::handler_source(thread, question.key()) {
        Source::Recorded(entry) => {
            let shadowed = kind(question.fd) == Kind::Shadow && entry.result() >= 0;
            if shadowed || question.repeats {
                act();
            }
            entry.fill(&parts(entry.result()));
            inputs::consume(thread, &entry);
            call::set_errno(entry.errno());
            entry.result()
        }
        _ => {
            let result = (act(), errno());
            let parts = parts(result.0);
            inputs::note(thread, question.key(), thread.tick_base, result, &parts);
            call::set_errno(result.1);
            result.0
        }
    }
}

/// The same on a descriptor, which blocks unless `events` are possible.
pub(super) fn ask_descriptor<const N: usize>(
    question: Question,
    events: i16,
    mut act: impl FnMut() -> i64,
    parts: impl Fn(i64) -> [Part; N],
) -> i64 {
    let act = core::cell::RefCell::new(&mut act);
    let fd = question.fd;
    // Where another thread waits too, it may be faster, and the call would block with the turn.
    let is_mine = || !SCHED.lock().is_awaited(fd) && sys::poll_now(fd, events);
    let now = || is_mine().then(|| (act.borrow_mut())());
    ask_and_wait(question, now, || (act.borrow_mut())(), parts)
}

fn source(call: &Call, question: Question) -> Source {
    if question.is_recorded() {
        inputs::source(call.me, question.key())
    } else {
        Source::Live
    }
}

fn note<const N: usize>(
    call: &Call,
    question: Question,
    tick: u64,
    result: (i64, i32),
    parts: &impl Fn(i64) -> [Part; N],
) {
    if question.is_recorded() {
        inputs::note(call.me, question.key(), tick, result, &parts(result.0));
    }
}

fn give<const N: usize>(
    call: &mut Call,
    entry: &Entry,
    parts: &impl Fn(i64) -> [Part; N],
) -> (i64, i32) {
    let result = entry.result();
    entry.fill(&parts(result));
    inputs::consume(call.me, entry);
    (result, entry.errno())
}

/// Does again what has an effect within the process or on files, if it can be done at once.
fn shadow(question: Question, entry: &Entry, act: &mut impl FnMut() -> i64) {
    const PATIENCE_MS: i32 = 200;
    if question.fd < 0 || kind(question.fd) != Kind::Shadow || entry.result() < 0 {
        return;
    }
    let events = match question.what {
        InputCall::Write => libc::POLLOUT,
        _ => libc::POLLIN,
    };
    if sys::poll_for(question.fd, events, PATIENCE_MS) {
        act();
    }
}

/// Waits by a call with a time limit. If that is in vain, which `result` says of it, the clock moves on to when the limit
/// was over: other threads may have moved it there already, by waits of their own at the same time.
pub(super) fn wait_until(
    pc: u64,
    limit_ns: Option<u64>,
    wait: impl FnOnce() -> i64,
    is_vain: impl FnOnce(i64) -> bool,
) -> i64 {
    let limit = limit_ns.filter(|&limit| limit > 0 && !crate::clock::is_real());
    let deadline = limit.and_then(|limit| {
        let call = Call::enter(pc)?;
        let now = SCHED.lock().now_ns();
        let deadline = now.saturating_add(limit);
        call.me.outside_until_ns = Some(deadline);
        call.leave();
        Some(deadline)
    });
    let result = wait();
    if let Some(deadline) = deadline
        && let Some(call) = Call::enter(pc)
    {
        call.me.outside_until_ns = None;
        if is_vain(result) {
            SCHED.lock().jump_to(deadline);
        }
        call.leave();
    }
    result
}

/// Zeroes the stack below the caller's frame, where the calls before have left something.
#[inline(never)]
pub(super) fn wipe_stack() {
    let mut below = core::mem::MaybeUninit::<[u64; 384]>::uninit();
    let start = below.as_mut_ptr().cast::<u64>();
    for at in 0..384 {
        // SAFETY: within the array.
        unsafe { start.add(at).write_volatile(0) };
    }
}
