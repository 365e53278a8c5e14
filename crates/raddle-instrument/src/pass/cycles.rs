//! Has the processor's counter of cycles read by the runtime, whose clock is the same in a replay.
//!
//! Programs read it by an intrinsic or, in assembly, by an instruction that gives it in two halves. Assembly that does
//! more than that is left alone.

use raddle_model::Opcode;

use crate::error::Error;
use crate::llvm::{Kind, Machine, Module, Ty, Value, ValueKind, intrinsic_name};

/// Replaces every reading of the counter in a module.
pub(super) fn virtualise(module: &Module, machine: &Machine<'_>) -> Result<(), Error> {
    let instructions = || {
        let blocks = module.functions().flat_map(Value::blocks);
        blocks.flat_map(|block| block.instructions())
    };
    let readings: Vec<(Value<'_>, &str)> = instructions()
        .filter_map(|at| Some((at, stand_in(at)?)))
        .collect();
    if readings.is_empty() {
        return Ok(());
    }
    module.link_text(include_str!("cycles.ll"))?;
    for (call, name) in readings {
        if let Some(function) = module.function(name) {
            // A call's callee is its last operand.
            call.set_operand(call.operand_count() - 1, function);
        }
    }
    module.run_passes("always-inline", machine)?;
    for function in module.functions() {
        if STAND_INS.contains(&function.name().as_str()) {
            function.set_internal();
        }
    }
    Ok(())
}

const STAND_INS: [&str; 5] = [
    "__raddle_counter",
    "__raddle_counter_and_core",
    "__raddle_halves",
    "__raddle_long_halves",
    "__raddle_halves_and_core",
];

/// The function to call in the place of an instruction that reads the counter.
fn stand_in(instruction: Value<'_>) -> Option<&'static str> {
    let [counter, counter_and_core, ..] = STAND_INS;
    if !instruction.is(Opcode::Call) {
        return None;
    }
    let callee = instruction.callee();
    match callee.kind() {
        ValueKind::Function if callee.intrinsic() != 0 => {
            match intrinsic_name(callee.intrinsic()).as_str() {
                "llvm.x86.rdtsc" | "llvm.readcyclecounter" => Some(counter),
                "llvm.x86.rdtscp" => Some(counter_and_core),
                _ => None,
            }
        }
        ValueKind::Assembly => of_assembly(instruction, callee),
        _ => None,
    }
}

fn of_assembly(call: Value<'_>, assembly: Value<'_>) -> Option<&'static str> {
    let [.., halves, long_halves, halves_and_core] = STAND_INS;
    let text = assembly.assembly();
    let is_separator = |it: char| it.is_whitespace() || it == ';';
    let words: Vec<&str> = text
        .split(is_separator)
        .filter(|it| !it.is_empty())
        .collect();
    let (reads, others): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|it| it.starts_with("rdtsc"));
    let is_fence = |it: &&str| matches!(*it, "lfence" | "mfence");
    let ([read], true) = (reads.as_slice(), others.iter().all(is_fence)) else {
        return None;
    };
    // The registers it gives its results in stand, as constraints, behind its text.
    let printed = assembly.print();
    let gives = |registers: &str| printed.contains(&format!("\"{registers},~{{"));
    if call.ty().kind() != Kind::Struct {
        return None;
    }
    let fields = call.ty().fields();
    let widths: Vec<u32> = fields.into_iter().map(width).collect();
    match (*read, widths.as_slice()) {
        ("rdtsc", [32, 32]) if gives("={ax},={dx}") => Some(halves),
        ("rdtsc", [64, 64]) if gives("={ax},={dx}") => Some(long_halves),
        ("rdtscp", [32, 32, 32]) if gives("={ax},={dx},={cx}") => Some(halves_and_core),
        _ => None,
    }
}

/// Bits of an integer type, 0 of any other.
fn width(ty: Ty<'_>) -> u32 {
    match ty.kind() {
        Kind::Integer => ty.int_width(),
        _ => 0,
    }
}
