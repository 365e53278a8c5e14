//! The file form of each table's elements.

use std::ops::Range;

use raddle_trace::wire::{Ordering, Role, SiteKind};

use super::ModelError;
use super::codec::{Codec, Limits, Reader, Writer, choice, record, reference};
use crate::{
    Block, BlockId, CallInfo, Case, Constant, ConstantId, Detail, Flags, Function, FunctionId,
    Global, GlobalId, Instruction, InstructionId, Module, Name, Opcode, Operand, Parameter,
    Position, PositionId, SiteInfo, Type, TypeId, TypeInfo,
};

reference!(TypeId, types, "type");
reference!(ConstantId, constants, "constant");
reference!(GlobalId, globals, "global variable");
reference!(PositionId, positions, "position");
reference!(FunctionId, functions, "function");
reference!(BlockId, blocks, "block");
reference!(InstructionId, instructions, "instruction");

choice!(Type, "type tag";
    0 => Void, 1 => Int(bits), 2 => Half, 3 => BFloat, 4 => Float, 5 => Double, 6 => X86Fp80,
    7 => Fp128, 8 => PpcFp128, 9 => Pointer(space), 10 => Vector { element, len, scalable },
    11 => Array { element, len }, 12 => Struct { fields, packed },
    13 => Function { result, params, variadic }, 14 => Other,
);
record!(TypeInfo {
    ty,
    size,
    store_size
});
choice!(Constant, "constant tag";
    0 => Int(ty, words), 1 => Float(ty, words), 2 => Zero(ty), 3 => Undef(ty), 4 => Poison(ty),
    5 => Aggregate(ty, elements), 6 => Data(ty, bytes), 7 => Global(id), 8 => Function(id),
    9 => Expression { opcode, ty, operands, source }, 10 => Assembly(ty, text),
    11 => Other(ty, text),
);
record!(Global {
    name,
    readable,
    ty,
    constant,
    thread_local,
    external,
    initializer
});
record!(Parameter { ty, name });
record!(Position {
    function,
    file,
    line,
    column,
    inlined_at
});
choice!(Operand, "operand tag";
    0 => Instruction(id), 1 => Argument(index), 2 => Constant(id), 3 => Block(id), 4 => Metadata,
);
record!(Case { value, target });
choice!(Detail, "detail tag";
    0 => None, 1 => Compare(predicate), 2 => Address(ty), 3 => Alloca { ty, align },
    4 => Memory { align, order, failure, operation }, 5 => Branch(targets),
    6 => Switch { default, cases }, 7 => Phi(blocks), 8 => Call { callee, ty, targets },
    9 => Indices(path), 10 => Mask(mask), 11 => LandingPad(cleanup),
);
record!(Instruction {
    opcode,
    ty,
    operands,
    detail,
    flags,
    sites,
    position
});
record!(Name {
    text,
    owner,
    is_global
});
record!(CallInfo { position, object });
record!(SiteInfo {
    kind,
    order,
    size,
    role,
    function,
    instruction,
    position,
    name
});

impl Codec for Flags {
    fn put(&self, writer: &mut Writer) {
        self.0.put(writer);
    }
    fn take(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
        u16::take(reader).map(Flags)
    }
}

impl Codec for Range<u32> {
    fn put(&self, writer: &mut Writer) {
        let len = self.end.saturating_sub(self.start);
        len.put(writer);
        if len > 0 {
            self.start.put(writer);
        }
    }
    fn take(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
        let len = u32::take(reader)?;
        if len == 0 {
            return Ok(0..0);
        }
        let start = u32::take(reader)?;
        match start.checked_add(len) {
            Some(end) if u64::from(end) <= reader.limits.sites => Ok(start..end),
            _ => Err(reader.invalid("range of sites", u64::from(start))),
        }
    }
}

/// Enums with a number of their own.
macro_rules! coded {
    ($ty:ident, $what:literal, $decode:expr) => {
        impl Codec for $ty {
            fn put(&self, writer: &mut Writer) {
                writer.number(*self as u64);
            }
            fn take(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
                let code = u8::take(reader)?;
                let decode: fn(u8) -> Option<$ty> = $decode;
                decode(code).ok_or_else(|| reader.invalid($what, u64::from(code)))
            }
        }
    };
}

coded!(Opcode, "operation", Opcode::from_u8);
coded!(SiteKind, "kind of site", |code| {
    use SiteKind as K;
    let all = [
        K::Read,
        K::Write,
        K::AtomicLoad,
        K::AtomicStore,
        K::Rmw,
        K::Cas,
        K::Fence,
        K::RangeRead,
        K::RangeWrite,
        K::Value,
        K::Enter,
        K::Exit,
    ];
    all.into_iter().find(|kind| *kind as u8 == code)
});
coded!(Ordering, "memory ordering", |code| {
    use Ordering as O;
    let all = [
        O::Plain,
        O::Relaxed,
        O::Acquire,
        O::Release,
        O::AcqRel,
        O::SeqCst,
    ];
    all.into_iter().find(|order| *order as u8 == code)
});
coded!(Role, "lock role", |code| {
    use Role as R;
    let all = [
        R::None,
        R::Lock,
        R::Unlock,
        R::ReadLock,
        R::ReadUnlock,
        R::WriteLock,
        R::WriteUnlock,
        R::Downgrade,
    ];
    all.into_iter().find(|role| *role as u8 == code)
});

impl Function {
    fn put_head(&self, writer: &mut Writer) {
        self.linkage_name.put(writer);
        self.name.put(writer);
        self.position.put(writer);
    }

    fn put_body(&self, writer: &mut Writer) {
        self.ty.put(writer);
        self.params.put(writer);
        self.instrumented.put(writer);
        writer.number(self.blocks.len() as u64);
        let instructions: usize = self.blocks.iter().map(|b| b.instructions.len()).sum();
        writer.number(instructions as u64);
        for block in &self.blocks {
            block.instructions.put(writer);
        }
    }

    fn take_head(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
        Ok(Function {
            linkage_name: Codec::take(reader)?,
            name: Codec::take(reader)?,
            position: Codec::take(reader)?,
            ty: TypeId(0),
            params: Vec::new(),
            instrumented: false,
            blocks: Vec::new(),
        })
    }

    fn take_body(&mut self, reader: &mut Reader<'_>) -> Result<(), ModelError> {
        self.ty = Codec::take(reader)?;
        self.params = Codec::take(reader)?;
        self.instrumented = Codec::take(reader)?;
        let blocks = reader.count("blocks")?;
        reader.limits.blocks = blocks as u64;
        reader.limits.instructions = reader.count("instructions")? as u64;
        let mut first = 0u32;
        for _ in 0..blocks {
            let instructions = Vec::<Instruction>::take(reader)?;
            let len = instructions.len() as u32;
            self.blocks.push(Block {
                first,
                instructions,
            });
            first = first.saturating_add(len);
        }
        if u64::from(first) != reader.limits.instructions {
            return Err(reader.invalid("number of instructions", u64::from(first)));
        }
        Ok(())
    }
}

/// All but the id, which stands before the strings. What an [`Outline`](crate::Outline) needs comes first.
impl Module {
    pub(super) fn put(&self, writer: &mut Writer) {
        self.name.put(writer);
        self.triple.put(writer);
        self.data_layout.put(writer);
        for size in [
            self.types.len(),
            self.constants.len(),
            self.globals.len(),
            self.positions.len(),
            self.functions.len(),
            self.sites.len(),
        ] {
            writer.number(size as u64);
        }
        self.positions.iter().for_each(|entry| entry.put(writer));
        self.functions
            .iter()
            .for_each(|entry| entry.put_head(writer));
        self.sites.iter().for_each(|entry| entry.put(writer));
        self.calls.put(writer);
        self.types.iter().for_each(|entry| entry.put(writer));
        self.constants.iter().for_each(|entry| entry.put(writer));
        self.globals.iter().for_each(|entry| entry.put(writer));
        self.functions
            .iter()
            .for_each(|entry| entry.put_body(writer));
    }

    /// Reads positions, sites and the names of functions, and leaves the rest unread.
    pub(super) fn take_outline(reader: &mut Reader<'_>, id: u64) -> Result<Self, ModelError> {
        let name = Codec::take(reader)?;
        let triple = Codec::take(reader)?;
        let data_layout = Codec::take(reader)?;
        reader.limits = Limits {
            types: reader.count("types")? as u64,
            constants: reader.count("constants")? as u64,
            globals: reader.count("globals")? as u64,
            positions: reader.count("positions")? as u64,
            functions: reader.count("functions")? as u64,
            sites: reader.count("sites")? as u64,
            ..Limits::default()
        };
        let limits = reader.limits;
        let mut positions = Vec::new();
        for index in 0..limits.positions {
            // A position is inlined only into those before it, so that chains end.
            reader.limits.positions = index;
            positions.push(Position::take(reader)?);
        }
        reader.limits.positions = limits.positions;
        let heads = (0..limits.functions).map(|_| Function::take_head(reader));
        let functions = heads.collect::<Result<_, _>>()?;
        reader.limits.instructions = u64::from(u32::MAX);
        let sites = table(reader, limits.sites)?;
        let calls = Codec::take(reader)?;
        Ok(Module {
            id,
            name,
            triple,
            data_layout,
            positions,
            functions,
            sites,
            calls,
            ..Module::default()
        })
    }

    pub(super) fn take(reader: &mut Reader<'_>, id: u64) -> Result<Self, ModelError> {
        let mut module = Module::take_outline(reader, id)?;
        let limits = reader.limits;
        module.types = table(reader, limits.types)?;
        module.constants = table(reader, limits.constants)?;
        module.globals = table(reader, limits.globals)?;
        for function in &mut module.functions {
            function.take_body(reader)?;
        }
        for site in &module.sites {
            let function = &module.functions[site.function.index()];
            if let Some(id) = site.instruction
                && function.instruction(id).is_none()
            {
                return Err(reader.invalid("instruction of a site", u64::from(id.0)));
            }
        }
        Ok(module)
    }
}

fn table<T: Codec>(reader: &mut Reader<'_>, size: u64) -> Result<Vec<T>, ModelError> {
    (0..size).map(|_| T::take(reader)).collect()
}
