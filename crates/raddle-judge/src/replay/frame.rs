//! A call that is being executed again.

use raddle_model::{
    BlockId, Constant, ConstantId, Function, Instruction, InstructionId, Module, Opcode, Operand,
    TypeId,
};
use raddle_trace::ids::Address;

use super::compute;
use super::layout::bits;
use super::private::Extent;
use super::value::{Datum, Value};
use crate::table::Table;

/// How a call was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// By the call that the frame below is at.
    Called,
    /// By code that is not traced.
    Outside,
}

/// A frame.
#[derive(Clone, Debug)]
pub(super) struct Frame<'a> {
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    pub(super) address: Address,
    pub(super) entry: Entry,
    pub(super) block: BlockId,
    /// Number of the current instruction in its block.
    pub(super) index: usize,
    /// The block before, for phis.
    pub(super) from: Option<BlockId>,
    pub(super) arguments: Vec<Datum>,
    pub(super) registers: Table<u32, Datum>,
    /// Private memory that its callers have.
    pub(super) below: Extent,
    /// Pieces of the current instruction's access or result that have been seen.
    pub(super) pieces: Vec<Value>,
    /// Number of the current instruction's next site.
    pub(super) next_site: u32,
    /// What a call of another module's function returned.
    pub(super) returned: Option<Datum>,
    /// Why the frame cannot be followed, if it cannot.
    pub(super) lost: Option<String>,
}

impl<'a> Frame<'a> {
    pub(super) fn new(
        module: &'a Module,
        function: &'a Function,
        address: Address,
        entry: Entry,
        arguments: Vec<Datum>,
        below: Extent,
    ) -> Frame<'a> {
        let mut frame = Frame {
            module,
            function,
            address,
            entry,
            block: BlockId(0),
            index: 0,
            from: None,
            arguments,
            registers: Table::default(),
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
    pub(super) fn current(&self) -> Option<&'a Instruction> {
        let block = self.function.blocks.get(self.block.index())?;
        block.instructions.get(self.index)
    }

    fn current_id(&self) -> Option<InstructionId> {
        let block = self.function.blocks.get(self.block.index())?;
        Some(InstructionId(block.first + self.index as u32))
    }

    /// Prepares for the current instruction's events.
    fn settle(&mut self) {
        self.pieces.clear();
        self.returned = None;
        self.next_site = self
            .current()
            .map_or(0, |instruction| instruction.sites.start);
    }

    /// Goes on behind the current instruction, which gave a result.
    pub(super) fn finish(&mut self, result: Datum) {
        if let Some(id) = self.current_id() {
            self.registers.insert(id.0, result);
        }
        self.index += 1;
        self.settle();
    }

    /// Goes on behind the current instruction: an invoke in its normal target.
    pub(super) fn finish_call(&mut self, result: Datum, target: Option<BlockId>) {
        match target {
            None => self.finish(result),
            Some(target) => {
                if let Some(id) = self.current_id() {
                    self.registers.insert(id.0, result);
                }
                self.jump(target);
            }
        }
    }

    /// Goes on in another block, whose phis take their values at once.
    pub(super) fn jump(&mut self, target: BlockId) {
        let from = self.block;
        self.from = Some(from);
        self.block = target;
        self.index = 0;
        let mut values = Vec::new();
        while let Some(phi) = self.current().filter(|at| at.opcode == Opcode::Phi) {
            let incoming = match &phi.detail {
                raddle_model::Detail::Phi(blocks) => blocks.iter().position(|&block| block == from),
                _ => None,
            };
            let operand = incoming.and_then(|place| phi.operands.get(place));
            let value = operand.map_or(Datum::LOST, |&operand| self.operand(operand));
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
    pub(super) fn operand(&self, operand: Operand) -> Datum {
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
    pub(super) fn operands(&self, instruction: &Instruction) -> Vec<Datum> {
        let operands = instruction.operands.iter();
        operands.map(|&operand| self.operand(operand)).collect()
    }

    /// The type of an operand.
    pub(super) fn operand_type(&self, operand: Operand) -> Option<TypeId> {
        match operand {
            Operand::Instruction(id) => Some(self.function.instruction(id)?.ty),
            Operand::Argument(index) => Some(self.function.params.get(index as usize)?.ty),
            Operand::Constant(id) => constant_type(self.module, id),
            Operand::Block(_) | Operand::Metadata => None,
        }
    }

    /// The result of the current instruction, if it has no effects.
    pub(super) fn compute(&self, instruction: &Instruction) -> Datum {
        let mut operands = self.operands(instruction);
        if instruction.opcode == Opcode::GetElementPtr {
            for (datum, &operand) in operands.iter_mut().zip(&instruction.operands).skip(1) {
                let width = self
                    .operand_type(operand)
                    .and_then(|ty| bits(self.module, ty));
                *datum = Datum::Scalar(compute::extend(datum.scalar(), width));
            }
        }
        let first = instruction.operands.first();
        let ty = first.and_then(|&operand| self.operand_type(operand));
        compute::result(self.module, instruction, &operands, ty)
    }

    fn constant(&self, id: ConstantId) -> Datum {
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
            let pointer =
                |info: &raddle_model::TypeInfo| matches!(info.ty, raddle_model::Type::Pointer(0));
            let place = module.types.iter().position(pointer)?;
            Some(TypeId(u32::try_from(place).ok()?))
        }
    }
}
