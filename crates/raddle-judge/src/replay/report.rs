//! Events of instructions: what an instruction does when its events come.

use raddle_model::{Detail, Instruction, Opcode};
use raddle_trace::event::EventKind;
use raddle_trace::wire::SiteKind;

use super::assembly::is_assembly;
use super::compute;
use super::executor::{Replayer, Stop, callee, named_callee, normal_target};
use super::layout::{self, bits, mask};
use super::value::{Datum, Value};
use crate::memory::{Content, read_value_bytes};
use crate::objection::Objection;

/// Functions whose result is what they compare.
const COMPARISONS: [&str; 2] = ["memcmp", "bcmp"];

impl<'a> Replayer<'_, 'a> {
    /// An event of an instruction of the top frame.
    pub(super) fn report(
        &mut self,
        at: usize,
        seen: Option<&[Content]>,
    ) -> Result<Option<Vec<Content>>, Stop> {
        let followed = self.frames.last().is_some_and(|frame| frame.lost.is_none());
        if !followed {
            self.check_lost(at, seen).map_err(Stop::Refused)?;
            return Ok(None);
        }
        let Some(site) = self.recording.event(at).site() else {
            return Ok(None);
        };
        let instruction = self.run_to_site(at, site)?;
        match instruction.opcode {
            Opcode::Load => self.load(at, instruction, seen).map(|()| None),
            Opcode::Store => self.store(at, instruction),
            Opcode::Rmw => self.update(at, instruction, seen),
            Opcode::CmpXchg => self.exchange(at, instruction, seen),
            Opcode::Switch => self.switch(at, instruction).map(|()| None),
            Opcode::Call | Opcode::Invoke => self.call_event(at, instruction, seen),
            Opcode::Fence => {
                self.done(instruction, Datum::SAME);
                Ok(None)
            }
            other => Err(Stop::Lost(format!("a {other:?} with an event"))),
        }
    }

    /// Nothing may flow into a frame that is lost.
    pub(super) fn check_lost(&self, at: usize, seen: Option<&[Content]>) -> Result<(), Objection> {
        if self.read_bytes(at, seen).iter().all(|byte| byte.same) {
            return Ok(());
        }
        let lost = self.frames.last().and_then(|frame| frame.lost.clone());
        Err(Objection::Lost {
            thread: self.thread_name(),
            event: self.recording.name(at),
            why: lost.unwrap_or_else(|| "it executes code without a model".to_owned()),
        })
    }

    /// The bytes that an event reads, then and now.
    pub(super) fn read_bytes(&self, at: usize, seen: Option<&[Content]>) -> Vec<Value> {
        let Some(seen) = seen else {
            return Vec::new();
        };
        let origins = &self.recording.origins;
        let then: Vec<Content> = match read_value_bytes(self.recording, at) {
            Some(values) => values.into_iter().map(Content::known).collect(),
            None => origins
                .seen(at)
                .iter()
                .map(|&then| origins.resolve(then))
                .collect(),
        };
        let number = |content: Content| content.value().map(u128::from);
        let bytes = then.into_iter().zip(seen);
        bytes
            .map(|(then, &now)| Value {
                old: number(then),
                new: number(now),
                same: then == now,
                fake: false,
            })
            .collect()
    }

    /// The number that an event reads, then and now.
    fn read_value(&self, at: usize, seen: Option<&[Content]>, recorded: u64) -> Value {
        if seen.is_none() {
            return Value::known(recorded.into());
        }
        let bytes = self.read_bytes(at, seen);
        let joined = Value::compute(&bytes, |bytes| {
            let numbered = bytes.iter().enumerate();
            Some(numbered.fold(0, |all, (place, byte)| all | byte << (8 * place)))
        });
        Value::read(recorded.into(), joined.new.filter(|_| !bytes.is_empty()))
    }

    /// The current site's event has come; with its last one the instruction is done.
    pub(super) fn done(&mut self, instruction: &Instruction, result: Datum) -> bool {
        let Some(frame) = self.frames.last_mut() else {
            return true;
        };
        frame.next_site += 1;
        let last = frame.next_site >= instruction.sites.end;
        if last {
            frame.finish_call(result, normal_target(instruction));
        }
        last
    }

    pub(super) fn is_last(&self, instruction: &Instruction) -> bool {
        let next = self.frames.last().map_or(0, |frame| frame.next_site);
        next + 1 >= instruction.sites.end
    }

    /// Number of the current piece.
    fn piece(&self, instruction: &Instruction) -> usize {
        let next = self.frames.last().map_or(0, |frame| frame.next_site);
        (next - instruction.sites.start) as usize
    }

    fn operand(&self, instruction: &Instruction, index: usize) -> Datum {
        let operand = instruction.operands.get(index);
        match (self.frames.last(), operand) {
            (Some(frame), Some(&operand)) => frame.operand(operand),
            _ => Datum::LOST,
        }
    }

    /// The address must be as it was.
    fn check_address(&self, at: usize, address: Value, is_first: bool) -> Result<(), Stop> {
        let event = self.recording.event(at);
        let recorded = event.footprint().map_or(0, |footprint| footprint.addr.0);
        if address.same {
            let computed = address.old.filter(|_| !address.fake && is_first);
            return match computed {
                Some(computed) if computed != u128::from(recorded) => Err(Stop::Lost(format!(
                    "{} should have gone to {computed:#x}",
                    self.recording.name(at)
                ))),
                _ => Ok(()),
            };
        }
        let event = self.recording.name(at);
        Err(Stop::Refused(match address.new {
            Some(now) => Objection::AddressDiffers {
                event,
                now: now as u64,
            },
            None => Objection::Undecided {
                event,
                why: "the address".to_owned(),
            },
        }))
    }

    fn load(
        &mut self,
        at: usize,
        instruction: &Instruction,
        seen: Option<&[Content]>,
    ) -> Result<(), Stop> {
        let first = self.piece(instruction) == 0;
        self.check_address(at, self.operand(instruction, 0).scalar(), first)?;
        let recorded = match self.recording.event(at).kind {
            EventKind::Read(access) | EventKind::AtomicLoad(access, _) => access.value,
            _ => {
                let same = self.read_bytes(at, seen).iter().all(|byte| byte.same);
                self.done(instruction, if same { Datum::SAME } else { Datum::LOST });
                return Ok(());
            }
        };
        let value = self.read_value(at, seen, recorded);
        let last = self.is_last(instruction);
        self.add_piece(instruction, value, last);
        Ok(())
    }

    /// One more piece of an instruction's result; the last one completes it.
    fn add_piece(&mut self, instruction: &Instruction, piece: Value, last: bool) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        frame.pieces.push(piece);
        let mut result = Datum::SAME;
        if last {
            let pieces = std::mem::take(&mut frame.pieces);
            let joined = layout::join(frame.module, instruction.ty, &pieces);
            result = joined.unwrap_or_else(|| compute::unknown(&pieces));
        }
        self.done(instruction, result);
    }

    fn store(
        &mut self,
        at: usize,
        instruction: &Instruction,
    ) -> Result<Option<Vec<Content>>, Stop> {
        let piece = self.piece(instruction);
        self.check_address(at, self.operand(instruction, 1).scalar(), piece == 0)?;
        let datum = self.operand(instruction, 0);
        let frame = self.frames.last();
        let ty = frame.and_then(|frame| frame.operand_type(*instruction.operands.first()?));
        let pieces = match (frame, ty) {
            (Some(frame), Some(ty)) => layout::split(frame.module, ty, &datum),
            _ => None,
        };
        let unknown = if datum.is_same() {
            Value::SAME
        } else {
            Value::LOST
        };
        let value = pieces
            .and_then(|pieces| pieces.get(piece).copied())
            .unwrap_or(unknown);
        let written = self.written(at, value)?;
        self.done(instruction, Datum::SAME);
        Ok(written)
    }

    /// What an event writes, if it is not what it wrote.
    pub(super) fn written(&self, at: usize, value: Value) -> Result<Option<Vec<Content>>, Stop> {
        let event = self.recording.event(at);
        let (recorded, size) = match event.kind {
            EventKind::Write(access) | EventKind::AtomicStore(access, _) => {
                (access.value, access.size)
            }
            EventKind::Rmw { access, new, .. } | EventKind::Cas { access, new, .. } => {
                (new, access.size)
            }
            _ => {
                let len = event.footprint().map_or(0, |footprint| footprint.len);
                let lost = || (0..len).map(|offset| Content::lost(at, offset)).collect();
                return Ok((!value.same).then(lost));
            }
        };
        let wide = mask(8 * u32::from(size));
        if value.same {
            let computed = value.old.filter(|_| !value.fake).map(|bits| bits & wide);
            return match computed {
                Some(computed) if computed != u128::from(recorded) & wide => {
                    Err(Stop::Lost(format!(
                        "{} should have stored {computed:#x}",
                        self.recording.name(at)
                    )))
                }
                _ => Ok(None),
            };
        }
        let known = value.new.filter(|_| !value.fake);
        let byte = |offset: u8| match known {
            Some(bits) => Content::known((bits >> (8 * u32::from(offset))) as u8),
            None => Content::lost(at, offset.into()),
        };
        Ok(Some((0..size).map(byte).collect()))
    }

    fn update(
        &mut self,
        at: usize,
        instruction: &Instruction,
        seen: Option<&[Content]>,
    ) -> Result<Option<Vec<Content>>, Stop> {
        self.check_address(at, self.operand(instruction, 0).scalar(), true)?;
        let EventKind::Rmw { access, .. } = self.recording.event(at).kind else {
            return Err(Stop::Lost(
                "an update reported as something else".to_owned(),
            ));
        };
        let old = self.read_value(at, seen, access.value);
        let operand = self.operand(instruction, 1).scalar();
        let width = self
            .frames
            .last()
            .and_then(|frame| bits(frame.module, instruction.ty));
        let whole = instruction.sites.len() == 1;
        let stored = match (&instruction.detail, width.filter(|_| whole)) {
            (Detail::Memory { operation, .. }, Some(width)) => {
                let operation = *operation;
                Value::compute(&[old, operand], |bits| {
                    compute::update(operation, bits[0], bits[1], width)
                })
            }
            _ => compute::unknown(&[old, operand]).scalar(),
        };
        let written = self.written(at, stored)?;
        let result = if whole {
            Datum::Scalar(old)
        } else {
            compute::unknown(&[old])
        };
        self.done(instruction, result);
        Ok(written)
    }

    fn exchange(
        &mut self,
        at: usize,
        instruction: &Instruction,
        seen: Option<&[Content]>,
    ) -> Result<Option<Vec<Content>>, Stop> {
        self.check_address(at, self.operand(instruction, 0).scalar(), true)?;
        let EventKind::Cas {
            access, success, ..
        } = self.recording.event(at).kind
        else {
            return Err(Stop::Lost(
                "an exchange reported as something else".to_owned(),
            ));
        };
        let found = self.read_value(at, seen, access.value);
        let expected = self.operand(instruction, 1).scalar();
        let whole = instruction.sites.len() == 1;
        if !(found.same && expected.same) {
            let equal =
                Value::compute(&[found, expected], |bits| Some((bits[0] == bits[1]).into()));
            let now = equal
                .new
                .filter(|_| whole && !equal.fake)
                .map(|equal| equal != 0);
            let event = self.recording.name(at);
            if now.is_none() {
                return Err(Stop::Refused(Objection::Undecided {
                    event,
                    why: "what it expects or finds".to_owned(),
                }));
            }
            if now != Some(success) {
                let now = if success { "fail" } else { "succeed" };
                return Err(Stop::Refused(Objection::OutcomeDiffers { event, now }));
            }
        }
        let written = match success {
            true => {
                let new = self.operand(instruction, 2).scalar();
                let new = if whole {
                    new
                } else {
                    compute::unknown(&[new]).scalar()
                };
                self.written(at, new)?
            }
            false => None,
        };
        let outcome = Datum::Scalar(Value::known(success.into()));
        let found = if whole {
            Datum::Scalar(found)
        } else {
            compute::unknown(&[found])
        };
        self.done(instruction, Datum::Parts(vec![found, outcome]));
        Ok(written)
    }

    fn switch(&mut self, at: usize, instruction: &Instruction) -> Result<(), Stop> {
        let EventKind::Value { value, .. } = self.recording.event(at).kind else {
            return Err(Stop::Lost("a switch reported as something else".to_owned()));
        };
        let Detail::Switch { default, cases } = &instruction.detail else {
            return Err(Stop::Lost("a switch without cases".to_owned()));
        };
        let operand = self.operand(instruction, 0).scalar();
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        let target = |bits: u128| {
            let case = cases.iter().find(|case| {
                let constant = frame.operand(raddle_model::Operand::Constant(case.value));
                constant.scalar().old == Some(bits)
            });
            case.map_or(*default, |case| case.target)
        };
        let recorded = target(value.into());
        let computed = operand.new.filter(|_| !operand.fake);
        if operand.same && computed.is_some_and(|now| now != u128::from(value)) {
            let name = self.recording.name(at);
            return Err(Stop::Lost(format!(
                "{name} should have been another number"
            )));
        }
        if !operand.same {
            let event = self.recording.name(at);
            let now = computed.map(target);
            if now.is_none() {
                return Err(Stop::Refused(Objection::Undecided {
                    event,
                    why: "the number switched on".to_owned(),
                }));
            }
            if now != Some(recorded) {
                return Err(Stop::Refused(Objection::SwitchDiffers {
                    thread: self.thread_name(),
                    position: self.position(instruction),
                    event,
                }));
            }
        }
        frame.jump(recorded);
        Ok(())
    }

    /// An event of a call: a range it touches, the function it calls, its result.
    fn call_event(
        &mut self,
        at: usize,
        instruction: &Instruction,
        seen: Option<&[Content]>,
    ) -> Result<Option<Vec<Content>>, Stop> {
        let Some(frame) = self.frames.last() else {
            return Ok(None);
        };
        let arguments = frame.operands(instruction);
        let name = callee(instruction).and_then(|callee| named_callee(frame, callee));
        let name = name.map_or("", |function| &*function.linkage_name);
        let site = frame.module.sites.get(frame.next_site as usize);
        let (kind, is_result) =
            site.map_or((SiteKind::Value, false), |site| (site.kind, site.size > 0));
        if kind != SiteKind::Value && is_assembly(frame, instruction) {
            return self.assembly_event(at, instruction, seen);
        }
        match self.recording.event(at).kind {
            EventKind::RangeRead { len, .. } => {
                self.untraced(at, &arguments)?;
                self.range_read(at, name, &arguments, len, seen);
                match self.is_last(instruction) {
                    true => drop(self.done(instruction, Datum::SAME)),
                    false => self.next_site(),
                }
                Ok(None)
            }
            EventKind::RangeWrite { len, .. } => {
                let written = self.range_written(at, name, &arguments, len)?;
                match self.is_last(instruction) {
                    true => drop(self.done(instruction, Datum::SAME)),
                    false => self.next_site(),
                }
                Ok(written)
            }
            EventKind::Value { .. } if !is_result => {
                let function = callee(instruction).map(|callee| frame.operand(callee));
                if !function.is_some_and(|function| function.is_same()) {
                    return Err(Stop::Refused(Objection::OutcomeDiffers {
                        event: self.recording.name(at),
                        now: "call another function",
                    }));
                }
                // A call without a result stays where it is: its callee may yet be entered.
                self.next_site();
                Ok(None)
            }
            EventKind::Value { value, .. } if kind == SiteKind::Value => self
                .result(at, instruction, name, &arguments, value)
                .map(|()| None),
            _ => Err(Stop::Lost("a call reported as something else".to_owned())),
        }
    }

    pub(super) fn next_site(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.next_site += 1;
        }
    }

    /// Takes note of a range that is read, and copies it if the target is private.
    fn range_read(
        &mut self,
        at: usize,
        name: &str,
        arguments: &[Datum],
        len: u64,
        seen: Option<&[Content]>,
    ) {
        let bytes = match seen {
            Some(_) => self.read_bytes(at, seen),
            None => vec![Value::SAME; len as usize],
        };
        let copies = ["memcpy", "memmove", "mempcpy"]
            .iter()
            .any(|copy| name.contains(copy));
        if let (true, Some(target)) = (copies, arguments.first()) {
            self.private.write_bytes(target.scalar(), &bytes);
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.pieces.extend(bytes);
        }
    }

    /// What a copy or fill writes, if it is not what it wrote.
    fn range_written(
        &mut self,
        at: usize,
        name: &str,
        arguments: &[Datum],
        len: u64,
    ) -> Result<Option<Vec<Content>>, Stop> {
        let fills = name.contains("memset");
        let (addresses, content): (Vec<Datum>, Option<&Datum>) = match arguments {
            [to, byte, len, ..] if fills => (vec![to.clone(), len.clone()], Some(byte)),
            [to, from, len, ..] => (vec![to.clone(), from.clone(), len.clone()], None),
            _ => return Err(Stop::Lost("a copy without arguments".to_owned())),
        };
        self.untraced(at, &addresses)?;
        let read = self
            .frames
            .last()
            .map_or_else(Vec::new, |frame| frame.pieces.clone());
        let bytes = match content {
            Some(byte) => vec![byte.scalar(); len as usize],
            None if read.is_empty() => {
                let from = arguments[1].scalar();
                self.private.read_bytes(from, len).unwrap_or_default()
            }
            None => read,
        };
        if bytes.iter().all(|byte| byte.same) {
            return Ok(None);
        }
        let numbered = (0..).zip(bytes);
        let content = |(offset, byte): (u64, Value)| match byte.new {
            Some(bits) if !byte.fake => Content::known(bits as u8),
            _ => Content::lost(at, offset),
        };
        Ok(Some(numbered.map(content).collect()))
    }

    /// A piece of a call's result.
    fn result(
        &mut self,
        at: usize,
        instruction: &Instruction,
        name: &str,
        arguments: &[Datum],
        value: u64,
    ) -> Result<(), Stop> {
        let last = self.is_last(instruction);
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        match frame.returned.clone() {
            Some(returned) if !returned.is_same() => {
                match last {
                    true => drop(self.done(instruction, returned)),
                    false => self.next_site(),
                }
                return Ok(());
            }
            Some(_) => {}
            None => self.untraced(at, arguments)?,
        }
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        let before = (frame.next_site as usize).checked_sub(1);
        let before = before.and_then(|index| frame.module.sites.get(index));
        let is_first =
            frame.next_site == instruction.sites.start || before.is_none_or(|site| site.size == 0);
        if is_first {
            let same = frame.pieces.drain(..).all(|byte| byte.same);
            if COMPARISONS.contains(&name) && !same {
                self.done(instruction, Datum::LOST);
                return Ok(());
            }
        }
        self.add_piece(instruction, Value::known(value.into()), last);
        Ok(())
    }
}
