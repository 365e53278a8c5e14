//! Sites and source positions.

use raddle_trace::wire::{Ordering, Role, SiteKind};

use crate::{FunctionId, InstructionId, Module, PositionId, Text};

/// The static part of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteInfo {
    /// What happens there.
    pub kind: SiteKind,
    /// Memory ordering.
    pub order: Ordering,
    /// Bytes accessed.
    pub size: u8,
    /// What it means to a lock.
    pub role: Role,
    /// The function that contains it.
    pub function: FunctionId,
    /// The instruction that it reports; none for function entry.
    pub instruction: Option<InstructionId>,
    /// Where it stands.
    pub position: Option<PositionId>,
    /// The variable accessed, as far as it is known: `counter`, `table[]`, `state.field`.
    pub name: Option<Text>,
}

/// A source position, with the call it was inlined through.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// Readable name of the function that the source text belongs to.
    pub function: Text,
    /// Path as the compiler wrote it.
    pub file: Text,
    /// Line from 1; 0 if the compiler kept none.
    pub line: u32,
    /// Column from 1; 0 if the compiler kept none.
    pub column: u32,
    /// The call through which it was inlined.
    pub inlined_at: Option<PositionId>,
}

/// One frame of a position's inlining chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Readable function name.
    pub function: &'a str,
    /// Source file.
    pub file: &'a str,
    /// Line, or 0.
    pub line: u32,
    /// Column, or 0.
    pub column: u32,
}

/// Walks from the innermost inlined function outwards.
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    module: &'a Module,
    next: Option<PositionId>,
}

impl<'a> Frames<'a> {
    pub(crate) fn new(module: &'a Module, next: Option<PositionId>) -> Frames<'a> {
        Frames { module, next }
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Frame<'a>;

    fn next(&mut self) -> Option<Frame<'a>> {
        let id = self.next?;
        let position = self.module.positions.get(id.index())?;
        // Positions are inlined only into earlier ones, which the reader checks; a hand-made
        // module that breaks the rule must not loop.
        self.next = position.inlined_at.filter(|outer| outer.0 < id.0);
        Some(Frame {
            function: &position.function,
            file: &position.file,
            line: position.line,
            column: position.column,
        })
    }
}

/// A site with its module at hand.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    module: &'a Module,
    info: &'a SiteInfo,
}

impl<'a> Site<'a> {
    pub(crate) fn new(module: &'a Module, info: &'a SiteInfo) -> Site<'a> {
        Site { module, info }
    }

    /// The plain record.
    pub fn info(&self) -> &'a SiteInfo {
        self.info
    }

    /// The module it belongs to.
    pub fn module(&self) -> &'a Module {
        self.module
    }

    /// The inlining chain, innermost first; empty without debug information.
    pub fn frames(&self) -> Frames<'a> {
        Frames::new(self.module, self.info.position)
    }

    /// The innermost function's readable name, else that of the function that contains the site.
    pub fn function(&self) -> &'a str {
        match self.frames().next() {
            Some(frame) => frame.function,
            None => self.container(),
        }
    }

    /// Readable name of the function whose machine code contains the site.
    pub fn container(&self) -> &'a str {
        let function = self.module.functions.get(self.info.function.index());
        function.map_or("?", |f| &f.name)
    }

    /// Source file, if known.
    pub fn file(&self) -> Option<&'a str> {
        self.frames().next().map(|frame| frame.file)
    }

    /// Line, or 0.
    pub fn line(&self) -> u32 {
        self.frames().next().map_or(0, |frame| frame.line)
    }

    /// Column, or 0.
    pub fn column(&self) -> u32 {
        self.frames().next().map_or(0, |frame| frame.column)
    }

    /// The variable accessed, if known.
    pub fn name(&self) -> Option<&'a str> {
        self.info.name.as_deref()
    }
}
