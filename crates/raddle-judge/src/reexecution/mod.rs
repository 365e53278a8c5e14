//! Executes a thread again, on the program model, with other values than it read in the trace.
//!
//! The thread still does what it did as long as every branch, switch, address, callee and argument of untraced code is the
//! same; what it writes is computed from what it reads. How it is led along its events is [`raddle_path`]'s matter; what
//! another value means is said here ([`view`]).

mod lead;
mod view;

use raddle_path::{Followed, Follower, Ran, Stop, Track};
use raddle_trace::ids::ThreadId;

use crate::memory::Content;
use crate::objection::Objection;
use crate::recording::{LineId, Recording};
use view::View;

pub(crate) use lead::Lead;

/// A thread that is executed again.
pub(crate) struct Execution<'r, 'a> {
    follower: Follower<'r, View<'r, 'a>>,
}

impl<'r, 'a> Execution<'r, 'a> {
    /// A thread that has executed nothing yet; none if there is no code to execute.
    fn new(recording: &'r Recording<'a>, line: LineId) -> Option<Self> {
        let track = Track {
            events: recording.events(),
            own: recording.lines.events(line),
            tables: recording.tables()?,
            model: recording.model()?,
        };
        Some(Self {
            follower: Follower::new(track, View::new(recording, line)),
        })
    }

    /// Another one in the same state.
    fn fork(&self) -> Self {
        Self {
            follower: self.follower.fork(),
        }
    }

    /// Executes up to and including an event. `seen` is what it reads now, if it reads; none if that is as in the trace.
    /// The result is what it writes, unless that is as in the trace.
    pub(crate) fn step(
        &mut self,
        at: usize,
        seen: Option<&[Content]>,
    ) -> Result<Option<Vec<Content>>, Objection> {
        self.follower.domain_mut().look(seen);
        self.follower.step(at)?;
        Ok(self.follower.domain_mut().take_written())
    }

    /// Whether the next branch, the `branch`-th of the thread, goes the other way. Returns how many calls of untraced code
    /// come between the latest event of an instruction and the branch.
    pub(crate) fn flips(&mut self, branch: u64) -> Result<u64, Objection> {
        let thread = self.follower.domain().thread_name();
        if branch < self.follower.branches() {
            return Err(Objection::BranchElsewhere { thread, branch });
        }
        match self.follower.run_on(branch + 1) {
            Ok(Ran::Branches) => Err(Objection::SameBranch { thread, branch }),
            Ok(Ran::Event) => Err(Objection::BranchElsewhere { thread, branch }),
            Err(Stop::Refused(Objection::BranchDiffers { branch: found, .. }))
                if found == branch =>
            {
                Ok(self.follower.passed_calls())
            }
            Err(Stop::Refused(objection)) => Err(objection),
            Err(Stop::Lost(why)) => Err(Objection::Lost {
                thread,
                event: self.follower.domain().event_name(self.follower.heading()),
                why,
            }),
        }
    }

    /// Whether the thread is back in the code that called its outermost function.
    pub(crate) fn has_returned(&self) -> bool {
        self.follower.has_returned()
    }
}

impl Recording<'_> {
    /// Follows a thread on the model with the values that it read: everything that can be computed must be as it was
    /// recorded. None if the thread executed nothing or there is no model.
    #[must_use]
    pub fn rehearse(&self, thread: ThreadId) -> Option<Followed> {
        let line = self.lines.line_of(thread)?;
        let mut execution = Execution::new(self, line)?;
        let mut refused = Vec::new();
        for &at in self.lines.events(line) {
            if let Err(objection) = execution.step(at as usize, None) {
                refused.push(objection.to_string());
            }
        }
        let mut followed = execution.follower.account().clone();
        followed.lost.extend(refused);
        Some(followed)
    }
}
