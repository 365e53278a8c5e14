//! Random numbers from the system: seeded, so that a run can be had again.

use core::ffi::{c_int, c_void};

use libc::{size_t, ssize_t};
use raddle_trace::wire::Mark;

use crate::call::Call;
use crate::control;
use crate::lock::Lock;
use crate::real;
use crate::rng::Rng;
use crate::stack::caller;

/// The program's own generator: apart from the scheduler's, so that a replay gives the same numbers.
static NUMBERS: Lock<Option<Rng>> = Lock::new(None);

/// Fills the program's buffer. None: the real function is to be called.
pub(super) fn fill(pc: u64, buffer: *mut u8, len: usize) -> Option<usize> {
    let mut call = Call::enter(pc)?;
    // SAFETY: the head stays mapped while the program is controlled.
    let seed = unsafe { (*control::get()).seed };
    let mut numbers = NUMBERS.lock();
    let rng = numbers.get_or_insert_with(|| Rng::new(!seed));
    for at in 0..len {
        // SAFETY: the program passed a buffer of `len` bytes.
        unsafe { buffer.add(at).write(rng.next() as u8) };
    }
    drop(numbers);
    call.mark_with(Mark::Input, buffer as u64, len as u64, u64::MAX);
    call.leave();
    Some(len)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buffer: *mut c_void, len: size_t, flags: u32) -> ssize_t {
    match fill(caller(), buffer.cast(), len) {
        Some(len) => len as ssize_t,
        None => real::getrandom(buffer, len, flags),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(buffer: *mut c_void, len: size_t) -> c_int {
    match fill(caller(), buffer.cast(), len) {
        Some(_) => 0,
        None => real::getentropy(buffer, len),
    }
}
