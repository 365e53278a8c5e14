//! What a parked thread does while it waits: it watches the one that runs.
//!
//! A running thread may block in a call that nobody modelled (a foreign library's futex). A parked
//! thread that finds it asleep in the kernel twice in a row, at the same event, takes the turn away. So
//! does one that finds it running for long at the same event: it spins in code without events.
//! It also wakes itself when nobody has the turn because all that could go on are outside.

use core::sync::atomic::Ordering;

use raddle_trace::wire::{Slot, ThreadState};

use crate::sched::{SCHED, Scheduler, processor_ns};
use crate::sys;
use crate::thread::{NOBODY, Thread, Tid};

/// How long a thread is parked before it looks around.
const LOOK_EVERY_NS: u64 = 10_000_000;
/// With so many threads alive each looks half as often, and so on.
const CROWD: usize = 32;

/// Parks until the turn is handed to `me`.
pub fn wait_for_turn(me: &mut Thread) {
    let mut suspect = None;
    let mut parked_ns = 0;
    while me.parker.load(Ordering::Acquire) == 0 {
        let crowd = 1 + SCHED.lock().alive() / CROWD;
        let pause = LOOK_EVERY_NS * crowd as u64;
        if !sys::futex_wait(&me.parker, 0, Some(pause)) {
            parked_ns += pause;
            suspect = look_around(me, suspect, parked_ns);
        }
    }
}

/// A thread that has the turn, outside the runtime, and does nothing that shows.
#[derive(Clone, Copy)]
struct Suspect {
    id: Tid,
    cursor: *mut Slot,
    asleep: bool,
    /// How long it had used the processor when it was first seen there.
    used_ns: u64,
}

/// Returns the thread that has the turn without using it, for the next look.
fn look_around(me: &Thread, before: Option<Suspect>, parked_ns: u64) -> Option<Suspect> {
    let mut s = SCHED.lock();
    if me.parker.load(Ordering::Acquire) != 0 {
        return None;
    }
    if s.current == NOBODY {
        s.wake_self_from_idle(me.id, parked_ns);
        return None;
    }
    let now = idle_holder(&s)?;
    let is_same = |it: &Suspect| it.id == now.id && it.cursor == now.cursor;
    let Some(before) = before.filter(is_same) else {
        return Some(now);
    };
    let useful = me.state == ThreadState::Sleeping || s.is_enabled(me.id);
    if useful && now.asleep && before.asleep {
        s.steal_turn(now.id);
    }
    let spun_ns = now.used_ns.saturating_sub(before.used_ns);
    if useful && !now.asleep && spun_ns >= s.patience_ns(now.id, now.cursor) {
        s.steal_from_spinning(now.id, now.cursor);
    }
    Some(Suspect {
        used_ns: before.used_ns,
        ..now
    })
}

/// The thread that has the turn, if it is outside the runtime, and whether it sleeps in the kernel.
fn idle_holder(s: &Scheduler) -> Option<Suspect> {
    let holder = s.threads.get(s.current);
    let in_runtime = || holder.depth != 0 || holder.waits_for_runtime.load(Ordering::Relaxed);
    // Asked before and after, because the holder goes on meanwhile.
    let before = in_runtime();
    let asleep = sleeps(holder.os_tid);
    if holder.cur_address.is_null() || before || in_runtime() {
        return None;
    }
    Some(Suspect {
        id: holder.id,
        // SAFETY: the thread-locals of a thread that has the turn are alive.
        cursor: unsafe { *holder.cur_address },
        asleep,
        used_ns: processor_ns(holder.os_tid),
    })
}

/// Whether the kernel says that a thread of this process sleeps.
fn sleeps(os_tid: u32) -> bool {
    kernel_state(os_tid) == Some(b'S')
}

/// Whether the kernel no longer runs a thread of this process.
pub fn is_gone(os_tid: u32) -> bool {
    matches!(kernel_state(os_tid), None | Some(b'Z' | b'X'))
}

/// The letter by which the kernel names a thread's state; None if there is no such thread.
fn kernel_state(os_tid: u32) -> Option<u8> {
    let mut path = [0u8; 48];
    let mut len = 0;
    for part in [
        &b"/proc/self/task/"[..],
        decimal(os_tid, &mut [0; 10]),
        &b"/stat\0"[..],
    ] {
        path[len..len + part.len()].copy_from_slice(part);
        len += part.len();
    }
    let Ok(path) = core::ffi::CStr::from_bytes_until_nul(&path) else {
        return None;
    };
    let mut text = [0u8; 128];
    let text = read_file(path, &mut text)?;
    // The name in parentheses may contain anything; the state follows the last one.
    let name_end = text.iter().rposition(|&b| b == b')');
    name_end.and_then(|at| text.get(at + 2)).copied()
}

/// The number of threads that the kernel runs in this process.
pub fn thread_count() -> Option<usize> {
    let mut text = [0u8; 4096];
    let text = read_file(c"/proc/self/status", &mut text)?;
    let lines = text.split(|&b| b == b'\n');
    let count = lines
        .filter_map(|line| line.strip_prefix(b"Threads:\t"))
        .next()?;
    core::str::from_utf8(count).ok()?.parse().ok()
}

/// The beginning of a file; None if it cannot be opened.
fn read_file<'a>(path: &core::ffi::CStr, text: &'a mut [u8]) -> Option<&'a [u8]> {
    let fd = i32::try_from(sys::open_read(path))
        .ok()
        .filter(|&fd| fd >= 0)?;
    let got = sys::read(fd, text);
    sys::close(fd);
    text.get(..usize::try_from(got).ok()?)
}

/// The decimal digits of `number`.
fn decimal(mut number: u32, digits: &mut [u8; 10]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[at..];
        }
    }
}
