//! Signal handlers run apart from the thread's event stream.
//!
//! A signal may interrupt a hook between the check of its limit and the write of its slot, or the
//! runtime itself. So a handler's own events go to the scratch buffer, and calls it makes pass
//! through: the handler is treated like code that is not instrumented. What `pthread_kill` sends to
//! a scheduled thread waits until that thread has the turn, so that it comes at the same event in a
//! replay.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use raddle_trace::wire::Mark;

use crate::call::Call;
use crate::real;
use crate::sched::{self, SCHED};
use crate::stack::caller;
use crate::tls;

const SIGNALS: usize = 65;
static HANDLERS: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(0) }; SIGNALS];

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Calls the program's handler with the thread's stream put aside.
extern "C" fn wrapped(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let handler = HANDLERS[signal as usize % SIGNALS].load(Ordering::Relaxed);
    let (me, cur, lim, bits) = (tls::record(), tls::cur(), tls::lim(), tls::bits());
    let stack_top = tls::stack_top();
    tls::set_stack_top(0);
    tls::set_me(tls::IN_HANDLER);
    tls::set_cur(core::ptr::null_mut());
    tls::set_lim(core::ptr::null_mut());
    // SAFETY: the program installed this handler; one of the simple form ignores the rest.
    let handler: Handler = unsafe { core::mem::transmute(handler) };
    handler(signal, info, context);
    tls::set_me(me);
    tls::set_cur(cur);
    tls::set_lim(lim);
    tls::set_bits(bits);
    tls::set_stack_top(stack_top);
}

fn is_handler(address: usize) -> bool {
    address != libc::SIG_DFL && address != libc::SIG_IGN
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    let Some(slot) = HANDLERS.get(signal as usize) else {
        return real::sigaction(signal, new, old);
    };
    let before = slot.load(Ordering::Relaxed);
    // SAFETY: the program passed null or an action.
    let result = match unsafe { new.as_ref() } {
        Some(action) if is_handler(action.sa_sigaction) => {
            let mut replaced = *action;
            slot.store(action.sa_sigaction, Ordering::Relaxed);
            replaced.sa_sigaction = wrapped as Handler as usize;
            real::sigaction(signal, &raw const replaced, old)
        }
        _ => real::sigaction(signal, new, old),
    };
    // SAFETY: the program passed null or a place for the old action.
    if let Some(old) = unsafe { old.as_mut() }
        && result == 0
        && old.sa_sigaction == wrapped as Handler as usize
    {
        old.sa_sigaction = before;
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    // SAFETY: an action of the simple form, as BSD's `signal` means it.
    unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_RESTART;
        let mut old: libc::sigaction = core::mem::zeroed();
        if sigaction(signal, &raw const action, &raw mut old) == 0 {
            old.sa_sigaction
        } else {
            libc::SIG_ERR
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_kill(handle: u64, signal: c_int) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_kill(handle, signal);
    };
    call.point(handle);
    let me = call.me.id;
    let target = SCHED.lock().by_handle(handle).filter(|&t| t != me);
    call.mark(Mark::Yield, handle, signal as u64);
    let number = u32::try_from(signal).ok().filter(|n| (1..64).contains(n));
    let kept = target
        .zip(number)
        .is_some_and(|(t, n)| sched::send_signal(t, n));
    let result = if kept {
        0
    } else {
        call.in_program(|| real::pthread_kill(handle, signal))
    };
    call.leave();
    result
}
