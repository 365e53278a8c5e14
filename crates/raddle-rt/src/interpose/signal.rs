//! Signals: handlers run where a replay can run them again.
//!
//! A handler runs apart from the thread's event stream: a signal may interrupt a hook between the
//! check of its limit and the write of its slot, or the runtime itself. So a handler's own events go
//! to the scratch buffer, and calls it makes pass through: the handler is treated like code that is
//! not instrumented.
//!
//! What `pthread_kill` sends to a scheduled thread waits until that thread has the turn, so that it
//! comes at the same event in a replay. What comes from outside (another process, a timer, the
//! launcher) is kept until the thread that the kernel chose has the turn and is at an event, at the
//! end of a wait or in an interrupted call; the place goes into the input log, and a replay delivers
//! it there and ignores what really comes. A signal that the thread's own instruction raises is
//! delivered at once.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use libc::{siginfo_t, sigset_t, timespec};
use raddle_trace::wire::{InputCall, Mark, ThreadState};

use super::jumps::Interrupted;
use super::outside::{Question, ask_and_wait, wait_until};
use crate::call::Call;
use crate::control;
use crate::inputs::{self, Part};
use crate::real;
use crate::sched::{self, SCHED};
use crate::stack::caller;
use crate::sys;
use crate::thread::{Thread, Tid};
use crate::tls;

const SIGNALS: usize = 65;
/// The program's handlers, and the flags they were installed with.
static HANDLERS: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(0) }; SIGNALS];
static FLAGS: [AtomicI32; SIGNALS] = [const { AtomicI32::new(0) }; SIGNALS];
/// What the kernel said of the signals that arrived last, by number.
static ARRIVED: [[AtomicU64; 16]; SIGNALS] = [const { [const { AtomicU64::new(0) }; 16] }; SIGNALS];

type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// What the kernel calls.
extern "C" fn arrive(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: a thread's own record, if it has one; the kernel passed what it knows.
    let own = unsafe { is_own(tls::me().as_ref(), signal, &*info) };
    if own || control::get().is_null() {
        return run_handler(signal, info, context);
    }
    if inputs::answers() {
        return;
    }
    // SAFETY: a `siginfo_t` has 128 bytes.
    let words = unsafe { info.cast::<[u64; 16]>().read() };
    for (place, word) in ARRIVED[signal as usize % SIGNALS].iter().zip(words) {
        place.store(word, Ordering::Relaxed);
    }
    // SAFETY: a thread's record stays at its address; what is written here is atomic.
    match unsafe { tls::me().as_ref() } {
        Some(thread) if thread.state != ThreadState::Ended => {
            thread.arrived.fetch_or(1 << signal, Ordering::Relaxed);
            if thread.depth == 0 && !thread.adrift {
                tls::set_lim(core::ptr::null_mut());
            }
        }
        _ => bequeath(1 << signal),
    }
}

/// The first thread that has not ended: it gets what arrives at one that has just begun, is in a
/// handler or has ended.
static HEIR: AtomicPtr<Thread> = AtomicPtr::new(core::ptr::null_mut());

/// Hands the signals of a thread that has ended to the heir, which is `next` if it was the heir.
pub(crate) fn ended(me: &Thread, next: *mut Thread) {
    let mine = core::ptr::from_ref(me).cast_mut();
    let _ = HEIR.compare_exchange(mine, next, Ordering::SeqCst, Ordering::Relaxed);
    bequeath(me.arrived.swap(0, Ordering::SeqCst));
}

fn bequeath(mut signals: u64) {
    while signals != 0 {
        let heir = HEIR.load(Ordering::SeqCst);
        // SAFETY: a thread's record stays at its address, and there is one from the start on.
        let arrived = unsafe { &(*heir).arrived };
        arrived.fetch_or(signals, Ordering::SeqCst);
        signals = if HEIR.load(Ordering::SeqCst) == heir {
            0
        } else {
            arrived.swap(0, Ordering::SeqCst)
        };
    }
}

/// Whether the thread itself, or the runtime in its name, brings the signal about here and now.
fn is_own(me: Option<&Thread>, signal: c_int, info: &siginfo_t) -> bool {
    const FAULTS: [c_int; 6] = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGABRT,
    ];
    if let Some(me) = me
        && me.delivering.load(Ordering::Relaxed) == signal as u32
    {
        me.delivering.store(0, Ordering::Relaxed);
        return true;
    }
    let in_program = me.is_none_or(|me| me.depth == 0 && !me.adrift);
    let raised = info.si_code == libc::SI_TKILL && in_program;
    // SAFETY: a signal sent by a process says by which.
    FAULTS.contains(&signal) || (raised && unsafe { info.si_pid() } == sys::getpid())
}

/// Calls the program's handler with the thread's stream put aside.
fn run_handler(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let handler = HANDLERS[signal as usize % SIGNALS].load(Ordering::Relaxed);
    if !is_handler(handler) {
        return end_by(signal);
    }
    // SAFETY: the program installed this handler; one of the simple form ignores the rest.
    let handler: Handler = unsafe { core::mem::transmute(handler) };
    if FLAGS[signal as usize % SIGNALS].load(Ordering::Relaxed) & libc::SA_RESETHAND != 0 {
        HANDLERS[signal as usize % SIGNALS].store(libc::SIG_DFL, Ordering::Relaxed);
    }
    // SAFETY: the kernel's word of the signal; an address is there if it says so.
    let fault = match unsafe { info.as_ref() } {
        Some(it) if matches!(signal, libc::SIGSEGV | libc::SIGBUS) && it.si_code > 0 => unsafe {
            it.si_addr() as u64
        },
        _ => 0,
    };
    Interrupted::around(fault, || handler(signal, info, context));
}

/// Dies of a signal that the program has no handler for.
fn end_by(signal: c_int) {
    // SAFETY: the action by default; then the signal, unblocked, to this thread.
    unsafe {
        let action: libc::sigaction = core::mem::zeroed();
        real::sigaction(signal, &raw const action, core::ptr::null_mut());
        let mut set: sigset_t = core::mem::zeroed();
        libc::sigaddset(&raw mut set, signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, core::ptr::null_mut());
    }
    sys::signal_self(signal as u32);
}

/// Signals that whoever started us ignores (`nohup`, a script's background jobs) are the program's again: else what it
/// finds, and what it does about it, would depend on where a clip is replayed.
pub(crate) fn forget_ignored() {
    for signal in 1..SIGNALS as c_int {
        let mut action = blank();
        real::sigaction(signal, core::ptr::null(), &raw mut action);
        if action.sa_sigaction == libc::SIG_IGN {
            action.sa_sigaction = libc::SIG_DFL;
            real::sigaction(signal, &raw const action, core::ptr::null_mut());
        }
    }
}

/// Takes the launcher's last signal under control before the program runs.
pub(crate) fn start(main: *mut Thread, stop_signal: u32) {
    HEIR.store(main, Ordering::Relaxed);
    if stop_signal != 0 && (stop_signal as usize) < SIGNALS {
        let mut action = blank();
        action.sa_sigaction = arrive as Handler as usize;
        action.sa_flags = libc::SA_SIGINFO;
        real::sigaction(
            stop_signal as c_int,
            &raw const action,
            core::ptr::null_mut(),
        );
    }
}

/// Runs the handlers of the signals that have arrived from outside at `me`, which has the turn, and
/// writes down where. Returns whether all of them let an interrupted call begin anew.
pub(crate) fn deliver_arrived(me: &mut Thread) -> bool {
    let mut restart = true;
    loop {
        let arrived = me.arrived.load(Ordering::Relaxed);
        if arrived == 0 {
            return restart;
        }
        let signal = arrived.trailing_zeros();
        me.arrived.fetch_and(!(1 << signal), Ordering::Relaxed);
        let mut info = [0; 16];
        for (word, place) in info.iter_mut().zip(&ARRIVED[signal as usize % SIGNALS]) {
            *word = place.load(Ordering::Relaxed);
        }
        let (key, tick) = ((InputCall::Signal, signal.into()), inputs::tick(me));
        let parts = [Part::of(&raw mut info)];
        let place = (control::switches() as i64, i32::from(me.roused));
        inputs::note(me, key, tick, place, &parts);
        restart &= deliver(me, signal, &info);
    }
}

/// Runs the handler of the signal that the log has next for `me`.
pub(crate) fn deliver_recorded(me: &mut Thread) {
    let Some((_, entry)) = inputs::next_signal(me.id) else {
        return;
    };
    inputs::consume(me, &entry);
    let mut info = [0u64; 16];
    entry.fill(&[Part::of(&raw mut info)]);
    deliver(me, inputs::signal_of(&entry).0, &info);
}

/// Runs the handlers that are due at this place of `me`, which has the turn. Whether one is, is found
/// out on the runtime's own stack, because a replay asks somebody else than the run did.
pub(crate) fn deliver_due(me: &mut Thread) {
    while tls::on_own_stack(|| is_any_due(me)) {
        if inputs::answers() {
            deliver_recorded(me);
        } else {
            deliver_arrived(me);
        }
    }
}

fn is_any_due(me: &Thread) -> bool {
    if inputs::answers() {
        is_due(me)
    } else {
        me.arrived.load(Ordering::Relaxed) != 0
    }
}

/// Whether the log has a signal for a thread where it is.
fn is_due(me: &Thread) -> bool {
    inputs::next_signal(me.id).is_some_and(|(tick, entry)| {
        tick == inputs::tick(me) && inputs::signal_of(&entry).1 == control::switches()
    })
}

fn deliver(me: &mut Thread, signal: u32, info: &[u64; 16]) -> bool {
    if HANDLERS[signal as usize % SIGNALS].load(Ordering::Relaxed) == libc::SIG_DFL {
        sched::conclude(me);
    }
    me.delivering.store(signal, Ordering::Relaxed);
    unblocked(signal as c_int, || sys::queue_signal_self(signal, info));
    me.delivering.store(0, Ordering::Relaxed);
    let flags = FLAGS[signal as usize % SIGNALS].load(Ordering::Relaxed);
    flags & libc::SA_RESTART != 0
}

/// Runs `f` with a signal let through: what ended a `sigsuspend` is blocked again behind it.
fn unblocked(signal: c_int, f: impl FnOnce()) {
    // SAFETY: sets on the stack; the mask is this thread's.
    unsafe {
        let mut set: sigset_t = core::mem::zeroed();
        libc::sigaddset(&raw mut set, signal);
        let mut before: sigset_t = core::mem::zeroed();
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, &raw mut before);
        f();
        libc::sigprocmask(libc::SIG_SETMASK, &raw const before, core::ptr::null_mut());
    }
}

fn is_handler(address: usize) -> bool {
    address != libc::SIG_DFL && address != libc::SIG_IGN
}

fn blank() -> libc::sigaction {
    // SAFETY: all zeros is the action by default.
    unsafe { core::mem::zeroed() }
}

/// Whether the launcher ends the run by this signal, and so has to be obeyed in order.
fn is_stop(signal: c_int) -> bool {
    let control = control::get();
    // SAFETY: the head stays mapped.
    !control.is_null() && unsafe { (*control).stop_signal } == signal as u32
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
    let before = (
        slot.load(Ordering::Relaxed),
        FLAGS[signal as usize].load(Ordering::Relaxed),
    );
    // SAFETY: the program passed null or an action.
    let result = match unsafe { new.as_ref() } {
        Some(action)
            if is_handler(action.sa_sigaction)
                || (action.sa_sigaction == libc::SIG_DFL && is_stop(signal)) =>
        {
            let mut replaced = *action;
            slot.store(action.sa_sigaction, Ordering::Relaxed);
            FLAGS[signal as usize].store(action.sa_flags, Ordering::Relaxed);
            replaced.sa_sigaction = arrive as Handler as usize;
            // An interrupted call comes back here first, and begins anew from here.
            let taken_over = libc::SA_RESTART | libc::SA_RESETHAND;
            replaced.sa_flags = (action.sa_flags & !taken_over) | libc::SA_SIGINFO;
            real::sigaction(signal, &raw const replaced, old)
        }
        _ => real::sigaction(signal, new, old),
    };
    // SAFETY: the program passed null or a place for the old action.
    if let Some(old) = unsafe { old.as_mut() }
        && result == 0
        && old.sa_sigaction == arrive as Handler as usize
    {
        (old.sa_sigaction, old.sa_flags) = before;
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    // SAFETY: an action of the simple form, as BSD's `signal` means it.
    unsafe {
        let mut action = blank();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_RESTART;
        let mut old = blank();
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
    let target = SCHED.lock().by_handle(handle);
    let result = send_to(&mut call, target, handle, signal);
    call.leave();
    result
}

/// Sends a signal to a scheduled thread. None: the caller is not scheduled.
pub(super) fn send(pc: u64, target: Tid, signal: c_int) -> Option<c_int> {
    let mut call = Call::enter(pc)?;
    let (handle, state) = {
        let s = SCHED.lock();
        let thread = s.threads.get(target);
        (thread.handle, thread.state)
    };
    let result = match state {
        ThreadState::Ended => libc::ESRCH,
        _ => send_to(&mut call, Some(target), handle, signal),
    };
    call.leave();
    Some(result)
}

/// Sends a signal to the thread of libc's `handle`: itself at once, another scheduled one when it has the turn.
fn send_to(call: &mut Call, target: Option<Tid>, handle: u64, signal: c_int) -> c_int {
    call.point(handle);
    let me = call.me.id;
    let target = target.filter(|&t| t != me);
    call.mark(Mark::Yield, handle, signal as u64);
    let number = u32::try_from(signal).ok().filter(|n| (1..64).contains(n));
    let kept = target
        .zip(number)
        .is_some_and(|(t, n)| sched::send_signal(t, n));
    if kept {
        0
    } else {
        call.in_program(|| real::pthread_kill(handle, signal))
    }
}

// ---- waiting for signals ----

fn wait_for_signal(
    pc: u64,
    limit_ns: Option<u64>,
    mut act: impl FnMut() -> i64,
    part: Part,
) -> c_int {
    let question = Question::general(pc, InputCall::SignalWait);
    let wait = || ask_and_wait(question, || None, &mut act, |_| [part]);
    wait_until(pc, limit_ns, wait, |result| result == -1) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pause() -> c_int {
    wait_for_signal(caller(), None, || real::pause().into(), inputs::NOTHING)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigsuspend(mask: *const sigset_t) -> c_int {
    let act = || real::sigsuspend(mask).into();
    wait_for_signal(caller(), None, act, inputs::NOTHING)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigwait(set: *const c_void, signal: *mut c_int) -> c_int {
    let act = || real::sigwait(set, signal).into();
    wait_for_signal(caller(), None, act, Part::of(signal))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) -> c_int {
    let act = || real::sigwaitinfo(set, info).into();
    wait_for_signal(caller(), None, act, Part::of(info))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigtimedwait(
    set: *const sigset_t,
    info: *mut siginfo_t,
    timeout: *const timespec,
) -> c_int {
    // SAFETY: the program passed null or a time.
    let limit = unsafe { timeout.as_ref() }.map(crate::clock::to_ns);
    let act = || real::sigtimedwait(set, info, timeout).into();
    wait_for_signal(caller(), limit, act, Part::of(info))
}
