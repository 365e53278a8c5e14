//! Events of inline assembly: what it accesses is recorded, what it computes is not known.
//!
//! Given the same operands and reading the same values, it does the same again. If it reads anything else, then nothing is
//! known of what it writes afterwards or gives as its result.

use raddle_model::{Constant, Instruction, Operand};
use raddle_trace::event::EventKind;

use super::executor::{Replayer, Stop, callee};
use super::frame::Frame;
use super::value::{Datum, Value};
use crate::memory::Content;
use crate::objection::Objection;

/// Whether a call is inline assembly.
pub(super) fn is_assembly(frame: &Frame<'_>, instruction: &Instruction) -> bool {
    let Some(Operand::Constant(constant)) = callee(instruction) else {
        return false;
    };
    let constant = frame.module.constants.get(constant.index());
    matches!(constant, Some(Constant::Assembly(..)))
}

impl Replayer<'_, '_> {
    /// An access or a fence of inline assembly.
    pub(super) fn assembly_event(
        &mut self,
        at: usize,
        instruction: &Instruction,
        seen: Option<&[Content]>,
    ) -> Result<Option<Vec<Content>>, Stop> {
        let operands = self.frames.last().map(|frame| frame.operands(instruction));
        self.untraced(at, &operands.unwrap_or_default())?;
        let reads_same = self.read_bytes(at, seen).iter().all(|byte| byte.same);
        let event = self.recording.event(at);
        if !reads_same && matches!(event.kind, EventKind::Cas { .. }) {
            return Err(Stop::Refused(Objection::Undecided {
                event: self.recording.name(at),
                why: "what assembly expects or finds".to_owned(),
            }));
        }
        let Some(frame) = self.frames.last_mut() else {
            return Ok(None);
        };
        if !reads_same {
            frame.returned = Some(Datum::LOST);
        }
        let result = frame.returned.clone().unwrap_or(Datum::SAME);
        let value = match result.is_same() {
            true => Value::SAME,
            false => Value::LOST,
        };
        let written = match event.kind {
            EventKind::AtomicStore(..)
            | EventKind::Rmw { .. }
            | EventKind::RangeWrite { .. }
            | EventKind::Cas { success: true, .. } => self.written(at, value)?,
            _ => None,
        };
        match self.is_last(instruction) {
            true => drop(self.done(instruction, result)),
            false => self.next_site(),
        }
        Ok(written)
    }
}
