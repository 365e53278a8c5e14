//! A call that is being executed.

use std::collections::HashMap;

use raddle_model::{
    BlockId, Constant, ConstantId, Detail, Function, Instruction, InstructionId, Module, Opcode,
    Operand, Type, TypeId,
};
use raddle_trace::ids::Address;

use crate::compute::{self, DatumOf, unknown};
use crate::datum::Datum;
use crate::domain::{Domain, Spot};
use crate::layout::bits;
use crate::slots::Extent;
use crate::value::Value;

/// How a call was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// By the call that the frame below is at.
    Called,
    /// By code that is not traced.
    Outside,
}

/// A frame.
#[derive(Clone, Debug)]
pub(crate) struct Frame<'a, C> {
    pub(crate) module: &'a Module,
    pub(crate) function: &'a Function,
    pub(crate) address: Address,
    pub(crate) entry: Entry,
    pub(crate) block: BlockId,
    /// Number of the current instruction in its block.
    pub(crate) index: usize,
    pub(crate) arguments: Vec<Datum<C>>,
    pub(crate) registers: HashMap<u32, Datum<C>, rustc_hash::FxBuildHasher>,
    /// The slots that its callers have.
    pub(crate) below: Extent,
    /// Pieces of the current instruction's access or result that have been seen.
    pub(crate) pieces: Vec<Value<C>>,
    /// Number of the current instruction's next site.
    pub(crate) next_site: u32,
    /// What a call of another module's function returned.
    pub(crate) returned: Option<Datum<C>>,
    /// Why the frame cannot be followed, if it cannot.
    pub(crate) lost: Option<String>,
}

impl<'a, C: Clone> Frame<'a, C> {
    pub(crate) fn new(
        module: &'a Module,
        function: &'a Function,
        address: Address,
        entry: Entry,
        arguments: Vec<Datum<C>>,
        below: Extent,
    ) -> Self {
        let mut frame = Frame {
            module,
            function,
            address,
            entry,
            block: BlockId(0),
            index: 0,
            arguments,
            registers: HashMap::default(),
            below,
            pieces: Vec::new(),
            next_site: 0,
            returned: None,
            lost: None,
        };
        frame.settle();
        frame
    }

    /// The current instruction.
    pub(crate) fn current(&self) -> Option<&'a Instruction> {
        let block = self.function.blocks.get(self.block.index())?;
        block.instructions.get(self.index)
    }

    fn current_id(&self) -> Option<InstructionId> {
        let block = self.function.blocks.get(self.block.index())?;
        Some(InstructionId(block.first + self.index as u32))
    }

    /// The current instruction's place in the program.
    pub(crate) fn spot(&self) -> Spot<'a> {
        Spot {
            module: self.module,
            function: self.function,
            instruction: self.current_id().unwrap_or(InstructionId(u32::MAX)),
        }
    }

    /// Prepares for the current instruction's events.
    fn settle(&mut self) {
        self.pieces.clear();
        self.returned = None;
        self.next_site = self.current().map_or(0, |it| it.sites.start);
    }

    /// Goes on after the current instruction, which gave a result.
    pub(crate) fn finish(&mut self, result: Datum<C>) {
        if let Some(id) = self.current_id() {
            self.registers.insert(id.0, result);
        }
        self.index += 1;
        self.settle();
    }

    /// Goes on after the current instruction: an invoke in its normal target.
    pub(crate) fn finish_call<D: Domain<Change = C>>(
        &mut self,
        domain: &mut D,
        result: Datum<C>,
        target: Option<BlockId>,
    ) {
        match target {
            None => self.finish(result),
            Some(target) => {
                if let Some(id) = self.current_id() {
                    self.registers.insert(id.0, result);
                }
                self.jump(domain, target);
            }
        }
    }

    /// Goes on in another block, whose phis take their values at once.
    pub(crate) fn jump<D: Domain<Change = C>>(&mut self, domain: &mut D, target: BlockId) {
        let from = self.block;
        self.block = target;
        self.index = 0;
        let mut values = Vec::new();
        while let Some(phi) = self.current().filter(|at| at.opcode == Opcode::Phi) {
            let incoming = match &phi.detail {
                Detail::Phi(blocks) => blocks.iter().position(|&block| block == from),
                _ => None,
            };
            let operand = incoming.and_then(|place| phi.operands.get(place));
            let value = match operand {
                Some(&operand) => self.operand(operand),
                None => Datum::Scalar(unknown_of(domain)),
            };
            values.push((self.current_id(), value));
            self.index += 1;
        }
        for (id, value) in values {
            if let Some(id) = id {
                self.registers.insert(id.0, value);
            }
        }
        self.settle();
    }

    /// An operand's value.
    pub(crate) fn operand(&self, operand: Operand) -> Datum<C> {
        match operand {
            Operand::Instruction(id) => self.registers.get(&id.0).cloned().unwrap_or(Datum::SAME),
            Operand::Argument(index) => {
                let argument = self.arguments.get(index as usize);
                argument.cloned().unwrap_or(Datum::SAME)
            }
            Operand::Constant(id) => self.constant(id),
            Operand::Block(_) | Operand::Metadata => Datum::SAME,
        }
    }

    /// The values of an instruction's operands, in order.
    pub(crate) fn operands(&self, instruction: &Instruction) -> Vec<Datum<C>> {
        let operands = instruction.operands.iter();
        operands.map(|&operand| self.operand(operand)).collect()
    }

    /// The type of an operand.
    pub(crate) fn operand_type(&self, operand: Operand) -> Option<TypeId> {
        match operand {
            Operand::Instruction(id) => Some(self.function.instruction(id)?.ty),
            Operand::Argument(index) => Some(self.function.params.get(index as usize)?.ty),
            Operand::Constant(id) => constant_type(self.module, id),
            Operand::Block(_) | Operand::Metadata => None,
        }
    }

    /// The result of the current instruction, if it has no effects.
    pub(crate) fn compute<D: Domain<Change = C>>(
        &self,
        domain: &mut D,
        instruction: &Instruction,
    ) -> DatumOf<D> {
        let operands = self.operands(instruction);
        if let (Opcode::GetElementPtr, Detail::Address(source), [base, indices @ ..]) =
            (instruction.opcode, &instruction.detail, &operands[..])
        {
            let width = |&operand| {
                let ty = self.operand_type(operand);
                ty.and_then(|ty| bits(self.module, ty))
            };
            let widths = instruction.operands.iter().skip(1).map(width);
            let indices: Vec<_> = indices
                .iter()
                .map(|it| it.scalar(domain))
                .zip(widths)
                .collect();
            let base = base.scalar(domain);
            let address = compute::address(domain, self.module, *source, base, &indices);
            return Datum::Scalar(address);
        }
        let first = instruction.operands.first();
        let ty = first.and_then(|&operand| self.operand_type(operand));
        compute::result(domain, self.module, instruction, &operands, ty)
    }

    fn constant(&self, id: ConstantId) -> Datum<C> {
        let Some(constant) = self.module.constants.get(id.index()) else {
            return Datum::SAME;
        };
        match constant {
            Constant::Int(_, words) | Constant::Float(_, words) if words.len() <= 2 => {
                let numbered = words.iter().enumerate();
                let bits = numbered.fold(0, |all, (place, &word)| {
                    all | u128::from(word) << (64 * place)
                });
                Datum::Scalar(Value::known(bits))
            }
            Constant::Zero(ty) if bits(self.module, *ty).is_some() => {
                Datum::Scalar(Value::known(0))
            }
            Constant::Aggregate(ty, elements) if bits(self.module, *ty).is_none() => Datum::Parts(
                elements
                    .iter()
                    .map(|&element| self.constant(element))
                    .collect(),
            ),
            // Addresses of globals are not in the model; they are what they were.
            _ => Datum::SAME,
        }
    }
}

/// Something of which nothing is known.
pub(crate) fn unknown_of<D: Domain>(domain: &mut D) -> Value<D::Change> {
    Value {
        change: domain.unknown(&[]),
        ..unknown(domain, &[])
    }
}

fn constant_type(module: &Module, id: ConstantId) -> Option<TypeId> {
    match module.constants.get(id.index())? {
        Constant::Int(ty, _)
        | Constant::Float(ty, _)
        | Constant::Zero(ty)
        | Constant::Undef(ty)
        | Constant::Poison(ty)
        | Constant::Aggregate(ty, _)
        | Constant::Data(ty, _)
        | Constant::Expression { ty, .. }
        | Constant::Assembly(ty, _)
        | Constant::Other(ty, _) => Some(*ty),
        Constant::Global(_) | Constant::Function(_) => {
            let pointer = |info: &raddle_model::TypeInfo| matches!(info.ty, Type::Pointer(0));
            let place = module.types.iter().position(pointer)?;
            Some(TypeId(u32::try_from(place).ok()?))
        }
    }
}
