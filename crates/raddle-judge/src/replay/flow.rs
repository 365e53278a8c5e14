//! Executes instructions between events: computations, branches, calls, private memory.

use raddle_model::{Constant, Detail, Instruction, Opcode, Operand};

use super::compute;
use super::executor::{Replayer, Stop, Want, callee, normal_target};
use super::layout::{self, bits};
use super::value::{Datum, Value};
use crate::objection::Objection;

impl Replayer<'_, '_> {
    /// Executes instructions until one waits for something, or so many branches have been executed.
    pub(super) fn run(&mut self, branches: Option<u64>) -> Result<Want, Stop> {
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
                    [target] => frame.jump(target),
                    [yes, no] => {
                        let condition = instruction.operands.first().copied();
                        let condition = condition.map_or(Datum::LOST, |it| frame.operand(it));
                        let taken = self.decide(condition.scalar(), instruction)?;
                        if let Some(frame) = self.frames.last_mut() {
                            frame.jump(if taken { yes } else { no });
                        }
                    }
                    _ => return Err(Stop::Lost("a branch without targets".to_owned())),
                },
                (Opcode::Call | Opcode::Invoke, _) => {
                    if let Some(want) = self.call(instruction)? {
                        return Ok(want);
                    }
                }
                (Opcode::Alloca | Opcode::Load | Opcode::Store, _) => {
                    self.private_access(instruction)?;
                }
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
                    let result = frame.compute(instruction);
                    frame.finish(result);
                }
            }
        }
    }

    /// Which way a conditional branch goes.
    fn decide(&mut self, condition: Value, instruction: &Instruction) -> Result<bool, Stop> {
        let branch = self.cursor;
        let is_taken = |bits: u128| bits & 1 != 0;
        // The last outcomes are missing if the program was killed; then the condition tells.
        let then = condition.old.filter(|_| !condition.fake).map(is_taken);
        let recorded = self.outcomes.get(branch).or(then);
        let Some(recorded) = recorded.filter(|_| self.aligned) else {
            return Err(Stop::Lost(
                "nothing tells which way a branch went".to_owned(),
            ));
        };
        let computed = condition.new.filter(|_| !condition.fake).map(is_taken);
        match (condition.same, computed) {
            (true, Some(now)) if now != recorded => {
                return Err(Stop::Lost(format!(
                    "branch {branch} should have gone the other way"
                )));
            }
            (true, now) => self.rehearsal.decided += u64::from(now.is_some()),
            (false, Some(now)) if now == recorded => {}
            (false, Some(_)) => {
                return Err(Stop::Refused(Objection::BranchDiffers {
                    thread: self.thread_name(),
                    branch,
                    position: self.position(instruction),
                    event: self.recording.name(self.heading),
                }));
            }
            (false, None) => {
                return Err(Stop::Refused(Objection::Undecided {
                    event: self.recording.name(self.heading),
                    why: format!("branch {branch} ({})", self.position(instruction)),
                }));
            }
        }
        self.cursor += 1;
        self.rehearsal.branches += 1;
        Ok(recorded)
    }

    /// Where an instruction stands in the source.
    pub(super) fn position(&self, instruction: &Instruction) -> String {
        let frame = self.frames.last();
        let found = frame.and_then(|frame| {
            let mut frames = frame.module.frames(instruction.position?);
            frames.next()
        });
        found.map_or_else(
            || "source unknown".to_owned(),
            |found| {
                let file = found.file.rsplit('/').next().unwrap_or_default();
                format!("{file}:{}:{}", found.line, found.column)
            },
        )
    }

    /// A call all of whose events have come. What it waits for; `None` if it is done.
    fn call(&mut self, instruction: &Instruction) -> Result<Option<Want>, Stop> {
        let Some(frame) = self.frames.last_mut() else {
            return Ok(None);
        };
        let target = normal_target(instruction);
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
        if function.linkage_name.starts_with("llvm.") {
            let result = self.intrinsic(&function.linkage_name, instruction)?;
            if let Some(frame) = self.frames.last_mut() {
                frame.finish_call(result, target);
            }
            return Ok(None);
        }
        if function.instrumented {
            return Ok(Some(Want::Enter));
        }
        if function.blocks.is_empty() {
            return Ok(Some(Want::Maybe));
        }
        // Defined here and without events: its result depends on its arguments alone.
        let values: Vec<Value> = frame
            .operands(instruction)
            .iter()
            .map(Datum::scalar)
            .collect();
        let result = compute::unknown(&values);
        frame.finish_call(result, target);
        Ok(None)
    }

    /// An intrinsic without events.
    fn intrinsic(&mut self, name: &str, instruction: &Instruction) -> Result<Datum, Stop> {
        let Some(frame) = self.frames.last() else {
            return Ok(Datum::SAME);
        };
        let operands = frame.operands(instruction);
        let values: Vec<Value> = operands.iter().map(Datum::scalar).collect();
        if name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove") {
            let [to, from, len, ..] = values[..] else {
                return Ok(Datum::SAME);
            };
            self.copy_private(to, from, len)?;
            return Ok(Datum::SAME);
        }
        if name.starts_with("llvm.memset") {
            let [to, byte, len, ..] = values[..] else {
                return Ok(Datum::SAME);
            };
            let count = known_length(len)?;
            self.private.write_bytes(to, &vec![byte; count as usize]);
            return Ok(Datum::SAME);
        }
        let width = bits(frame.module, instruction.ty);
        Ok(compute::intrinsic(name, &values, width))
    }

    /// A copy into private memory.
    fn copy_private(&mut self, to: Value, from: Value, len: Value) -> Result<(), Stop> {
        let count = known_length(len)?;
        let read = self.frames.last().map(|frame| frame.pieces.clone());
        let read = read.filter(|bytes| bytes.len() as u64 == count && count > 0);
        let bytes = match read {
            Some(bytes) => bytes,
            None => match self.private.read_bytes(from, count) {
                Some(bytes) => bytes,
                None if from.same => vec![Value::SAME; count as usize],
                None => vec![Value::LOST; count as usize],
            },
        };
        self.private.write_bytes(to, &bytes);
        Ok(())
    }

    /// An access to private memory, or the making of some.
    fn private_access(&mut self, instruction: &Instruction) -> Result<(), Stop> {
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        let operands = frame.operands(instruction);
        match (instruction.opcode, &instruction.detail) {
            (Opcode::Alloca, Detail::Alloca { ty, .. }) => {
                let count = operands.first().and_then(|count| count.scalar().old);
                let count = count.map_or(1, |count| count as u64);
                let size = layout::size(frame.module, *ty).saturating_mul(count);
                let address = self.private.allocate(size);
                frame.finish(Datum::Scalar(address));
            }
            (Opcode::Load, _) => {
                let address = operands.first().map_or(Value::LOST, Datum::scalar);
                let mut places = layout::scalars(frame.module, instruction.ty)
                    .unwrap_or_default()
                    .into_iter();
                let private = &self.private;
                let mut next = |_| {
                    let (offset, bytes) = places.next()?;
                    let place = Value::compute(&[address], |bits| {
                        Some(bits[0].wrapping_add(offset.into()))
                    });
                    Some(private.read(place, bytes))
                };
                let loaded = layout::build(frame.module, instruction.ty, &mut next);
                let unknown = if address.same {
                    Datum::SAME
                } else {
                    Datum::LOST
                };
                // What cannot be taken apart may have been written with other values.
                let loaded = loaded.unwrap_or(unknown);
                frame.finish(loaded);
            }
            _ => {
                let [value, address] = &operands[..] else {
                    return Err(Stop::Lost("a store without operands".to_owned()));
                };
                let stored = instruction.operands.first();
                let ty = stored.and_then(|&operand| frame.operand_type(operand));
                let places = ty.and_then(|ty| layout::scalars(frame.module, ty));
                let mut leaves = Vec::new();
                value.leaves(&mut leaves);
                let fits = places.filter(|places| places.len() == leaves.len());
                let Some(places) = fits else {
                    // A vector, say: nothing is known of its bytes but whether they are the same.
                    let info = ty.and_then(|ty| frame.module.types.get(ty.index()));
                    let size = info.map_or(0, |info| info.store_size);
                    let byte = compute::unknown(&[value.scalar()]).scalar();
                    let bytes = vec![byte; size as usize];
                    if !self.private.write_bytes(address.scalar(), &bytes) && !byte.same {
                        return Err(Stop::Lost("a store to an unknown place".to_owned()));
                    }
                    frame.finish(Datum::SAME);
                    return Ok(());
                };
                for ((offset, bytes), leaf) in places.into_iter().zip(leaves) {
                    let place = Value::compute(&[address.scalar()], |bits| {
                        Some(bits[0].wrapping_add(offset.into()))
                    });
                    if !self.private.write(place, bytes, leaf) && !leaf.same {
                        return Err(Stop::Lost("a store to an unknown place".to_owned()));
                    }
                }
                frame.finish(Datum::SAME);
            }
        }
        Ok(())
    }
}

fn known_length(len: Value) -> Result<u64, Stop> {
    /// Longest copy within private memory that is followed.
    const MOST: u64 = 1 << 20;
    let known = len
        .old
        .filter(|_| len.same)
        .and_then(|len| u64::try_from(len).ok());
    known
        .filter(|&len| len <= MOST)
        .ok_or_else(|| Stop::Lost("a copy of unknown length".to_owned()))
}
