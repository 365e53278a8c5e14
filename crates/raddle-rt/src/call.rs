//! What every interposed function does first and last.
//!
//! A call is under the scheduler if a launcher controls the program, the thread is known and not
//! inside the runtime already. Otherwise the real function is called. There is no `Drop` here: a
//! call may end by cancellation, which unwinds past these frames.

use core::sync::atomic::{Ordering, compiler_fence};

use raddle_trace::wire::{Mark, TRIED, ThreadState};

use crate::interpose::signal;
use crate::sched;
use crate::thread::{Settled, Thread, Wait};
use crate::tls;

/// An interposed call of a scheduled thread. End it with [`Call::leave`].
pub struct Call {
    /// The calling thread.
    pub me: &'static mut Thread,
    /// Where the program called from.
    pub pc: u64,
    errno: i32,
}

impl Call {
    /// Enters the runtime from a function that it stands in for; None if the real function is to be
    /// called without more.
    #[inline]
    pub fn enter(pc: u64) -> Option<Call> {
        let call = Call::enter_hook(pc)?;
        sched::hold(call.me);
        Some(call)
    }

    /// Enters the runtime from a hook; None if the hook is to do nothing.
    #[inline]
    pub fn enter_hook(pc: u64) -> Option<Call> {
        let me = tls::me();
        if me.is_null() {
            return None;
        }
        // SAFETY: a thread's record stays at its address; only this thread uses it while it runs.
        let me = unsafe { &mut *me };
        if me.depth != 0 || me.state == ThreadState::Ended {
            return None;
        }
        me.depth = 1;
        if me.adrift {
            sched::come_back(me);
        }
        Some(Call {
            me,
            pc,
            errno: errno(),
        })
    }

    /// A scheduling point before the call acts on `object`.
    pub fn point(&mut self, object: u64) {
        sched::point(self.me, 0, object);
    }

    /// Records what the call did.
    pub fn mark(&mut self, mark: Mark, object: u64, argument: u64) {
        self.mark_with(mark, object, argument, 0);
    }

    /// The same with a second argument.
    pub fn mark_with(&mut self, mark: Mark, object: u64, argument: u64, second: u64) {
        sched::mark(self.me, mark, object, argument, self.pc, second);
    }

    /// Records that trying `object`, whose first word tells its state, for `wanted` failed.
    pub fn mark_failed_try(&mut self, object: u64, wanted: Mark) {
        let word = crate::sys::peek(object, 4).unwrap_or(0);
        self.mark_with(Mark::Request, object, wanted as u64 | TRIED, word);
    }

    /// Blocks; see [`sched::block`].
    pub fn block(&mut self, wait: Wait) -> Settled {
        let acts_itself = wait.is_cancellation_point();
        if !acts_itself {
            self.act_on_cancellation();
        }
        let settled = sched::block(self.me, wait);
        signal::deliver_due(self.me);
        if !acts_itself {
            self.act_on_cancellation();
        }
        settled
    }

    /// Waits, by trying, until `try_it` succeeds, the deadline passes, or, at a cancellation
    /// point, the thread is cancelled. `wait` says what for. Returns whether it succeeded.
    pub fn acquire(&mut self, wait: Wait, mut try_it: impl FnMut() -> bool) -> bool {
        let mut requested = false;
        loop {
            if try_it() {
                return true;
            }
            if !requested {
                self.mark(Mark::Request, wait.object, wait.kind as u64);
                requested = true;
            }
            if self.block(wait).timed_out() {
                return false;
            }
        }
    }

    /// Runs `f` as the program's own code: hooks and calls in it are under the scheduler.
    pub fn in_program<T>(&mut self, f: impl FnOnce() -> T) -> T {
        self.me.depth = 0;
        let result = f();
        self.me.depth = 1;
        if self.me.adrift {
            sched::come_back(self.me);
        }
        result
    }

    /// Acts on a cancellation that is due. Does not return if it is.
    pub fn test_cancel(&mut self) {
        if self.me.cancelled {
            self.in_program(crate::real::pthread_testcancel);
        }
    }

    /// The same where only a thread that may be cancelled at any time is.
    fn act_on_cancellation(&mut self) {
        if self.me.cancelled_anywhere {
            self.test_cancel();
        }
    }

    /// Leaves the runtime; `errno` is as it was.
    pub fn leave(self) {
        let errno = self.errno;
        self.leave_with_errno(errno);
    }

    /// Leaves the runtime with `errno` set.
    pub fn leave_with_errno(self, errno: i32) {
        set_errno(errno);
        self.leave_keeping_errno();
    }

    /// Leaves the runtime with `errno` as the real function left it.
    pub fn leave_keeping_errno(self) {
        self.me.depth = 0;
        compiler_fence(Ordering::SeqCst);
        // One that arrived in here has left the limit alone: the next event is its place.
        if self.me.arrived.load(Ordering::Relaxed) != 0 {
            tls::set_lim(core::ptr::null_mut());
        }
        if self.me.cancelled_anywhere && self.me.cancelled {
            crate::real::pthread_testcancel();
        }
        tls::forget_arguments();
    }
}

/// The thread's `errno`.
pub fn errno() -> i32 {
    // SAFETY: libc's location of this thread's errno.
    unsafe { *libc::__errno_location() }
}

/// Sets the thread's `errno`.
pub fn set_errno(value: i32) {
    // SAFETY: libc's location of this thread's errno.
    unsafe { *libc::__errno_location() = value };
}
