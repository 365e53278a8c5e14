//! Names for the memory that a site accesses.
//!
//! A site is shown at the innermost line of the user's own code that it was inlined into, so its name is made from the
//! variables of that function: `self.state`, not the `self` of the library function that was called with its address.

use std::collections::HashMap;

use raddle_model::{Name, Opcode, Text, is_language_file, is_library_file};

use super::debug::{Debug, DebugFrame};
use super::escape::derived_from;
use super::lvalue::{Lvalue, Named, Step};
use super::source_types::SourceTypes;
use crate::demangle;
use crate::llvm::{DebugVariable, Kind, Metadata, Module, NodeOperand, Value, ValueKind};

/// Longest chain of address computations and dereferences that is followed.
const MAX_STEPS: usize = 16;

/// Operands of a debug variable, local or global.
const NAME_OPERAND: usize = 1;
const TYPE_OPERAND: usize = 3;

/// Knows the debug variables of one function at a time.
pub(super) struct Namer<'m> {
    module: &'m Module,
    debug_kind: u32,
    types: SourceTypes<'m>,
    bindings: HashMap<Value<'m>, Vec<Binding<'m>>>,
    /// Of expressions; `None` for those that are not followed.
    expressions: HashMap<Metadata<'m>, Option<Expression>>,
}

/// What a value has to do with a variable.
struct Binding<'m> {
    /// The variable; none if the value is what a closure captured.
    variable: Option<Metadata<'m>>,
    /// Its type.
    ty: Option<Metadata<'m>>,
    /// The call of a function that the variable is local to.
    frame: DebugFrame<'m>,
    /// From the value to the variable's address, unless the value is the variable's content.
    to_address: Option<Vec<Step>>,
    /// Where in the variable the content belongs.
    part: i64,
}

/// How well a variable serves to name memory; the least is the best.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Calls between the function that is shown and the variable's.
    distance: usize,
    /// Its type does not say what the memory is, as that of a `void *` argument.
    is_untyped: bool,
    /// It only refers to the memory, as the guard of a lock does.
    is_handle: bool,
}

/// How a variable is computed from a value.
#[derive(Clone)]
struct Expression {
    steps: Vec<Step>,
    /// It is the content that is computed, whatever the kind of the record.
    is_content: bool,
    /// Bytes before the part of the variable that is meant.
    part: i64,
}

impl<'m> Namer<'m> {
    pub(super) fn new(module: &'m Module) -> Namer<'m> {
        Namer {
            module,
            debug_kind: module.metadata_kind("dbg"),
            types: SourceTypes::new(module),
            bindings: HashMap::new(),
            expressions: HashMap::new(),
        }
    }

    /// Learns the variables of a function.
    pub(super) fn enter(&mut self, function: Value<'m>, debug: &mut Debug<'m>) {
        self.bindings.clear();
        self.bind_captures(function, debug);
        for instruction in function.blocks().flat_map(|block| block.instructions()) {
            for record in instruction.debug_variables() {
                let known = self.bindings.entry(record.value).or_default();
                // A variable is recorded again wherever it gets the same value.
                let is_new = known.iter().all(|it| it.variable != Some(record.variable));
                if let Some(frame) = debug.frame(record.location).filter(|_| is_new) {
                    let binding = self.binding(record, frame);
                    self.bindings
                        .entry(record.value)
                        .or_default()
                        .extend(binding);
                }
            }
        }
    }

    fn binding(&mut self, record: DebugVariable<'m>, frame: DebugFrame<'m>) -> Option<Binding<'m>> {
        let module = self.module;
        let expression = self
            .expressions
            .entry(record.expression)
            .or_insert_with(|| parse(&module.print_node(record.expression)));
        let Expression {
            mut steps,
            is_content,
            part,
        } = expression.clone()?;
        let to_address = if record.is_declaration {
            Some(steps)
        } else if is_content || steps.is_empty() {
            steps.is_empty().then_some(None)?
        } else if steps.pop() == Some(Step::Load) {
            Some(steps)
        } else {
            return None;
        };
        Some(Binding {
            variable: Some(record.variable),
            ty: self.node_operand(record.variable, TYPE_OPERAND),
            frame,
            to_address,
            part,
        })
    }

    /// What so many bytes at an address, or an unknown number of them, are called where the instruction that accesses
    /// them is shown.
    pub(super) fn name(
        &self,
        address: Value<'m>,
        size: Option<u64>,
        at: Option<Value<'m>>,
        debug: &mut Debug<'m>,
    ) -> Option<Name> {
        let frames = debug.frames(at);
        let shown = shown_frame(&frames, debug);
        let is_language = frames
            .get(shown)
            .is_some_and(|it| is_language_file(&debug.file_of(*it)));
        let mut best: Option<(Rank, Named)> = None;
        let mut steps: Vec<Step> = Vec::new();
        let mut value = address;
        for _ in 0..MAX_STEPS {
            if value.kind() == ValueKind::Global {
                let (name, ty) = self.global(value);
                let lvalue = Lvalue::variable(&self.types, &name, ty);
                return Some(found(lvalue.walk(steps).name(size), true));
            }
            // A part of a global variable has its name, whatever points to it here.
            let is_part = value.kind() == ValueKind::ConstantExpr;
            let bindings = self.bindings.get(&value).filter(|_| !is_part);
            for binding in bindings.into_iter().flatten() {
                // Variables of functions that were inlined into the one that is shown mean nothing there; nor do those
                // of the languages' own libraries anywhere.
                let distance = match frames.iter().position(|it| *it == binding.frame) {
                    Some(at) => at.checked_sub(shown).filter(|_| !is_language),
                    None => frames.is_empty().then_some(0),
                };
                if let Some(distance) = distance
                    && let Some(name) = self.bound_name(binding, &steps, size)
                {
                    let rank = Rank {
                        distance,
                        is_untyped: !name.is_typed,
                        is_handle: name.is_handle,
                    };
                    if best.as_ref().is_none_or(|best| rank < best.0) {
                        best = Some((rank, name));
                    }
                }
            }
            if best.as_ref().is_some_and(|best| best.0 == Rank::default()) {
                break;
            }
            if value.is(Opcode::Load) {
                steps.insert(0, Step::Load);
                value = value.operand(0);
                continue;
            }
            let Some([base]) = derived_from(value)
                .as_deref()
                .map(<[_; 1]>::try_from)
                .and_then(Result::ok)
            else {
                break;
            };
            steps.splice(0..0, self.steps(value));
            value = base;
        }
        best.map(|(_, name)| found(name, false))
    }

    /// Optimisation leaves nothing of the variables of a closure that is called by a pointer to what it captured.
    fn bind_captures(&mut self, function: Value<'m>, debug: &Debug<'m>) {
        let captures = function
            .subprogram()
            .and_then(|it| Some((it, self.types.captures(it)?)));
        let is_pointer = |it: &Value<'m>| it.ty().kind() == Kind::Pointer;
        let argument = function.params().next().filter(is_pointer);
        if let (Some((subprogram, ty)), Some(argument)) = (captures, argument) {
            let binding = Binding {
                variable: None,
                ty: Some(ty),
                frame: debug.outermost_frame(subprogram),
                to_address: None,
                part: 0,
            };
            self.bindings.insert(argument, vec![binding]);
        }
    }

    fn bound_name(
        &self,
        binding: &Binding<'m>,
        steps: &[Step],
        size: Option<u64>,
    ) -> Option<Named> {
        let name = match binding.variable {
            Some(variable) => self.variable_name(variable)?,
            None => String::new(),
        };
        let lvalue = Lvalue::variable(&self.types, &name, binding.ty);
        let lvalue = lvalue.walk([Step::Offset(binding.part)]);
        let lvalue = match &binding.to_address {
            None => lvalue.walk([Step::Load]).walk(steps.iter().copied()),
            Some(before) => {
                let most = binding.ty.map_or(0, |ty| self.types.size(ty));
                lvalue.walk(rest(before, steps, most)?)
            }
        };
        let name = lvalue.name(size);
        let is_something = !name.text.trim_start_matches('*').is_empty();
        is_something.then_some(name)
    }

    fn variable_name(&self, variable: Metadata<'m>) -> Option<String> {
        let operands = self.module.node_operands(variable);
        match operands.into_iter().nth(NAME_OPERAND) {
            Some(NodeOperand::Text(name)) if !name.is_empty() => Some(name),
            _ => None,
        }
    }

    fn node_operand(&self, node: Metadata<'m>, index: usize) -> Option<Metadata<'m>> {
        match self.module.node_operands(node).get(index) {
            Some(NodeOperand::Node(operand)) => Some(*operand),
            _ => None,
        }
    }

    /// A global's name and type.
    fn global(&self, global: Value<'m>) -> (String, Option<Metadata<'m>>) {
        let expression = global.metadata(self.debug_kind);
        let variable = expression.and_then(|it| self.node_operand(it, 0));
        let name = variable.and_then(|it| self.variable_name(it));
        (
            name.unwrap_or_else(|| demangle::readable(&global.name())),
            variable.and_then(|it| self.node_operand(it, TYPE_OPERAND)),
        )
    }

    /// The steps of an address computation.
    fn steps(&self, value: Value<'m>) -> Vec<Step> {
        let opcode = match value.kind() {
            ValueKind::ConstantExpr => value.expression_opcode(),
            _ => value.opcode(),
        };
        if opcode != Some(Opcode::GetElementPtr) {
            return Vec::new();
        }
        let layout = self.module.layout();
        let mut steps = Vec::new();
        let mut ty = value.gep_source();
        for (at, index) in value.operands().skip(1).enumerate() {
            if at > 0 && ty.kind() == Kind::Struct {
                let field = index.as_int().and_then(|it| u32::try_from(it).ok());
                let fields = ty.fields();
                let Some((field, inner)) =
                    field.and_then(|it| Some((it, *fields.get(it as usize)?)))
                else {
                    return steps;
                };
                steps.push(Step::Offset(layout.offset(ty, field).cast_signed()));
                ty = inner;
                continue;
            }
            if at > 0 {
                ty = ty.element();
            }
            let stride = layout.alloc_size(ty);
            steps.push(match constant(index) {
                Some(number) => Step::Offset(number.wrapping_mul(stride.cast_signed())),
                None => Step::Index(stride),
            });
        }
        steps
    }
}

/// A name as models have it.
fn found(name: Named, is_global: bool) -> Name {
    Name {
        text: name.text.into(),
        owner: name.owner,
        is_global,
    }
}

/// An integer constant, with its sign.
fn constant(index: Value<'_>) -> Option<i64> {
    let width = index.as_int().map(|_| index.ty().int_width())?;
    let unused = 64 - width.min(64);
    Some((index.as_int()?.cast_signed() << unused) >> unused)
}

/// The frame that a site is shown at: the user's innermost, else that of a package, else the innermost.
fn shown_frame<'m>(frames: &[DebugFrame<'m>], debug: &mut Debug<'m>) -> usize {
    let files: Vec<Text> = frames.iter().map(|it| debug.file_of(*it)).collect();
    let own = files.iter().position(|it| !is_library_file(it));
    own.or_else(|| files.iter().position(|it| !is_language_file(it)))
        .unwrap_or(0)
}

/// The steps from a variable's address on, if `steps` lead there first by way of `before`.
fn rest(before: &[Step], steps: &[Step], size: u64) -> Option<Vec<Step>> {
    let (before, steps) = (summed(before), summed(steps));
    let Some((last, most)) = before.split_last() else {
        let is_inside = |it: &i64| size == 0 || u64::try_from(*it).is_ok_and(|it| it < size);
        return match steps.first() {
            Some(Step::Offset(offset)) if !is_inside(offset) => None,
            _ => Some(steps),
        };
    };
    let rest = steps.strip_prefix(most)?;
    match (last, rest) {
        (Step::Offset(start), [Step::Offset(offset), rest @ ..]) => {
            let inside = u64::try_from(offset - start).ok()?;
            let first = Step::Offset(offset - start);
            (inside < size).then(|| [&[first], rest].concat())
        }
        (last, [first, rest @ ..]) if last == first => Some(rest.to_vec()),
        _ => None,
    }
}

/// The same steps, with one offset for several and none that is 0.
fn summed(steps: &[Step]) -> Vec<Step> {
    let mut summed: Vec<Step> = Vec::new();
    for step in steps {
        match (summed.last_mut(), step) {
            (Some(Step::Offset(sum)), Step::Offset(bytes)) => *sum = sum.wrapping_add(*bytes),
            _ => summed.push(*step),
        }
    }
    summed.retain(|it| *it != Step::Offset(0));
    summed
}

/// Reads `!DIExpression(DW_OP_plus_uconst, 8, DW_OP_deref)`; `None` if it does anything but add and load.
fn parse(text: &str) -> Option<Expression> {
    let inner = text.split_once('(')?.1.strip_suffix(')')?;
    let mut words = inner.split(", ").filter(|it| !it.is_empty());
    let mut expression = Expression {
        steps: Vec::new(),
        is_content: false,
        part: 0,
    };
    while let Some(word) = words.next() {
        let mut number = || words.next()?.parse::<i64>().ok();
        match word {
            "DW_OP_plus_uconst" => expression.steps.push(Step::Offset(number()?)),
            "DW_OP_deref" => expression.steps.push(Step::Load),
            "DW_OP_stack_value" => expression.is_content = true,
            "DW_OP_LLVM_fragment" => {
                expression.part = number()? / 8;
                number()?;
            }
            _ => return None,
        }
    }
    Some(expression)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read_as_steps() {
        let steps = |text: &str| parse(text).map(|it| (it.steps, it.is_content, it.part));
        assert_eq!(steps("!DIExpression()"), Some((vec![], false, 0)));
        assert_eq!(
            steps("!DIExpression(DW_OP_plus_uconst, 8, DW_OP_deref)"),
            Some((vec![Step::Offset(8), Step::Load], false, 0))
        );
        assert_eq!(
            steps("!DIExpression(DW_OP_stack_value, DW_OP_LLVM_fragment, 64, 32)"),
            Some((vec![], true, 8))
        );
        assert_eq!(steps("!DIExpression(DW_OP_LLVM_arg, 0, DW_OP_neg)"), None);
    }

    #[test]
    fn a_captured_variable_is_found_behind_its_steps() {
        use Step::{Load, Offset};
        let captured = [Offset(8), Load];
        assert_eq!(
            rest(&captured, &[Offset(8), Load, Offset(4)], 16),
            Some(vec![Offset(4)])
        );
        assert_eq!(rest(&captured, &[Offset(0), Load], 16), None);
        let moved = [Offset(8)];
        assert_eq!(
            rest(&moved, &[Offset(4), Offset(12)], 16),
            Some(vec![Offset(8)])
        );
        assert_eq!(rest(&moved, &[Offset(32)], 16), None);
        assert_eq!(rest(&[], &[Offset(8)], 16), Some(vec![Offset(8)]));
        assert_eq!(rest(&[], &[Offset(32)], 16), None, "another variable's");
    }
}
