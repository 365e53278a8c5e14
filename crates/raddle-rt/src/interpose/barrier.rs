//! Barriers. The rounds are the scheduler's own; libc's object only says that there is a barrier.

use core::ffi::c_int;

use libc::{PTHREAD_BARRIER_SERIAL_THREAD, pthread_barrier_t, pthread_barrierattr_t};
use raddle_trace::wire::Mark;

use crate::call::Call;
use crate::lock::Lock;
use crate::real;
use crate::sched;
use crate::stack::caller;
use crate::thread::Wait;

/// Most barriers alive at once.
const MOST: usize = 4096;

#[derive(Clone, Copy)]
struct Barrier {
    object: u64,
    count: u32,
    arrived: u32,
    round: u64,
}

const NONE: Barrier = Barrier {
    object: 0,
    count: 0,
    arrived: 0,
    round: 0,
};

static BARRIERS: Lock<[Barrier; MOST]> = Lock::new([NONE; MOST]);

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_barrier_init(
    barrier: *mut pthread_barrier_t,
    attr: *const pthread_barrierattr_t,
    count: u32,
) -> c_int {
    let result = real::pthread_barrier_init(barrier, attr, count);
    if result == 0 {
        let mut barriers = BARRIERS.lock();
        let object = barrier as u64;
        let place = barriers.iter().position(|b| b.object == object);
        let place = place.or_else(|| barriers.iter().position(|b| b.object == 0));
        if let Some(place) = place {
            barriers[place] = Barrier {
                object,
                count,
                arrived: 0,
                round: 0,
            };
        }
    }
    result
}

/// An arrival at a barrier.
struct Arrival {
    round: u64,
    count: u32,
    complete: bool,
}

/// Notes an arrival. None if the barrier is not known.
fn arrive(object: u64) -> Option<Arrival> {
    let mut barriers = BARRIERS.lock();
    let barrier = barriers.iter_mut().find(|b| b.object == object)?;
    let (round, count) = (barrier.round, barrier.count);
    barrier.arrived += 1;
    let complete = barrier.arrived == count;
    if complete {
        barrier.arrived = 0;
        barrier.round += 1;
    }
    Some(Arrival {
        round,
        count,
        complete,
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
    let object = barrier as u64;
    let Some(mut call) = Call::enter(caller()) else {
        return real::pthread_barrier_wait(barrier);
    };
    call.point(object);
    let Some(Arrival {
        round,
        count,
        complete,
    }) = arrive(object)
    else {
        call.leave();
        return libc::EINVAL;
    };
    call.mark_with(Mark::BarrierArrive, object, round, count.into());
    if complete {
        sched::wake_waiters(object, Mark::BarrierLeave, u64::MAX, u32::MAX);
    } else {
        while !call.block(Wait::new(Mark::BarrierLeave, object)).woken() {}
    }
    call.mark(Mark::BarrierLeave, object, round);
    call.leave();
    if complete {
        PTHREAD_BARRIER_SERIAL_THREAD
    } else {
        0
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int {
    let object = barrier as u64;
    if let Some(known) = BARRIERS.lock().iter_mut().find(|b| b.object == object) {
        *known = NONE;
    }
    if let Some(mut call) = Call::enter(caller()) {
        call.mark(Mark::Destroy, object, 0);
        call.leave();
    }
    real::pthread_barrier_destroy(barrier)
}
