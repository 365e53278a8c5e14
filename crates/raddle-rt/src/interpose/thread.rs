//! Creating, joining, detaching and cancelling threads; yielding.

use core::ffi::{c_int, c_void};

use libc::{EAGAIN, pthread_attr_t, timespec};
use raddle_trace::wire::{Mark, TRIED, ThreadState};

use super::{deadline, valid};
use crate::call::Call;
use crate::control;
use crate::real::{self, Start};
use crate::sched::{self, SCHED};
use crate::stack::caller;
use crate::thread::{Thread, Tid, Wait};
use crate::threads;
use crate::tls;

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attr: *const pthread_attr_t, state: *mut c_int) -> c_int;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    handle: *mut u64,
    attr: *const pthread_attr_t,
    start: Start,
    arg: *mut c_void,
) -> c_int {
    let Some(call) = Call::enter(caller()) else {
        return real::pthread_create(handle, attr, start, arg);
    };
    // SAFETY: as the program called.
    unsafe { create(call, handle, attr, start, arg) }
}

pub(super) unsafe fn create(
    mut call: Call,
    handle: *mut u64,
    attr: *const pthread_attr_t,
    start: Start,
    arg: *mut c_void,
) -> c_int {
    call.point(0);
    let me = call.me.id;
    // A record is made on the stack before it is put in its place.
    let added = tls::on_own_stack(|| {
        threads::reap_detached();
        SCHED.lock().add_thread(me)
    });
    let Some(child) = added else {
        call.leave();
        return EAGAIN;
    };
    // SAFETY: a record stays at its address, and the child waits for its first turn.
    let child = unsafe { &mut *child };
    child.start = (start as usize as u64, arg as u64);
    // libc allocates in there, perhaps with the program's own allocator.
    // SAFETY: the program's own attributes or none.
    let result = call.in_program(|| unsafe { start_on_own_stack(handle, attr, child) });
    if result == 0 {
        // SAFETY: `pthread_create` wrote the handle.
        child.handle = unsafe { *handle };
        SCHED.lock().enable(child.id);
        call.mark(Mark::Fork, child.id.into(), 0);
        // The child may come first: what its creator does next need not be a point, as in a library that hands
        // out work where no event shows it.
        call.point(0);
    } else {
        SCHED.lock().remove_thread(child.id);
        threads::free_stack(child);
    }
    call.leave();
    result
}

/// Starts `child` with the program's attributes, on a stack at a fixed place unless the program
/// gave one.
unsafe fn start_on_own_stack(
    handle: *mut u64,
    attr: *const pthread_attr_t,
    child: &mut Thread,
) -> c_int {
    let record = (&raw mut *child).cast::<c_void>();
    // SAFETY: attributes are initialised before use; the others are the program's.
    unsafe {
        let mut own: pthread_attr_t = core::mem::zeroed();
        libc::pthread_attr_init(&raw mut own);
        let mut size = 0;
        libc::pthread_attr_getstacksize(&raw const own, &raw mut size);
        if !attr.is_null() {
            let mut low = core::ptr::null_mut();
            libc::pthread_attr_getstack(attr, &raw mut low, &raw mut size);
            let mut detached = 0;
            pthread_attr_getdetachstate(attr, &raw mut detached);
            child.detached = detached == libc::PTHREAD_CREATE_DETACHED;
            let given = (low as usize).wrapping_add(size) != 0;
            if given {
                child.stack = (low as u64, size as u64);
                return real::pthread_create(handle, attr, threads::trampoline, record);
            }
            // For attributes that name no size this is the default one; `getstack` says 0.
            libc::pthread_attr_getstacksize(attr, &raw mut size);
            copy_attributes(attr, &raw mut own);
        }
        let Some(stack) = threads::new_stack(size as u64) else {
            return EAGAIN;
        };
        child.stack = stack;
        child.own_stack = true;
        libc::pthread_attr_setstack(&raw mut own, stack.0 as *mut c_void, stack.1 as usize);
        let result = real::pthread_create(handle, &raw const own, threads::trampoline, record);
        libc::pthread_attr_destroy(&raw mut own);
        result
    }
}

/// Copies everything but the stack.
unsafe fn copy_attributes(from: *const pthread_attr_t, to: *mut pthread_attr_t) {
    // SAFETY: both are initialised attributes.
    unsafe {
        let mut value = 0;
        pthread_attr_getdetachstate(from, &raw mut value);
        libc::pthread_attr_setdetachstate(to, value);
        libc::pthread_attr_getinheritsched(from, &raw mut value);
        libc::pthread_attr_setinheritsched(to, value);
        libc::pthread_attr_getschedpolicy(from, &raw mut value);
        libc::pthread_attr_setschedpolicy(to, value);
        let mut parameters: libc::sched_param = core::mem::zeroed();
        libc::pthread_attr_getschedparam(from, &raw mut parameters);
        libc::pthread_attr_setschedparam(to, &raw const parameters);
        let mut set: libc::cpu_set_t = core::mem::zeroed();
        if libc::pthread_attr_getaffinity_np(from, size_of_val(&set), &raw mut set) == 0 {
            libc::pthread_attr_setaffinity_np(to, size_of_val(&set), &raw const set);
        }
    }
}

/// libc knows of no guard below a stack that it did not make; there is one.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_getattr_np(handle: u64, attr: *mut pthread_attr_t) -> c_int {
    let result = real::pthread_getattr_np(handle, attr);
    let Some(call) = Call::enter(caller()) else {
        return result;
    };
    let s = SCHED.lock();
    let own = s
        .by_handle(handle)
        .is_some_and(|id| s.threads.get(id).own_stack);
    drop(s);
    if result == 0 && own {
        // SAFETY: the real function initialised the attributes.
        unsafe { libc::pthread_attr_setguardsize(attr, threads::GUARD as usize) };
    }
    call.leave();
    result
}

/// Waits for the end of a thread. Returns whether it came before `until_ns`.
fn await_end(call: &mut Call, target: Tid, until_ns: Option<u64>) -> bool {
    let ended = || SCHED.lock().threads.get(target).state == ThreadState::Ended;
    let mut requested = false;
    loop {
        call.test_cancel();
        if ended() {
            return true;
        }
        if !requested {
            call.mark(Mark::Request, target.into(), Mark::Join as u64);
            requested = true;
        }
        if call
            .block(Wait::new(Mark::Join, target.into()).until(until_ns))
            .timed_out()
        {
            return ended();
        }
    }
}

/// Joins a thread that has ended. libc frees memory in there, perhaps with the program's own allocator. Until the kernel
/// is done with the thread libc would wait, and leave more behind on the stack, or be cancelled.
fn finish_join(call: &mut Call, target: Tid, handle: u64, value: *mut *mut c_void) -> c_int {
    sched::settle_exit(target);
    let result = call.in_program(|| real::pthread_join(handle, value));
    if result == 0 {
        let mut s = SCHED.lock();
        let thread = s.threads.get_mut(target);
        threads::free_stack(thread);
        thread.handle = 0;
        control::note_join(target);
    }
    call.mark(Mark::Join, target.into(), result as u64);
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_join(handle: u64, value: *mut *mut c_void) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_join(handle, value);
    };
    let target = SCHED.lock().by_handle(handle);
    let Some(target) = target.filter(|&t| t != call.me.id) else {
        call.leave();
        return real::pthread_join(handle, value);
    };
    call.point(handle);
    await_end(&mut call, target, None);
    let result = finish_join(&mut call, target, handle, value);
    call.leave();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_tryjoin_np(handle: u64, value: *mut *mut c_void) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_tryjoin_np(handle, value);
    };
    call.point(handle);
    let target = SCHED.lock().by_handle(handle);
    let ended = |t: Tid| SCHED.lock().threads.get(t).state == ThreadState::Ended;
    let result = match target {
        Some(t) if ended(t) => finish_join(&mut call, t, handle, value),
        Some(t) => {
            call.mark(Mark::Request, t.into(), Mark::Join as u64 | TRIED);
            libc::EBUSY
        }
        None => libc::ESRCH,
    };
    call.leave();
    result
}

unsafe fn join_until(
    pc: u64,
    handle: u64,
    value: *mut *mut c_void,
    clock: c_int,
    at: *const timespec,
) -> Option<c_int> {
    // SAFETY: the program passed a timespec or null.
    if !unsafe { valid(at) } {
        return Some(libc::EINVAL);
    }
    let mut call = Call::enter(pc)?;
    let Some(target) = SCHED.lock().by_handle(handle) else {
        call.leave();
        return Some(libc::ESRCH);
    };
    call.point(handle);
    // SAFETY: checked above.
    let until = unsafe { deadline(clock, at) };
    let result = if await_end(&mut call, target, until) {
        finish_join(&mut call, target, handle, value)
    } else {
        libc::ETIMEDOUT
    };
    call.leave();
    Some(result)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_timedjoin_np(
    handle: u64,
    value: *mut *mut c_void,
    at: *const timespec,
) -> c_int {
    // SAFETY: as the program called.
    unsafe { join_until(caller(), handle, value, libc::CLOCK_REALTIME, at) }
        .unwrap_or_else(|| real::pthread_timedjoin_np(handle, value, at))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_clockjoin_np(
    handle: u64,
    value: *mut *mut c_void,
    clock: c_int,
    at: *const timespec,
) -> c_int {
    // SAFETY: as the program called.
    unsafe { join_until(caller(), handle, value, clock, at) }
        .unwrap_or_else(|| real::pthread_timedjoin_np(handle, value, at))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_detach(handle: u64) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_detach(handle);
    };
    {
        let mut s = SCHED.lock();
        if let Some(target) = s.by_handle(handle) {
            s.threads.get_mut(target).detached = true;
        }
    }
    // Whether libc frees a thread that has ended here or there must not depend on the kernel.
    sched::settle_exits();
    let result = call.in_program(|| real::pthread_detach(handle));
    call.leave();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cancel(handle: u64) -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_cancel(handle);
    };
    call.point(handle);
    let target = SCHED.lock().by_handle(handle);
    let result = real::pthread_cancel(handle);
    if let Some(target) = target {
        let mut s = SCHED.lock();
        let me = s.current;
        let thread = s.threads.get_mut(target);
        thread.cancelled = true;
        if thread.wait.is_cancellation_point() || thread.cancelled_anywhere {
            match thread.state {
                ThreadState::Blocked => {
                    thread.wait.woken = true;
                    thread.wait.waker = me;
                }
                ThreadState::Sleeping => thread.state = ThreadState::Ready,
                _ => {}
            }
        }
    }
    call.mark(Mark::Yield, handle, 0);
    call.leave();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_setcanceltype(new: c_int, old: *mut c_int) -> c_int {
    const DEFERRED: c_int = 0;
    const ASYNCHRONOUS: c_int = 1;
    let Some(call) = Call::enter(caller()) else {
        return real::pthread_setcanceltype(new, old);
    };
    let known = matches!(new, DEFERRED | ASYNCHRONOUS);
    if known {
        // SAFETY: the program passed null or a place for the type.
        if let Some(old) = unsafe { old.as_mut() } {
            *old = c_int::from(call.me.cancelled_anywhere);
        }
        call.me.cancelled_anywhere = new == ASYNCHRONOUS;
    }
    call.leave();
    if known { 0 } else { libc::EINVAL }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_setcancelstate(new: c_int, old: *mut c_int) -> c_int {
    let result = real::pthread_setcancelstate(new, old);
    // What came while cancellation was disabled is acted on as this call leaves.
    if let Some(call) = Call::enter(caller()) {
        call.leave();
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sched_yield() -> c_int {
    let Some(mut call) = Call::enter(caller()) else {
        return real::sched_yield();
    };
    call.mark(Mark::Yield, 0, 0);
    sched::give_way(call.me, None);
    call.leave();
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_yield() -> c_int {
    // SAFETY: takes no arguments.
    unsafe { sched_yield() }
}
