//! Finds out what the instructions of inline assembly access, from the operands of its call.

use raddle_trace::wire::Ordering;

use super::Address;
use super::constraints::{self, Constraint, Passed};
use super::meaning::{self, Effect, Verb};
use super::place::{Place, Term};
use super::template::{self, Dialect, Instruction, Operand};
use crate::llvm::{Kind, Layout, Value};

/// What an instruction does, once its operands are known.
pub(super) enum Step<'m> {
    Fence(Ordering),
    Access(Address<'m>, Effect, u64),
    Range(Address<'m>, Effect, u64, Option<Value<'m>>),
}

/// Reads the assembly of one call.
pub(super) struct Reader<'m> {
    call: Value<'m>,
    layout: Layout<'m>,
    args: Vec<Value<'m>>,
    constraints: Vec<Constraint>,
    steps: Vec<Step<'m>>,
}

impl<'m> Reader<'m> {
    pub(super) fn new(call: Value<'m>, layout: Layout<'m>) -> Reader<'m> {
        Reader {
            call,
            layout,
            args: call.args(),
            constraints: constraints::parse(&call.callee().constraints()),
            steps: Vec::new(),
        }
    }

    /// The steps in order, and what the assembly is given in the register whose content a compare-exchange expects.
    pub(super) fn read(mut self, dialect: Dialect) -> (Vec<Step<'m>>, Option<Value<'m>>) {
        let instructions = template::parse(&self.call.callee().assembly(), dialect);
        for instruction in &instructions {
            self.read_instruction(instruction);
        }
        self.read_unnamed(&instructions);
        let expected = self.in_register("rax");
        (self.steps, expected)
    }

    fn read_instruction(&mut self, instruction: &Instruction) {
        let found = meaning::meaning(&instruction.name, instruction.operands.len());
        match found.verb {
            Verb::Fence(order) => self.steps.push(Step::Fence(order)),
            Verb::String { source, target } => {
                self.read_string(instruction, source, target, found.bytes.unwrap_or(1));
            }
            _ => self.read_operands(instruction, found),
        }
    }

    fn read_operands(&mut self, instruction: &Instruction, found: meaning::Meaning) {
        let is_in_memory = |it: &Operand| matches!(it, Operand::Memory(_));
        let exchanges =
            found.verb == Verb::Exchange && instruction.operands.iter().any(is_in_memory);
        let mut is_accounted_for = !(instruction.is_locked || exchanges);
        for (at, operand) in instruction.operands.iter().enumerate() {
            let Some((address, stated)) = self.address_of(operand) else {
                continue;
            };
            let (is_input, is_output) = self.promises(address);
            let is_registered = !(is_input || is_output);
            let Some(effect) = instruction.effect(at, is_input, is_output) else {
                continue;
            };
            if is_registered && instruction.is_conditional {
                continue;
            }
            is_accounted_for = true;
            let beside = found.is_even.then(|| self.width_beside(instruction, at));
            let bytes = stated
                .or(found.bytes)
                .or(beside.flatten())
                .or_else(|| self.pointee_size(address))
                .unwrap_or(1);
            self.add(address, effect, bytes);
        }
        // A locked instruction on a place that is not known or of no interest, such as the top of the stack.
        if !is_accounted_for {
            self.steps.push(Step::Fence(Ordering::SeqCst));
        }
    }

    fn read_string(
        &mut self,
        instruction: &Instruction,
        source: bool,
        target: Option<Effect>,
        bytes: u64,
    ) {
        let count = instruction.is_repeated.then(|| self.in_register("rcx"));
        let count = match count {
            Some(None) => return,
            Some(count) => count,
            None => None,
        };
        if instruction.is_conditional {
            return;
        }
        let source = source.then_some(("rsi", Effect::Read));
        let target = target.map(|effect| ("rdi", effect));
        for (register, effect) in source.into_iter().chain(target) {
            if let Some(base) = self.in_register(register) {
                let address = Address::at(base);
                self.steps.push(Step::Range(address, effect, bytes, count));
            }
        }
    }

    /// Operands in memory that the text does not name: if it does anything, it reaches them in some other way.
    fn read_unnamed(&mut self, instructions: &[Instruction]) {
        let does_something = instructions.iter().any(|it| {
            let verb = meaning::meaning(&it.name, it.operands.len()).verb;
            !matches!(verb, Verb::Idle | Verb::Fence(_))
        });
        if !does_something {
            return;
        }
        for number in 0..self.constraints.len() {
            let Some(address) = self.indirect(number) else {
                continue;
            };
            let is_base = |at: Address<'m>| at.base == address.base;
            let is_known = self.steps.iter().any(|step| match step {
                Step::Fence(_) => false,
                Step::Access(at, ..) | Step::Range(at, ..) => is_base(*at),
            });
            let mut operands = instructions.iter().flat_map(|it| &it.operands);
            let is_named = operands.any(|it| self.address_of(it).is_some_and(|it| is_base(it.0)));
            if is_known || is_named {
                continue;
            }
            let effect = match self.promises(address) {
                (true, true) => Effect::Rmw,
                (false, true) => Effect::Write,
                _ => Effect::Read,
            };
            if let Some(bytes) = self.pointee_size(address) {
                self.add(address, effect, bytes);
            }
        }
    }

    /// Adds an access; all to one place become one.
    fn add(&mut self, address: Address<'m>, effect: Effect, bytes: u64) {
        let before = self.steps.iter_mut().find_map(|step| match step {
            Step::Access(at, effect, bytes) if *at == address => Some((effect, bytes)),
            _ => None,
        });
        match before {
            Some((earlier, width)) => {
                *earlier = earlier.with(effect);
                *width = bytes.max(*width);
            }
            None => self.steps.push(Step::Access(address, effect, bytes)),
        }
    }

    /// The address of an operand that is in memory, and its width if the text has it.
    fn address_of(&self, operand: &Operand) -> Option<(Address<'m>, Option<u64>)> {
        match operand {
            Operand::Numbered {
                number,
                modifier,
                offset,
                bytes,
            } => {
                // A register may be written out as the address that it holds.
                let held = || self.term(Term::Numbered(*number)).map(Address::at);
                let is_held = *modifier == Some('a');
                let indirect = self.indirect(*number);
                let mut address = indirect.or_else(|| is_held.then(held).flatten())?;
                address.offset = *offset;
                Some((address, *bytes))
            }
            Operand::Memory(place) => Some((self.resolve(place)?, place.bytes)),
            Operand::Register(_) | Operand::Other => None,
        }
    }

    /// The address of a numbered operand that is handed over by its address.
    fn indirect(&self, number: usize) -> Option<Address<'m>> {
        let constraint = self.constraints.get(number).filter(|it| it.is_indirect)?;
        match constraint.passed {
            Passed::Argument(argument) => Some(Address::at(*self.args.get(argument)?)),
            Passed::Result(_) => None,
        }
    }

    /// An address that the text computes from registers.
    fn resolve(&self, place: &Place) -> Option<Address<'m>> {
        if place.is_unknown {
            return None;
        }
        let mut offset = place.offset;
        let mut symbol = None;
        for &addend in &place.addends {
            let value = self.value(addend)?;
            match value.as_int() {
                Some(number) => offset = offset.wrapping_add(number as i64),
                None if symbol.is_none() && value.ty().kind() == Kind::Pointer => {
                    symbol = Some(value);
                }
                None => return None,
            }
        }
        let base = match (place.base, symbol) {
            (None | Some(Term::Register("rip")), Some(symbol)) => symbol,
            (Some(term), None) => self.term(term)?,
            _ => return None,
        };
        let index = match place.index {
            Some((term, scale)) => Some((self.term(term)?, scale)),
            None => None,
        };
        Some(Address {
            base,
            index,
            offset,
        })
    }

    /// A register's content as the assembly starts, if it is as wide as an address.
    fn term(&self, term: Term) -> Option<Value<'m>> {
        let value = match term {
            Term::Numbered(number) => self.value(number),
            Term::Register(name) => self.in_register(name),
        };
        value.filter(|value| match value.ty().kind() {
            Kind::Pointer => value.ty().address_space() == 0,
            Kind::Integer => value.ty().int_width() == 64,
            _ => false,
        })
    }

    /// The value of a numbered operand as the assembly starts; of an output, that of the input it is tied to.
    fn value(&self, number: usize) -> Option<Value<'m>> {
        let constraint = self.constraints.get(number).filter(|it| !it.is_indirect)?;
        match constraint.passed {
            Passed::Argument(argument) => self.args.get(argument).copied(),
            Passed::Result(_) => {
                let tied = self.constraints.iter().find(|it| it.tied == Some(number))?;
                match tied.passed {
                    Passed::Argument(argument) => self.args.get(argument).copied(),
                    Passed::Result(_) => None,
                }
            }
        }
    }

    /// The value that is handed over in a named register.
    fn in_register(&self, name: &str) -> Option<Value<'m>> {
        let is_it = |at: &Constraint| at.register.is_some_and(|it| it.whole == name);
        self.constraints.iter().enumerate().find_map(|(at, it)| {
            let is_tied = it.tied.and_then(|tied| self.constraints.get(tied));
            let is_it = !it.is_output && (is_it(it) || is_tied.is_some_and(is_it));
            is_it.then(|| self.value(at)).flatten()
        })
    }

    /// Whether the constraints name an address as read, and as written.
    fn promises(&self, address: Address<'m>) -> (bool, bool) {
        let mut found = (false, false);
        for (number, constraint) in self.constraints.iter().enumerate() {
            if self
                .indirect(number)
                .is_some_and(|it| it.base == address.base)
            {
                found.0 |= !constraint.is_output;
                found.1 |= constraint.is_output;
            }
        }
        found
    }

    /// Bytes of a register that stands beside the operand at a place.
    fn width_beside(&self, instruction: &Instruction, place: usize) -> Option<u64> {
        let others = instruction.operands.iter().enumerate();
        let others = others.filter(|(at, _)| *at != place).map(|(_, it)| it);
        others.filter_map(|it| self.register_width(it)).next()
    }

    fn register_width(&self, operand: &Operand) -> Option<u64> {
        let (number, modifier) = match operand {
            Operand::Register(bytes) => return Some(*bytes),
            Operand::Numbered {
                number, modifier, ..
            } => (*number, *modifier),
            _ => return None,
        };
        match modifier {
            Some('b' | 'h') => return Some(1),
            Some('w') => return Some(2),
            Some('k') => return Some(4),
            Some('q') => return Some(8),
            Some('x') => return Some(16),
            Some('t') => return Some(32),
            Some('g') => return Some(64),
            _ => {}
        }
        let constraint = self.constraints.get(number).filter(|it| !it.is_indirect)?;
        let ty = match constraint.passed {
            Passed::Argument(argument) => self.args.get(argument)?.ty(),
            Passed::Result(field) => match self.call.ty().kind() {
                Kind::Struct => *self.call.ty().fields().get(field as usize)?,
                _ => self.call.ty(),
            },
        };
        let value = matches!(constraint.passed, Passed::Argument(_));
        // A constant is no register, and its type says little.
        let is_constant = value && self.value(number)?.as_int().is_some();
        (ty.is_sized() && !is_constant).then(|| self.layout.store_size(ty))
    }

    /// Bytes of what an address that is handed over points to.
    fn pointee_size(&self, address: Address<'m>) -> Option<u64> {
        let is_it = |number: &usize| {
            self.indirect(*number)
                .is_some_and(|it| it.base == address.base)
        };
        let constraint = &self.constraints[(0..self.constraints.len()).find(is_it)?];
        let Passed::Argument(argument) = constraint.passed else {
            return None;
        };
        let ty = self.call.pointee(argument).filter(|ty| ty.is_sized())?;
        Some(self.layout.store_size(ty)).filter(|bytes| *bytes > 0)
    }
}
