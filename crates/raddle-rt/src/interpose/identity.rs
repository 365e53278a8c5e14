//! Ids of processes and threads, and the calls that make and await children.
//!
//! The kernel's ids differ from run to run. The program is shown ids that follow from the seed and
//! the order of creation; what it hands back is translated, here and in [`super::ids`]. A child of `fork` is not
//! scheduled, and is told the kernel's ids; those that its parent was shown mean the same to it.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicI32, Ordering};

use raddle_trace::wire::{InputCall, Mark};

use super::ids::kernel_id;
use super::numbers::Numbers;
use super::outside::{Question, ask_and_wait};
use crate::call::Call;
use crate::control;
use crate::heap;
use crate::inputs::{self, NOTHING, Part};
use crate::real;
use crate::sched::SCHED;
use crate::stack::caller;
use crate::{sys, tls};

/// Offset of the child's id in the kernel's `siginfo_t`.
const SI_PID: usize = 16;

/// Children, whose ids the parent sees as numbers from this one on.
static CHILDREN: Numbers<c_int> = Numbers::from(1_000_000);

/// In a child: the id that its scheduled ancestor was shown as its own, and the kernel's.
static ANCESTOR: [AtomicI32; 2] = [const { AtomicI32::new(0) }; 2];

/// Notes a new child; returns the id that the program is shown.
fn note_child(pid: c_int) -> c_int {
    CHILDREN.add(pid).unwrap_or(pid)
}

/// What the program knows a child's kernel id as; the id itself if it is not a child's.
pub(super) fn shown_child(pid: c_int) -> c_int {
    CHILDREN.shown(pid).unwrap_or(pid)
}

fn real_pid(shown: c_int) -> c_int {
    CHILDREN.actual(shown).unwrap_or(shown)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fork() -> c_int {
    fork_by(caller(), real::fork)
}

/// The child gets a copy of the memory that it would borrow: what it may do there is the same. The
/// program's handlers of `pthread_atfork` are not called.
#[unsafe(no_mangle)]
unsafe extern "C" fn vfork() -> c_int {
    fork_by(caller(), || {
        let pid = real::_Fork();
        if pid == 0 {
            forget_scheduler();
        }
        pid
    })
}

fn fork_by(pc: u64, fork: impl FnOnce() -> c_int) -> c_int {
    let Some(mut call) = Call::enter(pc) else {
        return fork();
    };
    call.point(0);
    let pid = call.in_program(fork);
    if pid == 0 {
        return 0;
    }
    let shown = if pid > 0 { note_child(pid) } else { pid };
    call.mark_with(Mark::Input, 0, 0, shown as u64);
    call.leave_keeping_errno();
    shown
}

/// In the child: one thread, nobody to record for. Registered before the program's own handlers of
/// `pthread_atfork`, so that those are not scheduled any more.
pub(crate) extern "C" fn forget_scheduler() {
    if let Some(shown) = own_pid() {
        ANCESTOR[0].store(shown, Ordering::Relaxed);
        ANCESTOR[1].store(real::getppid(), Ordering::Relaxed);
    }
    control::detach();
    inputs::detach();
    tls::set_me(core::ptr::null_mut());
    tls::set_cur(core::ptr::null_mut());
    tls::set_lim(core::ptr::null_mut());
    tls::set_stack_top(0);
    SCHED.reset();
    heap::reset_lock();
}

macro_rules! spawn {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            pid: *mut c_int,
            path: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            argv: *const *mut c_char,
            environment: *const *mut c_char,
        ) -> c_int {
            let spawn = |pid| real::$name(pid, path, actions, attributes, argv, environment);
            let Some(mut call) = Call::enter(caller()) else { return spawn(pid) };
            call.point(0);
            let mut child = 0;
            let result = spawn(&raw mut child);
            let shown = if result == 0 { note_child(child) } else { 0 };
            if result == 0 && !pid.is_null() {
                // SAFETY: the program passed a place for the id.
                unsafe { *pid = shown };
            }
            call.mark_with(Mark::Input, 0, 0, shown as u64);
            call.leave_keeping_errno();
            result
        }
    )*};
}

spawn!(posix_spawn, posix_spawnp);

/// Waits for a child, outside the scheduler if that takes time. A replay has the child too, because
/// what it prints is part of the run, and waits for its end as the run did; what came of it is
/// recorded.
fn wait_child(pc: u64, wait: impl Fn(c_int) -> c_int, options: c_int, parts: [Part; 2]) -> c_int {
    if let Some(mut call) = Call::enter(pc) {
        call.point(0);
        call.leave();
    }
    let try_now = || Some(wait(options | libc::WNOHANG)).filter(|&pid| done(pid, options));
    let shown = |pid: c_int| i64::from(if pid > 0 { shown_child(pid) } else { pid });
    let question = Question::general(pc, InputCall::Child).restarting();
    let result = ask_and_wait(
        question,
        || try_now().map(shown),
        || shown(wait(options)),
        |_| parts,
    ) as c_int;
    if result > 0 && inputs::answers() {
        bury(real_pid(result));
    }
    if let Some(mut call) = Call::enter(pc) {
        call.mark_with(Mark::Input, 0, 0, result as u64);
        call.leave();
    }
    result
}

fn done(pid: c_int, options: c_int) -> bool {
    pid != 0 || options & libc::WNOHANG != 0
}

/// Waits for the child of a replay, which has ended in the recorded run.
fn bury(pid: c_int) {
    const PATIENCE: u32 = 500;
    for _ in 0..PATIENCE {
        if real::waitpid(pid, core::ptr::null_mut(), libc::WNOHANG) != 0 {
            return;
        }
        sys::sleep_real(10_000_000);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int {
    let pid = kernel_id(pid);
    let wait = |options| real::waitpid(pid, status, options);
    wait_child(caller(), wait, options, [Part::of(status), NOTHING])
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wait(status: *mut c_int) -> c_int {
    let wait = |options| real::waitpid(-1, status, options);
    wait_child(caller(), wait, 0, [Part::of(status), NOTHING])
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wait4(
    pid: c_int,
    status: *mut c_int,
    options: c_int,
    usage: *mut c_void,
) -> c_int {
    let pid = kernel_id(pid);
    let wait = |options| real::wait4(pid, status, options, usage);
    let parts = [Part::of(status), Part::of(usage.cast::<libc::rusage>())];
    wait_child(caller(), wait, options, parts)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wait3(status: *mut c_int, options: c_int, usage: *mut c_void) -> c_int {
    let wait = |options| real::wait4(-1, status, options, usage);
    let parts = [Part::of(status), Part::of(usage.cast::<libc::rusage>())];
    wait_child(caller(), wait, options, parts)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn waitid(
    kind: u32,
    id: u32,
    info: *mut libc::siginfo_t,
    options: c_int,
) -> c_int {
    let id = match kind {
        libc::P_PID | libc::P_PGID => kernel_id(id as c_int) as u32,
        _ => id,
    };
    // SAFETY: plain data, for which zero is a value.
    let mut unwanted: libc::siginfo_t = unsafe { core::mem::zeroed() };
    let info = match info.is_null() {
        true => &raw mut unwanted,
        false => info,
    };
    // SAFETY: the program passed a place, or it is the one above; the child's id lies there.
    let child = unsafe { info.byte_add(SI_PID).cast::<c_int>() };
    let wait = |options| {
        // SAFETY: as above. The kernel writes nothing but this if there is no such child yet.
        unsafe { *child = 0 };
        match real::waitid(kind, id, info, options) {
            // SAFETY: as above.
            0 => unsafe { *child },
            error => error,
        }
    };
    let pid = wait_child(caller(), wait, options, [Part::of(info), NOTHING]);
    if pid > 0 {
        // SAFETY: as above.
        unsafe { *child = pid };
    }
    pid.min(0)
}

/// The kernel's id of a process that the program was shown an id of.
pub(super) fn translate(shown: c_int) -> c_int {
    let [ancestor, its_id] = ANCESTOR.each_ref().map(|it| it.load(Ordering::Relaxed));
    if own_pid() == Some(shown) {
        sys::getpid()
    } else if own_pid().is_some_and(|own| shown == own - 1) {
        real::getppid()
    } else if shown == ancestor && shown != 0 {
        its_id
    } else {
        real_pid(shown)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn kill(pid: c_int, signal: c_int) -> c_int {
    real::kill(kernel_id(pid), signal)
}

// ---- the process itself ----

/// The id that the program is shown as its own; None if it sees the kernel's.
pub(super) fn own_pid() -> Option<c_int> {
    // SAFETY: the head stays mapped while the program is controlled.
    let control = unsafe { control::get().as_ref() }?;
    Some(100_000 + (control.seed % 800_000) as c_int)
}

/// The id that the calling thread is shown, counted from the process's by `offset`.
pub(super) fn shown_id(pc: u64, offset: impl Fn(u32) -> c_int) -> Option<c_int> {
    let call = Call::enter(pc)?;
    let id = own_pid().map(|own| own + offset(call.me.id));
    call.leave();
    id
}

/// Offsets of the three ids a thread can ask for.
pub(super) fn of_process(_thread: u32) -> c_int {
    0
}
/// See [`of_process`].
pub(super) fn of_thread(thread: u32) -> c_int {
    thread as c_int
}
/// See [`of_process`].
pub(super) fn of_parent(_thread: u32) -> c_int {
    -1
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getpid() -> c_int {
    shown_id(caller(), of_process).unwrap_or_else(sys::getpid)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getppid() -> c_int {
    shown_id(caller(), of_parent).unwrap_or_else(real::getppid)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gettid() -> c_int {
    shown_id(caller(), of_thread).unwrap_or_else(|| sys::gettid() as c_int)
}
