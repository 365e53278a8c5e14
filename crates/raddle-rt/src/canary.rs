//! The value by which protected functions tell that their frame was overrun.
//!
//! The kernel draws it anew for every process, and copies of it stay on the stack where such functions have been. Programs
//! copy what was left there (padding of a structure), so that a replay would see other values. It is made the same
//! for all runs before the program's own code begins; threads get it from the one that makes them.

use core::arch::asm;

/// In the place of what the kernel has drawn. Its lowest byte is 0, so that no string function copies it.
const CANARY: u64 = 0x9d5f_3a6e_c817_b400;

/// Gives the calling thread, the only one, the constant value.
#[inline(never)]
pub fn make_constant() {
    let (drawn, here): (u64, u64);
    // SAFETY: glibc keeps the value there on x86-64.
    unsafe {
        asm!(
            "mov {}, qword ptr fs:[0x28]",
            "mov {}, rsp",
            out(reg) drawn,
            out(reg) here,
            options(nostack, preserves_flags),
        );
    }
    // SAFETY: asks for a number.
    let random = unsafe { libc::getauxval(libc::AT_RANDOM) };
    if random <= here || drawn == 0 {
        return;
    }
    // Functions that have not returned yet compare their copies with the new value.
    for place in (here..random).step_by(size_of::<u64>()) {
        let place = place as *mut u64;
        // SAFETY: on this thread's stack, above its stack pointer and below what the kernel has put at its end.
        unsafe {
            if place.read_volatile() == drawn {
                place.write_volatile(CANARY);
            }
        }
    }
    // SAFETY: as above; the kernel's sixteen bytes are the program's to read.
    unsafe {
        (random as *mut [u64; 2]).write_unaligned([CANARY; 2]);
        asm!("mov qword ptr fs:[0x28], {}", in(reg) CANARY, options(nostack, preserves_flags));
    }
}
