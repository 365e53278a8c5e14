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
    /// The variable accessed, as far as it is known.
    pub name: Option<Name>,
}

/// Memory, by the name that it has where it is accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// An expression of the source: `counter`, `table[]`, `state.field`.
    pub text: Text,
    /// The type whose member it is: `Queue<u32>`.
    pub owner: Option<Text>,
    /// Whether it is a global variable or a part of one.
    pub is_global: bool,
}

/// A call of a function that Raddle's runtime stands in for, with what it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallInfo {
    /// Where it stands.
    pub position: PositionId,
    /// The lock that it takes, the memory that it frees.
    pub object: Name,
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

/// The last part of the name of an `async` function's or block's body.
pub const ASYNC_BODY: &str = "{async}";

/// Whether a source file belongs to the language's libraries, a toolchain or a package registry,
/// which is rarely where a user wants to be pointed at. A file without a name counts as one.
pub fn is_library_file(file: &str) -> bool {
    const PARTS: &[&str] = &["/registry/src/", "/git/checkouts/"];
    is_language_file(file) || PARTS.iter().any(|part| file.contains(part))
}

/// Whether a source file belongs to the language's libraries or a toolchain, and not to a package that the
/// user has chosen. A file without a name counts as one.
pub fn is_language_file(file: &str) -> bool {
    // The crates that Rust's standard library is built with, such as hashbrown, lie below `/rust/deps/`.
    const ROOTS: &[&str] = &[
        "/rustc/",
        "/rust/deps/",
        "library/",
        "/usr/include/",
        "/usr/lib/",
    ];
    const PARTS: &[&str] = &["/lib/rustlib/src/", "/include/c++/", "-linux-gnu/c++/"];
    file.is_empty()
        || ROOTS.iter().any(|root| file.starts_with(root))
        || PARTS.iter().any(|part| file.contains(part))
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

    /// The innermost frame of the user's own code, else the innermost one of all: the line that
    /// calls `fetch_add` rather than the line in `core` that it was inlined from.
    pub fn user_frame(&self) -> Option<Frame<'a>> {
        let own = self.frames().find(|frame| !is_library_file(frame.file));
        own.or_else(|| self.frames().next())
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
        self.info.name.as_ref().map(|it| &*it.text)
    }
}

/// LLVM's number of an ordering as Raddle's.
#[must_use]
pub fn ordering(number: u8) -> Ordering {
    match number {
        0 => Ordering::Plain,
        1 | 2 => Ordering::Relaxed,
        4 => Ordering::Acquire,
        5 => Ordering::Release,
        6 => Ordering::AcqRel,
        _ => Ordering::SeqCst,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(file: &str, line: u32, inlined_at: Option<u32>) -> Position {
        Position {
            function: "f".into(),
            file: file.into(),
            line,
            column: 1,
            inlined_at: inlined_at.map(PositionId),
        }
    }

    /// Line of the user's frame of a site inlined through these files, innermost first.
    fn user_line(files: &[&str]) -> Option<u32> {
        let outermost_first = files.iter().rev().enumerate();
        let positions = outermost_first.map(|(index, file)| {
            let outer = u32::try_from(index).ok()?.checked_sub(1);
            Some(position(file, (files.len() - index) as u32, outer))
        });
        let module = Module {
            positions: positions.collect::<Option<_>>()?,
            ..Module::default()
        };
        let info = SiteInfo {
            kind: SiteKind::Read,
            order: Ordering::Plain,
            size: 8,
            role: Role::None,
            function: FunctionId(0),
            instruction: None,
            position: u32::try_from(files.len())
                .ok()?
                .checked_sub(1)
                .map(PositionId),
            name: None,
        };
        Site::new(&module, &info)
            .user_frame()
            .map(|frame| frame.line)
    }

    #[test]
    fn the_users_frame_is_the_first_outside_libraries() {
        let atomic = "/rustc/0123/library/core/src/sync/atomic.rs";
        let registry = "/home/me/.cargo/registry/src/index.crates.io-1/spin-0.9/src/mutex.rs";
        let vector = "/usr/lib/gcc/x86_64-linux-gnu/12/include/c++/12/bits/stl_vector.h";
        assert_eq!(user_line(&[atomic, "src/main.rs", "src/lib.rs"]), Some(2));
        assert_eq!(user_line(&[atomic, registry, "src/main.rs"]), Some(3));
        assert_eq!(user_line(&[vector, "/tmp/grow.cpp"]), Some(2));
        let table = "/rust/deps/hashbrown-0.16.1/src/raw/mod.rs";
        assert_eq!(user_line(&[table, "src/main.rs"]), Some(2));
        assert_eq!(user_line(&["src/main.rs", atomic]), Some(1));
        assert!(is_language_file(table) && is_language_file(atomic));
        assert!(!is_language_file(registry));
    }

    #[test]
    fn without_a_frame_of_the_users_the_innermost_counts() {
        assert_eq!(user_line(&["/rustc/0/a.rs", "/rustc/0/b.rs"]), Some(1));
        assert_eq!(user_line(&[]), None);
    }
}
