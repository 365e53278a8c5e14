//! What is done to a module before its accesses become events.
//!
//! By default only stack slots are turned into values and calls into inlined code. Whatever removes, merges or adds an
//! access to memory that threads may share is left out: an optimiser may drop a load whose value nobody uses, keep
//! a `static` in a register if it sees all its uses, or read ahead of a branch, and each of these hides a bug or makes
//! one up. Optimisation that is worth having comes after the hooks, which it cannot move accesses across.
//!
//! The choice of passes is not enough for that, since nearly every pass of LLVM's deletes loads that it finds unused,
//! and takes it for granted that null pointers are not accessed. So loads are given a use that is taken away again
//! afterwards, and functions are marked as ones in which null is an address like others. Then accesses to what
//! other threads cannot reach are forwarded and merged, with all others marked as volatile for that time: a Rust guard
//! or iterator lives in a stack slot that its methods get the address of. At all levels loads are not executed
//! before the branch that guards them, as under ThreadSanitizer, which needs the same promise.

use raddle_model::Opcode;

use super::escape::{Privacy, derived_from};
use super::hooks::Style;
use crate::error::Error;
use crate::llvm::{Builder, Machine, Module, Value, ValueKind, intrinsic_name};
use crate::settings::OptLevel;

/// Gives the result of every invoke a place of its own.
const SPLIT_EDGES: &str = "function(break-crit-edges)";

/// Turns stack slots into values and calls into inlined code. Callees come first, so that what is inlined is simple
/// already.
const FAITHFUL: &str = "always-inline,function(sroa,instsimplify,simplifycfg),\
    cgscc(inline,function(sroa,instsimplify,simplifycfg)),globaldce";

/// Finds out which functions do not keep the addresses that they are given.
const INFER_ATTRIBUTES: &str = "cgscc(function-attrs)";

/// What that pass claims of functions whose hooks are still to come. Calls would be merged because of it.
const INFERRED: &[&str] = &[
    "memory",
    "nosync",
    "nofree",
    "willreturn",
    "norecurse",
    "mustprogress",
];

/// Forwards and merges accesses that are not volatile.
const MERGE_ACCESSES: &str = "function(early-cse<memssa>,simplifycfg)";

/// Marks accesses that the program itself declares volatile.
const VOLATILE_BY_ITSELF: &str = "raddle.volatile";

/// What the default pipeline relies on, while it runs.
const NULL_IS_AN_ADDRESS: &str = "null_pointer_is_valid";
/// Keeps passes from executing loads that the program does not execute.
const NO_SPECULATION: &str = "sanitize_thread";

/// A use that no pass removes.
const FAKE_USE: &str = "llvm.fake.use";

/// Optimises a module as far as it should be before it is instrumented.
pub(super) fn prepare(
    module: &Module,
    machine: &Machine<'_>,
    opt: OptLevel,
    style: Style,
) -> Result<(), Error> {
    // The toolchain's libraries are optimised as they come.
    if style == Style::Outlined {
        return module.run_passes(SPLIT_EDGES, machine);
    }
    let attributes: &[&str] = match opt {
        OptLevel::Source => &[NULL_IS_AN_ADDRESS, NO_SPECULATION],
        _ => &[NO_SPECULATION],
    };
    let added = add_attributes(module, attributes);
    let pipeline = match opt {
        OptLevel::Source => {
            use_loads(module);
            FAITHFUL.to_owned()
        }
        _ => format!("default<O{}>", opt.digit()),
    };
    module.run_passes(&pipeline, machine)?;
    if opt == OptLevel::Source {
        merge_private_accesses(module, machine)?;
        drop_uses(module);
    }
    module.run_passes(SPLIT_EDGES, machine)?;
    for attribute in added {
        definitions(module).for_each(|it| it.remove_attribute(attribute));
    }
    Ok(())
}

fn definitions(module: &Module) -> impl Iterator<Item = Value<'_>> {
    module.functions().filter(|it| !it.is_declaration())
}

fn instructions(module: &Module) -> impl Iterator<Item = Value<'_>> {
    let blocks = definitions(module).flat_map(Value::blocks);
    blocks.flat_map(|block| block.instructions())
}

/// Gives every function the attributes that no function has yet. Functions are inlined only into those with the same.
fn add_attributes<'a>(module: &Module, attributes: &[&'a str]) -> Vec<&'a str> {
    let is_new = |name: &&str| !definitions(module).any(|it| it.has_attribute(name));
    let added: Vec<&str> = attributes.iter().copied().filter(is_new).collect();
    for function in definitions(module) {
        for attribute in &added {
            module.add_enum_attribute(function, attribute);
        }
    }
    added
}

/// Merges accesses to stack slots that no other thread can reach.
fn merge_private_accesses(module: &Module, machine: &Machine<'_>) -> Result<(), Error> {
    module.run_passes(INFER_ATTRIBUTES, machine)?;
    let own = module.metadata_kind(VOLATILE_BY_ITSELF);
    for function in definitions(module) {
        INFERRED.iter().for_each(|it| function.remove_attribute(it));
        let privacy = Privacy::with_lent(function);
        for access in accesses_of(function) {
            if access.is_volatile() {
                module.tag(access, own);
            } else if !privacy.covers(address_of(access)) {
                access.set_volatile(true);
            }
        }
    }
    module.run_passes(MERGE_ACCESSES, machine)?;
    for access in accesses(module).filter(|it| !it.is_tagged(own)) {
        access.set_volatile(false);
    }
    Ok(())
}

fn accesses(module: &Module) -> impl Iterator<Item = Value<'_>> {
    definitions(module).flat_map(accesses_of)
}

/// The loads and stores of a function.
fn accesses_of(function: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let instructions = function.blocks().flat_map(|it| it.instructions());
    instructions.filter(|it| it.is(Opcode::Load) || it.is(Opcode::Store))
}

fn address_of(access: Value<'_>) -> Value<'_> {
    access.operand(u32::from(access.is(Opcode::Store)))
}

/// Uses the value of every load from memory that is not a stack slot of the function itself. No two uses are the
/// same: the two arms of a branch that load the same would be merged, and the load lose its line.
fn use_loads(module: &Module) {
    let loads: Vec<Value<'_>> = instructions(module)
        .filter(|it| it.is(Opcode::Load) && !is_of_stack_slot(it.operand(0)))
        .collect();
    if loads.is_empty() {
        return;
    }
    let builder = Builder::new(module);
    let fake_use = module.intrinsic(FAKE_USE, &[]);
    for (number, load) in (0..).zip(loads) {
        if let Some(next) = load.next_instruction() {
            let number = module.const_int(module.int_type(64), number);
            builder.position(next, load.debug_location());
            builder.call(fake_use, &[load, number]);
        }
    }
}

/// Whether an address is one of a stack slot, by its own computation.
fn is_of_stack_slot(address: Value<'_>) -> bool {
    let mut at = address;
    loop {
        if at.kind() == ValueKind::Instruction && at.is(Opcode::Alloca) {
            return true;
        }
        match derived_from(at).as_deref() {
            Some([base]) => at = *base,
            _ => return false,
        }
    }
}

/// Takes away the uses that loads were given.
fn drop_uses(module: &Module) {
    let uses: Vec<Value<'_>> = instructions(module)
        .filter(|it| {
            let callee = it.is(Opcode::Call).then(|| it.direct_callee()).flatten();
            callee
                .is_some_and(|it| it.intrinsic() != 0 && intrinsic_name(it.intrinsic()) == FAKE_USE)
        })
        .collect();
    uses.into_iter().for_each(Value::erase);
}
