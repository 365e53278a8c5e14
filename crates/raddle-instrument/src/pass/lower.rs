//! Writes the program model of a planned module.

use std::collections::HashMap;

use raddle_model as model;
use raddle_model::{
    BlockId, CallInfo, Case, Detail, Flags, FunctionId, InstructionId, Opcode, Operand, SiteInfo,
    Text,
};

use super::debug::Debug;
use super::names::Namer;
use super::objects::object_size;
use super::plan::Plan;
use super::tables::{Finished, Tables};
use crate::demangle;
use crate::llvm::{Block, Module, Value, ValueKind};

/// The model of a module.
pub(super) fn lower<'m>(
    module: &'m Module,
    plan: &Plan<'m>,
    mut debug: Debug<'m>,
    id: u64,
) -> model::Module {
    let mut tables = Tables::new(module);
    let mut sites = Vec::with_capacity(plan.sites.len());
    let mut functions = Vec::new();
    let mut calls = Vec::new();
    let mut namer = Namer::new(module);
    for function in module.functions() {
        let body = Body::number(function);
        namer.enter(function, &mut debug);
        functions.push(body.lower(function, plan, &mut tables, &mut debug));
        for at in function.blocks().flat_map(|block| block.instructions()) {
            calls.extend(call(at, function, &namer, &mut debug));
        }
        if let Some(range) = plan.sites_of(function) {
            for draft in &plan.sites[range] {
                let instruction = draft.instruction.and_then(|at| body.instructions.get(&at));
                let location = draft.instruction.and_then(Value::debug_location);
                sites.push(SiteInfo {
                    kind: draft.kind,
                    order: draft.order,
                    size: draft.size,
                    role: draft.role,
                    function: FunctionId(functions.len() as u32 - 1),
                    instruction: instruction.copied(),
                    position: match location {
                        Some(location) => Some(debug.position(location)),
                        None => functions.last().and_then(|function| function.position),
                    },
                    name: draft.address.and_then(|address| {
                        let size = Some(u64::from(draft.size)).filter(|it| *it > 0);
                        namer.name(address, size, draft.instruction, &mut debug)
                    }),
                });
            }
        }
    }
    let Finished {
        types,
        constants,
        globals,
    } = tables.finish();
    model::Module {
        id,
        name: module.source_name().into(),
        triple: module.triple().into(),
        data_layout: module.data_layout().into(),
        types,
        constants,
        globals,
        positions: debug.into_positions(),
        functions,
        sites,
        calls,
    }
}

/// A call that is given something with a name.
fn call<'m>(
    at: Value<'m>,
    function: Value<'m>,
    namer: &Namer<'m>,
    debug: &mut Debug<'m>,
) -> Option<CallInfo> {
    if !at.is(Opcode::Call) && !at.is(Opcode::Invoke) {
        return None;
    }
    let callee = at.direct_callee().filter(|it| it.is_declaration())?;
    let size = object_size(&callee.name())?;
    let location = at.debug_location()?;
    let argument = *at.args().first()?;
    let object = stored(argument, function).unwrap_or(argument);
    Some(CallInfo {
        object: namer.name(object, size, Some(at), debug)?,
        position: debug.position(location),
    })
}

/// The only pointer that a function stores where this one was loaded from, if that is a local variable: what a guard
/// was made for.
fn stored<'m>(loaded: Value<'m>, function: Value<'m>) -> Option<Value<'m>> {
    let slot = |pointer: Value<'m>| start_of(pointer).filter(|it| it.is(Opcode::Alloca));
    let from = loaded.is(Opcode::Load).then(|| slot(loaded.operand(0)))??;
    let instructions = function.blocks().flat_map(|block| block.instructions());
    let mut stores = instructions
        .filter(|it| it.is(Opcode::Store) && slot(it.operand(1)) == Some(from))
        .map(|it| it.operand(0));
    stores.next().filter(|_| stores.next().is_none())
}

/// The pointer that one without an offset is computed from.
fn start_of(pointer: Value<'_>) -> Option<Value<'_>> {
    let mut pointer = pointer;
    while pointer.is(Opcode::GetElementPtr) {
        let is_zero = pointer.operands().skip(1).all(|it| it.as_int() == Some(0));
        pointer = is_zero.then(|| pointer.operand(0))?;
    }
    Some(pointer)
}

/// Numbers of a function's blocks and instructions.
struct Body<'m> {
    blocks: HashMap<Block<'m>, BlockId>,
    instructions: HashMap<Value<'m>, InstructionId>,
    params: HashMap<Value<'m>, u32>,
}

impl<'m> Body<'m> {
    fn number(function: Value<'m>) -> Body<'m> {
        let mut body = Body {
            blocks: HashMap::new(),
            instructions: HashMap::new(),
            params: HashMap::new(),
        };
        for (index, param) in function.params().enumerate() {
            body.params.insert(param, index as u32);
        }
        for (index, block) in function.blocks().enumerate() {
            body.blocks.insert(block, BlockId(index as u32));
            for instruction in block.instructions() {
                let next = InstructionId(body.instructions.len() as u32);
                body.instructions.insert(instruction, next);
            }
        }
        body
    }

    fn lower(
        &self,
        function: Value<'m>,
        plan: &Plan<'m>,
        tables: &mut Tables<'m>,
        debug: &mut Debug<'m>,
    ) -> model::Function {
        let linkage_name = function.name();
        let params = function.params().map(|param| model::Parameter {
            ty: tables.ty(param.ty()),
            name: Some(param.name())
                .filter(|name| !name.is_empty())
                .map(Text::from),
        });
        let params = params.collect();
        let mut first = 0;
        let mut blocks = Vec::new();
        for block in function.blocks() {
            let lower = |at| self.instruction(at, plan, tables, debug);
            let instructions: Vec<_> = block.instructions().map(lower).collect();
            let len = instructions.len() as u32;
            blocks.push(model::Block {
                first,
                instructions,
            });
            first += len;
        }
        model::Function {
            name: demangle::readable(&linkage_name).into(),
            linkage_name: linkage_name.into(),
            position: debug.function_position(function),
            ty: tables.ty(function.value_type()),
            params,
            instrumented: plan.instrumented.contains(&function),
            blocks,
        }
    }

    fn block(&self, block: Block<'m>) -> BlockId {
        self.blocks[&block]
    }

    fn operand(&self, value: Value<'m>, tables: &mut Tables<'m>) -> Operand {
        match value.kind() {
            ValueKind::Instruction => Operand::Instruction(self.instructions[&value]),
            ValueKind::Argument => Operand::Argument(self.params[&value]),
            ValueKind::Block => Operand::Block(self.block(Block::from_value(value))),
            ValueKind::Metadata => Operand::Metadata,
            _ => Operand::Constant(tables.constant(value)),
        }
    }

    fn instruction(
        &self,
        at: Value<'m>,
        plan: &Plan<'m>,
        tables: &mut Tables<'m>,
        debug: &mut Debug<'m>,
    ) -> model::Instruction {
        // An operation newer than this version of Raddle has the meaning of an unknown one.
        let opcode = at.opcode().unwrap_or(Opcode::UserOp1);
        let used: Vec<Value<'m>> = match opcode {
            Opcode::Call | Opcode::Invoke => at.args(),
            Opcode::Br => at.branch_condition().into_iter().collect(),
            Opcode::Switch => vec![at.operand(0)],
            Opcode::Phi => at.incoming().into_iter().map(|(value, _)| value).collect(),
            _ => at.operands().collect(),
        };
        let ty = tables.ty(at.ty());
        let operands = used
            .into_iter()
            .map(|value| self.operand(value, tables))
            .collect();
        model::Instruction {
            opcode,
            ty,
            operands,
            detail: self.detail(at, opcode, tables),
            flags: flags(at, opcode),
            sites: plan.reported.get(&at).cloned().unwrap_or(0..0),
            position: at.debug_location().map(|location| debug.position(location)),
        }
    }

    fn detail(&self, at: Value<'m>, opcode: Opcode, tables: &mut Tables<'m>) -> Detail {
        match opcode {
            Opcode::ICmp | Opcode::FCmp => Detail::Compare(at.predicate()),
            Opcode::GetElementPtr => Detail::Address(tables.ty(at.gep_source())),
            Opcode::Alloca => Detail::Alloca {
                ty: tables.ty(at.allocated_type()),
                align: at.align(),
            },
            Opcode::Load | Opcode::Store | Opcode::Fence | Opcode::Rmw => Detail::Memory {
                align: if opcode == Opcode::Fence {
                    0
                } else {
                    at.align()
                },
                order: at.ordering(),
                failure: 0,
                operation: if opcode == Opcode::Rmw {
                    at.rmw_operation()
                } else {
                    0
                },
            },
            Opcode::CmpXchg => {
                let (order, failure) = at.exchange_orderings();
                Detail::Memory {
                    align: at.align(),
                    order,
                    failure,
                    operation: 0,
                }
            }
            Opcode::Br | Opcode::IndirectBr => {
                Detail::Branch(at.successors().into_iter().map(|b| self.block(b)).collect())
            }
            Opcode::Switch => {
                let successors = at.successors();
                let cases = (1..successors.len()).map(|index| Case {
                    value: tables.constant(at.case_value(index as u32)),
                    target: self.block(successors[index]),
                });
                Detail::Switch {
                    cases: cases.collect(),
                    default: self.block(at.switch_default()),
                }
            }
            Opcode::Phi => Detail::Phi(
                at.incoming()
                    .into_iter()
                    .map(|(_, b)| self.block(b))
                    .collect(),
            ),
            Opcode::Call | Opcode::Invoke => Detail::Call {
                callee: self.operand(at.callee(), tables),
                ty: tables.ty(at.called_type()),
                targets: (opcode == Opcode::Invoke).then(|| {
                    let (normal, unwind) = at.invoke_targets();
                    (self.block(normal), self.block(unwind))
                }),
            },
            Opcode::ExtractValue | Opcode::InsertValue => Detail::Indices(at.indices()),
            Opcode::ShuffleVector => Detail::Mask(at.mask()),
            Opcode::LandingPad => Detail::LandingPad(at.is_cleanup()),
            _ => Detail::None,
        }
    }
}

fn flags(at: Value<'_>, opcode: Opcode) -> Flags {
    let known: Vec<(bool, Flags)> = match opcode {
        Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Shl => {
            vec![(at.nuw(), Flags::NUW), (at.nsw(), Flags::NSW)]
        }
        Opcode::UDiv | Opcode::SDiv | Opcode::LShr | Opcode::AShr => {
            vec![(at.exact(), Flags::EXACT)]
        }
        Opcode::Or => vec![(at.disjoint(), Flags::DISJOINT)],
        Opcode::ZExt | Opcode::UiToFp => vec![(at.nneg(), Flags::NNEG)],
        Opcode::GetElementPtr => vec![(at.is_inbounds(), Flags::INBOUNDS)],
        Opcode::Load | Opcode::Store | Opcode::Rmw => vec![(at.is_volatile(), Flags::VOLATILE)],
        Opcode::CmpXchg => vec![
            (at.is_volatile(), Flags::VOLATILE),
            (at.is_weak(), Flags::WEAK),
        ],
        Opcode::Fence => vec![(at.is_single_thread(), Flags::SINGLE_THREAD)],
        _ => Vec::new(),
    };
    let set = known.into_iter().filter(|(is_set, _)| *is_set);
    set.fold(Flags::default(), |all, (_, flag)| all.with(flag))
}
