//! Events of inline assembly: what it accesses is recorded, what it computes is not known.
//!
//! Given the same operands and reading the same values, it does the same again. If it reads anything else, then nothing is
//! known of what it writes afterwards or gives as its result.

use raddle_model::{Constant, Instruction, Operand};
use raddle_trace::event::EventKind;

use crate::calls::callee;
use crate::compute::unknown;
use crate::datum::{Datum, all_leaves};
use crate::domain::{Domain, Kept, Stop};
use crate::follower::Follower;
use crate::frame::Frame;
use crate::value::Value;

/// Whether a call is inline assembly.
pub(crate) fn is_assembly<C>(frame: &Frame<'_, C>, instruction: &Instruction) -> bool {
    let Some(Operand::Constant(constant)) = callee(instruction) else {
        return false;
    };
    let constant = frame.module.constants.get(constant.index());
    matches!(constant, Some(Constant::Assembly(..)))
}

impl<D: Domain> Follower<'_, D> {
    /// An access or a fence of inline assembly.
    pub(crate) fn assembly_event(
        &mut self,
        at: usize,
        instruction: &Instruction,
    ) -> Result<(), Stop<D::Refusal>> {
        let operands = self.frames.last().map(|frame| frame.operands(instruction));
        self.untraced(at, &operands.unwrap_or_default())?;
        let kind = self.track.events[at].kind;
        let reads = self.track.events[at].footprint().is_some_and(|it| it.reads);
        let mut from = match reads {
            true => self.domain.bytes(at),
            false => Vec::new(),
        };
        if matches!(kind, EventKind::Cas { .. }) && !from.iter().all(Value::is_same) {
            let kept = self.domain.keep(at, &from, Kept::Assembly);
            kept.map_err(Stop::Refused)?;
            from.clear();
        }
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        // All that it has read before counts, too.
        from.extend(all_leaves(frame.returned.as_slice()));
        let value = unknown(&mut self.domain, &from);
        if !value.is_same() {
            frame.returned = Some(Datum::Scalar(value.clone()));
        }
        if matches!(
            kind,
            EventKind::AtomicStore(..)
                | EventKind::Rmw { .. }
                | EventKind::RangeWrite { .. }
                | EventKind::Cas { success: true, .. }
        ) {
            self.written(at, &value)?;
        }
        self.done_or_next(instruction, Datum::Scalar(value));
        Ok(())
    }
}
