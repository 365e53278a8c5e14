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

/// A number. None: the real function is to be called.
fn draw(pc: u64) -> Option<u32> {
    let mut bytes = [0; 4];
    fill(pc, bytes.as_mut_ptr(), bytes.len())?;
    Some(u32::from_ne_bytes(bytes))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn arc4random() -> u32 {
    draw(caller()).unwrap_or_else(real::arc4random)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn arc4random_buf(buffer: *mut c_void, len: size_t) {
    if fill(caller(), buffer.cast(), len).is_none() {
        real::arc4random_buf(buffer, len);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn arc4random_uniform(bound: u32) -> u32 {
    let pc = caller();
    // The numbers below do not come up as often as others where 2^32 is no multiple of the bound.
    let uneven = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
    loop {
        match draw(pc) {
            Some(number) if number >= uneven => return number.checked_rem(bound).unwrap_or(0),
            Some(_) => {}
            None => return real::arc4random_uniform(bound),
        }
    }
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
