//! The virtual clocks.
//!
//! Real-time clocks start where the launcher says, monotonic ones at [`BOOT_NS`], those of the processor at 0; all move
//! together with the scheduler's time. A thread that does nothing but read clocks moves them further
//! with every reading, so that a loop which waits for a point in time comes to an end.

use libc::{clockid_t, timespec};
use raddle_trace::wire::flags;

use crate::control;
use crate::sched::SCHED;
use crate::sys;

/// What a monotonic clock shows at the start.
const BOOT_NS: u64 = 1_000_000_000_000;

/// Whether the program sees the machine's clocks.
pub fn is_real() -> bool {
    let control = control::get();
    // SAFETY: the head stays mapped.
    control.is_null() || unsafe { (*control).flags } & flags::REAL_TIME != 0
}

/// What `clock` shows, in nanoseconds.
pub fn read_ns(clock: clockid_t) -> u64 {
    if is_real() {
        return sys::clock_ns(clock);
    }
    let now = SCHED.lock().now_ns();
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => {
            // SAFETY: the head stays mapped.
            now + unsafe { (*control::get()).clock_start_ns }
        }
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => now,
        // The clock of a certain process or thread.
        ..0 => now,
        _ => now + BOOT_NS,
    }
}

/// The scheduler's time at which `clock` will show `at_ns`.
pub fn deadline_of(clock: clockid_t, at_ns: u64) -> u64 {
    let shown = read_ns(clock);
    SCHED.lock().now_ns() + at_ns.saturating_sub(shown)
}

/// The scheduler's time `ns` from now.
pub fn after(ns: u64) -> u64 {
    SCHED.lock().now_ns().saturating_add(ns)
}

/// A timespec in nanoseconds; negative times count as 0.
pub fn to_ns(time: &timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// Nanoseconds as a timespec.
pub fn to_timespec(ns: u64) -> timespec {
    timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as i64,
    }
}
