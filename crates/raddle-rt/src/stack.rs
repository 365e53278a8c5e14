//! Stacks by frame pointers.
//!
//! Instrumented functions and the runtime keep frame pointers; libraries in between may not, and
//! then the walk ends early or skips a frame, but never leaves mapped memory. It starts on the
//! runtime's stack and goes on on the program's.

use core::arch::asm;

use crate::sys;

/// The frame pointer of the caller's frame.
#[inline(always)]
pub fn frame() -> u64 {
    let frame: u64;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rbp", out(reg) frame, options(nomem, nostack, preserves_flags)) };
    frame
}

/// How far below the program's first frame something may have been left by the loader and by the runtime's start.
const START_BYTES: u64 = 1 << 15;
/// Below the stack pointer a function may keep something without moving it.
const RED_ZONE: u64 = 128;

/// Empties the stack below the caller. What was left there by the runtime's start is not the same in every run: some are
/// forked from a server, which has worked on this stack.
#[inline(never)]
pub fn clear_below() {
    let here: u64;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) here, options(nomem, nostack, preserves_flags)) };
    let end = here - RED_ZONE;
    for place in (end - START_BYTES..end).step_by(size_of::<u64>()) {
        // SAFETY: on this thread's stack, where nobody keeps anything.
        unsafe { (place as *mut u64).write_volatile(0) };
    }
}

/// The address to which the function that inlines this returns.
#[inline(always)]
pub fn caller() -> u64 {
    let pc: u64;
    // SAFETY: the runtime is compiled with frame pointers, so the return address is there.
    unsafe { asm!("mov {}, [rbp + 8]", out(reg) pc, options(readonly, nostack, preserves_flags)) };
    pc
}

/// Return addresses from `frame` outwards; returns how many were found.
pub fn walk(mut frame: u64, stack: &mut [u64]) -> usize {
    let mut count = 0;
    while count < stack.len() && frame != 0 && frame.is_multiple_of(8) {
        let (Some(next), Some(pc)) = (sys::peek(frame, 8), sys::peek(frame + 8, 8)) else {
            break;
        };
        if pc < 0x1000 {
            break;
        }
        stack[count] = pc;
        count += 1;
        frame = next;
    }
    count
}
