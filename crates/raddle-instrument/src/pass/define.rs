//! Gives undefined values a definition.
//!
//! `undef` and `poison` may be any value, so the code generator leaves them whatever a register
//! happens to hold: the payload of a `None`, padding of a struct returned in registers. The program
//! cannot tell, but a recording can. It would show, as the value of a store or a call, something
//! left over from earlier code, and a replay whose runtime took another path would show something
//! else. Putting zero in each such place is a refinement: every behaviour of the new program is one
//! of the old. It happens after optimisation, which has used the freedom by then, and before
//! planning, so that the program model shows the same constants as the code.
//!
//! What stays undefined is memory that nobody has written: stack and heap are the runtime's care.

use raddle_model::Opcode;

use crate::llvm::{Kind, Module, Value, ValueKind, intrinsic_name};

/// Deepest nesting of constants that is looked into.
const MAX_DEPTH: u32 = 16;

/// Replaces every undefined operand of a module's instructions by zero.
pub(super) fn define_undefined(module: &Module) {
    for function in module.functions() {
        for instruction in function.blocks().flat_map(|block| block.instructions()) {
            if !may_need_undefined(instruction) {
                define_operands(module, instruction);
            }
        }
    }
}

fn define_operands<'m>(module: &'m Module, instruction: Value<'m>) {
    for index in 0..instruction.operand_count() {
        // An operand is null where a landing pad or pad of another kind has none.
        let operand = instruction.operand_or_none(index);
        if let Some(new) = operand.and_then(|operand| defined(module, operand, 0)) {
            instruction.set_operand(index, new);
        }
    }
}

/// Instructions whose operands LLVM restricts: clauses of landing pads, and marks of a stack slot's
/// life, which take a slot or `poison` and nothing else.
fn may_need_undefined(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        Some(Opcode::LandingPad) => true,
        Some(Opcode::Call) => instruction
            .direct_callee()
            .map(Value::intrinsic)
            .filter(|&id| id != 0)
            .is_some_and(|id| intrinsic_name(id).starts_with("llvm.lifetime.")),
        _ => false,
    }
}

/// A constant with zeros in place of what is undefined in it; `None` if all of it is defined.
fn defined<'m>(module: &'m Module, value: Value<'m>, depth: u32) -> Option<Value<'m>> {
    match value.kind() {
        ValueKind::Undef | ValueKind::Poison => {
            has_zero(value.ty().kind()).then(|| module.const_null(value.ty()))
        }
        ValueKind::ConstantAggregate if depth < MAX_DEPTH => {
            let old: Vec<Value<'m>> = value.operands().collect();
            let new: Vec<Option<Value<'m>>> = old
                .iter()
                .map(|&element| defined(module, element, depth + 1))
                .collect();
            if new.iter().all(Option::is_none) {
                return None;
            }
            let elements = old.into_iter().zip(new);
            let elements: Vec<Value<'m>> = elements.map(|(old, new)| new.unwrap_or(old)).collect();
            Some(module.const_aggregate(value.ty(), &elements))
        }
        _ => None,
    }
}

/// Whether every type of a kind has a zero; tokens, metadata and target types have none.
fn has_zero(kind: Kind) -> bool {
    !matches!(kind, Kind::Void | Kind::Function | Kind::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body of `@f` with undefined values defined; checked to be well-formed.
    fn check(body: &str) -> String {
        let module = Module::parse_text(body, "test").expect("valid IR");
        define_undefined(&module);
        module.verify().expect("still valid IR");
        module.function("f").expect("it defines @f").print()
    }

    #[test]
    fn operands_of_every_kind_are_defined() {
        let text = check(
            r#"
            declare void @g(i64, ptr, double)
            define { i64, i32 } @f(i1 %c, ptr %p) {
            entry:
              store i64 undef, ptr %p
              call void @g(i64 poison, ptr undef, double poison)
              %frozen = freeze i32 undef
              br i1 %c, label %a, label %b
            a:
              br label %b
            b:
              %phi = phi i64 [ poison, %entry ], [ 7, %a ]
              %one = insertvalue { i64, i32 } poison, i64 %phi, 0
              %two = insertvalue { i64, i32 } %one, i32 %frozen, 1
              %vector = insertelement <2 x i64> undef, i64 %phi, i32 0
              store <2 x i64> %vector, ptr %p
              ret { i64, i32 } %two
            }
            "#,
        );
        assert!(
            !text.contains("undef") && !text.contains("poison"),
            "{text}"
        );
        assert!(
            text.contains("call void @g(i64 0, ptr null, double 0.000000e+00)"),
            "{text}"
        );
        assert!(text.contains("phi i64 [ 0, %entry ], [ 7, %a ]"), "{text}");
    }

    #[test]
    fn parts_of_constants_are_defined() {
        let text = check(
            r#"
            %pair = type { i32, [2 x i32] }
            define void @f(ptr %p) {
              store <2 x i32> <i32 undef, i32 3>, ptr %p
              store %pair { i32 5, [2 x i32] [i32 poison, i32 6] }, ptr %p
              store { i8, ptr } { i8 undef, ptr @f }, ptr %p
              ret void
            }
            "#,
        );
        assert!(
            !text.contains("undef") && !text.contains("poison"),
            "{text}"
        );
        assert!(text.contains("<i32 0, i32 3>"), "{text}");
        assert!(
            text.contains("%pair { i32 5, [2 x i32] [i32 0, i32 6] }"),
            "{text}"
        );
        assert!(text.contains("{ i8 0, ptr @f }"), "{text}");
    }

    #[test]
    fn marks_of_a_slots_life_stay() {
        let text = check(
            r#"
            declare void @llvm.lifetime.start.p0(ptr)
            define void @f() {
              call void @llvm.lifetime.start.p0(ptr poison)
              ret void
            }
            "#,
        );
        assert!(text.contains("poison"), "{text}");
    }
}
