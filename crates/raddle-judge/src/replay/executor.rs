//! Leads a thread along its recorded events: calls, returns, branches.

use std::rc::Rc;

use raddle_model::{Constant, Detail, Function, Instruction, Opcode, Operand};
use raddle_trace::event::EventKind;
use raddle_trace::ids::{Address, SiteId, ThreadId};

use super::frame::{Entry, Frame};
use super::outcomes::Outcomes;
use super::private::Private;
use super::value::Datum;
use crate::memory::Content;
use crate::objection::Objection;
use crate::recording::{LineId, Recording};

/// How well a thread of a recording can be followed with the values that it read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rehearsal {
    /// Events of instrumented instructions.
    pub events: u64,
    /// Those in calls that could be followed.
    pub followed: u64,
    /// Conditional branches executed.
    pub branches: u64,
    /// Those whose condition was computed, as it was recorded.
    pub decided: u64,
    /// Why calls could not be followed.
    pub lost: Vec<String>,
}

/// Why execution stops.
pub(super) enum Stop {
    /// The frame does not fit its events.
    Lost(String),
    /// The thread would do something else than in the trace.
    Refused(Objection),
}

/// What the current instruction waits for.
pub(super) enum Want {
    /// Its next event.
    Event,
    /// The entry of a function of the same module.
    Enter,
    /// Nothing, or the entry of whatever an untraced call leads to.
    Maybe,
    /// So many branches have been executed.
    Enough,
}

/// A thread that is executed again.
pub(crate) struct Replayer<'r, 'a> {
    pub(super) recording: &'r Recording<'a>,
    line: LineId,
    pub(super) frames: Vec<Frame<'a>>,
    pub(super) private: Private,
    pub(super) outcomes: Rc<Outcomes>,
    /// Branches executed so far.
    pub(super) cursor: u64,
    /// Branches executed when the last outcomes were written.
    told: u64,
    /// Whether `cursor` is right.
    pub(super) aligned: bool,
    /// The event that execution is heading for.
    pub(super) heading: usize,
    pub(super) rehearsal: Rehearsal,
}

impl<'a> Recording<'a> {
    /// Follows a thread on the model with the values that it read: everything that can be computed
    /// must be as it was recorded. `None` if the thread executed nothing or there is no model.
    #[must_use]
    pub fn rehearse(&self, thread: ThreadId) -> Option<Rehearsal> {
        self.model()?;
        let line = self.lines.line_of(thread)?;
        let mut replayer = Replayer::new(self, line);
        for &at in self.lines.events(line) {
            if let Err(objection) = replayer.step(at as usize, None) {
                replayer.rehearsal.lost.push(objection.to_string());
            }
        }
        Some(replayer.rehearsal)
    }
}

impl<'r, 'a> Replayer<'r, 'a> {
    /// A thread that has executed nothing yet.
    pub(super) fn new(recording: &'r Recording<'a>, line: LineId) -> Self {
        Self {
            recording,
            line,
            frames: Vec::new(),
            private: Private::default(),
            outcomes: Rc::new(Outcomes::new(recording, line)),
            cursor: 0,
            told: 0,
            aligned: true,
            heading: recording
                .lines
                .events(line)
                .first()
                .map_or(0, |&at| at as usize),
            rehearsal: Rehearsal::default(),
        }
    }

    /// Another one in the same state, which has not seen anything yet for its account.
    pub(super) fn copy(&self) -> Self {
        self.with_frames(self.frames.clone())
    }

    fn with_frames(&self, frames: Vec<Frame<'a>>) -> Self {
        Self {
            recording: self.recording,
            line: self.line,
            frames,
            private: self.private.clone(),
            outcomes: Rc::clone(&self.outcomes),
            cursor: self.cursor,
            told: self.told,
            aligned: self.aligned,
            heading: self.heading,
            rehearsal: Rehearsal::default(),
        }
    }

    /// Executes up to and including an event. `seen` is what it reads now, if it reads; `None` if that
    /// is as in the trace. The result is what it writes, unless that is as in the trace.
    pub(crate) fn step(
        &mut self,
        at: usize,
        seen: Option<&[Content]>,
    ) -> Result<Option<Vec<Content>>, Objection> {
        self.heading = at;
        let event = self.recording.event(at);
        match event.kind {
            EventKind::Branches(outcomes) => {
                self.align(outcomes.count().into())?;
                return Ok(None);
            }
            EventKind::Action { .. } => return Ok(None),
            _ => self.rehearsal.events += 1,
        }
        // A frame that is not followed executes branches that nobody counts.
        self.aligned &= self.frames.last().is_none_or(|frame| frame.lost.is_none());
        let done = match event.kind {
            EventKind::Enter { site, frame, .. } => self.enter(at, site, frame).map(|()| None),
            EventKind::Exit { site, frame } => self.leave(at, site, frame).map(|()| None),
            _ => self.report(at, seen),
        };
        match done {
            Ok(written) => {
                self.rehearsal.followed += u64::from(self.is_followed());
                Ok(written)
            }
            Err(Stop::Refused(objection)) => Err(objection),
            Err(Stop::Lost(why)) => {
                self.lose(why);
                match event.kind {
                    EventKind::Enter { site, frame, .. } => self.push_outside(site, frame),
                    EventKind::Exit { frame, .. } => {
                        if let Some(left) = self.pop_to(frame) {
                            let delivered = self.deliver(at, left.entry, Datum::SAME);
                            delivered.map_err(|stop| self.refusal(stop))?;
                        }
                    }
                    _ => self.check_lost(at, seen)?,
                }
                Ok(None)
            }
        }
    }

    /// Whether the next branch, the `branch`-th of the thread, goes the other way.
    pub(crate) fn flips(&mut self, branch: u64) -> Result<(), Objection> {
        self.heading = self
            .recording
            .lines
            .after(self.heading)
            .unwrap_or(self.heading);
        let thread = self.thread_name();
        let elsewhere = Objection::BranchElsewhere { thread, branch };
        if branch < self.cursor {
            return Err(elsewhere);
        }
        loop {
            let ran = match self.is_followed() {
                true => self.run(Some(branch + 1)),
                false => return Err(self.lost_at_end()),
            };
            match ran {
                Ok(Want::Maybe) => match self.pass_over() {
                    Ok(()) => {}
                    Err(stop) => return Err(self.refusal(stop)),
                },
                Ok(Want::Enough) => {
                    let thread = self.thread_name();
                    return Err(Objection::SameBranch { thread, branch });
                }
                Ok(Want::Event | Want::Enter) => return Err(elsewhere),
                Err(Stop::Refused(Objection::BranchDiffers { branch: found, .. }))
                    if found == branch =>
                {
                    return Ok(());
                }
                Err(stop) => return Err(self.refusal(stop)),
            }
        }
    }

    /// Whether the thread is back in the code that called its outermost function.
    pub(crate) fn has_returned(&self) -> bool {
        self.frames.is_empty()
    }

    fn refusal(&self, stop: Stop) -> Objection {
        match stop {
            Stop::Refused(objection) => objection,
            Stop::Lost(why) => Objection::Lost {
                thread: self.thread_name(),
                event: self.recording.name(self.heading),
                why,
            },
        }
    }

    fn lost_at_end(&self) -> Objection {
        let why = self.frames.last().and_then(|frame| frame.lost.clone());
        self.refusal(Stop::Lost(
            why.unwrap_or_else(|| "it is outside of the model".to_owned()),
        ))
    }

    pub(super) fn thread_name(&self) -> String {
        let thread = self.recording.lines.thread(self.line);
        self.recording.thread_name(thread)
    }

    fn is_followed(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.lost.is_none())
    }

    /// Gives the top frame up.
    fn lose(&mut self, why: String) {
        self.aligned = false;
        if let Some(frame) = self.frames.last_mut().filter(|frame| frame.lost.is_none()) {
            let why = format!("{} in {}", why, frame.function.name);
            self.rehearsal.lost.push(why.clone());
            frame.lost = Some(why);
        }
    }

    /// Outcomes were written: so many branches more had been executed.
    fn align(&mut self, count: u64) -> Result<(), Objection> {
        self.told += count;
        if !self.aligned {
            // The branches of the frame on top may lie before or behind this event.
            self.lose("branches were not followed".to_owned());
        } else if self.is_followed() && self.cursor < self.told {
            loop {
                match self.run(Some(self.told)) {
                    Ok(Want::Maybe) => match self.pass_over() {
                        Ok(()) => {}
                        Err(Stop::Refused(objection)) => return Err(objection),
                        Err(Stop::Lost(why)) => break self.lose(why),
                    },
                    Ok(Want::Enough) => break,
                    Ok(_) => break self.lose("fewer branches than recorded".to_owned()),
                    Err(Stop::Refused(objection)) => return Err(objection),
                    Err(Stop::Lost(why)) => break self.lose(why),
                }
            }
        } else if self.cursor != self.told {
            self.lose("another number of branches than recorded".to_owned());
        }
        self.cursor = self.told;
        self.aligned = true;
        Ok(())
    }

    /// A function is entered.
    fn enter(&mut self, at: usize, site: SiteId, address: Address) -> Result<(), Stop> {
        if self.pop_to(address).is_some() {
            self.lose("a call was left without returning".to_owned());
        }
        let Some(entered) = self.recording.code_site(site) else {
            return Err(Stop::Lost("code without a model is called".to_owned()));
        };
        let module = entered.module();
        let Some(function) = module.functions.get(entered.info().function.index()) else {
            return Err(Stop::Lost("a function is missing in the model".to_owned()));
        };
        if !self.is_followed() {
            self.push_outside(site, address);
            return Ok(());
        }
        let arguments = loop {
            let want = self.run(None)?;
            let Some(frame) = self.frames.last() else {
                return Err(Stop::Lost("nobody calls".to_owned()));
            };
            let Some((instruction, callee)) =
                frame.current().and_then(|at| Some((at, callee(at)?)))
            else {
                let name = &function.name;
                return Err(Stop::Lost(format!(
                    "{name} is entered where nothing is called"
                )));
            };
            let called = named_callee(frame, callee);
            let is_it = called.is_some_and(|called| called.linkage_name == function.linkage_name);
            let arguments = frame.operands(instruction);
            match want {
                Want::Enter | Want::Event | Want::Maybe if is_it => break Some(arguments),
                Want::Enter => {
                    return Err(Stop::Lost(
                        "another function than called is entered".to_owned(),
                    ));
                }
                // Which function an indirect call enters, only its address could tell.
                Want::Event | Want::Maybe if called.is_none() => {
                    self.untraced(at, &arguments)?;
                    break Some(vec![Datum::SAME; arguments.len()]);
                }
                Want::Event => {
                    self.untraced(at, &arguments)?;
                    break None;
                }
                // Untraced code calls back, unless the function is called further on.
                Want::Maybe if !self.is_called_later(function) => {
                    self.untraced(at, &arguments)?;
                    break None;
                }
                Want::Maybe => self.pass_over()?,
                Want::Enough => return Err(Stop::Lost("no call comes".to_owned())),
            }
        };
        let (entry, arguments) = match arguments {
            Some(arguments) => (Entry::Called, arguments),
            None => (Entry::Outside, vec![Datum::SAME; function.params.len()]),
        };
        let below = self.private.extent();
        let frame = Frame::new(module, function, address, entry, arguments, below);
        self.frames.push(frame);
        Ok(())
    }

    /// Whether the thread, after an untraced call that returns nothing, comes to a call of a function
    /// before anything else is recorded. Tried on a copy.
    fn is_called_later(&self, function: &Function) -> bool {
        let Some(frame) = self.frames.last() else {
            return false;
        };
        let mut copy = self.with_frames(vec![frame.clone()]);
        loop {
            if copy.pass_over().is_err() {
                return false;
            }
            let want = copy.run(None);
            let frame = copy.frames.last();
            let called = frame.and_then(|frame| {
                let callee = callee(frame.current()?)?;
                Some(named_callee(frame, callee))
            });
            let is_it = |called: Option<&Function>| {
                called.is_none_or(|called| called.linkage_name == function.linkage_name)
            };
            match (want, called) {
                (Ok(Want::Enter | Want::Event), called) => return called.is_some_and(is_it),
                (Ok(Want::Maybe), Some(called)) if is_it(called) => return true,
                (Ok(Want::Maybe), _) => {}
                _ => return false,
            }
        }
    }

    /// A function is entered from code that is not followed.
    fn push_outside(&mut self, site: SiteId, address: Address) {
        let Some(entered) = self.recording.code_site(site) else {
            return;
        };
        let module = entered.module();
        if let Some(function) = module.functions.get(entered.info().function.index()) {
            let arguments = vec![Datum::SAME; function.params.len()];
            let below = self.private.extent();
            let entry = Entry::Outside;
            let frame = Frame::new(module, function, address, entry, arguments, below);
            self.frames.push(frame);
        }
    }

    /// Takes away frames at an address or below; the uppermost of them, if there were any.
    fn pop_to(&mut self, address: Address) -> Option<Frame<'a>> {
        let mut popped = None;
        while self
            .frames
            .last()
            .is_some_and(|frame| frame.address <= address)
        {
            popped = self.frames.pop();
        }
        if let Some(frame) = &popped {
            self.private.shrink_to(frame.below);
        }
        popped
    }

    /// A function is left.
    fn leave(&mut self, at: usize, site: SiteId, address: Address) -> Result<(), Stop> {
        let on_top = self
            .frames
            .last()
            .is_some_and(|frame| frame.address == address);
        let mut result = Datum::SAME;
        let mut unwinds = false;
        if on_top && self.is_followed() {
            let instruction = self.run_to_site(at, site)?;
            unwinds = instruction.opcode != Opcode::Ret;
            if let (Some(frame), Some(&operand)) =
                (self.frames.last(), instruction.operands.first())
            {
                result = frame.operand(operand);
            }
        }
        let Some(left) = self.pop_to(address) else {
            return Ok(());
        };
        if left.address != address || unwinds {
            return Err(Stop::Lost("a call was left by an exception".to_owned()));
        }
        self.deliver(at, left.entry, result)
    }

    /// Gives a call's result to its caller.
    fn deliver(&mut self, at: usize, entry: Entry, result: Datum) -> Result<(), Stop> {
        let caller = self.frames.last_mut().filter(|frame| frame.lost.is_none());
        let (Some(caller), Entry::Called) = (caller, entry) else {
            return match result.is_same() {
                true => Ok(()),
                false => Err(Stop::Refused(Objection::Undecided {
                    event: self.recording.name(at),
                    why: "code that is not followed gets another result".to_owned(),
                })),
            };
        };
        let Some(instruction) = caller.current() else {
            return Ok(());
        };
        if caller.next_site < instruction.sites.end {
            caller.returned = Some(result);
        } else {
            caller.finish_call(result, normal_target(instruction));
        }
        Ok(())
    }

    /// Goes on behind a call of untraced code that returns nothing.
    fn pass_over(&mut self) -> Result<(), Stop> {
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        let Some(instruction) = frame.current() else {
            return Ok(());
        };
        let arguments = frame.operands(instruction);
        let at = self.heading;
        self.untraced(at, &arguments)?;
        if let Some(frame) = self.frames.last_mut() {
            frame.finish_call(Datum::SAME, normal_target(instruction));
        }
        Ok(())
    }

    /// Untraced code is called: what it is given must be as it was.
    pub(super) fn untraced(&self, at: usize, arguments: &[Datum]) -> Result<(), Stop> {
        match arguments.iter().all(Datum::is_same) {
            true => Ok(()),
            false => Err(Stop::Refused(Objection::Undecided {
                event: self.recording.name(at),
                why: "untraced code is called with another argument".to_owned(),
            })),
        }
    }

    /// Runs to the instruction that an event reports.
    pub(super) fn run_to_site(&mut self, at: usize, site: SiteId) -> Result<&'a Instruction, Stop> {
        let Some(reported) = self.recording.code_site(site) else {
            return Err(Stop::Lost("code without a model is executed".to_owned()));
        };
        let index = self.recording.tables().and_then(|tables| tables.site(site));
        let index = index.map_or(u32::MAX, |info| info.index);
        loop {
            let want = self.run(None)?;
            let frame = self.frames.last();
            let current = frame.and_then(|frame| Some((frame, frame.current()?)));
            let Some((frame, instruction)) = current else {
                return Err(Stop::Lost("the code ends".to_owned()));
            };
            match want {
                Want::Event
                    if frame.module.id == reported.module().id && frame.next_site == index =>
                {
                    return Ok(instruction);
                }
                Want::Maybe => self.pass_over()?,
                _ => {
                    return Err(Stop::Lost(format!(
                        "{} is none of the next {:?} instruction",
                        self.recording.name(at),
                        instruction.opcode
                    )));
                }
            }
        }
    }
}

/// What a call calls.
pub(super) fn callee(instruction: &Instruction) -> Option<Operand> {
    match &instruction.detail {
        Detail::Call { callee, .. } => Some(*callee),
        _ => None,
    }
}

/// Where an invoke goes on.
pub(super) fn normal_target(instruction: &Instruction) -> Option<raddle_model::BlockId> {
    match &instruction.detail {
        Detail::Call {
            targets: Some((normal, _)),
            ..
        } => Some(*normal),
        _ => None,
    }
}

/// The function that a call names.
pub(super) fn named_callee<'a>(frame: &Frame<'a>, callee: Operand) -> Option<&'a Function> {
    let Operand::Constant(constant) = callee else {
        return None;
    };
    match frame.module.constants.get(constant.index())? {
        Constant::Function(id) => frame.module.functions.get(id.index()),
        _ => None,
    }
}
