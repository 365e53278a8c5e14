//! What calls of synchronisation functions are given, by name.
//!
//! The program model has a name for the first argument of a call, and the inlining chain that the call stands in. A
//! program counter has such a chain, too, out of debug information; what was inlined after the model was made comes at
//! its outer end. So a call is the one whose chain the counter's chain begins with.

use std::collections::HashMap;

use raddle_model::{Name, Outline};
use raddle_trace::position::{SourcePosition, Variable};

/// File, line and column.
type Place<'a> = (&'a str, u32, u32);

/// The named calls of a program, by the innermost place of each.
pub struct Objects<'a> {
    calls: HashMap<Place<'a>, Vec<(Vec<Place<'a>>, &'a Name)>>,
}

impl<'a> Objects<'a> {
    /// The calls of a program and its libraries.
    pub fn new(outlines: &[&'a Outline]) -> Objects<'a> {
        let mut calls: HashMap<Place<'a>, Vec<(Vec<Place<'a>>, &'a Name)>> = HashMap::new();
        for (frames, name) in outlines.iter().flat_map(|it| it.calls()) {
            let chain: Vec<Place<'a>> = frames.map(|it| (it.file, it.line, it.column)).collect();
            if let Some(innermost) = chain.first().filter(|it| it.1 != 0) {
                calls.entry(*innermost).or_default().push((chain, name));
            }
        }
        Objects { calls }
    }

    /// What the call at these positions is given; nothing if several calls differ in that.
    pub fn at(&self, positions: &[SourcePosition]) -> Option<Variable> {
        let chain: Vec<Place<'_>> = positions
            .iter()
            .map(|it| (it.file.as_str(), it.line, it.column))
            .collect();
        let calls = self.calls.get(chain.first()?)?;
        let longest = calls
            .iter()
            .filter(|(call, _)| chain.starts_with(call))
            .map(|(call, _)| call.len())
            .max()?;
        let mut names = calls
            .iter()
            .filter(|(call, _)| call.len() == longest && chain.starts_with(call))
            .map(|(_, name)| *name);
        let first = names.next()?;
        names.all(|it| it == first).then(|| variable(first))
    }
}

/// A name as traces keep it.
pub fn variable(name: &Name) -> Variable {
    Variable {
        name: name.text.to_string(),
        owner: name.owner.as_ref().map(ToString::to_string),
        is_global: name.is_global,
    }
}
