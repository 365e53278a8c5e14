//! Events of instructions: what an instruction does when its events come.

use raddle_model::{Detail, Instruction, Opcode, Operand};
use raddle_trace::event::EventKind;
use raddle_trace::wire::SiteKind;

use crate::assembly::is_assembly;
use crate::calls::{callee, named_callee, normal_target};
use crate::compute::{DatumOf, ValueOf, apply, unknown};
use crate::datum::{Datum, all_leaves};
use crate::domain::{Domain, Exchange, Kept, Stop, Switch};
use crate::follower::Follower;
use crate::layout::{self, bits};
use crate::operation::{Operation, mask};
use crate::value::Value;

/// Functions whose result is what they compare.
const COMPARISONS: [&str; 2] = ["memcmp", "bcmp"];

/// Functions that copy memory.
const COPIES: [&str; 3] = ["memcpy", "memmove", "mempcpy"];

impl<D: Domain> Follower<'_, D> {
    /// An event of an instruction of the top frame.
    pub(crate) fn report(&mut self, at: usize) -> Result<(), Stop<D::Refusal>> {
        if !self.is_followed() {
            return self.pass_lost(at).map_err(Stop::Refused);
        }
        let Some(site) = self.track.events[at].site() else {
            return Ok(());
        };
        let instruction = self.run_to_site(at, site)?;
        match instruction.opcode {
            Opcode::Load => self.load(at, instruction),
            Opcode::Store => self.store(at, instruction),
            Opcode::Rmw => self.update(at, instruction),
            Opcode::CmpXchg => self.exchange(at, instruction),
            Opcode::Switch => self.switch(at, instruction),
            Opcode::Call | Opcode::Invoke => self.call_event(at, instruction),
            Opcode::Fence => {
                self.done(instruction, Datum::SAME);
                Ok(())
            }
            other => Err(Stop::Lost(format!("a {other:?} with an event"))),
        }
    }

    /// The current site's event has come; with its last one the instruction is done.
    pub(crate) fn done(&mut self, instruction: &Instruction, result: DatumOf<D>) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        frame.next_site += 1;
        if frame.next_site >= instruction.sites.end {
            frame.finish_call(&mut self.domain, result, normal_target(instruction));
        }
    }

    pub(crate) fn is_last(&self, instruction: &Instruction) -> bool {
        let next = self.frames.last().map_or(0, |frame| frame.next_site);
        next + 1 >= instruction.sites.end
    }

    /// The current site's event has come; its instruction, if that is done with it, has no result.
    pub(crate) fn done_or_next(&mut self, instruction: &Instruction, result: DatumOf<D>) {
        match self.is_last(instruction) {
            true => self.done(instruction, result),
            false => self.next_site(),
        }
    }

    fn next_site(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.next_site += 1;
        }
    }

    /// Number of the current piece.
    fn piece(&self, instruction: &Instruction) -> usize {
        let next = self.frames.last().map_or(0, |frame| frame.next_site);
        (next - instruction.sites.start) as usize
    }

    /// The address of an access, which its first piece has, must be as it was.
    fn check_address(
        &mut self,
        at: usize,
        address: &ValueOf<D>,
        is_first: bool,
    ) -> Result<(), Stop<D::Refusal>> {
        if !is_first {
            return Ok(());
        }
        let footprint = self.track.events[at].footprint();
        let recorded = footprint.map_or(0, |footprint| footprint.addr.0);
        if !address.is_same() {
            let address = std::slice::from_ref(address);
            let kept = self.domain.keep(at, address, Kept::Address(recorded));
            return kept.map_err(Stop::Refused);
        }
        match address.real() {
            Some(computed) if computed != u128::from(recorded) => Err(Stop::Lost(format!(
                "{} should have gone to {computed:#x}",
                self.domain.name(at)
            ))),
            _ => Ok(()),
        }
    }

    fn load(&mut self, at: usize, instruction: &Instruction) -> Result<(), Stop<D::Refusal>> {
        let is_first = self.piece(instruction) == 0;
        let address = self.operand(instruction, 0);
        self.check_address(at, &address, is_first)?;
        let value = match self.track.events[at].kind {
            EventKind::Read(access) | EventKind::AtomicLoad(access, _) => {
                self.domain.number(at, access.value)
            }
            _ => {
                let bytes = self.domain.bytes(at);
                let whole = Datum::Scalar(unknown(&mut self.domain, &bytes));
                self.done(instruction, whole);
                return Ok(());
            }
        };
        self.add_piece(instruction, value);
        Ok(())
    }

    /// One more piece of an instruction's result; the last one completes it.
    fn add_piece(&mut self, instruction: &Instruction, piece: ValueOf<D>) {
        let is_last = self.is_last(instruction);
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        frame.pieces.push(piece);
        let mut result = Datum::SAME;
        if is_last {
            let pieces = std::mem::take(&mut frame.pieces);
            let domain = &mut self.domain;
            let joined = layout::join(domain, frame.module, instruction.ty, &pieces);
            result = joined.unwrap_or_else(|| Datum::Scalar(unknown(domain, &pieces)));
        }
        self.done(instruction, result);
    }

    fn store(&mut self, at: usize, instruction: &Instruction) -> Result<(), Stop<D::Refusal>> {
        let piece = self.piece(instruction);
        let address = self.operand(instruction, 1);
        self.check_address(at, &address, piece == 0)?;
        let (Some(frame), Some(&stored)) = (self.frames.last(), instruction.operands.first())
        else {
            return Err(Stop::Lost("a store without operands".to_owned()));
        };
        let datum = frame.operand(stored);
        let ty = frame.operand_type(stored);
        let domain = &mut self.domain;
        let pieces = ty.and_then(|ty| layout::split(domain, frame.module, ty, &datum));
        let value = pieces.and_then(|pieces| pieces.get(piece).cloned());
        let value = value.unwrap_or_else(|| unknown(domain, &all_leaves(&[datum])));
        self.written(at, &value)?;
        self.done(instruction, Datum::SAME);
        Ok(())
    }

    /// An event writes a value.
    pub(crate) fn written(
        &mut self,
        at: usize,
        value: &ValueOf<D>,
    ) -> Result<(), Stop<D::Refusal>> {
        let event = &self.track.events[at];
        let (recorded, size) = match event.kind {
            EventKind::Write(access) | EventKind::AtomicStore(access, _) => {
                (access.value, access.size)
            }
            EventKind::Rmw { access, new, .. } | EventKind::Cas { access, new, .. } => {
                (new, access.size)
            }
            _ => {
                let len = event.footprint().map_or(0, |footprint| footprint.len);
                let byte = unknown(&mut self.domain, std::slice::from_ref(value));
                self.domain.write_bytes(at, &vec![byte; len as usize]);
                return Ok(());
            }
        };
        let mask = mask(8 * u32::from(size));
        match value.real().map(|bits| bits & mask) {
            Some(computed) if value.is_same() && computed != u128::from(recorded) & mask => {
                Err(Stop::Lost(format!(
                    "{} should have stored {computed:#x}",
                    self.domain.name(at)
                )))
            }
            _ => {
                self.domain.write(at, value);
                Ok(())
            }
        }
    }

    fn update(&mut self, at: usize, instruction: &Instruction) -> Result<(), Stop<D::Refusal>> {
        let address = self.operand(instruction, 0);
        self.check_address(at, &address, true)?;
        let EventKind::Rmw { access, .. } = self.track.events[at].kind else {
            return Err(Stop::Lost(
                "an update reported as something else".to_owned(),
            ));
        };
        let old = self.domain.number(at, access.value);
        let operand = self.operand(instruction, 1);
        let frame = self.frames.last();
        let width = frame.and_then(|frame| bits(frame.module, instruction.ty));
        let is_whole = instruction.sites.len() == 1;
        let operands = [old, operand];
        let domain = &mut self.domain;
        let stored = match (&instruction.detail, width.filter(|_| is_whole)) {
            (Detail::Memory { operation, .. }, Some(width)) => {
                let operation = *operation;
                apply(domain, &Operation::Update { operation, width }, &operands)
            }
            _ => unknown(domain, &operands),
        };
        self.written(at, &stored)?;
        let [old, _] = operands;
        let result = self.whole_or_unknown(is_whole, old);
        self.done(instruction, result);
        Ok(())
    }

    /// A value of one event, or what follows from a part of it.
    fn whole_or_unknown(&mut self, is_whole: bool, value: ValueOf<D>) -> DatumOf<D> {
        Datum::Scalar(match is_whole {
            true => value,
            false => unknown(&mut self.domain, &[value]),
        })
    }

    fn exchange(&mut self, at: usize, instruction: &Instruction) -> Result<(), Stop<D::Refusal>> {
        let address = self.operand(instruction, 0);
        self.check_address(at, &address, true)?;
        let EventKind::Cas {
            access, success, ..
        } = self.track.events[at].kind
        else {
            return Err(Stop::Lost(
                "an exchange reported as something else".to_owned(),
            ));
        };
        let found = self.domain.number(at, access.value);
        let expected = self.operand(instruction, 1);
        let is_whole = instruction.sites.len() == 1;
        if !(found.is_same() && expected.is_same())
            && let Some(frame) = self.frames.last()
        {
            let exchange = Exchange {
                event: at,
                spot: frame.spot(),
                found: &found,
                expected: &expected,
                is_whole,
                success,
            };
            let exchanged = self.domain.exchange(exchange);
            exchanged.map_err(Stop::Refused)?;
        }
        if success {
            let new = self.operand(instruction, 2);
            let new = match is_whole {
                true => new,
                false => unknown(&mut self.domain, &[new]),
            };
            self.written(at, &new)?;
        }
        let outcome = Datum::Scalar(Value::known(success.into()));
        let found = self.whole_or_unknown(is_whole, found);
        self.done(instruction, Datum::Parts(vec![found, outcome]));
        Ok(())
    }

    fn switch(&mut self, at: usize, instruction: &Instruction) -> Result<(), Stop<D::Refusal>> {
        let EventKind::Value { value, .. } = self.track.events[at].kind else {
            return Err(Stop::Lost("a switch reported as something else".to_owned()));
        };
        let Detail::Switch { default, cases } = &instruction.detail else {
            return Err(Stop::Lost("a switch without cases".to_owned()));
        };
        let number = self.operand(instruction, 0);
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        let case = |case: &raddle_model::Case| {
            let constant = frame.operand(Operand::Constant(case.value));
            match constant {
                Datum::Scalar(constant) => Some((constant.recorded?, case.target)),
                Datum::Parts(_) => None,
            }
        };
        let cases: Option<Vec<_>> = cases.iter().map(case).collect();
        let Some(cases) = cases else {
            return Err(Stop::Lost("a switch on what is no number".to_owned()));
        };
        let switch = Switch {
            event: at,
            cases: &cases,
            default: *default,
            recorded: value.into(),
            spot: frame.spot(),
        };
        let target = switch.target(switch.recorded);
        if !number.is_same() {
            let switched = self.domain.switch(switch, &number);
            switched.map_err(Stop::Refused)?;
        } else if number.real().is_some_and(|it| it != switch.recorded) {
            let name = self.domain.name(at);
            return Err(Stop::Lost(format!(
                "{name} should have been another number"
            )));
        }
        frame.jump(&mut self.domain, target);
        Ok(())
    }

    /// An event of a call: a range it touches, the function it calls, its result.
    fn call_event(&mut self, at: usize, instruction: &Instruction) -> Result<(), Stop<D::Refusal>> {
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        let arguments = frame.operands(instruction);
        let name = callee(instruction).and_then(|callee| named_callee(frame, callee));
        let name = name.map_or("", |function| &*function.linkage_name);
        let site = frame.module.sites.get(frame.next_site as usize);
        let (kind, is_result) =
            site.map_or((SiteKind::Value, false), |site| (site.kind, site.size > 0));
        if kind != SiteKind::Value && is_assembly(frame, instruction) {
            return self.assembly_event(at, instruction);
        }
        match self.track.events[at].kind {
            EventKind::RangeRead { .. } => {
                self.untraced(at, &arguments)?;
                self.range_read(at, name, &arguments);
                self.done_or_next(instruction, Datum::SAME);
                Ok(())
            }
            EventKind::RangeWrite { len, .. } => {
                self.range_written(at, name, &arguments, len)?;
                self.done_or_next(instruction, Datum::SAME);
                Ok(())
            }
            EventKind::Value { .. } if !is_result => {
                let function = callee(instruction).map(|callee| frame.operand(callee));
                let function = function.unwrap_or(Datum::SAME);
                self.keep(at, &[function], Kept::Callee)?;
                // A call without a result stays where it is: its callee may yet be entered.
                self.next_site();
                Ok(())
            }
            EventKind::Value { value, .. } if kind == SiteKind::Value => {
                self.result(at, instruction, name, &arguments, value)
            }
            _ => Err(Stop::Lost("a call reported as something else".to_owned())),
        }
    }

    /// Takes note of a range that is read, and copies it if the target is a slot.
    fn range_read(&mut self, at: usize, name: &str, arguments: &[DatumOf<D>]) {
        let bytes = self.domain.bytes(at);
        let copies = COPIES.iter().any(|copy| name.contains(copy));
        if let (true, Some(target)) = (copies, arguments.first()) {
            let target = target.scalar(&mut self.domain);
            self.slots.write_bytes(&target, &bytes);
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.pieces.extend(bytes);
        }
    }

    /// A copy or a fill.
    fn range_written(
        &mut self,
        at: usize,
        name: &str,
        arguments: &[DatumOf<D>],
        len: u64,
    ) -> Result<(), Stop<D::Refusal>> {
        let fills = name.contains("memset");
        let (addresses, content): (Vec<DatumOf<D>>, Option<&DatumOf<D>>) = match arguments {
            [to, byte, len, ..] if fills => (vec![to.clone(), len.clone()], Some(byte)),
            [to, from, len, ..] => (vec![to.clone(), from.clone(), len.clone()], None),
            _ => return Err(Stop::Lost("a copy without arguments".to_owned())),
        };
        self.untraced(at, &addresses)?;
        let read = self.frames.last().map(|frame| frame.pieces.clone());
        let read = read.unwrap_or_default();
        let bytes = match content {
            Some(byte) => {
                let index = 0;
                let byte = [byte.scalar(&mut self.domain)];
                vec![apply(&mut self.domain, &Operation::Byte { index }, &byte); len as usize]
            }
            None if read.is_empty() => {
                let from = arguments[1].scalar(&mut self.domain);
                let bytes = self.slots.read_bytes(&from, len);
                bytes.unwrap_or_else(|| vec![Value::SAME; len as usize])
            }
            None => read,
        };
        self.domain.write_bytes(at, &bytes);
        Ok(())
    }

    /// A piece of a call's result.
    fn result(
        &mut self,
        at: usize,
        instruction: &Instruction,
        name: &str,
        arguments: &[DatumOf<D>],
        value: u64,
    ) -> Result<(), Stop<D::Refusal>> {
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        match frame.returned.clone() {
            Some(returned) if !returned.is_same() => {
                self.done_or_next(instruction, returned);
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
            let read = std::mem::take(&mut frame.pieces);
            if COMPARISONS.contains(&name) && !read.iter().all(Value::is_same) {
                let compared = unknown(&mut self.domain, &read);
                self.done(instruction, Datum::Scalar(compared));
                return Ok(());
            }
        }
        self.add_piece(instruction, Value::known(value.into()));
        Ok(())
    }
}
