//! The runtime's own marks in the event stream.

use raddle_trace::wire::{Mark, Slot, TRIED};

use super::{SCHED, Scheduler};
use crate::record::put;
use crate::thread::Thread;
use crate::tls;

/// Slots of a mark.
const MARK_SLOTS: u64 = 2;

/// Writes a mark of the runtime's own, with its second slot.
pub fn mark(me: &mut Thread, mark: Mark, object: u64, argument: u64, pc: u64, second: u64) {
    tls::on_own_stack(|| mark_here(me, mark, object, argument, pc, second));
}

fn mark_here(me: &mut Thread, mark: Mark, object: u64, argument: u64, pc: u64, second: u64) {
    if mark == Mark::Request && argument & TRIED == 0 {
        me.unsteady += MARK_SLOTS;
    }
    ensure_room(me);
    let cursor = tls::cur();
    // SAFETY: there is room for two slots.
    unsafe {
        let first = Slot {
            head: mark as u64,
            addr: object,
            value: argument,
        };
        let extra = Slot {
            head: Mark::Extra as u64,
            addr: pc,
            value: second,
        };
        put(cursor, first);
        put(cursor.add(1), extra);
        tls::set_cur(cursor.add(MARK_SLOTS as usize));
    }
}

/// Writes the pending branch outcomes, if there are any.
pub fn flush_branches(me: &mut Thread) {
    let bits = tls::bits();
    tls::set_bits(1);
    if bits <= 1 {
        return;
    }
    ensure_room(me);
    let cursor = tls::cur();
    // SAFETY: there is room.
    unsafe {
        let outcomes = Slot {
            head: Mark::Branches as u64,
            addr: 0,
            value: bits,
        };
        put(cursor, outcomes);
        tls::set_cur(cursor.add(1));
    }
}

/// Goes on in a new chunk if this one is full. Who has the turn knows without the scheduler's lock how far
/// its chunk reaches.
fn ensure_room(me: &mut Thread) {
    if tls::cur() >= me.soft_end {
        make_room(&mut SCHED.lock(), me);
    }
}

/// Goes on in a new chunk if this one is full.
pub(super) fn make_room(s: &mut Scheduler, me: &mut Thread) {
    let cursor = tls::cur();
    if cursor < s.recorder.soft_end() {
        return;
    }
    s.stop(me, cursor);
    me.segment = s.recorder.open_segment(me.id, me.tick_base);
    me.soft_end = s.recorder.soft_end();
    tls::set_cur(me.segment);
    tls::set_lim(me.segment);
    s.publish();
}
