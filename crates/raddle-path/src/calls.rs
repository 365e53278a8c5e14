//! Entries of functions: by a call that is followed, or from code that is not traced.

use raddle_model::{BlockId, Constant, Detail, Function, Instruction, Operand};
use raddle_trace::ids::{Address, SiteId};

use crate::datum::Datum;
use crate::domain::{Domain, Stop};
use crate::follower::{Follower, Want};
use crate::frame::{Entry, Frame};

impl<D: Domain> Follower<'_, D> {
    /// A function is entered.
    pub(crate) fn enter(
        &mut self,
        at: usize,
        site: SiteId,
        address: Address,
    ) -> Result<(), Stop<D::Refusal>> {
        if self.pop_to(address).is_some() {
            self.lose("a call was left without returning".to_owned());
        }
        let Some(entered) = self.track.code(site) else {
            return Err(Stop::Lost("code without a model is called".to_owned()));
        };
        let module = entered.module();
        let Some(function) = module.functions.get(entered.info().function.index()) else {
            return Err(Stop::Lost("a function is missing in the model".to_owned()));
        };
        if !self.is_followed() {
            self.push_outside(site, address);
            return Ok(());
        }
        let arguments = loop {
            let want = self.run(None)?;
            let Some(frame) = self.frames.last() else {
                return Err(Stop::Lost("nobody calls".to_owned()));
            };
            let Some((instruction, callee)) =
                frame.current().and_then(|at| Some((at, callee(at)?)))
            else {
                let name = &function.name;
                return Err(Stop::Lost(format!(
                    "{name} is entered where nothing is called"
                )));
            };
            let called = named_callee(frame, callee);
            let is_it = called.is_some_and(|called| called.linkage_name == function.linkage_name);
            let arguments = frame.operands(instruction);
            match want {
                Want::Enter | Want::Event | Want::Maybe if is_it => break Some(arguments),
                Want::Enter => {
                    return Err(Stop::Lost(
                        "another function than called is entered".to_owned(),
                    ));
                }
                // Which function an indirect call enters, only its address could tell.
                Want::Event | Want::Maybe if called.is_none() => {
                    self.untraced(at, &arguments)?;
                    break Some(vec![Datum::SAME; arguments.len()]);
                }
                Want::Event => {
                    self.untraced(at, &arguments)?;
                    break None;
                }
                // Untraced code calls back, unless the function is called further on.
                Want::Maybe if !self.is_called_later(function) => {
                    self.untraced(at, &arguments)?;
                    break None;
                }
                Want::Maybe => self.pass_over()?,
                Want::Enough => return Err(Stop::Lost("no call comes".to_owned())),
            }
        };
        let (entry, arguments) = match arguments {
            Some(arguments) => (Entry::Called, arguments),
            None => (Entry::Outside, vec![Datum::SAME; function.params.len()]),
        };
        let below = self.slots.extent();
        let frame = Frame::new(module, function, address, entry, arguments, below);
        self.frames.push(frame);
        Ok(())
    }

    /// Whether the thread, after an untraced call that returns nothing, comes to a call of a function before anything else
    /// is recorded. Tried on a fork.
    fn is_called_later(&self, function: &Function) -> bool {
        let Some(frame) = self.frames.last() else {
            return false;
        };
        let mut fork = self.with_frames(vec![frame.clone()]);
        loop {
            if fork.pass_over().is_err() {
                return false;
            }
            let want = fork.run(None);
            let frame = fork.frames.last();
            let called = frame.and_then(|frame| {
                let callee = callee(frame.current()?)?;
                Some(named_callee(frame, callee))
            });
            let is_it = |called: Option<&Function>| {
                called.is_none_or(|called| called.linkage_name == function.linkage_name)
            };
            match (want, called) {
                (Ok(Want::Enter | Want::Event), called) => return called.is_some_and(is_it),
                (Ok(Want::Maybe), Some(called)) if is_it(called) => return true,
                (Ok(Want::Maybe), _) => {}
                _ => return false,
            }
        }
    }

    /// A function is entered from code that is not followed.
    pub(crate) fn push_outside(&mut self, site: SiteId, address: Address) {
        let Some(entered) = self.track.code(site) else {
            return;
        };
        let module = entered.module();
        if let Some(function) = module.functions.get(entered.info().function.index()) {
            let arguments = vec![Datum::SAME; function.params.len()];
            let below = self.slots.extent();
            let entry = Entry::Outside;
            let frame = Frame::new(module, function, address, entry, arguments, below);
            self.frames.push(frame);
        }
    }
}

/// What a call calls.
pub(crate) fn callee(instruction: &Instruction) -> Option<Operand> {
    match &instruction.detail {
        Detail::Call { callee, .. } => Some(*callee),
        _ => None,
    }
}

/// Where an invoke goes on.
pub(crate) fn normal_target(instruction: &Instruction) -> Option<BlockId> {
    match &instruction.detail {
        Detail::Call {
            targets: Some((normal, _)),
            ..
        } => Some(*normal),
        _ => None,
    }
}

/// The function that a call names.
pub(crate) fn named_callee<'a, C>(frame: &Frame<'a, C>, callee: Operand) -> Option<&'a Function> {
    let Operand::Constant(constant) = callee else {
        return None;
    };
    match frame.module.constants.get(constant.index())? {
        Constant::Function(id) => frame.module.functions.get(id.index()),
        _ => None,
    }
}
