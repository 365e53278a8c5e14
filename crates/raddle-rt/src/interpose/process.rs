//! Start, end, fork, and assertions of the process.
//!
//! A child of `fork` is not scheduled. Its process id, which differs from run to run, is shown to
//! the parent as a number that does not; `waitpid` and `kill` translate it back.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use raddle_trace::wire::{Mark, OutcomeKind};

use crate::call::Call;
use crate::control;
use crate::heap;
use crate::hooks;
use crate::lock::Lock;
use crate::real;
use crate::sched::{self, SCHED};
use crate::stack::caller;
use crate::{sys, tls};

type Main = extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

static MAIN: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

#[unsafe(no_mangle)]
unsafe extern "C" fn __libc_start_main(
    main: *mut c_void,
    argc: c_int,
    argv: *mut *mut c_char,
    init: *mut c_void,
    fini: *mut c_void,
    rtld_fini: *mut c_void,
    stack_end: *mut c_void,
) -> c_int {
    MAIN.store(main, Ordering::Relaxed);
    let wrapped = main_then_exit as Main as *mut c_void;
    real::__libc_start_main(wrapped, argc, argv, init, fini, rtld_fini, stack_end)
}

/// The program's `main`, with its return recorded like a call of `exit`.
extern "C" fn main_then_exit(argc: c_int, argv: *mut *mut c_char, environment: *mut *mut c_char) -> c_int {
    // SAFETY: `__libc_start_main` was given the program's main.
    let main: Main = unsafe { core::mem::transmute(MAIN.load(Ordering::Relaxed)) };
    let status = main(argc, argv, environment);
    note_exit(0, status);
    status
}

fn note_exit(pc: u64, status: c_int) {
    if let Some(mut call) = Call::enter(pc) {
        call.mark(Mark::Exit, 0, status as u64);
        call.leave();
    }
}

/// The same for an end that runs no destructors.
fn note_last_exit(pc: u64, status: c_int) {
    note_exit(pc, status);
    if let Some(call) = Call::enter(pc) {
        sched::flush_branches(call.me);
        let mut s = SCHED.lock();
        s.recorder.end = tls::cur();
        s.recorder.check_accesses();
        s.write_thread_records();
        drop(s);
        call.leave();
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn exit(status: c_int) -> ! {
    note_exit(caller(), status);
    real::exit(status);
    unreachable!("exit returned")
}

#[unsafe(no_mangle)]
unsafe extern "C" fn _exit(status: c_int) -> ! {
    note_last_exit(caller(), status);
    sys::exit_process(status)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn _Exit(status: c_int) -> ! {
    note_last_exit(caller(), status);
    sys::exit_process(status)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn quick_exit(status: c_int) -> ! {
    note_exit(caller(), status);
    real::quick_exit(status);
    unreachable!("quick_exit returned")
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __assert_fail(
    what: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
) -> ! {
    // SAFETY: the compiler passes the text of the assertion.
    let text = unsafe { CStr::from_ptr(what) };
    hooks::fail(OutcomeKind::Assertion, 0, caller(), text.to_bytes());
    real::__assert_fail(what, file, line, function);
    unreachable!("__assert_fail returned")
}

// ---- children ----

/// What the parent sees as the id of its first child.
const FIRST_CHILD: c_int = 1_000_000;
/// Most children whose ids are translated.
const MOST_CHILDREN: usize = 1024;

static CHILDREN: Lock<[c_int; MOST_CHILDREN]> = Lock::new([0; MOST_CHILDREN]);
static CHILD_COUNT: AtomicUsize = AtomicUsize::new(0);

fn shown_pid(pid: c_int) -> c_int {
    let known = CHILDREN.lock().iter().position(|&c| c == pid && c != 0);
    known.map_or(pid, |at| FIRST_CHILD + at as c_int)
}

fn real_pid(shown: c_int) -> c_int {
    let at = shown.wrapping_sub(FIRST_CHILD) as usize;
    CHILDREN.lock().get(at).copied().filter(|&pid| pid != 0).unwrap_or(shown)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fork() -> c_int {
    let Some(mut call) = Call::enter(caller()) else { return real::fork() };
    call.point(0);
    let pid = real::fork();
    if pid == 0 {
        forget_scheduler();
        call.leave();
        return 0;
    }
    let mut shown = pid;
    if pid > 0 {
        let at = CHILD_COUNT.fetch_add(1, Ordering::Relaxed);
        if let Some(place) = CHILDREN.lock().get_mut(at) {
            *place = pid;
            shown = FIRST_CHILD + at as c_int;
        }
    }
    call.mark_with(Mark::Input, 0, 0, shown as u64);
    call.leave_keeping_errno();
    shown
}

/// In the child: one thread, nobody to record for.
fn forget_scheduler() {
    control::detach();
    tls::set_me(core::ptr::null_mut());
    tls::set_cur(core::ptr::null_mut());
    tls::set_lim(core::ptr::null_mut());
    SCHED.reset();
    heap::reset_lock();
}

/// Waits for a child, outside the scheduler if that takes time.
fn wait_child(pc: u64, wait: impl Fn(c_int) -> c_int, options: c_int) -> Option<c_int> {
    let mut call = Call::enter(pc)?;
    call.point(0);
    let try_now = || wait(options | libc::WNOHANG);
    let done = |&pid: &c_int| pid != 0 || options & libc::WNOHANG != 0;
    let pid = super::blocking::outside(&mut call, try_now, done, || wait(options));
    let shown = if pid > 0 { shown_pid(pid) } else { pid };
    call.mark_with(Mark::Input, 0, 0, shown as u64);
    call.leave_keeping_errno();
    Some(shown)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int {
    let pid = real_pid(pid);
    wait_child(caller(), |options| real::waitpid(pid, status, options), options)
        .unwrap_or_else(|| real::waitpid(pid, status, options))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wait(status: *mut c_int) -> c_int {
    wait_child(caller(), |options| real::waitpid(-1, status, options), 0)
        .unwrap_or_else(|| real::waitpid(-1, status, 0))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wait4(pid: c_int, status: *mut c_int, options: c_int, usage: *mut c_void) -> c_int {
    let pid = real_pid(pid);
    wait_child(caller(), |options| real::wait4(pid, status, options, usage), options)
        .unwrap_or_else(|| real::wait4(pid, status, options, usage))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn kill(pid: c_int, signal: c_int) -> c_int {
    real::kill(real_pid(pid), signal)
}
