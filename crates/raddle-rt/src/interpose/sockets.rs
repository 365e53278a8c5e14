//! Sockets: nothing of them exists in a replay.

use core::ffi::{c_int, c_void};

use libc::{POLLIN, POLLOUT, mmsghdr, msghdr, size_t, socklen_t, ssize_t};
use raddle_trace::wire::InputCall;

use super::blocking::{MOST_VECTORS, spread};
use super::descriptors::{accepted, note_listening};
use super::outside::{Question, ask, ask_descriptor};
use crate::call::{errno, set_errno};
use crate::inputs::{NOTHING, Part};
use crate::real;
use crate::stack::caller;

/// What fits at an address or option that comes with its length.
unsafe fn room(len: *const socklen_t) -> usize {
    // SAFETY: the program passed null or a length.
    unsafe { len.as_ref() }.map_or(0, |len| *len as usize)
}

macro_rules! accepts {
    ($($flags:expr => fn $name:ident($fd:ident: c_int, $address:ident: *mut c_void, $len:ident: *mut socklen_t $(, $arg:ident: c_int)?);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($fd: c_int, $address: *mut c_void, $len: *mut socklen_t $(, $arg: c_int)?) -> c_int {
            let question = Question::on(caller(), InputCall::Accept, $fd).restarting();
            // SAFETY: the length is the program's.
            let room = unsafe { room($len) };
            let act = || i64::from(real::$name($fd, $address, $len $(, $arg)?));
            let parts = |_| [Part::new($address, room), Part::of($len)];
            let result = ask_descriptor(question, POLLIN, act, parts) as c_int;
            accepted(result, $flags);
            result
        }
    )*};
}

accepts! {
    0 => fn accept(fd: c_int, address: *mut c_void, len: *mut socklen_t);
    flags => fn accept4(fd: c_int, address: *mut c_void, len: *mut socklen_t, flags: c_int);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn connect(fd: c_int, address: *const c_void, len: socklen_t) -> c_int {
    let question = Question::on(caller(), InputCall::Connect, fd);
    let act = || i64::from(real::connect(fd, address, len));
    ask_descriptor(question, POLLOUT, act, |_| []) as c_int
}

macro_rules! receives_from {
    ($(fn $name:ident($fd:ident: c_int, $buffer:ident: *mut c_void, $len:ident: size_t, $($arg:ident: $type:ty),*; $from:ident, $from_len:ident);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($fd: c_int, $buffer: *mut c_void, $len: size_t, $($arg: $type,)* $from: *mut c_void, $from_len: *mut socklen_t) -> ssize_t {
            let question = Question::on(caller(), InputCall::Read, $fd).reading($buffer).restarting();
            // SAFETY: the length is the program's.
            let room = unsafe { room($from_len) };
            let act = || real::$name($fd, $buffer, $len, $($arg,)* $from, $from_len) as i64;
            let parts = |result: i64| [
                Part::new($buffer, result.clamp(0, $len as i64) as usize),
                Part::new($from, room),
                Part::of($from_len),
            ];
            ask_descriptor(question, POLLIN, act, parts) as ssize_t
        }
    )*};
}

receives_from! {
    fn recvfrom(fd: c_int, buffer: *mut c_void, len: size_t, flags: c_int; from, from_len);
    fn __recvfrom_chk(fd: c_int, buffer: *mut c_void, len: size_t, room_for: size_t, flags: c_int; from, from_len);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    const MORE: usize = MOST_VECTORS + 3;
    let several = core::ptr::null_mut::<u8>();
    let question = Question::on(caller(), InputCall::Read, fd)
        .reading(several)
        .restarting();
    // SAFETY: the program passed a message.
    let before = unsafe { *message };
    let act = || real::recvmsg(fd, message, flags) as i64;
    let parts = |result| {
        let mut parts = [NOTHING; MORE];
        // SAFETY: the vectors are the program's.
        let spread = unsafe { spread(before.msg_iov, before.msg_iovlen, result) };
        parts[0] = Part::of(message);
        parts[1] = Part::new(before.msg_name, before.msg_namelen as usize);
        parts[2] = Part::new(before.msg_control, before.msg_controllen);
        parts[3..].copy_from_slice(&spread);
        parts
    };
    ask_descriptor(question, POLLIN, act, parts) as ssize_t
}

macro_rules! settings {
    ($($parts:expr => fn $name:ident($fd:ident: c_int $(, $arg:ident: $type:ty)*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($fd: c_int $(, $arg: $type)*) -> c_int {
            let question = Question::on(caller(), InputCall::Socket, $fd);
            let act = || i64::from(real::$name($fd $(, $arg)*));
            let parts = $parts;
            ask(question, act, |_| parts) as c_int
        }
    )*};
}

settings! {
    [] => fn bind(fd: c_int, address: *const c_void, len: socklen_t);
    [] => fn shutdown(fd: c_int, how: c_int);
    [] => fn setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, len: socklen_t);
    // SAFETY: the length is the program's.
    [Part::new(value, unsafe { room(len) }), Part::of(len)] =>
        fn getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, len: *mut socklen_t);
    // SAFETY: the length is the program's.
    [Part::new(address, unsafe { room(len) }), Part::of(len)] =>
        fn getsockname(fd: c_int, address: *mut c_void, len: *mut socklen_t);
    // SAFETY: the length is the program's.
    [Part::new(address, unsafe { room(len) }), Part::of(len)] =>
        fn getpeername(fd: c_int, address: *mut c_void, len: *mut socklen_t);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn listen(fd: c_int, backlog: c_int) -> c_int {
    note_listening();
    let question = Question::on(caller(), InputCall::Socket, fd);
    ask(question, || i64::from(real::listen(fd, backlog)), |_| []) as c_int
}

// ---- many messages at once: one after another ----

/// Takes or sends messages until one cannot be; returns how many, or -1 if that was the first one.
unsafe fn each(
    messages: *mut mmsghdr,
    count: u32,
    mut act: impl FnMut(*mut msghdr, u32) -> ssize_t,
) -> c_int {
    for at in 0..count {
        // SAFETY: the program passed so many messages.
        let message = unsafe { &mut *messages.add(at as usize) };
        match u32::try_from(act(&raw mut message.msg_hdr, at)) {
            Ok(len) => message.msg_len = len,
            Err(_) if at == 0 => return -1,
            Err(_) => return at as c_int,
        }
    }
    count as c_int
}

/// A time limit ends the wait for more with the first message: it may come to fewer than there is room for.
#[unsafe(no_mangle)]
unsafe extern "C" fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: u32,
    flags: c_int,
    timeout: *mut c_void,
) -> c_int {
    let impatient = flags & libc::MSG_WAITFORONE != 0 || !timeout.is_null();
    let flags = flags & !libc::MSG_WAITFORONE;
    let before = errno();
    // SAFETY: the messages are the program's.
    let taken = unsafe {
        each(messages, count, |message, at| {
            let more = if impatient && at > 0 {
                libc::MSG_DONTWAIT
            } else {
                0
            };
            recvmsg(fd, message, flags | more)
        })
    };
    if taken >= 0 {
        set_errno(before);
    }
    taken
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: u32,
    flags: c_int,
) -> c_int {
    let before = errno();
    // SAFETY: the messages are the program's.
    let sent = unsafe {
        each(messages, count, |message, _| {
            sendmsg(fd, message.cast(), flags)
        })
    };
    if sent >= 0 {
        set_errno(before);
    }
    sent
}

unsafe extern "C" {
    fn sendmsg(fd: c_int, message: *const c_void, flags: c_int) -> ssize_t;
}
