//! On which processor a thread runs: the kernel moves threads as it likes, so the program is told
//! the first one that the calling thread may use.

use core::ffi::c_int;

use crate::call::Call;
use crate::real;
use crate::stack::caller;

/// The first processor that this thread may run on; None if the real one is to be told.
fn first_allowed(pc: u64) -> Option<c_int> {
    let call = Call::enter(pc)?;
    // SAFETY: the set is as long as said; all zeros is an empty one.
    let set = unsafe {
        let mut set: libc::cpu_set_t = core::mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
        set
    };
    call.leave();
    // SAFETY: within the set.
    let is_allowed = |&processor: &usize| unsafe { libc::CPU_ISSET(processor, &set) };
    let found = (0..libc::CPU_SETSIZE as usize).find(is_allowed);
    Some(found.unwrap_or(0) as c_int)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sched_getcpu() -> c_int {
    first_allowed(caller()).unwrap_or_else(real::sched_getcpu)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getcpu(processor: *mut u32, node: *mut u32) -> c_int {
    let Some(first) = first_allowed(caller()) else {
        return real::getcpu(processor, node);
    };
    // SAFETY: the program passed null or places for the numbers.
    unsafe {
        if let Some(processor) = processor.as_mut() {
            *processor = first as u32;
        }
        if let Some(node) = node.as_mut() {
            *node = 0;
        }
    }
    0
}
