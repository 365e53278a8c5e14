//! From bitcode to an instrumented object and its part of the program model.

mod assembly;
mod catalogue;
mod copies;
mod cycles;
mod debug;
mod define;
mod escape;
mod hooks;
mod insert;
mod key;
mod lower;
mod lvalue;
mod names;
mod objects;
mod pieces;
mod plan;
mod prepare;
mod source_types;
mod tables;
mod thread_locals;

use raddle_model::{Opcode, encode_module};

use crate::demangle;
use crate::error::Error;
use crate::llvm::{Builder, Machine, Module, Value};
use crate::settings::OptLevel;
use debug::Debug;
use hooks::Hooks;
pub(crate) use hooks::Style;
pub(crate) use key::{module_id, version};
use plan::Plan;

/// An instrumented module.
pub(crate) struct Instrumented {
    /// The native object.
    pub(crate) object: Vec<u8>,
    /// Its part of the program model, encoded.
    pub(crate) model: Vec<u8>,
}

/// Optimises, instruments and compiles one module.
pub(crate) fn instrument(
    bitcode: &[u8],
    name: &str,
    id: u64,
    opt: OptLevel,
    style: Style,
) -> Result<Instrumented, Error> {
    let module = Module::parse_bitcode(bitcode, name)?;
    let machine = Machine::new(&module, style.code_level(opt))?;
    keep_panic_stages(&module);
    cycles::virtualise(&module, &machine)?;
    prepare::prepare(&module, &machine, opt, style)?;
    define::define_undefined(&module);
    let builder = Builder::new(&module);
    module
        .functions()
        .for_each(|function| gather_stack_slots(&builder, function));

    let mut debug = Debug::new(&module);
    let plan = Plan::make(&module, &mut debug, style);
    let model = encode_module(&lower::lower(&module, &plan, debug, id));

    let hooks = Hooks::link(&module)?;
    insert::insert(&module, &hooks, &plan, id, style);
    thread_locals::pin(&module, &hooks, &plan);
    for function in module
        .functions()
        .filter(|function| !function.is_declaration())
    {
        prepare_for_code(&module, function, plan.instrumented.contains(&function));
    }
    hooks.make_internal();
    module.run_passes(style.after_hooks(), &machine)?;
    module.lower_constructors();
    module.verify()?;
    Ok(Instrumented {
        object: module.emit_object(&machine)?,
        model,
    })
}

/// Compiles textual IR as it is.
pub(crate) fn compile_text(text: &str, name: &str) -> Result<Vec<u8>, Error> {
    let module = Module::parse_text(text, name)?;
    let machine = Machine::new(&module, OptLevel::O1)?;
    module.lower_constructors();
    module.emit_object(&machine)
}

/// Keeps the functions that report panics from being inlined away.
fn keep_panic_stages(module: &Module) {
    for function in module
        .functions()
        .filter(|function| !function.is_declaration())
    {
        let readable = demangle::readable(&function.name());
        if catalogue::panic_stage(&readable).is_some() {
            module.add_enum_attribute(function, "noinline");
        }
    }
}

/// Moves fixed-size stack slots to the top of the entry block, before anything a hook may split.
fn gather_stack_slots<'m>(builder: &Builder<'m>, function: Value<'m>) {
    let Some(entry) = function.blocks().next() else {
        return;
    };
    let mut instructions = entry.instructions();
    let Some(first) = instructions.find(|at| !at.is(Opcode::Alloca)) else {
        return;
    };
    let late: Vec<Value<'m>> = instructions
        .filter(|at| at.is(Opcode::Alloca) && at.operand(0).as_int().is_some())
        .collect();
    for slot in late {
        let location = slot.debug_location();
        slot.detach();
        builder.position(first, location);
        builder.insert(slot);
    }
}

/// Attributes that hooks make untrue, and a section of its own so that the linker can drop what a
/// program does not use.
fn prepare_for_code(module: &Module, function: Value<'_>, instrumented: bool) {
    if instrumented {
        for attribute in [
            "memory",
            "nosync",
            "nofree",
            "speculatable",
            "willreturn",
            "norecurse",
        ] {
            function.remove_attribute(attribute);
        }
        module.add_string_attribute(function, "frame-pointer", "all");
    }
    if function.section().is_empty() && !function.has_attribute("alwaysinline") {
        function.set_section(&format!(".text.{}", function.name()));
    }
}
