//! Waiting for several descriptors at once. Nothing real is asked in a replay. A wait for no descriptor at all, but
//! with a time limit, is a sleep.

use core::ffi::{c_int, c_void};

use libc::{epoll_event, fd_set, pollfd, sigset_t, timespec, timeval};
use raddle_trace::wire::InputCall;

use super::clock::sleep_for;
use super::outside::{Question, ask, ask_and_wait, wait_until};
use crate::call::set_errno;
use crate::clock;
use crate::inputs::Part;
use crate::real;
use crate::stack::caller;

/// A time limit of `ms` milliseconds, in nanoseconds; none if it is negative.
fn from_ms(ms: c_int) -> Option<u64> {
    u64::try_from(ms).ok().map(|ms| ms * 1_000_000)
}

/// Waits; moves the clock on if that was in vain.
fn wait<const N: usize>(
    question: Question,
    limit_ns: Option<u64>,
    first: impl Fn() -> i64,
    act: impl FnMut() -> i64,
    parts: impl Fn(i64) -> [Part; N],
) -> c_int {
    let first = || Some(first()).filter(|&ready| ready != 0 || limit_ns == Some(0));
    let wait = || ask_and_wait(question, first, act, parts);
    wait_until(question.pc, limit_ns, wait, |ready| ready == 0) as c_int
}

/// Sleeps instead of waiting for nothing. None: that is not what is asked for.
fn sleep_instead(pc: u64, limit_ns: Option<u64>) -> Option<c_int> {
    let limit = limit_ns.filter(|&it| it > 0 && !clock::is_real())?;
    if sleep_for(pc, limit)? {
        return Some(0);
    }
    set_errno(libc::EINTR);
    Some(-1)
}

fn poll_with(
    pc: u64,
    fds: *mut pollfd,
    count: u64,
    limit_ns: Option<u64>,
    act: impl FnMut() -> i64,
) -> c_int {
    // SAFETY: the program passed so many entries.
    let polled = (0..count as usize).map(|at| unsafe { (*fds.add(at)).fd });
    let question = Question::general(pc, InputCall::Poll).waiting_for(polled);
    let parts = |_| [Part::new(fds, count as usize * size_of::<pollfd>())];
    let first = || i64::from(real::poll(fds, count, 0));
    wait(question, limit_ns, first, act, parts)
}

macro_rules! polls {
    ($(fn $name:ident($($room:ident: usize)?);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            fds: *mut pollfd,
            count: u64,
            timeout_ms: c_int,
            $($room: usize,)?
        ) -> c_int {
            let limit = from_ms(timeout_ms);
            if let Some(result) = sleep_instead(caller(), limit.filter(|_| count == 0)) {
                return result;
            }
            let act = || i64::from(real::poll(fds, count, timeout_ms));
            poll_with(caller(), fds, count, limit, act)
        }
    )*};
}

polls! {
    fn poll();
    fn __poll_chk(_room: usize);
}

macro_rules! masked_polls {
    ($(fn $name:ident($($room:ident: usize)?);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            fds: *mut pollfd,
            count: u64,
            timeout: *const timespec,
            mask: *const sigset_t,
            $($room: usize)?
        ) -> c_int {
            // SAFETY: the program passed null or a time.
            let limit = unsafe { timeout.as_ref() }.map(clock::to_ns);
            let is_sleep = count == 0 && mask.is_null();
            if let Some(result) = sleep_instead(caller(), limit.filter(|_| is_sleep)) {
                return result;
            }
            let act = || i64::from(real::ppoll(fds, count, timeout, mask));
            poll_with(caller(), fds, count, limit, act)
        }
    )*};
}

masked_polls! {
    fn ppoll();
    fn __ppoll_chk(_room: usize);
}

fn epoll_with(
    pc: u64,
    fd: c_int,
    events: *mut epoll_event,
    most: c_int,
    limit_ns: Option<u64>,
    act: impl FnMut() -> i64,
) -> c_int {
    let question = Question::on(pc, InputCall::Epoll, fd).waiting_for_epoll();
    let parts = |ready: i64| {
        let count = ready.clamp(0, most.max(0).into()) as usize;
        [Part::new(events, count * size_of::<epoll_event>())]
    };
    let first = || i64::from(real::epoll_wait(fd, events, most, 0));
    wait(question, limit_ns, first, act, parts)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_wait(
    fd: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout_ms: c_int,
) -> c_int {
    let act = || i64::from(real::epoll_wait(fd, events, most, timeout_ms));
    epoll_with(caller(), fd, events, most, from_ms(timeout_ms), act)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait(
    fd: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout_ms: c_int,
    mask: *const sigset_t,
) -> c_int {
    let act = || i64::from(real::epoll_pwait(fd, events, most, timeout_ms, mask));
    epoll_with(caller(), fd, events, most, from_ms(timeout_ms), act)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait2(
    fd: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the program passed null or a time.
    let limit = unsafe { timeout.as_ref() }.map(clock::to_ns);
    let act = || i64::from(real::epoll_pwait2(fd, events, most, timeout, mask));
    epoll_with(caller(), fd, events, most, limit, act)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_ctl(
    fd: c_int,
    what: c_int,
    other: c_int,
    event: *mut epoll_event,
) -> c_int {
    let question = Question::on(caller(), InputCall::Epoll, fd);
    let act = || i64::from(real::epoll_ctl(fd, what, other, event));
    ask(question, act, |_| []) as c_int
}

/// The three sets of `select`.
type Sets = [*mut fd_set; 3];

/// Whether there is no descriptor in any of them.
fn is_empty(count: c_int, sets: Sets) -> bool {
    count == 0 || sets.iter().all(|it| it.is_null())
}

fn select_with(
    pc: u64,
    count: c_int,
    sets: Sets,
    limit_ns: Option<u64>,
    left: Part,
    act: impl FnMut() -> i64,
) -> c_int {
    // SAFETY: the program passed null or a set.
    let is_in = |fd, set: &*mut fd_set| !set.is_null() && unsafe { libc::FD_ISSET(fd, *set) };
    let polled = (0..count).filter(|&fd| sets.iter().any(|set| is_in(fd, set)));
    let question = Question::general(pc, InputCall::Poll).waiting_for(polled);
    let [read, write, except] = sets.map(Part::of);
    let parts = |_| [read, write, except, left];
    // The sets are overwritten by a first try, so there is none, unless the call does not wait.
    let mut act = act;
    if limit_ns == Some(0) {
        return ask(question, act, parts) as c_int;
    }
    wait(question, limit_ns, || 0, &mut act, parts)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: the program passed null or a time.
    let limit = unsafe { timeout.as_ref() }
        .map(|it| (it.tv_sec.max(0) as u64) * 1_000_000_000 + (it.tv_usec.max(0) as u64) * 1000);
    let sets = [read, write, except];
    if let Some(result) = sleep_instead(caller(), limit.filter(|_| is_empty(count, sets))) {
        // SAFETY: as above; there is a limit. The kernel says what is left of it.
        unsafe { *timeout = core::mem::zeroed() };
        return result;
    }
    select_with(caller(), count, sets, limit, Part::of(timeout), || {
        let [read, write, except] = sets.map(|it| it.cast::<c_void>());
        i64::from(real::select(count, read, write, except, timeout))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the program passed null or a time.
    let limit = unsafe { timeout.as_ref() }.map(clock::to_ns);
    let sets = [read, write, except];
    let is_sleep = is_empty(count, sets) && mask.is_null();
    if let Some(result) = sleep_instead(caller(), limit.filter(|_| is_sleep)) {
        return result;
    }
    select_with(caller(), count, sets, limit, crate::inputs::NOTHING, || {
        let [read, write, except] = sets.map(|it| it.cast::<c_void>());
        i64::from(real::pselect(count, read, write, except, timeout, mask))
    })
}
