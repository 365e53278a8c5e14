//! System calls that may block: the thread leaves the scheduler before and enters after.
//!
//! Two marks frame every such call whether or not it had to leave, so that a thread's ticks do not
//! depend on how fast the outside was. A call that is known not to block now is made in place.
//! The call counts as the program's own code: it may be cancelled in there, and the thread's next
//! step, whatever it is, asks for the turn.

use core::ffi::{c_int, c_void};

use libc::{POLLIN, POLLOUT, size_t, ssize_t, timeval};
use raddle_trace::wire::Mark;

use crate::call::Call;
use crate::real;
use crate::sched;
use crate::stack::caller;
use crate::sys;

/// Makes a call that may block: `try_now` first; if `done` says that this was enough, that is the
/// result, else `wait` is called outside the scheduler.
pub(super) fn outside<T>(
    call: &mut Call,
    try_now: impl FnOnce() -> T,
    done: impl Fn(&T) -> bool + Copy,
    wait: impl FnOnce() -> T,
) -> T
where
    T: Copy,
{
    call.mark(Mark::Block, 0, 0);
    let tried = try_now();
    let is_done = done(&tried);
    sched::leave(call.me, is_done);
    let result = call.in_program(|| if is_done { tried } else { wait() });
    call.mark(Mark::Unblock, 0, 0);
    result
}

/// Frames a call on `fd` that blocks unless `events` are possible.
fn on_descriptor<T>(call: &mut Call, fd: c_int, events: i16, act: impl FnOnce() -> T) -> T {
    call.mark(Mark::Block, 0, fd as u64);
    sched::leave(call.me, sys::poll_now(fd, events));
    let result = call.in_program(act);
    call.mark(Mark::Unblock, 0, fd as u64);
    result
}

/// Where bytes from outside go, and how many fit; null if they go to several places.
type Buffer = (*mut c_void, size_t);
const SEVERAL: Buffer = (core::ptr::null_mut(), size_t::MAX);

macro_rules! descriptor_calls {
    ($($events:expr, $buffer:expr => fn $name:ident($fd:ident: c_int $(, $arg:ident: $type:ty)*) -> $result:ty;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($fd: c_int $(, $arg: $type)*) -> $result {
            let Some(mut call) = Call::enter(caller()) else { return real::$name($fd $(, $arg)*) };
            let result = on_descriptor(&mut call, $fd, $events, || real::$name($fd $(, $arg)*));
            let buffer: Option<Buffer> = $buffer;
            if let Some((address, len)) = buffer.filter(|_| result > 0) {
                // A datagram that was cut short may be said to be longer.
                let len = len.min(result as size_t) as u64;
                call.mark_with(Mark::Input, address as u64, len, $fd as u64);
            }
            call.leave_keeping_errno();
            result
        }
    )*};
}

descriptor_calls! {
    POLLIN, Some((buffer, len)) => fn read(fd: c_int, buffer: *mut c_void, len: size_t) -> ssize_t;
    POLLIN, Some((buffer, len)) => fn recv(fd: c_int, buffer: *mut c_void, len: size_t, flags: c_int) -> ssize_t;
    POLLIN, Some((buffer, len)) => fn recvfrom(fd: c_int, buffer: *mut c_void, len: size_t, flags: c_int, from: *mut c_void, from_len: *mut u32) -> ssize_t;
    POLLIN, Some(SEVERAL) => fn recvmsg(fd: c_int, message: *mut c_void, flags: c_int) -> ssize_t;
    POLLIN, None => fn accept(fd: c_int, address: *mut c_void, len: *mut u32) -> c_int;
    POLLIN, None => fn accept4(fd: c_int, address: *mut c_void, len: *mut u32, flags: c_int) -> c_int;
    POLLOUT, None => fn write(fd: c_int, buffer: *const c_void, len: size_t) -> ssize_t;
    POLLOUT, None => fn send(fd: c_int, buffer: *const c_void, len: size_t, flags: c_int) -> ssize_t;
    POLLOUT, None => fn connect(fd: c_int, address: *const c_void, len: u32) -> c_int;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn poll(fds: *mut libc::pollfd, count: u64, timeout_ms: c_int) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::poll(fds, count, timeout_ms);
    };
    let done = |&ready: &c_int| ready != 0 || timeout_ms == 0;
    let result = outside(
        &mut call,
        || real::poll(fds, count, 0),
        done,
        || real::poll(fds, count, timeout_ms),
    );
    call.leave_keeping_errno();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_wait(
    fd: c_int,
    events: *mut c_void,
    most: c_int,
    timeout_ms: c_int,
) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::epoll_wait(fd, events, most, timeout_ms);
    };
    let done = |&ready: &c_int| ready != 0 || timeout_ms == 0;
    let result = outside(
        &mut call,
        || real::epoll_wait(fd, events, most, 0),
        done,
        || real::epoll_wait(fd, events, most, timeout_ms),
    );
    call.leave_keeping_errno();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn select(
    count: c_int,
    read: *mut c_void,
    write: *mut c_void,
    except: *mut c_void,
    timeout: *mut timeval,
) -> c_int {
    let act = || real::select(count, read, write, except, timeout);
    let Some(mut call) = Call::enter(caller()) else {
        return act();
    };
    // The sets are overwritten by a first try, so there is none.
    let result = outside(&mut call, || 0, |_| false, act);
    call.leave_keeping_errno();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pause() -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pause();
    };
    let result = outside(&mut call, || 0, |_| false, real::pause);
    call.leave_keeping_errno();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigwait(set: *const c_void, signal: *mut c_int) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::sigwait(set, signal);
    };
    let result = outside(&mut call, || 0, |_| false, || real::sigwait(set, signal));
    call.leave_keeping_errno();
    result
}
