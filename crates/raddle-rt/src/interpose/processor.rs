//! On which processor a thread runs: the kernel moves threads as it likes, so the program is told
//! the first one that the calling thread may use. How many there are is a fact of the system, and recorded.

use core::ffi::c_int;

use raddle_trace::wire::InputCall;

use super::outside::{Question, ask};
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

fn ask_fact(pc: u64, act: impl FnMut() -> i64) -> i64 {
    ask(Question::general(pc, InputCall::System), act, |_| [])
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sysconf(name: c_int) -> i64 {
    match name {
        libc::_SC_NPROCESSORS_CONF
        | libc::_SC_NPROCESSORS_ONLN
        | libc::_SC_OPEN_MAX
        | libc::_SC_PHYS_PAGES
        | libc::_SC_AVPHYS_PAGES => ask_fact(caller(), || real::sysconf(name)),
        _ => real::sysconf(name),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn get_nprocs() -> c_int {
    ask_fact(caller(), || real::get_nprocs().into()) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn get_nprocs_conf() -> c_int {
    ask_fact(caller(), || real::get_nprocs_conf().into()) as c_int
}
