//! Where threads are in code that is not traced.
//!
//! A library without bitcode may synchronise in ways that no event shows. Which calls of traced code lead there
//! is known ([`super::Code`]): by the events right before them. From such an event to the next one of the same
//! frame, the thread may have been in unknown code.
//!
//! Frames are told as in a trace's stacks: a call or a return at a frame's address means that every frame at
//! or below it is gone. Frames that an exception left stand in for their callers until then.

use raddle_trace::event::EventKind;
use raddle_trace::ids::Address;

use super::clock::Lane;

/// What code that comes after an event may do with what threads know.
pub(super) mod unknown {
    /// It may pass on what its thread knows.
    pub(crate) const GIVES: u8 = 1;
    /// It may learn what others have passed on.
    pub(crate) const TAKES: u8 = 2;
    /// It is called through a pointer: if the next event is a function's entry, it is traced.
    pub(crate) const INDIRECT: u8 = 4;
    /// Anything.
    pub(crate) const ALL: u8 = GIVES | TAKES;
}

#[derive(Debug)]
struct Frame {
    address: Address,
    /// What may have been done since the frame's last event.
    since: u8,
}

#[derive(Debug, Default)]
struct Stack {
    frames: Vec<Frame>,
    /// The same for code that calls the outermost frame.
    base: u8,
}

/// The stacks of all threads.
#[derive(Debug, Default)]
pub(super) struct Stacks(Vec<Stack>);

impl Stacks {
    /// A thread begins; `base` is what the code does that calls its outermost function.
    pub(super) fn begin(&mut self, lane: Lane, base: u8) {
        if self.0.len() <= lane.index() {
            self.0.resize_with(lane.index() + 1, Stack::default);
        }
        self.0[lane.index()] = Stack {
            frames: Vec::new(),
            base,
        };
    }

    /// What a thread may have done in unknown code since its last event.
    #[inline]
    pub(super) fn since(&mut self, lane: Lane, kind: &EventKind) -> u8 {
        let since = self.0[lane.index()].since();
        if *since & unknown::INDIRECT == 0 {
            return *since;
        }
        match kind {
            EventKind::Enter { .. } => *since = 0,
            _ => *since &= !unknown::INDIRECT,
        }
        *since
    }

    /// An event of traced code was executed, after which unknown code may be called; says what that may do at
    /// once.
    #[inline]
    pub(super) fn step(&mut self, lane: Lane, kind: &EventKind, next: u8) -> u8 {
        let stack = &mut self.0[lane.index()];
        match *kind {
            EventKind::Enter { frame, .. } => {
                while stack.frames.pop_if(|top| top.address <= frame).is_some() {}
                stack.frames.push(Frame {
                    address: frame,
                    since: next,
                });
            }
            EventKind::Exit { frame, .. } => {
                while stack.frames.pop_if(|top| top.address <= frame).is_some() {}
                return *stack.since();
            }
            EventKind::Action { .. } | EventKind::Branches(_) => {}
            _ => *stack.since() = next,
        }
        next
    }
}

impl Stack {
    #[inline]
    fn since(&mut self) -> &mut u8 {
        match self.frames.last_mut() {
            Some(top) => &mut top.since,
            None => &mut self.base,
        }
    }
}
