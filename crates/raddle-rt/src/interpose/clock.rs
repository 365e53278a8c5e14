//! Clocks and sleeps.

use core::ffi::{c_int, c_void};

use libc::{clockid_t, timespec, timeval};
use raddle_trace::wire::{InputCall, Mark};

use super::ids::kernel_id;
use super::outside::{Question, ask};
use crate::call::Call;
use crate::clock::{self, is_real};
use crate::inputs::{NOTHING, Part};
use crate::real;
use crate::sched::{self, SCHED};
use crate::stack::caller;

/// Reads a clock as an event. None: the real clock is to be read.
fn read(pc: u64, id: clockid_t) -> Option<u64> {
    if is_real() {
        return None;
    }
    let mut call = Call::enter(pc)?;
    let shown = clock::read_ns(id);
    call.mark(Mark::Clock, id as u64, shown);
    let patience = call.me.clock_reading();
    {
        let mut s = SCHED.lock();
        let now = s.now_ns();
        s.jump_to(now + patience);
    }
    call.leave();
    Some(shown)
}

/// Reads a clock of the machine, which is part of the outside.
fn ask_real(pc: u64, act: impl FnMut() -> i64, part: Part) -> i64 {
    ask(Question::general(pc, InputCall::System), act, |_| [part])
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(id: clockid_t, time: *mut timespec) -> c_int {
    let Some(shown) = read(caller(), id) else {
        let act = || i64::from(real::clock_gettime(id, time));
        return ask_real(caller(), act, Part::of(time)) as c_int;
    };
    // SAFETY: the program passed a place for the time.
    unsafe { *time = clock::to_timespec(shown) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int {
    let shown = read(caller(), libc::CLOCK_REALTIME);
    let Some(shown) = shown else {
        let act = || i64::from(real::gettimeofday(time, zone));
        return ask_real(caller(), act, Part::of(time)) as c_int;
    };
    // SAFETY: the program passed a place for the time.
    unsafe {
        *time = timeval {
            tv_sec: (shown / 1_000_000_000) as i64,
            tv_usec: (shown % 1_000_000_000 / 1000) as i64,
        };
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn time(place: *mut i64) -> i64 {
    let Some(shown) = read(caller(), libc::CLOCK_REALTIME) else {
        return ask_real(caller(), || real::time(place), Part::of(place));
    };
    let seconds = (shown / 1_000_000_000) as i64;
    if !place.is_null() {
        // SAFETY: the program passed a place for the time.
        unsafe { *place = seconds };
    }
    seconds
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timespec_get(time: *mut timespec, base: c_int) -> c_int {
    const TIME_UTC: c_int = 1;
    let shown = if base == TIME_UTC {
        read(caller(), libc::CLOCK_REALTIME)
    } else {
        None
    };
    let Some(shown) = shown else {
        return real::timespec_get(time, base);
    };
    // SAFETY: the program passed a place for the time.
    unsafe { *time = clock::to_timespec(shown) };
    base
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock() -> i64 {
    const NS_A_CLOCK: u64 = 1000;
    match read(caller(), libc::CLOCK_PROCESS_CPUTIME_ID) {
        Some(shown) => (shown / NS_A_CLOCK) as i64,
        None => ask_real(caller(), real::clock, NOTHING),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn times(place: *mut libc::tms) -> i64 {
    const NS_A_TICK: u64 = 10_000_000;
    let Some(shown) = read(caller(), libc::CLOCK_MONOTONIC) else {
        return ask_real(caller(), || real::times(place), Part::of(place));
    };
    // SAFETY: the program passed a place for the times, or null.
    if let Some(place) = unsafe { place.as_mut() } {
        let used = clock::read_ns(libc::CLOCK_PROCESS_CPUTIME_ID);
        *place = libc::tms {
            tms_utime: (used / NS_A_TICK) as i64,
            tms_stime: 0,
            tms_cutime: 0,
            tms_cstime: 0,
        };
    }
    (shown / NS_A_TICK) as i64
}

/// What instrumented code calls in the place of reading the processor's counter of cycles: one a nanosecond.
#[unsafe(no_mangle)]
extern "C" fn __raddle_cycles() -> u64 {
    let pc = caller();
    read(pc, libc::CLOCK_MONOTONIC).unwrap_or_else(|| {
        // SAFETY: every processor of this architecture has the instruction.
        let count = || unsafe { core::arch::x86_64::_rdtsc() } as i64;
        ask_real(pc, count, NOTHING) as u64
    })
}

/// The kernel's numbers of other threads' clocks contain its ids of them. Virtual clocks all show the same.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_getcpuclockid(handle: u64, place: *mut clockid_t) -> c_int {
    if is_real() {
        return real::pthread_getcpuclockid(handle, place);
    }
    // SAFETY: the program passed a place for the number.
    unsafe { *place = libc::CLOCK_THREAD_CPUTIME_ID };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_getcpuclockid(pid: c_int, place: *mut clockid_t) -> c_int {
    if is_real() {
        return real::clock_getcpuclockid(kernel_id(pid), place);
    }
    // SAFETY: the program passed a place for the number.
    unsafe { *place = libc::CLOCK_PROCESS_CPUTIME_ID };
    0
}

/// Sleeps in the scheduler's time. None: the real function is to be called; else whether no signal ended the sleep.
pub(super) fn sleep_for(pc: u64, ns: u64) -> Option<bool> {
    let mut call = Call::enter(pc)?;
    call.test_cancel();
    call.mark(Mark::Sleep, 0, ns);
    let until = clock::after(ns);
    sched::give_way(call.me, Some(until));
    let slept = !call.me.roused;
    super::signal::deliver_due(call.me);
    call.test_cancel();
    call.leave();
    Some(slept)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int {
    // SAFETY: the program passed a timespec.
    let ns = unsafe { time.as_ref() }.map(clock::to_ns);
    match ns.and_then(|ns| sleep_for(caller(), ns)) {
        Some(_) => 0,
        None => real::nanosleep(time, left),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_nanosleep(
    id: clockid_t,
    how: c_int,
    time: *const timespec,
    left: *mut timespec,
) -> c_int {
    // SAFETY: the program passed a timespec.
    let ns = unsafe { time.as_ref() }
        .map(clock::to_ns)
        .map(|ns| match how & libc::TIMER_ABSTIME {
            0 => ns,
            _ if is_real() => ns.saturating_sub(crate::sys::clock_ns(id)),
            _ => ns.saturating_sub(clock::read_ns(id)),
        });
    match ns.and_then(|ns| sleep_for(caller(), ns)) {
        Some(_) => 0,
        None => real::clock_nanosleep(id, how, time, left),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn usleep(microseconds: u32) -> c_int {
    match sleep_for(caller(), u64::from(microseconds) * 1000) {
        Some(_) => 0,
        None => real::usleep(microseconds),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sleep(seconds: u32) -> u32 {
    match sleep_for(caller(), u64::from(seconds) * 1_000_000_000) {
        Some(_) => 0,
        None => real::sleep(seconds),
    }
}
