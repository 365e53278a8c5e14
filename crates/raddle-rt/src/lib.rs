//! Raddle's runtime: it lives inside the program, records what its threads do and decides who runs.
//!
//! It is linked into `libraddle_rt.so`, which precedes libc, and so sees the program's calls of
//! synchronisation, time, allocation and blocking functions first. Instrumented code writes its
//! events through the thread-locals of [`tls`] and enters [`hooks`] when its budget is used up.
//!
//! Rules for living in someone else's process:
//!
//! 1. Nothing here allocates through the program's allocator, panics across the boundary, or uses
//!    std's locks, threads or collections. Memory comes from `mmap`, parking is a raw futex.
//! 2. `errno` survives every call unless the real function would set it.
//! 3. A thread inside the runtime (`depth` not 0) passes through: nested calls go to the real function.
//! 4. Nothing with a destructor is alive where the program's code runs or a thread may be cancelled.
//! 5. The runtime's lock is never held while the program's code or a blocking real function runs.
//! 6. Hooks may come before start-up, after a thread's end, and in a forked child; they then go to a
//!    scratch buffer.
#![allow(
    clippy::missing_safety_doc,
    reason = "the interposed functions have libc's contracts"
)]

mod call;
mod canary;
mod clock;
mod control;
mod heap;
mod hooks;
mod inputs;
mod interpose;
mod lock;
mod owner;
mod poll;
mod proc;
mod real;
mod record;
mod replay;
mod rng;
mod sched;
mod serve;
mod spin;
mod stack;
mod start;
mod strategy;
mod sys;
mod thread;
mod threads;
mod tls;
mod watchdog;
