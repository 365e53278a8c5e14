//! Writes the program model of a planned module.

use std::collections::HashMap;

use raddle_model as model;
use raddle_model::{
    BlockId, Case, Constant, ConstantId, Detail, Flags, FunctionId, GlobalId, InstructionId,
    Opcode, Operand, SiteInfo, Text, TypeId, TypeInfo,
};

use super::debug::Debug;
use super::names::Namer;
use super::plan::Plan;
use crate::demangle;
use crate::llvm::{Block, Kind, Layout, Module, Ty, Value, ValueKind};

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
    let mut namer = Namer::new(module);
    for function in module.functions() {
        let body = Body::number(function);
        namer.enter(function, &debug);
        functions.push(body.lower(function, plan, &mut tables, &mut debug));
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
                    name: draft
                        .address
                        .and_then(|address| namer.name(address, &debug)),
                });
            }
        }
    }
    tables.finish_globals();
    model::Module {
        id,
        name: module.source_name().into(),
        triple: module.triple().into(),
        data_layout: module.data_layout().into(),
        types: tables.types,
        constants: tables.constants,
        globals: tables.globals,
        positions: debug.into_positions(),
        functions,
        sites,
    }
}

/// Types, constants and globals, each once.
struct Tables<'m> {
    layout: Layout<'m>,
    types: Vec<TypeInfo>,
    type_ids: HashMap<Ty<'m>, TypeId>,
    constants: Vec<Constant>,
    constant_ids: HashMap<Value<'m>, ConstantId>,
    globals: Vec<model::Global>,
    global_values: Vec<Value<'m>>,
    global_ids: HashMap<Value<'m>, GlobalId>,
    function_ids: HashMap<Value<'m>, FunctionId>,
}

/// Deepest nesting of types and constants that is followed.
const MAX_DEPTH: u32 = 64;

/// Most elements of an aggregate that are kept one by one.
const MAX_ELEMENTS: u64 = 4096;

impl<'m> Tables<'m> {
    fn new(module: &'m Module) -> Tables<'m> {
        let number = |(index, function)| (function, FunctionId(index as u32));
        let mut tables = Tables {
            layout: module.layout(),
            types: Vec::new(),
            type_ids: HashMap::new(),
            constants: Vec::new(),
            constant_ids: HashMap::new(),
            globals: Vec::new(),
            global_values: module.globals().collect(),
            global_ids: HashMap::new(),
            function_ids: module.functions().enumerate().map(number).collect(),
        };
        for (index, &global) in tables.global_values.clone().iter().enumerate() {
            tables.global_ids.insert(global, GlobalId(index as u32));
            let ty = tables.ty(global.value_type());
            let name = global.name();
            tables.globals.push(model::Global {
                readable: demangle::readable(&name).into(),
                name: name.into(),
                ty,
                constant: global.is_constant_global(),
                thread_local: global.is_thread_local(),
                external: !matches!(global.linkage(), 8 | 9),
                initializer: None,
            });
        }
        tables
    }

    fn finish_globals(&mut self) {
        for (index, global) in self.global_values.clone().into_iter().enumerate() {
            let initializer = global.initializer();
            self.globals[index].initializer = initializer.map(|content| self.constant(content));
        }
    }

    fn ty(&mut self, ty: Ty<'m>) -> TypeId {
        self.ty_at(ty, 0)
    }

    fn ty_at(&mut self, ty: Ty<'m>, depth: u32) -> TypeId {
        if let Some(&id) = self.type_ids.get(&ty) {
            return id;
        }
        let inner = depth + 1;
        let described = match ty.kind() {
            _ if depth > MAX_DEPTH => model::Type::Other,
            Kind::Void => model::Type::Void,
            Kind::Integer => model::Type::Int(ty.int_width()),
            Kind::Half => model::Type::Half,
            Kind::BFloat => model::Type::BFloat,
            Kind::Float => model::Type::Float,
            Kind::Double => model::Type::Double,
            Kind::X86Fp80 => model::Type::X86Fp80,
            Kind::Fp128 => model::Type::Fp128,
            Kind::PpcFp128 => model::Type::PpcFp128,
            Kind::Pointer => model::Type::Pointer(ty.address_space()),
            kind @ (Kind::Vector | Kind::ScalableVector) => model::Type::Vector {
                element: self.ty_at(ty.element(), inner),
                len: ty.len() as u32,
                scalable: kind == Kind::ScalableVector,
            },
            Kind::Array => model::Type::Array {
                element: self.ty_at(ty.element(), inner),
                len: ty.len(),
            },
            Kind::Struct => {
                let sized = ty.is_sized();
                let layout = self.layout;
                let fields = ty.fields().into_iter().enumerate().map(|(index, field)| {
                    let offset = if sized {
                        layout.offset(ty, index as u32)
                    } else {
                        0
                    };
                    (self.ty_at(field, inner), offset)
                });
                model::Type::Struct {
                    fields: fields.collect(),
                    packed: ty.is_packed(),
                }
            }
            Kind::Function => model::Type::Function {
                result: self.ty_at(ty.result(), inner),
                params: ty
                    .params()
                    .into_iter()
                    .map(|param| self.ty_at(param, inner))
                    .collect(),
                variadic: ty.is_variadic(),
            },
            Kind::Other => model::Type::Other,
        };
        let has_size =
            ty.is_sized() && ty.kind() != Kind::ScalableVector && ty.kind() != Kind::Other;
        let info = TypeInfo {
            ty: described,
            size: if has_size {
                self.layout.alloc_size(ty)
            } else {
                0
            },
            store_size: if has_size {
                self.layout.store_size(ty)
            } else {
                0
            },
        };
        let id = TypeId(self.types.len() as u32);
        self.types.push(info);
        self.type_ids.insert(ty, id);
        id
    }

    fn constant(&mut self, value: Value<'m>) -> ConstantId {
        self.constant_at(value, 0)
    }

    fn constant_at(&mut self, value: Value<'m>, depth: u32) -> ConstantId {
        if let Some(&id) = self.constant_ids.get(&value) {
            return id;
        }
        let constant = self.describe(value, depth);
        let id = ConstantId(self.constants.len() as u32);
        self.constants.push(constant);
        self.constant_ids.insert(value, id);
        id
    }

    fn describe(&mut self, value: Value<'m>, depth: u32) -> Constant {
        let ty = self.ty(value.ty());
        if depth > MAX_DEPTH {
            return Constant::Other(ty, "…".into());
        }
        match value.kind() {
            ValueKind::Global => match self.global_ids.get(&value) {
                Some(&id) => Constant::Global(id),
                None => Constant::Other(ty, value.name().into()),
            },
            ValueKind::Function => match self.function_ids.get(&value) {
                Some(&id) => Constant::Function(id),
                None => Constant::Other(ty, value.name().into()),
            },
            ValueKind::Int => Constant::Int(ty, int_words(value)),
            ValueKind::Float => match value.ty().kind() {
                Kind::Float => {
                    Constant::Float(ty, vec![u64::from((value.as_double() as f32).to_bits())])
                }
                Kind::Double => Constant::Float(ty, vec![value.as_double().to_bits()]),
                _ => Constant::Other(ty, value.print().into()),
            },
            ValueKind::Zero | ValueKind::Null => Constant::Zero(ty),
            ValueKind::Undef => Constant::Undef(ty),
            ValueKind::Poison => Constant::Poison(ty),
            ValueKind::Assembly => Constant::Assembly(ty, value.assembly().into()),
            ValueKind::ConstantAggregate => {
                let operands: Vec<Value<'m>> = value.operands().collect();
                let elements = operands
                    .into_iter()
                    .map(|element| self.constant_at(element, depth + 1));
                Constant::Aggregate(ty, elements.collect())
            }
            ValueKind::ConstantData => self.data(value, ty),
            ValueKind::ConstantExpr => match value.expression_opcode() {
                Some(opcode) => {
                    let operands: Vec<Value<'m>> = value.operands().collect();
                    Constant::Expression {
                        opcode,
                        ty,
                        operands: operands
                            .into_iter()
                            .map(|operand| self.constant_at(operand, depth + 1))
                            .collect(),
                        source: (opcode == Opcode::GetElementPtr)
                            .then(|| self.ty(value.gep_source())),
                    }
                }
                None => Constant::Other(ty, value.print().into()),
            },
            _ => Constant::Other(ty, value.print().into()),
        }
    }

    /// Arrays and vectors of numbers.
    fn data(&mut self, value: Value<'m>, ty: TypeId) -> Constant {
        let element = value.ty().element();
        let width = self.layout.store_size(element) as usize;
        if let Some(bytes) = value.raw_data() {
            return Constant::Data(ty, bytes);
        }
        let len = value.ty().len();
        if element.kind() != Kind::Integer || width > 8 || len > MAX_ELEMENTS {
            return Constant::Other(ty, "data".into());
        }
        let mut bytes = Vec::with_capacity(len as usize * width);
        for index in 0..len as u32 {
            let word = value
                .aggregate_element(index)
                .and_then(Value::as_int)
                .unwrap_or(0);
            bytes.extend_from_slice(&word.to_le_bytes()[..width]);
        }
        Constant::Data(ty, bytes)
    }
}

/// Words of an integer constant, low first.
fn int_words(value: Value<'_>) -> Vec<u64> {
    if let Some(word) = value.as_int() {
        return vec![word];
    }
    // Wider integers are only reachable through LLVM's notation: `i128 -5`.
    let text = value.print();
    let digits = text.rsplit(' ').next().unwrap_or_default();
    match digits.parse::<i128>() {
        Ok(number) => vec![number as u64, (number >> 64) as u64],
        Err(_) => Vec::new(),
    }
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
