//! Which memory other threads cannot reach.
//!
//! A stack slot is private if its address is used only to access it: loaded from, stored to,
//! offset, compared, copied from or to by memory intrinsics. As soon as the address is stored,
//! passed or returned, every access to the slot is recorded. The walk is conservative; what it
//! does not know escapes.

use std::collections::HashSet;

use raddle_model::Opcode;

use crate::llvm::{Value, ValueKind, intrinsic_name};

/// Longest chain of address computations that is followed.
const MAX_STEPS: usize = 64;

/// The private stack slots of a function.
pub(super) struct Privacy<'m> {
    private: HashSet<Value<'m>>,
}

impl<'m> Privacy<'m> {
    pub(super) fn of(function: Value<'m>) -> Privacy<'m> {
        let instructions = function.blocks().flat_map(|block| block.instructions());
        let slots = instructions.filter(|instruction| instruction.is(Opcode::Alloca));
        Privacy {
            private: slots.filter(|&slot| !escapes(slot)).collect(),
        }
    }

    /// Whether every object that an address may point into is private or constant.
    pub(super) fn covers(&self, address: Value<'m>) -> bool {
        let mut seen = HashSet::new();
        let mut work = vec![address];
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            if seen.len() > MAX_STEPS {
                return false;
            }
            match value.kind() {
                ValueKind::Global if value.is_constant_global() => {}
                ValueKind::ConstantExpr | ValueKind::Instruction => {
                    if self.private.contains(&value) {
                        continue;
                    }
                    match derived_from(value) {
                        Some(bases) => work.extend(bases),
                        None => return false,
                    }
                }
                _ => return false,
            }
        }
        true
    }
}

/// The addresses that an address was computed from, if it is such a computation.
pub(super) fn derived_from(value: Value<'_>) -> Option<Vec<Value<'_>>> {
    let opcode = match value.kind() {
        ValueKind::Instruction => value.opcode()?,
        ValueKind::ConstantExpr => value.expression_opcode()?,
        _ => return None,
    };
    match opcode {
        Opcode::GetElementPtr | Opcode::BitCast | Opcode::AddrSpaceCast => {
            Some(vec![value.operand(0)])
        }
        Opcode::Select => Some(vec![value.operand(1), value.operand(2)]),
        Opcode::Phi => Some(
            value
                .incoming()
                .into_iter()
                .map(|(value, _)| value)
                .collect(),
        ),
        _ => None,
    }
}

fn escapes(slot: Value<'_>) -> bool {
    let mut seen = HashSet::from([slot]);
    let mut work = vec![slot];
    while let Some(address) = work.pop() {
        for user in address.users() {
            match use_of(address, user) {
                Use::Access => {}
                Use::Derives => {
                    if seen.insert(user) {
                        work.push(user);
                    }
                }
                Use::Escapes => return true,
            }
        }
    }
    false
}

enum Use {
    /// Accesses the slot, or does not touch it at all.
    Access,
    /// Computes another address of it.
    Derives,
    /// Lets the address out.
    Escapes,
}

fn use_of<'m>(address: Value<'m>, user: Value<'m>) -> Use {
    if !user.is_instruction() {
        return Use::Escapes;
    }
    match user.opcode() {
        Some(Opcode::Load | Opcode::ICmp) => Use::Access,
        Some(Opcode::Store) if user.operand(0) != address => Use::Access,
        Some(Opcode::Rmw) if user.operand(1) != address => Use::Access,
        Some(Opcode::CmpXchg) if user.operand(1) != address && user.operand(2) != address => {
            Use::Access
        }
        Some(Opcode::GetElementPtr | Opcode::BitCast | Opcode::Phi | Opcode::Select) => {
            Use::Derives
        }
        Some(Opcode::Call) if is_harmless_intrinsic(user) => Use::Access,
        _ => Use::Escapes,
    }
}

/// Intrinsics that neither keep nor pass on their pointer arguments.
fn is_harmless_intrinsic(call: Value<'_>) -> bool {
    let Some(id) = call
        .direct_callee()
        .map(Value::intrinsic)
        .filter(|&id| id != 0)
    else {
        return false;
    };
    let name = intrinsic_name(id);
    [
        "llvm.lifetime.",
        "llvm.dbg.",
        "llvm.memcpy",
        "llvm.memmove",
        "llvm.memset",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
        || name == "llvm.objectsize"
        || name == "llvm.invariant.start"
        || name == "llvm.invariant.end"
}
