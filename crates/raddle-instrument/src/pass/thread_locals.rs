//! Makes the addresses of thread-locals known before a function's first hook.
//!
//! Where a variable may lie in a library that is opened while the program runs, its address comes from
//! `__tls_get_addr`, which allocates the library's variables when a thread first asks for one of them. The
//! code generator calls it wherever it needs the address: between the slots of an event, too, where the
//! allocation's own mark must not come. So each instrumented function asks for the addresses it uses as
//! it starts, before it copies the cursor, and uses only what it was told then.
//!
//! A function that does not come to its use of a variable allocates early, which nobody can tell. Code for
//! executables needs none of this: its thread-locals lie at known offsets.

use std::collections::HashMap;

use raddle_model::Opcode;

use super::hooks::Hooks;
use super::plan::{Plan, entry_point};
use crate::llvm::{Builder, Module, Value, ValueKind, intrinsic_name};

/// The intrinsic that stands for a thread-local's address.
const ADDRESS: &str = "llvm.threadlocal.address";

/// Deepest nesting of constant expressions that is looked into.
const MAX_DEPTH: u32 = 16;

/// Pins the addresses in every instrumented function. Comes behind the hooks, whose arguments may be such
/// addresses, and before they are inlined.
pub(super) fn pin<'m>(module: &'m Module, hooks: &Hooks<'m>, plan: &Plan<'m>) {
    let is_dynamic = |it: &Value<'m>| it.is_thread_local() && it.is_dynamic_thread_local();
    if module.is_for_executable() || !module.globals().any(|global| is_dynamic(&global)) {
        return;
    }
    let builder = Builder::new(module);
    let intrinsic = module.intrinsic(ADDRESS, &[module.pointer_type()]);
    for function in module
        .functions()
        .filter(|it| plan.instrumented.contains(it))
    {
        let Some(start) = function.blocks().next().and_then(entry_point) else {
            continue;
        };
        let location = function
            .subprogram()
            .map(|it| module.artificial_location(it));
        let mut pins = Pins {
            builder: &builder,
            hooks,
            intrinsic,
            known: HashMap::new(),
        };
        let old: Vec<Value<'m>> = function
            .blocks()
            .flat_map(|block| block.instructions())
            .collect();
        for instruction in old {
            builder.position(start, location);
            pins.replace_in(instruction);
        }
    }
}

/// The pinned addresses of one function; the builder stands at its start.
struct Pins<'p, 'm> {
    builder: &'p Builder<'m>,
    hooks: &'p Hooks<'m>,
    intrinsic: Value<'m>,
    /// By variable, and by constant expression on one.
    known: HashMap<Value<'m>, Value<'m>>,
}

impl<'m> Pins<'_, 'm> {
    fn replace_in(&mut self, instruction: Value<'m>) {
        if is_address_of(instruction) {
            let variable = instruction.operand(0);
            if let Some(pinned) = self.pinned(variable, 0) {
                let users: Vec<Value<'m>> = instruction.users().collect();
                for user in users {
                    replace_operands(user, instruction, pinned);
                }
            }
            return;
        }
        for index in 0..instruction.operand_count() {
            let operand = instruction.operand_or_none(index);
            if let Some(pinned) = operand.and_then(|operand| self.pinned(operand, 0)) {
                instruction.set_operand(index, pinned);
            }
        }
    }

    /// What to use in the place of a constant that is computed from the address of a thread-local.
    fn pinned(&mut self, value: Value<'m>, depth: u32) -> Option<Value<'m>> {
        if let Some(&known) = self.known.get(&value) {
            return Some(known);
        }
        let pinned = match value.kind() {
            ValueKind::Global if value.is_thread_local() && value.is_dynamic_thread_local() => {
                let address = self.builder.call(self.intrinsic, &[value]);
                self.builder.call(self.hooks.pin, &[address])
            }
            ValueKind::ConstantExpr if depth < MAX_DEPTH => {
                let opcode = value.expression_opcode()?;
                let base = self.pinned(value.operand(0), depth + 1)?;
                match opcode {
                    Opcode::GetElementPtr => {
                        let indices: Vec<Value<'m>> = value.operands().skip(1).collect();
                        self.builder.element(value.gep_source(), base, &indices)
                    }
                    Opcode::PtrToInt | Opcode::BitCast | Opcode::AddrSpaceCast => {
                        self.builder.cast(opcode, base, value.ty())
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        self.known.insert(value, pinned);
        Some(pinned)
    }
}

fn is_address_of(instruction: Value<'_>) -> bool {
    let callee = match instruction.is(Opcode::Call) {
        true => instruction.direct_callee(),
        false => None,
    };
    let id = callee.map(Value::intrinsic).filter(|&id| id != 0);
    id.is_some_and(|id| intrinsic_name(id).starts_with(ADDRESS))
}

fn replace_operands<'m>(user: Value<'m>, old: Value<'m>, new: Value<'m>) {
    for index in 0..user.operand_count() {
        if user.operand_or_none(index) == Some(old) {
            user.set_operand(index, new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Debug, Style, insert};
    use super::*;

    const BODY: &str = r#"
        @own = thread_local global i32 100
        @pair = thread_local global [2 x i64] zeroinitializer
        @near = thread_local(initialexec) global i32 0
        declare ptr @llvm.threadlocal.address.p0(ptr)
        define i32 @f(ptr %p) {
          %old = load i32, ptr @own
          %new = add i32 %old, 1
          %address = call ptr @llvm.threadlocal.address.p0(ptr @own)
          store i32 %new, ptr %address
          %wide = load <2 x i64>, ptr @pair
          store <2 x i64> %wide, ptr %p
          store ptr getelementptr (i8, ptr @pair, i64 8), ptr %p
          store i32 %new, ptr @near
          ret i32 %new
        }
        "#;

    /// Lines of `@f`, instrumented and pinned; checked to be well-formed.
    fn check(text: &str, style: Style) -> Vec<String> {
        let module = Module::parse_text(text, "test").expect("valid IR");
        let plan = Plan::make(&module, &mut Debug::new(&module), style);
        let hooks = Hooks::link(&module).expect("hooks");
        insert::insert(&module, &hooks, &plan, 1, style);
        pin(&module, &hooks, &plan);
        module.verify().expect("still valid IR");
        let text = module.function("f").expect("it defines @f").print();
        text.lines().map(str::to_owned).collect()
    }

    fn places(lines: &[String], part: &str) -> Vec<usize> {
        let is_there = |(_, line): &(usize, &String)| line.contains(part);
        let found = lines.iter().enumerate().filter(is_there);
        found.map(|(place, _)| place).collect()
    }

    #[test]
    fn addresses_are_asked_for_once_before_the_first_hook() {
        for style in [Style::Inline, Style::Outlined] {
            let lines = check(BODY, style);
            let text = lines.join("\n");
            let first_hook = places(&lines, "@__raddle_event")[0];
            let copied = places(&lines, "@__raddle_reload").first().copied();
            // What the intrinsic's call gave has no user left.
            let dead = places(&lines, "%address = ");
            for variable in ["@own", "@pair"] {
                let mut found = places(&lines, variable);
                found.retain(|place| !dead.contains(place));
                assert_eq!(found.len(), 1, "{variable}: {text}");
                assert!(
                    found[0] < first_hook.min(copied.unwrap_or(usize::MAX)),
                    "{text}"
                );
            }
            assert_eq!(places(&lines, "%address").len(), 1, "{text}");
            assert!(places(&lines, "@near").len() > 1, "{text}");
        }
    }

    #[test]
    fn executables_know_where_theirs_lie() {
        let flags = "!llvm.module.flags = !{!0}\n!0 = !{i32 8, !\"PIE Level\", i32 2}";
        let lines = check(&format!("{BODY}\n{flags}"), Style::Inline);
        assert!(places(&lines, "@__raddle_pin").is_empty());
        assert!(places(&lines, "@own").len() > 2);
    }
}
