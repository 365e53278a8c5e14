//! Futexes through libc's `syscall`: Rust's std, parking_lot, C++ `atomic::wait`.

use core::sync::atomic::{AtomicU32, Ordering};

use libc::{EAGAIN, ETIMEDOUT, timespec};
use raddle_trace::wire::Mark;

use super::files::ask_statx;
use super::identity::{of_parent, of_process, of_thread, shown_id};
use super::ids;
use crate::call::{Call, set_errno};
use crate::clock;
use crate::real;
use crate::sched;
use crate::stack::caller;
use crate::thread::{NOBODY, Wait};

const COMMAND: i32 = !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);

/// System calls that bring something in from outside and that are recorded only if libc makes them.
const UNCOVERED: &[(i64, &str)] = &[
    (libc::SYS_io_uring_setup, "io_uring_setup"),
    (libc::SYS_read, "syscall(SYS_read)"),
    (libc::SYS_open, "syscall(SYS_open)"),
    (libc::SYS_openat, "syscall(SYS_openat)"),
    (libc::SYS_openat2, "syscall(SYS_openat2)"),
    (libc::SYS_getdents64, "syscall(SYS_getdents64)"),
    (libc::SYS_recvfrom, "syscall(SYS_recvfrom)"),
    (libc::SYS_socket, "syscall(SYS_socket)"),
];

#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(number: i64, a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> i64 {
    let pc = caller();
    if let Some(result) = ids::signal_by_call(pc, number, a, b, c) {
        return result;
    }
    let fall_through = || {
        let mut first = [a, b];
        ids::translate_arguments(number, &mut first);
        let result = real::syscall(number, first[0], first[1], c, d, e, f);
        ids::translate_result(number, result)
    };
    match number {
        libc::SYS_futex => {
            if let Some(result) = futex(pc, a, b as i32, c as u32, d, e, f as u32) {
                return result;
            }
        }
        libc::SYS_getrandom => {
            if let Some(result) = super::random::fill(pc, a as *mut u8, b as usize) {
                return result as i64;
            }
        }
        libc::SYS_statx => {
            let fd = if b == 0 { a as i32 } else { -1 };
            return ask_statx(pc, fd, e as *mut libc::statx, fall_through);
        }
        libc::SYS_gettid => return shown_id(pc, of_thread).map_or_else(fall_through, i64::from),
        libc::SYS_getppid => return shown_id(pc, of_parent).map_or_else(fall_through, i64::from),
        libc::SYS_getpid => return shown_id(pc, of_process).map_or_else(fall_through, i64::from),
        _ => {
            if let Some((_, name)) = UNCOVERED.iter().find(|it| it.0 == number) {
                crate::inputs::note_uncovered(name);
            }
        }
    }
    fall_through()
}

fn futex(pc: u64, word: u64, how: i32, value: u32, d: u64, second: u64, f: u32) -> Option<i64> {
    let command = how & COMMAND;
    match command {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
            let absolute = command == libc::FUTEX_WAIT_BITSET;
            let bitset = if absolute { f } else { u32::MAX };
            let realtime = how & libc::FUTEX_CLOCK_REALTIME != 0;
            wait(
                pc,
                word,
                value,
                d as *const timespec,
                absolute,
                realtime,
                bitset,
            )
        }
        libc::FUTEX_WAKE => wake(pc, word, value, u32::MAX),
        libc::FUTEX_WAKE_BITSET => wake(pc, word, value, f),
        libc::FUTEX_REQUEUE => requeue(pc, word, value, d, second),
        libc::FUTEX_CMP_REQUEUE => {
            // SAFETY: the program passed the address of a futex word.
            if unsafe { current(word) } != f {
                set_errno(EAGAIN);
                return Some(-1);
            }
            requeue(pc, word, value, d, second)
        }
        _ => None,
    }
}

unsafe fn current(word: u64) -> u32 {
    // SAFETY: the caller vouches for the word.
    unsafe { AtomicU32::from_ptr(word as *mut u32) }.load(Ordering::SeqCst)
}

fn wait(
    pc: u64,
    word: u64,
    expected: u32,
    timeout: *const timespec,
    absolute: bool,
    realtime: bool,
    bitset: u32,
) -> Option<i64> {
    let mut call = Call::enter(pc)?;
    call.point(word);
    // SAFETY: the program passed null or a timespec.
    let until = unsafe { timeout.as_ref() }.map(|t| match (absolute, realtime) {
        (false, _) => clock::after(clock::to_ns(t)),
        (true, true) => clock::deadline_of(libc::CLOCK_REALTIME, clock::to_ns(t)),
        (true, false) => clock::deadline_of(libc::CLOCK_MONOTONIC, clock::to_ns(t)),
    });
    call.mark(Mark::FutexWait, word, expected.into());
    // SAFETY: the program passed the address of a futex word.
    if unsafe { current(word) } != expected {
        call.mark_with(Mark::FutexWake, word, EAGAIN as u64, u64::MAX);
        call.leave_with_errno(EAGAIN);
        return Some(-1);
    }
    let wait = Wait {
        bitset,
        ..Wait::new(Mark::FutexWake, word).until(until)
    };
    let woken = call.block(wait);
    let error = if woken.timed_out() { ETIMEDOUT } else { 0 };
    let by = if woken.waker == NOBODY {
        u64::MAX
    } else {
        woken.waker.into()
    };
    call.mark_with(Mark::FutexWake, word, error as u64, by);
    if woken.timed_out() {
        call.leave_with_errno(ETIMEDOUT);
        return Some(-1);
    }
    call.leave();
    Some(0)
}

fn wake(pc: u64, word: u64, most: u32, bitset: u32) -> Option<i64> {
    let mut call = Call::enter(pc)?;
    call.point(word);
    let woken = sched::wake_waiters(word, Mark::FutexWake, most.into(), bitset);
    call.mark_with(Mark::FutexNotify, word, woken, most.into());
    call.leave();
    Some(woken as i64)
}

fn requeue(pc: u64, word: u64, wake_most: u32, move_most: u64, to: u64) -> Option<i64> {
    let mut call = Call::enter(pc)?;
    call.point(word);
    let woken = sched::wake_waiters(word, Mark::FutexWake, wake_most.into(), u32::MAX);
    let moved = sched::requeue(word, to, move_most);
    call.mark_with(Mark::FutexNotify, word, woken, wake_most.into());
    call.leave();
    Some((woken + moved) as i64)
}
