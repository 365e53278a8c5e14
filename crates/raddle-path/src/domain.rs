//! What a follower asks its caller.

use std::fmt::Debug;

use raddle_model::{BlockId, Frames, Function, InstructionId, Module};

use crate::operation::Operation;
use crate::value::Value;

/// Why a step could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop<R> {
    /// The call does not fit its events.
    Lost(String),
    /// The thread would do something else than in the trace.
    Refused(R),
}

/// What a value that has changed would have to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept<'w> {
    /// The first address of an access, which was this one.
    Address(u64),
    /// What code that is not traced is given.
    Argument,
    /// The result of code that was called from code which is not followed.
    Result,
    /// The function that is called.
    Callee,
    /// What inline assembly expects or finds in a compare-exchange.
    Assembly,
    /// A value that flows into a call which is not followed any more, for this reason.
    Lost(&'w str),
}

/// An instruction of the program.
#[derive(Clone, Copy, Debug)]
pub struct Spot<'m> {
    /// Its module.
    pub module: &'m Module,
    /// The function whose machine code contains it.
    pub function: &'m Function,
    /// Which one of the function's it is.
    pub instruction: InstructionId,
}

impl<'m> Spot<'m> {
    /// Where it stands in the source, innermost first.
    #[must_use]
    pub fn frames(&self) -> Option<Frames<'m>> {
        let instruction = self.function.instruction(self.instruction)?;
        Some(self.module.frames(instruction.position?))
    }
}

/// A conditional branch that is executed.
#[derive(Clone, Copy, Debug)]
pub struct Branch<'m> {
    /// How many conditional branches the thread executed before it.
    pub number: u64,
    /// The event that execution is heading for.
    pub heading: usize,
    /// The instruction.
    pub spot: Spot<'m>,
    /// Whether it was taken.
    pub is_taken: bool,
}

/// A switch that is executed.
#[derive(Clone, Copy, Debug)]
pub struct Switch<'m> {
    /// The event that tells the number switched on.
    pub event: usize,
    /// The numbers that have targets of their own, with the targets.
    pub cases: &'m [(u128, BlockId)],
    /// The target of all others.
    pub default: BlockId,
    /// The number switched on, in the trace.
    pub recorded: u128,
    /// The instruction.
    pub spot: Spot<'m>,
}

impl Switch<'_> {
    /// Where a number leads.
    #[must_use]
    pub fn target(&self, number: u128) -> BlockId {
        let case = self.cases.iter().find(|(it, _)| *it == number);
        case.map_or(self.default, |(_, target)| *target)
    }
}

/// A compare-exchange that is executed.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'v, C> {
    /// Its event.
    pub event: usize,
    /// The instruction.
    pub spot: Spot<'v>,
    /// What it finds.
    pub found: &'v Value<C>,
    /// What it expects.
    pub expected: &'v Value<C>,
    /// Whether both are of one event, so that they can be compared.
    pub is_whole: bool,
    /// Whether it stored.
    pub success: bool,
}

/// What values may become, and what is said of it. Values that it is told of have changed, or may have.
pub trait Domain: Sized {
    /// What a value is that may not be what it was.
    type Change: Clone + Debug;
    /// Why the thread cannot do what it did.
    type Refusal;

    /// Another one in the same state; what that one is told does not concern this one.
    #[must_use]
    fn fork(&self) -> Self;

    /// An event in words.
    fn name(&self, event: usize) -> String;

    /// What becomes of an operation's result, which was `recorded` if that is known; none if it is the same. At least one
    /// of the operands has changed.
    fn compute(
        &mut self,
        operation: &Operation,
        operands: &[Value<Self::Change>],
        recorded: Option<u128>,
    ) -> Option<Self::Change>;

    /// What becomes of something that follows from these in a way that is not known; none if it is the same.
    fn unknown(&mut self, from: &[Value<Self::Change>]) -> Option<Self::Change>;

    /// The number that an event reads.
    fn number(&mut self, event: usize, recorded: u64) -> Value<Self::Change>;

    /// The bytes that an event reads, in the order of their addresses.
    fn bytes(&mut self, event: usize) -> Vec<Value<Self::Change>>;

    /// An event writes this number.
    fn write(&mut self, event: usize, value: &Value<Self::Change>);

    /// An event writes these bytes; as many as there are.
    fn write_bytes(&mut self, event: usize, bytes: &[Value<Self::Change>]);

    /// An event is executed by code that is not followed: what it reads has to be what it was, and what it writes is.
    ///
    /// # Errors
    /// If it reads something else.
    fn pass(&mut self, event: usize, why: &str) -> Result<(), Self::Refusal>;

    /// These have to be what they were, at an event.
    ///
    /// # Errors
    /// If they are not.
    fn keep(
        &mut self,
        event: usize,
        values: &[Value<Self::Change>],
        what: Kept<'_>,
    ) -> Result<(), Self::Refusal>;

    /// A branch has to go the way it went, on a condition that has changed.
    ///
    /// # Errors
    /// If it does not.
    fn branch(
        &mut self,
        branch: Branch<'_>,
        condition: &Value<Self::Change>,
    ) -> Result<(), Self::Refusal>;

    /// A switch has to go the way it went, on a number that has changed.
    ///
    /// # Errors
    /// If it does not.
    fn switch(
        &mut self,
        switch: Switch<'_>,
        number: &Value<Self::Change>,
    ) -> Result<(), Self::Refusal>;

    /// A compare-exchange has to store if it stored, and not to if it did not.
    ///
    /// # Errors
    /// If it does otherwise.
    fn exchange(&mut self, exchange: Exchange<'_, Self::Change>) -> Result<(), Self::Refusal>;
}
