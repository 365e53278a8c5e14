//! Names for the memory that a site accesses.

use std::collections::HashMap;

use raddle_model::{Opcode, Text};

use super::debug::Debug;
use super::escape::derived_from;
use crate::demangle;
use crate::llvm::{Metadata, Module, NodeOperand, Value, ValueKind};

/// Longest chain of address computations and dereferences that is followed.
const MAX_STEPS: usize = 16;

/// Knows the debug variables of one function at a time.
pub(super) struct Namer<'m> {
    module: &'m Module,
    debug_kind: u32,
    variables: HashMap<Value<'m>, Text>,
}

impl<'m> Namer<'m> {
    pub(super) fn new(module: &'m Module) -> Namer<'m> {
        Namer {
            module,
            debug_kind: module.metadata_kind("dbg"),
            variables: HashMap::new(),
        }
    }

    /// Learns the variables of a function; the first one bound to a value names it.
    pub(super) fn enter(&mut self, function: Value<'m>, debug: &Debug<'m>) {
        self.variables.clear();
        for instruction in function.blocks().flat_map(|block| block.instructions()) {
            for (value, variable) in instruction.debug_variables() {
                if let Some(name) = debug.variable_name(variable) {
                    self.variables.entry(value).or_insert(name);
                }
            }
        }
    }

    /// What an address points to: `counter`, `*queue`.
    pub(super) fn name(&self, address: Value<'m>, debug: &Debug<'m>) -> Option<Text> {
        let mut stars = 0;
        let mut value = address;
        for _ in 0..MAX_STEPS {
            if value.kind() == ValueKind::Global {
                return Some(starred(stars, &self.global_name(value, debug)));
            }
            if let Some(name) = self.variables.get(&value) {
                // A stack slot is the variable; any other value only points to what is accessed.
                let extra = usize::from(!value.is(Opcode::Alloca));
                return Some(starred(stars + extra, name));
            }
            if value.is(Opcode::Load) {
                stars += 1;
                value = value.operand(0);
                continue;
            }
            match derived_from(value)?[..] {
                [base] => value = base,
                _ => return None,
            }
        }
        None
    }

    fn global_name(&self, global: Value<'m>, debug: &Debug<'m>) -> Text {
        let variable = global
            .metadata(self.debug_kind)
            .and_then(|expression: Metadata<'m>| {
                match self.module.node_operands(expression).into_iter().next()? {
                    NodeOperand::Node(variable) => debug.variable_name(variable),
                    _ => None,
                }
            });
        variable.unwrap_or_else(|| demangle::readable(&global.name()).into())
    }
}

fn starred(stars: usize, name: &str) -> Text {
    format!("{}{name}", "*".repeat(stars)).into()
}
