//! The types, constants and globals of a module's program model.

use std::collections::HashMap;

use raddle_model as model;
use raddle_model::{Constant, ConstantId, FunctionId, GlobalId, Opcode, TypeId, TypeInfo};

use crate::demangle;
use crate::llvm::{Kind, Layout, Module, Ty, Value, ValueKind};

/// Types, constants and globals, each once.
pub(super) struct Tables<'m> {
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

/// What [`Tables`] collected.
pub(super) struct Finished {
    pub(super) types: Vec<TypeInfo>,
    pub(super) constants: Vec<Constant>,
    pub(super) globals: Vec<model::Global>,
}

/// Deepest nesting of types and constants that is followed.
const MAX_DEPTH: u32 = 64;

/// Most elements of an aggregate that are kept one by one.
const MAX_ELEMENTS: u64 = 4096;

impl<'m> Tables<'m> {
    pub(super) fn new(module: &'m Module) -> Tables<'m> {
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

    /// Reads the globals' contents, which may name each other, and hands everything over.
    pub(super) fn finish(mut self) -> Finished {
        for (index, global) in self.global_values.clone().into_iter().enumerate() {
            let initializer = global.initializer();
            self.globals[index].initializer = initializer.map(|content| self.constant(content));
        }
        Finished {
            types: self.types,
            constants: self.constants,
            globals: self.globals,
        }
    }

    pub(super) fn ty(&mut self, ty: Ty<'m>) -> TypeId {
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

    pub(super) fn constant(&mut self, value: Value<'m>) -> ConstantId {
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
