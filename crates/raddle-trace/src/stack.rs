//! Call stacks on demand, from the calls and returns in the trace.
//!
//! A frame is known by its address. Stacks grow down, so a call or a return at frame address A
//! means that every frame at A or below is gone, whichever way it was left: by returning, by
//! unwinding, by `longjmp`. Frames of code that is not instrumented are not seen, and a program
//! that switches stacks within a thread gets the frames of its newest stack only.

use std::collections::BTreeMap;

use crate::action::Action;
use crate::event::{Event, EventKind};
use crate::file::Trailer;
use crate::ids::{Address, EventIndex, SiteId, ThreadId};
use crate::position::SourcePosition;

/// A call that has not returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Entry site of the function called.
    pub site: SiteId,
    /// Its frame.
    pub frame: Address,
    /// Where it returns to, in its caller.
    pub return_address: Address,
}

/// The stacks of all threads, kept up to date by showing it each event in trace order.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    threads: BTreeMap<ThreadId, Vec<Frame>>,
}

impl Stacks {
    /// Takes note of an event.
    pub fn observe(&mut self, event: &Event) {
        match event.kind {
            EventKind::Enter {
                site,
                frame,
                return_address,
            } => {
                let stack = self.unwind(event.thread, frame);
                stack.push(Frame {
                    site,
                    frame,
                    return_address,
                });
            }
            EventKind::Exit { frame, .. } => {
                self.unwind(event.thread, frame);
            }
            EventKind::Action {
                action: Action::Begin { .. },
                ..
            } => {
                self.threads.remove(&event.thread);
            }
            _ => {}
        }
    }

    /// A thread's frames, outermost first.
    #[must_use]
    pub fn frames(&self, thread: ThreadId) -> &[Frame] {
        self.threads.get(&thread).map_or(&[], Vec::as_slice)
    }

    /// Source positions of an event and of the calls that led to it, innermost first; what was
    /// inlined is there too. To be asked after the event was shown.
    #[must_use]
    pub fn positions(&self, event: &Event, trailer: &Trailer) -> Vec<SourcePosition> {
        let mut positions = match event.kind {
            EventKind::Action { pc, .. } => trailer.code(pc).to_vec(),
            _ => {
                let site = event.site().and_then(|site| trailer.site(site));
                site.map(|info| info.positions.clone()).unwrap_or_default()
            }
        };
        for frame in self.frames(event.thread).iter().rev() {
            positions.extend_from_slice(trailer.code(frame.return_address));
        }
        positions
    }

    fn unwind(&mut self, thread: ThreadId, frame: Address) -> &mut Vec<Frame> {
        let stack = self.threads.entry(thread).or_default();
        while stack.last().is_some_and(|top| top.frame <= frame) {
            stack.pop();
        }
        stack
    }
}

/// The frames of the thread of the event with this index, outermost first; `None` behind the end.
pub fn frames_at<E>(
    events: impl IntoIterator<Item = Result<Event, E>>,
    index: EventIndex,
) -> Result<Option<Vec<Frame>>, E> {
    let mut stacks = Stacks::default();
    for (at, event) in (0..).map(EventIndex).zip(events) {
        let event = event?;
        stacks.observe(&event);
        if at == index {
            return Ok(Some(stacks.frames(event.thread).to_vec()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Tick;

    fn check(events: &[(u32, EventKind)], thread: u32, expected: &[u64]) {
        let events = events.iter().map(|&(thread, kind)| {
            Ok::<_, ()>(Event {
                thread: ThreadId(thread),
                tick: Tick(0),
                kind,
            })
        });
        let mut stacks = Stacks::default();
        events.for_each(|event| stacks.observe(&event.unwrap()));
        let frames = stacks.frames(ThreadId(thread)).iter();
        assert_eq!(
            frames.map(|frame| frame.frame.0).collect::<Vec<_>>(),
            expected
        );
    }

    fn enter(frame: u64) -> EventKind {
        let (frame, return_address) = (Address(frame), Address(frame + 1));
        EventKind::Enter {
            site: SiteId(0),
            frame,
            return_address,
        }
    }

    fn exit(frame: u64) -> EventKind {
        EventKind::Exit {
            site: SiteId(0),
            frame: Address(frame),
        }
    }

    #[test]
    fn calls_nest_and_return() {
        check(
            &[(1, enter(90)), (1, enter(80)), (2, enter(50))],
            1,
            &[90, 80],
        );
        check(&[(1, enter(90)), (1, enter(80)), (2, enter(50))], 2, &[50]);
        check(&[(1, enter(90)), (1, enter(80)), (1, exit(80))], 1, &[90]);
        check(
            &[
                (1, enter(90)),
                (1, enter(80)),
                (1, exit(80)),
                (1, enter(80)),
            ],
            1,
            &[90, 80],
        );
    }

    #[test]
    fn unwinding_leaves_several_frames_at_once() {
        let deep = [
            (1, enter(90)),
            (1, enter(80)),
            (1, enter(70)),
            (1, enter(60)),
        ];
        check(&[&deep[..], &[(1, exit(80))]].concat(), 1, &[90]);
        check(&[&deep[..], &[(1, enter(75))]].concat(), 1, &[90, 80, 75]);
        check(&[&deep[..], &[(1, enter(80))]].concat(), 1, &[90, 80]);
    }
}
