//! Which memory other threads cannot reach.
//!
//! A stack slot is private if its address is used only to access it: loaded from, stored to,
//! offset, compared, copied from or to by memory intrinsics. As soon as the address is stored,
//! passed or returned, every access to the slot is recorded. The walk is conservative; what it
//! does not know escapes. A slot that is only lent, to functions which do not keep its address, is private too, but
//! its accesses are recorded: the functions record theirs, and re-execution wants to see both.

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
    /// The stack slots whose accesses are not recorded.
    pub(super) fn of(function: Value<'m>) -> Privacy<'m> {
        Privacy::new(function, Lending::Escapes)
    }

    /// The stack slots that no other thread can reach, those among them that are lent.
    pub(super) fn with_lent(function: Value<'m>) -> Privacy<'m> {
        Privacy::new(function, Lending::IsFine)
    }

    fn new(function: Value<'m>, lending: Lending) -> Privacy<'m> {
        let instructions = function.blocks().flat_map(|block| block.instructions());
        let slots = instructions.filter(|instruction| instruction.is(Opcode::Alloca));
        Privacy {
            private: slots.filter(|&slot| !escapes(slot, lending)).collect(),
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

/// What it means for a slot that its address is passed to a function that does not keep it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lending {
    Escapes,
    IsFine,
}

fn escapes(slot: Value<'_>, lending: Lending) -> bool {
    let mut seen = HashSet::from([slot]);
    let mut work = vec![slot];
    while let Some(address) = work.pop() {
        for user in address.users() {
            match use_of(address, user) {
                Use::Access => {}
                Use::Lent if lending == Lending::IsFine => {}
                Use::Derives => {
                    if seen.insert(user) {
                        work.push(user);
                    }
                }
                Use::Lent | Use::Escapes => return true,
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
    /// Passes the address to a function that does not keep it.
    Lent,
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
        Some(Opcode::Call | Opcode::Invoke) if is_lent(address, user) => Use::Lent,
        _ => Use::Escapes,
    }
}

/// Whether a call gets an address only in arguments that its function does not keep.
fn is_lent(address: Value<'_>, call: Value<'_>) -> bool {
    let borrows = |callee: Value<'_>| {
        let mut args = (0..).zip(call.args());
        args.all(|(index, arg)| arg != address || callee.only_borrows(index))
    };
    call.direct_callee().is_some_and(borrows)
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
        || name == "llvm.fake.use"
        || name == "llvm.objectsize"
        || name == "llvm.invariant.start"
        || name == "llvm.invariant.end"
}
