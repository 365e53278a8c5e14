//! Leads a thread along its recorded events.

use std::rc::Rc;

use raddle_model::{Instruction, Model, Opcode, Operand, Site};
use raddle_trace::event::{Event, EventKind};
use raddle_trace::file::Trailer;
use raddle_trace::ids::{Address, SiteId};

use crate::calls::normal_target;
use crate::compute::{DatumOf, ValueOf};
use crate::datum::{Datum, all_leaves, scalars};
use crate::domain::{Domain, Kept, Stop};
use crate::frame::{Entry, Frame, unknown_of};
use crate::outcomes::Outcomes;
use crate::slots::Slots;

/// A thread of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Track<'a> {
    /// The events of all threads.
    pub events: &'a [Event],
    /// The thread's own among them, in order.
    pub own: &'a [u32],
    /// The trace's tables.
    pub tables: &'a Trailer,
    /// The program's code.
    pub model: &'a Model,
}

impl<'a> Track<'a> {
    /// The code of a site; none if it has no model.
    pub(crate) fn code(&self, site: SiteId) -> Option<Site<'a>> {
        let info = self.tables.site(site)?;
        self.model
            .site(raddle_model::ModuleId(info.module), info.index)
    }
}

/// How well a thread could be followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
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

/// Where a thread stands that was run on between two events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ran {
    /// It has executed so many branches.
    Branches,
    /// Its next event comes first.
    Event,
}

/// What the current instruction waits for.
pub(crate) enum Want {
    /// Its next event.
    Event,
    /// The entry of a function of the same module.
    Enter,
    /// Nothing, or the entry of whatever an untraced call leads to.
    Maybe,
    /// So many branches have been executed.
    Enough,
}

/// A thread that is followed.
#[derive(Debug)]
pub struct Follower<'a, D: Domain> {
    pub(crate) track: Track<'a>,
    pub(crate) domain: D,
    pub(crate) frames: Vec<Frame<'a, D::Change>>,
    pub(crate) slots: Slots<D::Change>,
    pub(crate) outcomes: Rc<Outcomes>,
    /// Branches executed so far.
    pub(crate) cursor: u64,
    /// Branches executed when the last outcomes were written.
    told: u64,
    /// Whether `cursor` is right.
    pub(crate) aligned: bool,
    /// The event that execution is heading for.
    pub(crate) heading: usize,
    /// Calls of untraced code that returned nothing, since the latest event of an instruction.
    passed: u64,
    pub(crate) account: Followed,
}

impl<'a, D: Domain> Follower<'a, D> {
    /// A thread that has executed nothing yet.
    #[must_use]
    pub fn new(track: Track<'a>, domain: D) -> Self {
        Self {
            outcomes: Rc::new(Outcomes::new(&track)),
            heading: track.own.first().map_or(0, |&at| at as usize),
            track,
            domain,
            frames: Vec::new(),
            slots: Slots::default(),
            cursor: 0,
            told: 0,
            aligned: true,
            passed: 0,
            account: Followed::default(),
        }
    }

    /// Another one in the same state, with an account of its own.
    #[must_use]
    pub fn fork(&self) -> Self {
        self.with_frames(self.frames.clone())
    }

    pub(crate) fn with_frames(&self, frames: Vec<Frame<'a, D::Change>>) -> Self {
        Self {
            track: self.track,
            domain: self.domain.fork(),
            frames,
            slots: self.slots.clone(),
            outcomes: Rc::clone(&self.outcomes),
            cursor: self.cursor,
            told: self.told,
            aligned: self.aligned,
            heading: self.heading,
            passed: self.passed,
            account: Followed::default(),
        }
    }

    /// What says what values become.
    #[must_use]
    pub fn domain(&self) -> &D {
        &self.domain
    }

    /// The same, to be told something.
    pub fn domain_mut(&mut self) -> &mut D {
        &mut self.domain
    }

    /// How well the thread could be followed.
    #[must_use]
    pub fn account(&self) -> &Followed {
        &self.account
    }

    /// Whether the thread is back in the code that called its outermost function.
    #[must_use]
    pub fn has_returned(&self) -> bool {
        self.frames.is_empty()
    }

    /// The event that execution is heading for.
    #[must_use]
    pub fn heading(&self) -> usize {
        self.heading
    }

    /// How many conditional branches the thread has executed, as far as that is known.
    #[must_use]
    pub fn branches(&self) -> u64 {
        self.cursor
    }

    /// How many calls of untraced code that return nothing it has executed since the latest event of an instruction.
    #[must_use]
    pub fn passed_calls(&self) -> u64 {
        self.passed
    }

    /// Executes up to and including an event of the thread.
    ///
    /// # Errors
    /// If the domain refuses.
    pub fn step(&mut self, at: usize) -> Result<(), D::Refusal> {
        self.heading = at;
        let event = &self.track.events[at];
        match event.kind {
            EventKind::Branches(outcomes) => return self.align(outcomes.count().into()),
            EventKind::Action { .. } => return Ok(()),
            _ => self.account.events += 1,
        }
        // A frame that is not followed executes branches that nobody counts.
        self.aligned &= self.frames.last().is_none_or(|frame| frame.lost.is_none());
        let done = match event.kind {
            EventKind::Enter { site, frame, .. } => self.enter(at, site, frame),
            EventKind::Exit { site, frame } => self.leave(at, site, frame),
            _ => self.report(at),
        };
        match done {
            Ok(()) => {
                self.passed = 0;
                self.account.followed += u64::from(self.is_followed());
                Ok(())
            }
            Err(Stop::Refused(refusal)) => Err(refusal),
            Err(Stop::Lost(why)) => {
                self.lose(why);
                match event.kind {
                    EventKind::Enter { site, frame, .. } => self.push_outside(site, frame),
                    EventKind::Exit { frame, .. } => {
                        if let Some(left) = self.pop_to(frame) {
                            let delivered = self.deliver(at, left.entry, Datum::SAME);
                            delivered.or_else(|stop| self.settle(stop))?;
                        }
                    }
                    _ => self.pass_lost(at)?,
                }
                Ok(())
            }
        }
    }

    /// Runs on after the latest event, until so many branches have been executed in all or the next event comes.
    ///
    /// # Errors
    /// If the domain refuses, or why the thread cannot be followed.
    pub fn run_on(&mut self, branches: u64) -> Result<Ran, Stop<D::Refusal>> {
        let rank = self
            .track
            .own
            .partition_point(|&at| at as usize <= self.heading);
        self.heading = self
            .track
            .own
            .get(rank)
            .map_or(self.heading, |&at| at as usize);
        loop {
            if !self.is_followed() {
                return Err(Stop::Lost(self.why_lost()));
            }
            match self.run(Some(branches))? {
                Want::Maybe => self.pass_over()?,
                Want::Enough => return Ok(Ran::Branches),
                Want::Event | Want::Enter => return Ok(Ran::Event),
            }
        }
    }

    /// A stop that is no refusal gives the frame up.
    fn settle(&mut self, stop: Stop<D::Refusal>) -> Result<(), D::Refusal> {
        match stop {
            Stop::Refused(refusal) => Err(refusal),
            Stop::Lost(why) => {
                self.lose(why);
                Ok(())
            }
        }
    }

    pub(crate) fn is_followed(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.lost.is_none())
    }

    /// Why the frame on top cannot be followed.
    fn why_lost(&self) -> String {
        let why = self.frames.last().and_then(|frame| frame.lost.clone());
        why.unwrap_or_else(|| "it executes code without a model".to_owned())
    }

    /// An event of code that is not followed.
    pub(crate) fn pass_lost(&mut self, at: usize) -> Result<(), D::Refusal> {
        let why = self.why_lost();
        self.domain.pass(at, &why)
    }

    /// Gives the top frame up.
    pub(crate) fn lose(&mut self, why: String) {
        self.aligned = false;
        if let Some(frame) = self.frames.last_mut().filter(|frame| frame.lost.is_none()) {
            let why = format!("{} in {}", why, frame.function.name);
            self.account.lost.push(why.clone());
            frame.lost = Some(why);
        }
    }

    /// Outcomes were written: so many branches more had been executed.
    fn align(&mut self, count: u64) -> Result<(), D::Refusal> {
        self.told += count;
        if !self.aligned {
            // The branches of the frame on top may lie before or after this event.
            self.lose("branches were not followed".to_owned());
        } else if self.is_followed() && self.cursor < self.told {
            let caught_up = self.catch_up();
            caught_up.or_else(|stop| self.settle(stop))?;
        } else if self.cursor != self.told {
            self.lose("another number of branches than recorded".to_owned());
        }
        self.cursor = self.told;
        self.aligned = true;
        Ok(())
    }

    /// Executes the branches that have been told of.
    fn catch_up(&mut self) -> Result<(), Stop<D::Refusal>> {
        loop {
            match self.run(Some(self.told))? {
                Want::Maybe => self.pass_over()?,
                Want::Enough => return Ok(()),
                _ => return Err(Stop::Lost("fewer branches than recorded".to_owned())),
            }
        }
    }

    /// Takes away frames at an address or below; the uppermost of them, if there were any.
    pub(crate) fn pop_to(&mut self, address: Address) -> Option<Frame<'a, D::Change>> {
        let mut popped = None;
        while self
            .frames
            .last()
            .is_some_and(|frame| frame.address <= address)
        {
            popped = self.frames.pop();
        }
        if let Some(frame) = &popped {
            self.slots.shrink_to(frame.below);
        }
        popped
    }

    /// A function is left.
    fn leave(&mut self, at: usize, site: SiteId, address: Address) -> Result<(), Stop<D::Refusal>> {
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
    fn deliver(
        &mut self,
        at: usize,
        entry: Entry,
        result: DatumOf<D>,
    ) -> Result<(), Stop<D::Refusal>> {
        let caller = self.frames.last_mut().filter(|frame| frame.lost.is_none());
        let (Some(caller), Entry::Called) = (caller, entry) else {
            return self.keep(at, &[result], Kept::Result);
        };
        let Some(instruction) = caller.current() else {
            return Ok(());
        };
        if caller.next_site < instruction.sites.end {
            caller.returned = Some(result);
        } else {
            caller.finish_call(&mut self.domain, result, normal_target(instruction));
        }
        Ok(())
    }

    /// Goes on after a call of untraced code that returns nothing.
    pub(crate) fn pass_over(&mut self) -> Result<(), Stop<D::Refusal>> {
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        let Some(instruction) = frame.current() else {
            return Ok(());
        };
        let arguments = frame.operands(instruction);
        self.untraced(self.heading, &arguments)?;
        self.passed += 1;
        if let Some(frame) = self.frames.last_mut() {
            frame.finish_call(&mut self.domain, Datum::SAME, normal_target(instruction));
        }
        Ok(())
    }

    /// Untraced code is called: what it is given must be as it was.
    pub(crate) fn untraced(
        &mut self,
        at: usize,
        arguments: &[DatumOf<D>],
    ) -> Result<(), Stop<D::Refusal>> {
        self.keep(at, arguments, Kept::Argument)
    }

    /// Data have to be what they were.
    pub(crate) fn keep(
        &mut self,
        at: usize,
        data: &[DatumOf<D>],
        what: Kept<'_>,
    ) -> Result<(), Stop<D::Refusal>> {
        if data.iter().all(Datum::is_same) {
            return Ok(());
        }
        let kept = self.domain.keep(at, &all_leaves(data), what);
        kept.map_err(Stop::Refused)
    }

    /// Runs to the instruction that an event reports.
    pub(crate) fn run_to_site(
        &mut self,
        at: usize,
        site: SiteId,
    ) -> Result<&'a Instruction, Stop<D::Refusal>> {
        let Some(reported) = self.track.code(site) else {
            return Err(Stop::Lost("code without a model is executed".to_owned()));
        };
        let index = self.track.tables.site(site);
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
                        self.domain.name(at),
                        instruction.opcode
                    )));
                }
            }
        }
    }

    /// The value of an operand of the current instruction.
    pub(crate) fn operand(&mut self, instruction: &Instruction, index: usize) -> ValueOf<D> {
        let operand: Option<&Operand> = instruction.operands.get(index);
        match (self.frames.last(), operand) {
            (Some(frame), Some(&operand)) => frame.operand(operand).scalar(&mut self.domain),
            _ => unknown_of(&mut self.domain),
        }
    }

    /// The values of all of them.
    pub(crate) fn operand_values(&mut self, instruction: &Instruction) -> Vec<ValueOf<D>> {
        let operands = self.frames.last().map(|it| it.operands(instruction));
        scalars(&mut self.domain, &operands.unwrap_or_default())
    }
}
