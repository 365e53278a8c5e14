//! Places in source code, as traces and clips keep them.

use std::fmt;

use crate::ids::{Address, SiteId};
use crate::sites::SiteShape;

/// A place in a function's source. Line or column 0 means unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourcePosition {
    /// The function, demangled; empty if unknown.
    pub function: String,
    /// The file as the compiler was given it; empty if unknown.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// A site with all that is needed to print it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteInfo {
    /// Its number in this trace.
    pub site: SiteId,
    /// Content hash of its module.
    pub module: u64,
    /// Its index in the module.
    pub index: u32,
    /// What it does.
    pub shape: SiteShape,
    /// Its position, then the calls through which it was inlined, innermost first.
    pub positions: Vec<SourcePosition>,
    /// What is accessed, if known.
    pub variable: Option<Variable>,
}

/// Memory, by the name that it has where it is accessed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// An expression of the source: `counter`, `self.state`, `table[].next->count`.
    pub name: String,
    /// The type whose member it is: `Queue<u32>`.
    pub owner: Option<String>,
    /// Whether it is a global variable or a part of one, so that the name means the same everywhere.
    pub is_global: bool,
}

/// Source positions of a program counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePosition {
    /// The program counter, as events carry it.
    pub pc: Address,
    /// Its position, then the calls through which it was inlined, innermost first.
    pub positions: Vec<SourcePosition>,
    /// What a call there is given: the lock that it takes, the memory that it frees.
    pub object: Option<Variable>,
}

impl SourcePosition {
    /// Only the last part of the file's path, with line and column: `counter.rs:14:9`.
    #[must_use]
    pub fn short(&self) -> String {
        let file = self.file.rsplit('/').next().unwrap_or_default();
        Self {
            function: String::new(),
            file: file.to_owned(),
            ..*self
        }
        .to_string()
    }
}

impl fmt::Display for SourcePosition {
    /// `file:line:column`, without what is unknown; the function's name where there is no file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.as_str(), self.function.as_str()) {
            ("", "") => return f.write_str("?"),
            ("", function) => return f.write_str(function),
            (file, _) => f.write_str(file)?,
        }
        if self.line != 0 {
            write!(f, ":{}", self.line)?;
            if self.column != 0 {
                write!(f, ":{}", self.column)?;
            }
        }
        Ok(())
    }
}
