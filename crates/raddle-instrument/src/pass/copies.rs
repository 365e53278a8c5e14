//! Copies of the stream's thread-locals in the functions that write events.
//!
//! A hook advances the thread's cursor. Read back from memory at the next event, it would arrive some
//! cycles later, and a loop would take as long as its chain of stores and loads. So an instrumented
//! function, unless it is very large, keeps the cursor and the branch outcomes in two stack slots, which are
//! promoted to registers once the hooks are inlined. The thread-locals stay true at each moment, since hooks write both; the
//! copies are made true again where somebody else may have moved the thread-locals: behind calls, where
//! exceptions land, and in the hooks' own slow paths. A signal handler leaves them as it found them.

use std::collections::HashMap;

use raddle_model::Opcode;

use super::hooks::Hooks;
use super::plan::{Plan, entry_point};
use crate::llvm::{Builder, Module, Value};

/// The stack slots of one function.
#[derive(Clone, Copy)]
pub(super) struct Copies<'m> {
    pub(super) cursor: Value<'m>,
    pub(super) bits: Value<'m>,
}

/// Most hooks of a function that has copies. The code generator's time grows faster than the number of
/// inlined hooks: two functions, each five times as long as the next one, took half of the time for a file of
/// 9,000 lines. Larger functions call their hooks.
const MOST_INLINED: usize = 400;

/// Gives the instrumented functions that are not too large their copies. Comes before the hooks.
pub(super) fn make<'m>(
    module: &'m Module,
    builder: &Builder<'m>,
    hooks: &Hooks<'m>,
    plan: &Plan<'m>,
) -> HashMap<Value<'m>, Copies<'m>> {
    let mut hook_counts: HashMap<Value<'m>, usize> = HashMap::new();
    for hook in &plan.hooks {
        *hook_counts.entry(hook.function).or_default() += 1;
    }
    let mut all = HashMap::new();
    for function in module.functions().filter(|it| {
        hook_counts
            .get(it)
            .is_some_and(|&count| count <= MOST_INLINED)
    }) {
        let Some(entry) = function.blocks().next() else {
            continue;
        };
        let (Some(top), Some(start)) = (entry.instructions().next(), entry_point(entry)) else {
            continue;
        };
        let location = function
            .subprogram()
            .map(|it| module.artificial_location(it));
        builder.position(top, location);
        let copies = Copies {
            cursor: builder.slot(module.pointer_type()),
            bits: builder.slot(module.int_type(64)),
        };
        builder.position(start, location);
        builder.call(hooks.reload, &[copies.cursor, copies.bits]);
        all.insert(function, copies);
    }
    all
}

/// Makes the copies true behind everything that may have moved the thread-locals. Comes behind the hooks,
/// so that a hook on a call's result finds them true.
pub(super) fn keep_true<'m>(
    module: &'m Module,
    builder: &Builder<'m>,
    hooks: &Hooks<'m>,
    copies: &HashMap<Value<'m>, Copies<'m>>,
) {
    for function in module.functions() {
        let Some(&Copies { cursor, bits }) = copies.get(&function) else {
            continue;
        };
        let location = function
            .subprogram()
            .map(|it| module.artificial_location(it));
        let instructions = function.blocks().flat_map(|block| block.instructions());
        let places: Vec<Value<'m>> = instructions
            .filter_map(|instruction| place_behind(instruction, hooks))
            .collect();
        for place in places {
            builder.position(place, location);
            builder.call(hooks.reload, &[cursor, bits]);
        }
    }
}

/// What comes next behind an instruction that may move the thread-locals.
fn place_behind<'m>(instruction: Value<'m>, hooks: &Hooks<'m>) -> Option<Value<'m>> {
    match instruction.opcode()? {
        Opcode::LandingPad => instruction.next_instruction(),
        // The pipeline has split critical edges, so nothing but this invoke leads there.
        Opcode::Invoke => {
            let (normal, _) = instruction.invoke_targets();
            normal.instructions().find(|it| !it.is(Opcode::Phi))
        }
        Opcode::Call if !instruction.is_musttail() => {
            let callee = instruction.direct_callee();
            let stays = |it: Value<'m>| it.intrinsic() != 0 || hooks.keeps_copies(it);
            if callee.is_some_and(stays) {
                return None;
            }
            instruction.next_instruction()
        }
        _ => None,
    }
}
