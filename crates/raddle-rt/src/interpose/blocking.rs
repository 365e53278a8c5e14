//! Reading and writing: calls on a descriptor that may block.

use core::ffi::{c_int, c_void};

use libc::{POLLIN, POLLOUT, iovec, size_t, ssize_t};
use raddle_trace::wire::InputCall;

use super::outside::{Question, ask_descriptor};
use crate::inputs::{NOTHING, Part};
use crate::real;
use crate::stack::caller;

/// Most places that one call spreads its bytes over and that are recorded.
pub(super) const MOST_VECTORS: usize = 32;

/// Parts of `vectors` that the first `len` bytes went to.
pub(super) unsafe fn spread(vectors: *const iovec, count: usize, len: i64) -> [Part; MOST_VECTORS] {
    let mut left = usize::try_from(len).unwrap_or(0);
    let mut parts = [NOTHING; MOST_VECTORS];
    for at in 0..count {
        // SAFETY: the program passed `count` vectors.
        let vector = unsafe { &*vectors.add(at) };
        let len = vector.iov_len.min(left);
        left -= len;
        match parts.get_mut(at) {
            Some(part) => *part = Part::new(vector.iov_base, len),
            None if len > 0 => crate::inputs::note_uncovered("readv of more than 32 places"),
            None => {}
        }
    }
    parts
}

macro_rules! reads {
    ($(fn $name:ident($fd:ident: c_int, $buffer:ident: *mut c_void, $len:ident: size_t $(, $arg:ident: $type:ty)*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($fd: c_int, $buffer: *mut c_void, $len: size_t $(, $arg: $type)*) -> ssize_t {
            let question = Question::on(caller(), InputCall::Read, $fd).reading($buffer).restarting();
            let act = || real::$name($fd, $buffer, $len $(, $arg)*) as i64;
            // A datagram that was cut short may be said to be longer.
            let parts = |result: i64| [Part::new($buffer, result.clamp(0, $len as i64) as usize)];
            ask_descriptor(question, POLLIN, act, parts) as ssize_t
        }
    )*};
}

reads! {
    fn read(fd: c_int, buffer: *mut c_void, len: size_t);
    fn pread(fd: c_int, buffer: *mut c_void, len: size_t, offset: i64);
    fn pread64(fd: c_int, buffer: *mut c_void, len: size_t, offset: i64);
    fn recv(fd: c_int, buffer: *mut c_void, len: size_t, flags: c_int);
    fn __read_chk(fd: c_int, buffer: *mut c_void, len: size_t, room: size_t);
    fn __pread_chk(fd: c_int, buffer: *mut c_void, len: size_t, offset: i64, room: size_t);
    fn __pread64_chk(fd: c_int, buffer: *mut c_void, len: size_t, offset: i64, room: size_t);
    fn __recv_chk(fd: c_int, buffer: *mut c_void, len: size_t, room: size_t, flags: c_int);
}

macro_rules! vector_reads {
    ($(fn $name:ident($fd:ident: c_int, $vectors:ident: *const iovec, $count:ident: c_int $(, $arg:ident: $type:ty)*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($fd: c_int, $vectors: *const iovec, $count: c_int $(, $arg: $type)*) -> ssize_t {
            let several = core::ptr::null_mut::<u8>();
            let question = Question::on(caller(), InputCall::Read, $fd).reading(several).restarting();
            let act = || real::$name($fd, $vectors, $count $(, $arg)*) as i64;
            // SAFETY: the vectors are the program's.
            let parts = |result| unsafe { spread($vectors, $count.max(0) as usize, result) };
            ask_descriptor(question, POLLIN, act, parts) as ssize_t
        }
    )*};
}

vector_reads! {
    fn readv(fd: c_int, vectors: *const iovec, count: c_int);
    fn preadv(fd: c_int, vectors: *const iovec, count: c_int, offset: i64);
    fn preadv64(fd: c_int, vectors: *const iovec, count: c_int, offset: i64);
    fn preadv2(fd: c_int, vectors: *const iovec, count: c_int, offset: i64, flags: c_int);
    fn preadv64v2(fd: c_int, vectors: *const iovec, count: c_int, offset: i64, flags: c_int);
}

macro_rules! writes {
    ($(fn $name:ident($fd:ident: c_int $(, $arg:ident: $type:ty)*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($fd: c_int $(, $arg: $type)*) -> ssize_t {
            let question = Question::on(caller(), InputCall::Write, $fd).restarting();
            let act = || real::$name($fd $(, $arg)*) as i64;
            ask_descriptor(question, POLLOUT, act, |_| []) as ssize_t
        }
    )*};
}

writes! {
    fn write(fd: c_int, buffer: *const c_void, len: size_t);
    fn pwrite(fd: c_int, buffer: *const c_void, len: size_t, offset: i64);
    fn pwrite64(fd: c_int, buffer: *const c_void, len: size_t, offset: i64);
    fn writev(fd: c_int, vectors: *const iovec, count: c_int);
    fn pwritev(fd: c_int, vectors: *const iovec, count: c_int, offset: i64);
    fn pwritev64(fd: c_int, vectors: *const iovec, count: c_int, offset: i64);
    fn send(fd: c_int, buffer: *const c_void, len: size_t, flags: c_int);
    fn sendto(fd: c_int, buffer: *const c_void, len: size_t, flags: c_int, to: *const c_void, to_len: u32);
    fn sendmsg(fd: c_int, message: *const c_void, flags: c_int);
}
