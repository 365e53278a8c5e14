//! Signal handlers and jumps out of them.
//!
//! While a handler runs, the thread's stream is put aside. A handler that returns takes it up
//! again; one that jumps does not, so the jump does it. Whether a jump leaves a handler is seen from
//! its target: places within the handler lie between the stack pointer of now and the handler's
//! own frame, on whichever stack that is.

use core::arch::asm;
use core::ffi::{c_int, c_void};

use raddle_trace::wire::{FIRST_SITE_ADDRESS, SiteKind, SiteRecord, Slot};

use crate::real;
use crate::stack;
use crate::thread::Thread;
use crate::tls::{self, OWN_STACK_BYTES};

/// What a signal handler has interrupted. It lies in a frame around the handler's.
pub struct Interrupted {
    me: *mut Thread,
    cur: *mut Slot,
    lim: *mut Slot,
    bits: u64,
    stack_top: u64,
    /// The address that the thread must not access and has just tried to; 0 if it was something else.
    fault: u64,
    /// What the handler has interrupted that was interrupted itself.
    outer: *const Interrupted,
}

impl Interrupted {
    /// Runs a handler with the thread's stream put aside.
    #[inline(always)]
    pub fn around(fault: u64, handler: impl FnOnce()) {
        let interrupted = Interrupted {
            me: tls::record(),
            cur: tls::cur(),
            lim: tls::lim(),
            bits: tls::bits(),
            stack_top: tls::stack_top(),
            fault,
            outer: tls::interrupted(),
        };
        tls::set_interrupted(&raw const interrupted);
        tls::set_stack_top(0);
        tls::set_me(tls::IN_HANDLER);
        tls::set_cur(core::ptr::null_mut());
        tls::set_lim(core::ptr::null_mut());
        handler();
        interrupted.end();
    }

    /// The thread whose stream is put aside, if it has the turn.
    pub fn thread() -> Option<&'static Thread> {
        // SAFETY: chained values lie in frames that are still there.
        let mut interrupted = unsafe { tls::interrupted().as_ref() }?;
        while interrupted.me == tls::IN_HANDLER {
            // SAFETY: as above.
            interrupted = unsafe { interrupted.outer.as_ref() }?;
        }
        // SAFETY: a thread's own record stays at its address.
        unsafe { interrupted.me.as_ref() }.filter(|it| !it.adrift)
    }

    /// Takes the thread's stream up again.
    fn end(&self) {
        tls::set_interrupted(self.outer);
        tls::set_me(self.me);
        tls::set_cur(self.cur);
        tls::set_lim(self.lim);
        tls::set_bits(self.bits);
        tls::set_stack_top(self.stack_top);
    }

    /// Takes it up behind a jump, which has left the runtime as well if that was interrupted.
    fn abandon(&self) {
        self.end();
        // SAFETY: a thread's own record stays at its address.
        if let Some(me) = unsafe { tls::me().as_mut() } {
            me.depth = 0;
            *me.delivering.get_mut() = 0;
            if self.fault != 0 {
                forget_access(me, self.fault);
            }
        }
    }
}

/// Slots before the cursor among which the event of an access that has faulted is looked for.
const LATEST: usize = 4;

/// Moves the event of an access that never was, because it faulted and the handler jumped, to where no
/// other thread has anything. One whose handler returns is done again, and stays.
fn forget_access(me: &Thread, fault: u64) {
    let mut slot = tls::cur();
    for _ in 0..LATEST {
        if me.segment.is_null() || slot <= me.segment {
            return;
        }
        // SAFETY: a slot of this thread's segment, which nobody reads before the segment ends.
        let event = unsafe {
            slot = slot.sub(1);
            &mut *slot
        };
        if let Some(len) = access_len(event).filter(|&len| fault.wrapping_sub(event.addr) < len) {
            event.addr = me.own_stack_top.saturating_sub(OWN_STACK_BYTES);
            if len > OWN_STACK_BYTES {
                event.value = OWN_STACK_BYTES;
            }
            return;
        }
    }
}

/// How many bytes an event accesses.
fn access_len(event: &Slot) -> Option<u64> {
    if event.head < FIRST_SITE_ADDRESS {
        return None;
    }
    // SAFETY: such a head is the address of a record in a loaded image.
    let site = unsafe { *(event.head as *const SiteRecord) };
    let is = |kind: SiteKind| site.kind == kind as u8;
    if is(SiteKind::RangeRead) || is(SiteKind::RangeWrite) {
        Some(event.value)
    } else {
        (site.kind <= SiteKind::Cas as u8).then_some(site.size.into())
    }
}

/// Ends the handlers that a jump to `place` leaves.
unsafe fn leave_handlers(place: *const c_void) {
    // SAFETY: chained values lie in frames that are still there.
    while let Some(interrupted) = unsafe { tls::interrupted().as_ref() } {
        let handler = stack::frame()..(&raw const *interrupted) as u64;
        // SAFETY: the program passed a place that `setjmp` has filled in.
        if handler.contains(&unsafe { stack_pointer_of(place) }) {
            return;
        }
        interrupted.abandon();
    }
}

/// The stack pointer that a jump restores, which libc keeps under a key of the thread's.
unsafe fn stack_pointer_of(place: *const c_void) -> u64 {
    const STACK_POINTER: usize = 6;
    let key: u64;
    // SAFETY: libc keeps the key at this place of its thread block; the buffer has eight words.
    unsafe {
        asm!("mov {}, fs:[0x30]", out(reg) key, options(nostack, readonly, preserves_flags));
        place
            .cast::<u64>()
            .add(STACK_POINTER)
            .read()
            .rotate_right(17)
            ^ key
    }
}

macro_rules! jump {
    ($($name:ident => $real:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(place: *mut c_void, value: c_int) -> ! {
            // SAFETY: as the program called.
            unsafe { leave_handlers(place) };
            real::$real(place, value);
            unreachable!("a jump returned")
        }
    )*};
}

jump!(longjmp => longjmp, _longjmp => longjmp, siglongjmp => siglongjmp, __longjmp_chk => siglongjmp);
