//! What is left behind when a run ends or fails.

use raddle_trace::wire::{OutcomeKind, STACK_DEPTH, ThreadRecord, flags};

use super::{SCHED, Scheduler, flush_branches};
use crate::control;
use crate::owner;
use crate::stack;
use crate::sys;
use crate::thread::{NOBODY, Thread};
use crate::tls;

/// Exit status of a run that the runtime ended itself.
const ENDED_BY_RUNTIME: i32 = 79;

impl Scheduler {
    /// Writes what every thread was doing into the launcher's table.
    pub fn write_thread_records(&self) {
        for id in 0..self.threads.len().min(self.records.len() as u32) {
            let thread = self.threads.get(id);
            let running = id == self.current;
            let tick = if running {
                thread.tick_at(tls::cur())
            } else {
                thread.tick_base
            };
            let frame = if running {
                stack::frame()
            } else {
                thread.frame
            };
            let mut record = ThreadRecord {
                state: thread.state as u32,
                wait_kind: thread.wait.kind as u32,
                wait_object: thread.wait.object,
                held_by: owner::of(self, &thread.wait),
                os_tid: thread.os_tid,
                tick,
                visible: thread.visible,
                stack_len: 0,
                stack: [0; STACK_DEPTH],
            };
            record.stack_len = stack::walk(frame, &mut record.stack) as u64;
            // SAFETY: `id` is below the region's length.
            unsafe {
                self.records
                    .cast::<ThreadRecord>()
                    .add(id as usize)
                    .write(record)
            };
        }
        self.publish();
    }

    /// Ends the run: every thread waits, for ever.
    pub fn fail_by_deadlock(&mut self) -> ! {
        self.fail_and_end(OutcomeKind::Deadlock, b"no thread can go on")
    }

    /// Stops for a debugger if the launcher wants that.
    pub fn stop_if_asked(&self) {
        if self.flags & flags::STOP != 0 {
            sys::stop_self();
        }
    }

    /// The same if the schedule wants it here, where `me` has just got the turn: its next event has had its point.
    pub fn stop_where_asked(&mut self, me: &Thread) {
        let replay = self.replay.as_mut();
        if replay.is_some_and(|it| it.passes_stop(me, tls::cur())) {
            self.stop_if_asked();
        }
    }

    /// Ends the run: no thread can go on, or the runtime cannot.
    pub fn fail_and_end(&mut self, kind: OutcomeKind, message: &[u8]) -> ! {
        let (thread, tick) = match self.current {
            NOBODY => (0, 0),
            id => (id, self.threads.get(id).tick_at(tls::cur())),
        };
        control::set_outcome(kind, thread, tick, 0, 0, 0, message);
        self.write_thread_records();
        self.recorder.check_accesses();
        self.stop_if_asked();
        sys::exit_process(ENDED_BY_RUNTIME);
    }
}

/// Leaves a complete picture of the run behind: `me` is about to end the process.
pub fn conclude(me: &mut Thread) {
    flush_branches(me);
    let mut s = SCHED.lock();
    s.recorder.end = tls::cur();
    s.recorder.check_accesses();
    s.write_thread_records();
}
