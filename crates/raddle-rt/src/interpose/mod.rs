//! The functions that the program calls in place of libc's.
//!
//! Each file covers one family. The pattern is the same everywhere: enter the runtime or fall
//! through to the real function; a scheduling point; try, and block while trying fails; record.
//! Objects keep their real state (a mutex is locked with the real `trylock`), so types, owners,
//! robustness and error codes are libc's own; only the waiting is the scheduler's.

mod barrier;
mod blocking;
mod c11;
mod clock;
mod cond;
mod descriptors;
mod directories;
mod files;
mod futex;
pub(crate) mod identity;
mod ids;
mod ipc;
pub(crate) mod jumps;
mod listings;
mod maps;
mod memory;
mod mutex;
mod names;
mod numbers;
mod once;
mod outside;
mod polling;
mod proc_paths;
pub(crate) mod process;
mod processor;
mod random;
mod rwlock;
mod semaphore;
mod shared_names;
pub(crate) mod signal;
mod sockets;
mod streams;
mod thread;
mod uncovered;

use libc::{clockid_t, timespec};

use crate::clock as time;

/// The point in virtual time that `clock` will show `*time`. None for a null pointer.
unsafe fn deadline(clock: clockid_t, at: *const timespec) -> Option<u64> {
    // SAFETY: the program passed a valid timespec or null.
    unsafe { at.as_ref() }.map(|t| time::deadline_of(clock, time::to_ns(t)))
}

/// Whether a timespec is one that libc would take.
unsafe fn valid(at: *const timespec) -> bool {
    // SAFETY: the program passed a valid timespec or null.
    unsafe { at.as_ref() }.is_none_or(|t| (0..1_000_000_000).contains(&t.tv_nsec))
}
