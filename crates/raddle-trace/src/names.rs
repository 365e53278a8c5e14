//! The names in an imported trace, so that exporting it gives the same text back.

use std::collections::BTreeMap;

use crate::ids::{EventIndex, ThreadId};

/// Names of what an imported trace talks about; [`crate::std_format`] gives them numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Threads.
    pub threads: BTreeMap<ThreadId, String>,
    /// Variables and locks; the n-th is at address `n * OPERAND_BYTES`.
    pub operands: Vec<String>,
    /// Source locations; the n-th is site n, or program counter n.
    pub locations: Vec<String>,
    /// Operands of `begin` and `end` events, where they are not the usual `0`.
    pub exceptions: BTreeMap<EventIndex, String>,
    /// Whether lines ended with a carriage return.
    pub crlf: bool,
    /// Whether the last line lacked its end.
    pub unterminated: bool,
}
