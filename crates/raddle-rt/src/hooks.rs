//! The cold entries of instrumented code.

use raddle_trace::wire::{Mark, OutcomeKind, PanicStage, SLACK_SLOTS, Slot};

use crate::call::Call;
use crate::control;
use crate::interpose::signal;
use crate::sched;
use crate::thread::Thread;
use crate::threads;
use crate::tls;

/// Slots that threads outside the scheduler write their events into; nobody reads them.
const SCRATCH_SLOTS: usize = 4096;
static mut SCRATCH: [Slot; SCRATCH_SLOTS + SLACK_SLOTS] = [Slot {
    head: 0,
    addr: 0,
    value: 0,
}; SCRATCH_SLOTS + SLACK_SLOTS];

/// Lets the thread write events that nobody will read.
fn use_scratch() {
    let start = (&raw mut SCRATCH).cast::<Slot>();
    tls::set_cur(start);
    // SAFETY: within the array, which has slack behind it.
    tls::set_lim(unsafe { start.add(SCRATCH_SLOTS) });
}

/// Behind `__raddle_slow`: the thread has used up its budget and is about to execute an event.
#[unsafe(no_mangle)]
extern "C" fn raddle_slow_implementation(site: u64, addr: u64) {
    if tls::record().is_null() {
        threads::adopt();
    }
    match Call::enter_hook(0) {
        Some(call) => {
            sched::point(call.me, site, addr);
            signal::deliver_due(call.me);
            call.leave();
        }
        None => use_scratch_if_not_nested(),
    }
}

/// Behind `__raddle_branches`: the word of branch outcomes is full.
#[unsafe(no_mangle)]
extern "C" fn raddle_branches_implementation() {
    match Call::enter_hook(0) {
        Some(call) => {
            sched::flush_branches(call.me);
            call.leave();
        }
        None => tls::set_bits(1),
    }
}

/// A hook that runs inside the runtime (a signal handler's) must not move the thread's stream: its
/// event is written where the cursor points, and the runtime sets cursor and limit when it is done.
fn use_scratch_if_not_nested() {
    let me = tls::me();
    // SAFETY: a thread's record stays at its address.
    let nested = !me.is_null() && unsafe { (*me).depth != 0 && !(*me).segment.is_null() };
    if !nested {
        use_scratch();
    }
}

/// A Rust panic takes a step in the function of this frame.
#[unsafe(no_mangle)]
extern "C" fn __raddle_panic(stage: u32, frame: u64) {
    let is = |of: PanicStage| stage == of as u32;
    if is(PanicStage::Start) {
        fail(OutcomeKind::Panic, 0, crate::stack::caller(), b"");
    } else if is(PanicStage::Body) {
        with_record(|me| me.body = me.body.max(frame));
    } else if is(PanicStage::Caught) {
        with_record(|me| {
            // Stacks grow downwards: what the body calls lies below it.
            if me.body == 0 || frame < me.body {
                control::forget_panic(me.id);
            }
        });
    }
}

fn with_record(then: impl FnOnce(&mut Thread)) {
    if let Some(call) = Call::enter_hook(0) {
        then(call.me);
        call.leave();
    }
}

/// Records that the run failed here; the program goes on.
pub fn fail(kind: OutcomeKind, object: u64, pc: u64, message: &[u8]) {
    let Some(mut call) = Call::enter_hook(pc) else {
        return;
    };
    let tick = call.me.tick_at(tls::cur());
    let id = call.me.id;
    if control::set_outcome(kind, id, tick, object, 0, pc, message) {
        call.mark(Mark::Fail, object, kind as u64);
        let s = sched::SCHED.lock();
        s.write_thread_records();
        s.stop_if_asked();
    }
    call.leave();
}
