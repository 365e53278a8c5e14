//! Files in memory: what a mapping of a file that is only read shows is the outside's.

use core::ffi::{c_int, c_void};

use libc::size_t;
use raddle_trace::wire::InputCall;

use super::descriptors::{Kind, kind};
use super::outside::{Question, ask};
use crate::inputs::{self, NOTHING, Part};
use crate::real;
use crate::stack::caller;
use crate::sys;

fn map(
    pc: u64,
    address: *mut c_void,
    len: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    let act = || real::mmap(address, len, protection, flags, fd, offset);
    if fd < 0 || flags & libc::MAP_ANONYMOUS != 0 || kind(fd) != Kind::Absent {
        return act();
    }
    let question = Question::on(pc, InputCall::Map, fd);
    // Behind the end of the file there is nothing to read.
    let file_len = sys::len_of(fd).saturating_sub(offset as u64);
    let again = inputs::answers() && !crate::tls::me().is_null();
    let made = core::cell::Cell::new(false);
    let mapped = ask(
        question,
        || {
            made.set(true);
            act() as i64
        },
        |mapped| {
            let len = if again {
                len
            } else {
                len.min(file_len as usize)
            };
            if again && mapped != -1 && !made.get() {
                made.set(make_room(mapped as *mut c_void, len));
            }
            if mapped == -1 || !made.get() {
                return [NOTHING];
            }
            [Part::new(mapped as *mut u8, len)]
        },
    ) as *mut c_void;
    if !made.get() {
        return libc::MAP_FAILED;
    }
    if again && mapped != libc::MAP_FAILED {
        // SAFETY: the mapping was just made.
        unsafe { libc::mprotect(mapped, len, protection) };
    }
    mapped
}

/// Makes memory where the recorded run had the file. False if something is there.
fn make_room(address: *mut c_void, len: size_t) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let writable = libc::PROT_READ | libc::PROT_WRITE;
    real::mmap(address, len, writable, flags, -1, 0) == address
}

macro_rules! maps {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            address: *mut c_void,
            len: size_t,
            protection: c_int,
            flags: c_int,
            fd: c_int,
            offset: i64,
        ) -> *mut c_void {
            map(caller(), address, len, protection, flags, fd, offset)
        }
    )*};
}

maps!(mmap, mmap64);
