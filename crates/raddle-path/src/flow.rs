//! Executes instructions between events: computations, branches, calls, slots.

use raddle_model::{Constant, Detail, Instruction, Opcode, Operand};

use crate::calls::{callee, normal_target};
use crate::compute::{self, ValueOf, unknown};
use crate::datum::Datum;
use crate::domain::{Branch, Domain, Stop};
use crate::follower::{Follower, Want};
use crate::layout::{self, bits};
use crate::slots::place_after;
use crate::value::Value;

impl<D: Domain> Follower<'_, D> {
    /// Executes instructions until one waits for something, or so many branches have been executed.
    pub(crate) fn run(&mut self, branches: Option<u64>) -> Result<Want, Stop<D::Refusal>> {
        loop {
            if branches.is_some_and(|branches| self.cursor >= branches) {
                return Ok(Want::Enough);
            }
            let frame = self.frames.last_mut();
            let current = frame.and_then(|frame| {
                let instruction = frame.current()?;
                Some((frame, instruction))
            });
            let Some((frame, instruction)) = current else {
                return Err(Stop::Lost("the code ends".to_owned()));
            };
            if frame.next_site < instruction.sites.end {
                return Ok(Want::Event);
            }
            match (instruction.opcode, &instruction.detail) {
                (Opcode::Br, Detail::Branch(targets)) => match targets[..] {
                    [target] => frame.jump(&mut self.domain, target),
                    [yes, no] => {
                        let condition = self.operand(instruction, 0);
                        let is_taken = self.decide(&condition)?;
                        if let Some(frame) = self.frames.last_mut() {
                            let target = if is_taken { yes } else { no };
                            frame.jump(&mut self.domain, target);
                        }
                    }
                    _ => return Err(Stop::Lost("a branch without targets".to_owned())),
                },
                (Opcode::Call | Opcode::Invoke, _) => {
                    if let Some(want) = self.call(instruction)? {
                        return Ok(want);
                    }
                }
                (Opcode::Alloca, _) => self.make_slot(instruction),
                (Opcode::Load, _) => self.load_slot(instruction),
                (Opcode::Store, _) => self.store_slot(instruction)?,
                (
                    Opcode::Ret
                    | Opcode::Switch
                    | Opcode::IndirectBr
                    | Opcode::Unreachable
                    | Opcode::Resume
                    | Opcode::CallBr
                    | Opcode::Rmw
                    | Opcode::CmpXchg,
                    _,
                ) => {
                    let what = instruction.opcode;
                    return Err(Stop::Lost(format!("a {what:?} without an event")));
                }
                _ => {
                    let result = frame.compute(&mut self.domain, instruction);
                    frame.finish(result);
                }
            }
        }
    }

    /// Which way a conditional branch goes.
    fn decide(&mut self, condition: &ValueOf<D>) -> Result<bool, Stop<D::Refusal>> {
        let number = self.cursor;
        // The last outcomes are missing if the program was killed; then the condition tells.
        let computed = condition.real().map(|bits| bits & 1 != 0);
        let recorded = self.outcomes.get(number).or(computed);
        let (Some(is_taken), Some(frame)) = (recorded.filter(|_| self.aligned), self.frames.last())
        else {
            return Err(Stop::Lost(
                "nothing tells which way a branch went".to_owned(),
            ));
        };
        if condition.is_same() {
            if computed.is_some_and(|it| it != is_taken) {
                return Err(Stop::Lost(format!(
                    "branch {number} should have gone the other way"
                )));
            }
            self.account.decided += u64::from(computed.is_some());
        } else {
            let branch = Branch {
                number,
                heading: self.heading,
                spot: frame.spot(),
                is_taken,
            };
            let branched = self.domain.branch(branch, condition);
            branched.map_err(Stop::Refused)?;
        }
        self.cursor += 1;
        self.account.branches += 1;
        Ok(is_taken)
    }

    /// A call all of whose events have come. What it waits for; none if it is done.
    fn call(&mut self, instruction: &Instruction) -> Result<Option<Want>, Stop<D::Refusal>> {
        let Some(frame) = self.frames.last() else {
            return Ok(None);
        };
        let Some(Operand::Constant(constant)) = callee(instruction) else {
            return Ok(Some(Want::Maybe));
        };
        let Some(Constant::Function(id)) = frame.module.constants.get(constant.index()) else {
            // Assembly, or an alias.
            return Ok(Some(Want::Maybe));
        };
        let Some(function) = frame.module.functions.get(id.index()) else {
            return Ok(Some(Want::Maybe));
        };
        let result = if function.linkage_name.starts_with("llvm.") {
            self.intrinsic(&function.linkage_name, instruction)?
        } else if function.instrumented {
            return Ok(Some(Want::Enter));
        } else if function.blocks.is_empty() {
            return Ok(Some(Want::Maybe));
        } else {
            // Defined here and without events: its result depends on its arguments alone.
            let values = self.operand_values(instruction);
            Datum::Scalar(unknown(&mut self.domain, &values))
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.finish_call(&mut self.domain, result, normal_target(instruction));
        }
        Ok(None)
    }

    /// An intrinsic without events.
    fn intrinsic(
        &mut self,
        name: &str,
        instruction: &Instruction,
    ) -> Result<Datum<D::Change>, Stop<D::Refusal>> {
        let values = self.operand_values(instruction);
        let Some(frame) = self.frames.last() else {
            return Ok(Datum::SAME);
        };
        if name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove") {
            if let [to, from, len, ..] = &values[..] {
                self.copy_slot(to, from, len)?;
            }
            return Ok(Datum::SAME);
        }
        if name.starts_with("llvm.memset") {
            if let [to, byte, len, ..] = &values[..] {
                let count = known_length(len)?;
                let bytes = vec![byte.clone(); count as usize];
                self.slots.write_bytes(to, &bytes);
            }
            return Ok(Datum::SAME);
        }
        let width = bits(frame.module, instruction.ty);
        Ok(compute::intrinsic(&mut self.domain, name, &values, width))
    }

    /// A copy into a slot.
    fn copy_slot(
        &mut self,
        to: &ValueOf<D>,
        from: &ValueOf<D>,
        len: &ValueOf<D>,
    ) -> Result<(), Stop<D::Refusal>> {
        let count = known_length(len)?;
        let read = self.frames.last().map(|frame| frame.pieces.clone());
        let read = read.filter(|bytes| bytes.len() as u64 == count && count > 0);
        let bytes = read.or_else(|| self.slots.read_bytes(from, count));
        let bytes = match bytes {
            Some(bytes) => bytes,
            None => {
                let byte = unknown(&mut self.domain, std::slice::from_ref(from));
                vec![byte; count as usize]
            }
        };
        self.slots.write_bytes(to, &bytes);
        Ok(())
    }

    fn make_slot(&mut self, instruction: &Instruction) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let size = match &instruction.detail {
            Detail::Alloca { ty, .. } => layout::size(frame.module, *ty),
            _ => 0,
        };
        let count = instruction.operands.first();
        let count = count.and_then(|&it| match frame.operand(it) {
            Datum::Scalar(count) => count.recorded,
            Datum::Parts(_) => None,
        });
        let count = count.map_or(1, |count| count as u64);
        let address = self.slots.allocate(size.saturating_mul(count));
        frame.finish(Datum::Scalar(address));
    }

    fn load_slot(&mut self, instruction: &Instruction) {
        let address = self.operand(instruction, 0);
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let places = layout::scalars(frame.module, instruction.ty);
        let mut places = places.unwrap_or_default().into_iter();
        let slots = &self.slots;
        let mut next = |domain: &mut D, _| {
            let (offset, bytes) = places.next()?;
            let place = place_after(domain, &address, offset);
            Some(slots.read(domain, &place, bytes))
        };
        let loaded = layout::build(&mut self.domain, frame.module, instruction.ty, &mut next);
        let loaded = loaded.unwrap_or_else(|| {
            // A vector, say: nothing is known of it but whether its bytes are the same.
            let info = frame.module.types.get(instruction.ty.index());
            let size = info.map_or(0, |info| info.store_size);
            let mut from = self.slots.read_bytes(&address, size).unwrap_or_default();
            from.push(address);
            Datum::Scalar(unknown(&mut self.domain, &from))
        });
        frame.finish(loaded);
    }

    fn store_slot(&mut self, instruction: &Instruction) -> Result<(), Stop<D::Refusal>> {
        let address = self.operand(instruction, 1);
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        let Some(&stored) = instruction.operands.first() else {
            return Err(Stop::Lost("a store without operands".to_owned()));
        };
        let value = frame.operand(stored);
        let ty = frame.operand_type(stored);
        let places = ty.and_then(|ty| layout::scalars(frame.module, ty));
        let mut leaves = Vec::new();
        value.leaves(&mut leaves);
        let domain = &mut self.domain;
        let mut is_known = true;
        match places.filter(|places| places.len() == leaves.len()) {
            Some(places) => {
                for ((offset, bytes), leaf) in places.into_iter().zip(leaves) {
                    let place = place_after(domain, &address, offset);
                    is_known &= self.slots.write(domain, &place, bytes, &leaf) || leaf.is_same();
                }
            }
            // A vector, say: nothing is known of its bytes but whether they are the same.
            None => {
                let info = ty.and_then(|ty| frame.module.types.get(ty.index()));
                let size = info.map_or(0, |info| info.store_size);
                let byte = unknown(domain, &leaves);
                let bytes = vec![byte.clone(); size as usize];
                is_known = self.slots.write_bytes(&address, &bytes) || byte.is_same();
            }
        }
        if !is_known {
            return Err(Stop::Lost("a store to an unknown place".to_owned()));
        }
        frame.finish(Datum::SAME);
        Ok(())
    }
}

fn known_length<C, R>(len: &Value<C>) -> Result<u64, Stop<R>> {
    /// Longest copy within slots that is followed.
    const MOST: u64 = 1 << 20;
    let known = len.recorded.filter(|_| len.is_same());
    let known = known.and_then(|len| u64::try_from(len).ok());
    known
        .filter(|&len| len <= MOST)
        .ok_or_else(|| Stop::Lost("a copy of unknown length".to_owned()))
}
