//! Ids of processes and threads that the program hands to the kernel.
//!
//! The program was shown numbers that follow from the seed ([`super::identity`]); the kernel knows others. Every
//! call that takes an id gets the kernel's here, and every one that returns one the program's: libc's functions, the
//! same through `syscall` ([`translate_arguments`]), and paths below `/proc` ([`super::proc_paths`]). `kill` and the calls that
//! wait for children are in [`super::identity`]; `fcntl`'s owners of descriptors in [`super::descriptors`]. Functions of
//! libc that take its own handles (`pthread_setaffinity_np`) need no help.
//!
//! Not translated: ids within structures that the kernel fills in (`siginfo_t`, credentials of a socket's peer).

use core::ffi::{c_int, c_uint, c_void};

use libc::{pid_t, rlimit, sched_param, size_t, ssize_t, timespec};
use raddle_trace::wire::{InputCall, ThreadState};

use super::identity::{own_pid, shown_child, translate};
use super::outside::{Question, ask};
use super::signal;
use crate::call::set_errno;
use crate::inputs::{self, Part};
use crate::real;
use crate::sched::SCHED;
use crate::stack::caller;
use crate::thread::Tid;
use crate::{sys, tls};

/// An id that no process or thread has.
const NO_ID: c_int = c_int::MAX;

/// The thread that the program was shown this id of, if it is not the first one.
fn thread_of(shown: c_int) -> Option<Tid> {
    let offset = shown.checked_sub(own_pid()?)?;
    let id = Tid::try_from(offset).ok().filter(|&id| id > 0)?;
    (id < SCHED.lock().threads.len()).then_some(id)
}

/// The kernel's id of a thread; one that no thread has if it has ended.
fn kernel_thread(id: Tid) -> c_int {
    tls::on_own_stack(|| {
        loop {
            let s = SCHED.lock();
            let thread = s.threads.get(id);
            match (thread.state, thread.os_tid) {
                (ThreadState::Ended, _) => return NO_ID,
                // It is about to register itself.
                (_, 0) => {}
                (_, known) => return known as c_int,
            }
            drop(s);
            sys::yield_real();
        }
    })
}

/// The kernel's id of the process, group (if negative) or thread that the program names by `shown`.
pub(super) fn kernel_id(shown: c_int) -> c_int {
    match shown {
        0 | -1 => shown,
        ..0 => kernel_id(shown.saturating_neg()).saturating_neg(),
        _ => match thread_of(shown) {
            Some(id) => kernel_thread(id),
            None => translate(shown),
        },
    }
}

/// What the program knows the kernel's `id` of a process or group as.
pub(super) fn shown_id(id: c_int) -> c_int {
    match (own_pid(), id) {
        (_, ..=0) => id,
        (Some(own), _) if id == sys::getpid() => own,
        (Some(own), _) if id == real::getppid() => own - 1,
        _ => shown_child(id),
    }
}

// ---- facts and changes ----

fn fact(pc: u64) -> Question {
    Question::general(pc, InputCall::System)
}

fn change(pc: u64) -> Question {
    Question::general(pc, InputCall::System).repeating()
}

macro_rules! by_id {
    ($($question:ident $parts:expr => fn $name:ident($($arg:ident: $type:ty),*) by $($id:ident),+;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type),*) -> c_int {
            let parts = $parts;
            let act = || {
                $(let $id = kernel_id($id);)+
                i64::from(real::$name($($arg),*))
            };
            ask($question(caller()), act, |_| parts) as c_int
        }
    )*};
}

by_id! {
    fact [Part::new(set, len)] => fn sched_getaffinity(pid: pid_t, len: size_t, set: *mut c_void) by pid;
    change [] => fn sched_setaffinity(pid: pid_t, len: size_t, set: *const c_void) by pid;
    fact [] => fn sched_getscheduler(pid: pid_t) by pid;
    change [] => fn sched_setscheduler(pid: pid_t, policy: c_int, place: *const sched_param) by pid;
    fact [Part::of(place)] => fn sched_getparam(pid: pid_t, place: *mut sched_param) by pid;
    change [] => fn sched_setparam(pid: pid_t, place: *const sched_param) by pid;
    fact [Part::of(place)] => fn sched_rr_get_interval(pid: pid_t, place: *mut timespec) by pid;
    change [Part::of(old)] => fn prlimit(pid: pid_t, what: c_uint, new: *const rlimit, old: *mut rlimit) by pid;
    change [Part::of(old)] => fn prlimit64(pid: pid_t, what: c_uint, new: *const rlimit, old: *mut rlimit) by pid;
    change [] => fn setpgid(pid: pid_t, group: pid_t) by pid, group;
    change [] => fn tcsetpgrp(fd: c_int, group: pid_t) by group;
}

macro_rules! id_of {
    ($($question:ident fn $name:ident($($arg:ident),*) by ($($id:ident),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: c_int),*) -> c_int {
            let act = || {
                $(let $id = kernel_id($id);)*
                i64::from(shown_id(real::$name($($arg),*)))
            };
            ask($question(caller()), act, |_| []) as c_int
        }
    )*};
}

id_of! {
    fact fn getpgrp() by ();
    fact fn getpgid(pid) by (pid);
    fact fn getsid(pid) by (pid);
    fact fn tcgetpgrp(fd) by ();
    change fn setsid() by ();
}

/// The kernel's id of what has a priority, if that is a process, a group of them or a thread.
fn bearer(which: c_uint, of: c_uint) -> c_uint {
    match which {
        libc::PRIO_PROCESS | libc::PRIO_PGRP => kernel_id(of as c_int) as c_uint,
        _ => of,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getpriority(which: c_uint, of: c_uint) -> c_int {
    let act = || i64::from(real::getpriority(which, bearer(which, of)));
    ask(fact(caller()), act, |_| []) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn setpriority(which: c_uint, of: c_uint, priority: c_int) -> c_int {
    let act = || i64::from(real::setpriority(which, bearer(which, of), priority));
    ask(change(caller()), act, |_| []) as c_int
}

// ---- signals, memory, descriptors of others ----

#[unsafe(no_mangle)]
unsafe extern "C" fn killpg(group: pid_t, signal: c_int) -> c_int {
    real::killpg(kernel_id(group), signal)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigqueue(pid: pid_t, signal: c_int, value: u64) -> c_int {
    real::sigqueue(kernel_id(pid), signal, value)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tgkill(pid: pid_t, tid: pid_t, signal: c_int) -> c_int {
    signal_thread(caller(), pid, tid, signal)
        .unwrap_or_else(|| real::tgkill(kernel_id(pid), kernel_id(tid), signal))
}

/// Sends a signal to a scheduled thread of this process, as `pthread_kill` does. None: it is none, or the sender itself.
fn signal_thread(pc: u64, pid: pid_t, tid: pid_t, signal: c_int) -> Option<c_int> {
    let own = own_pid().filter(|&own| pid == own || pid == -1)?;
    let target = thread_of(tid).or((tid == own).then_some(0))?;
    match signal::send(pc, target, signal)? {
        0 => Some(0),
        error => {
            set_errno(error);
            Some(-1)
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ptrace(request: c_uint, pid: pid_t, address: u64, data: u64) -> i64 {
    real::ptrace(request, kernel_id(pid), address, data)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pidfd_open(pid: pid_t, flags: c_uint) -> c_int {
    real::pidfd_open(kernel_id(pid), flags)
}

macro_rules! memory_of {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            pid: pid_t,
            local: *const libc::iovec,
            local_count: u64,
            remote: *const libc::iovec,
            remote_count: u64,
            flags: u64,
        ) -> ssize_t {
            if own_pid() != Some(pid) {
                inputs::note_uncovered(stringify!($name));
            }
            real::$name(kernel_id(pid), local, local_count, remote, remote_count, flags)
        }
    )*};
}

memory_of! { process_vm_readv process_vm_writev }

// ---- system calls ----

/// Which arguments of a system call are ids: a bit each.
const ARGUMENTS: &[(i64, u8)] = &[
    (libc::SYS_kill, 1),
    (libc::SYS_tkill, 1),
    (libc::SYS_tgkill, 3),
    (libc::SYS_rt_sigqueueinfo, 1),
    (libc::SYS_rt_tgsigqueueinfo, 3),
    (libc::SYS_sched_getaffinity, 1),
    (libc::SYS_sched_setaffinity, 1),
    (libc::SYS_sched_getscheduler, 1),
    (libc::SYS_sched_setscheduler, 1),
    (libc::SYS_sched_getparam, 1),
    (libc::SYS_sched_setparam, 1),
    (libc::SYS_sched_getattr, 1),
    (libc::SYS_sched_setattr, 1),
    (libc::SYS_sched_rr_get_interval, 1),
    (libc::SYS_prlimit64, 1),
    (libc::SYS_process_vm_readv, 1),
    (libc::SYS_process_vm_writev, 1),
    (libc::SYS_ptrace, 2),
    (libc::SYS_pidfd_open, 1),
    (libc::SYS_getpgid, 1),
    (libc::SYS_setpgid, 3),
    (libc::SYS_getsid, 1),
    (libc::SYS_wait4, 1),
    (libc::SYS_get_robust_list, 1),
    (libc::SYS_move_pages, 1),
    (libc::SYS_migrate_pages, 1),
    (libc::SYS_kcmp, 3),
    (libc::SYS_perf_event_open, 2),
];

/// Puts the kernel's ids in the place of those that the program passes to `syscall`.
pub(super) fn translate_arguments(number: i64, arguments: &mut [u64; 2]) {
    /// `ioprio_get`'s name for a process.
    const IOPRIO_PROCESS: u64 = 1;
    let listed = ARGUMENTS.iter().find(|it| it.0 == number);
    let which = arguments[0];
    let conditional = match number {
        libc::SYS_getpriority | libc::SYS_setpriority => which != u64::from(libc::PRIO_USER),
        libc::SYS_ioprio_get | libc::SYS_ioprio_set => which == IOPRIO_PROCESS,
        libc::SYS_waitid => which == u64::from(libc::P_PID),
        _ => false,
    };
    let bits = listed.map_or(if conditional { 2 } else { 0 }, |it| it.1);
    for (at, argument) in arguments.iter_mut().enumerate() {
        if bits & (1 << at) != 0 {
            *argument = i64::from(kernel_id(*argument as c_int)) as u64;
        }
    }
}

/// What the program is told of the result of a system call.
pub(super) fn translate_result(number: i64, result: i64) -> i64 {
    match number {
        libc::SYS_getpgid | libc::SYS_getsid | libc::SYS_getpgrp | libc::SYS_setsid => {
            shown_id(result as c_int).into()
        }
        _ => result,
    }
}

/// A signal sent by a system call to a thread of this process. None: the call is another one.
pub(super) fn signal_by_call(pc: u64, number: i64, a: u64, b: u64, c: u64) -> Option<i64> {
    let result = match number {
        libc::SYS_tgkill => signal_thread(pc, a as c_int, b as c_int, c as c_int)?,
        libc::SYS_tkill => signal_thread(pc, -1, a as c_int, b as c_int)?,
        _ => return None,
    };
    Some(result.into())
}
