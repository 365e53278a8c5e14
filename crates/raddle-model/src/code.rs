//! Functions, blocks, instructions and constants, close to LLVM's own terms.
//!
//! What is kept is what re-executing a recorded path needs. Attributes, metadata and names of
//! local values are left out.

use std::ops::Range;

use crate::{BlockId, ConstantId, FunctionId, GlobalId, InstructionId, PositionId, Text, TypeId};

macro_rules! opcodes {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// An instruction's operation; the numbers are those of LLVM's C interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the names are LLVM's, and documented there")]
        pub enum Opcode { $($name = $code,)* }

        impl Opcode {
            /// Every operation.
            pub const ALL: &[Opcode] = &[$(Opcode::$name,)*];

            /// The operation with LLVM's number.
            pub fn from_u8(code: u8) -> Option<Opcode> {
                match code { $($code => Some(Opcode::$name),)* _ => None }
            }
        }
    };
}

opcodes! {
    Ret = 1, Br = 2, Switch = 3, IndirectBr = 4, Invoke = 5, Unreachable = 7,
    Add = 8, FAdd = 9, Sub = 10, FSub = 11, Mul = 12, FMul = 13, UDiv = 14, SDiv = 15, FDiv = 16,
    URem = 17, SRem = 18, FRem = 19, Shl = 20, LShr = 21, AShr = 22, And = 23, Or = 24, Xor = 25,
    Alloca = 26, Load = 27, Store = 28, GetElementPtr = 29,
    Trunc = 30, ZExt = 31, SExt = 32, FpToUi = 33, FpToSi = 34, UiToFp = 35, SiToFp = 36,
    FpTrunc = 37, FpExt = 38, PtrToInt = 39, IntToPtr = 40, BitCast = 41,
    ICmp = 42, FCmp = 43, Phi = 44, Call = 45, Select = 46, UserOp1 = 47, UserOp2 = 48, VaArg = 49,
    ExtractElement = 50, InsertElement = 51, ShuffleVector = 52, ExtractValue = 53,
    InsertValue = 54, Fence = 55, CmpXchg = 56, Rmw = 57, Resume = 58, LandingPad = 59,
    AddrSpaceCast = 60, CleanupRet = 61, CatchRet = 62, CatchPad = 63, CleanupPad = 64,
    CatchSwitch = 65, FNeg = 66, CallBr = 67, Freeze = 68, PtrToAddr = 69,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Symbol.
    pub linkage_name: Text,
    /// Demangled, without hashes.
    pub name: Text,
    /// Where it is written.
    pub position: Option<PositionId>,
    /// Its function type.
    pub ty: TypeId,
    /// Its parameters, in order.
    pub params: Vec<Parameter>,
    /// Whether hooks were put into it.
    pub instrumented: bool,
    /// Its code, entry first; empty for declarations.
    pub blocks: Vec<Block>,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its type.
    pub ty: TypeId,
    /// Its name, if the compiler kept one.
    pub name: Option<Text>,
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Number of its first instruction.
    pub first: u32,
    /// Its instructions; the last one is the terminator.
    pub instructions: Vec<Instruction>,
}

impl Function {
    /// An instruction by its number.
    pub fn instruction(&self, id: InstructionId) -> Option<&Instruction> {
        let after = self.blocks.partition_point(|block| block.first <= id.0);
        let block = self.blocks.get(after.checked_sub(1)?)?;
        block.instructions.get((id.0 - block.first) as usize)
    }
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// What it does.
    pub opcode: Opcode,
    /// Type of its result.
    pub ty: TypeId,
    /// Values it uses; for calls the arguments without the callee, for terminators without the
    /// target blocks, for phis in the order of [`Detail::Phi`].
    pub operands: Vec<Operand>,
    /// What the operation has besides operands.
    pub detail: Detail,
    /// Wrap, exactness, bounds and similar promises.
    pub flags: Flags,
    /// Sites that report it.
    pub sites: Range<u32>,
    /// Where it stands.
    pub position: Option<PositionId>,
}

/// A value used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// The result of an instruction of the same function.
    Instruction(InstructionId),
    /// A parameter of the same function.
    Argument(u32),
    /// A constant, global or function.
    Constant(ConstantId),
    /// A block of the same function.
    Block(BlockId),
    /// Metadata, which no computation uses.
    Metadata,
}

/// Bits that qualify an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u16);

impl Flags {
    /// No unsigned wrap.
    pub const NUW: Flags = Flags(1);
    /// No signed wrap.
    pub const NSW: Flags = Flags(2);
    /// Exact division or shift.
    pub const EXACT: Flags = Flags(4);
    /// Disjoint `or`.
    pub const DISJOINT: Flags = Flags(8);
    /// Non-negative operand.
    pub const NNEG: Flags = Flags(16);
    /// In-bounds address computation.
    pub const INBOUNDS: Flags = Flags(32);
    /// Volatile access.
    pub const VOLATILE: Flags = Flags(64);
    /// Weak compare-exchange.
    pub const WEAK: Flags = Flags(128);
    /// Atomic with respect to one thread only.
    pub const SINGLE_THREAD: Flags = Flags(256);

    /// Whether all bits of `other` are set.
    pub fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of bits.
    #[must_use]
    pub fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// A case of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Value compared with.
    pub value: ConstantId,
    /// Where it leads.
    pub target: BlockId,
}

/// What an operation has besides its operands.
#[derive(Clone, Debug, PartialEq)]
pub enum Detail {
    /// Nothing.
    None,
    /// A comparison; LLVM's predicate number.
    Compare(u8),
    /// Address arithmetic over a type.
    Address(TypeId),
    /// Stack memory of a type.
    Alloca {
        /// Type allocated.
        ty: TypeId,
        /// Alignment in bytes.
        align: u32,
    },
    /// A load, store, read-modify-write, compare-exchange or fence; orderings are LLVM's numbers.
    Memory {
        /// Alignment in bytes, 0 if unknown.
        align: u32,
        /// Ordering; 0 for plain accesses.
        order: u8,
        /// Ordering of a failed compare-exchange.
        failure: u8,
        /// LLVM's number of a read-modify-write operation.
        operation: u8,
    },
    /// A branch; if conditional, the target when true comes first.
    Branch(Vec<BlockId>),
    /// A switch.
    Switch {
        /// Where it leads without a matching case.
        default: BlockId,
        /// The others.
        cases: Vec<Case>,
    },
    /// The blocks that a phi's operands come from.
    Phi(Vec<BlockId>),
    /// A call.
    Call {
        /// What is called.
        callee: Operand,
        /// As which type.
        ty: TypeId,
        /// Where an invoke goes on: normally, and when unwinding.
        targets: Option<(BlockId, BlockId)>,
    },
    /// Path into an aggregate.
    Indices(Vec<u32>),
    /// A shuffle's mask; `u32::MAX` is undefined.
    Mask(Vec<u32>),
    /// A landing pad's clauses are its operands; whether it is a cleanup.
    LandingPad(bool),
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// An integer, low word first.
    Int(TypeId, Vec<u64>),
    /// A floating-point number's bits, low word first.
    Float(TypeId, Vec<u64>),
    /// All zero: null pointers and zero-initialised aggregates.
    Zero(TypeId),
    /// Any bits.
    Undef(TypeId),
    /// Poison.
    Poison(TypeId),
    /// Elements of an aggregate.
    Aggregate(TypeId, Vec<ConstantId>),
    /// Elements of an array or vector of numbers, as bytes in memory order.
    Data(TypeId, Vec<u8>),
    /// A global's address.
    Global(GlobalId),
    /// A function's address.
    Function(FunctionId),
    /// A computation over constants.
    Expression {
        /// What it does.
        opcode: Opcode,
        /// Type of its result.
        ty: TypeId,
        /// Its operands.
        operands: Vec<ConstantId>,
        /// The type that address arithmetic runs over.
        source: Option<TypeId>,
    },
    /// Assembly text.
    Assembly(TypeId, Text),
    /// Anything else, in LLVM's notation.
    Other(TypeId, Text),
}

/// A global variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// Symbol.
    pub name: Text,
    /// Demangled.
    pub readable: Text,
    /// Type of its content.
    pub ty: TypeId,
    /// Whether it is never written.
    pub constant: bool,
    /// Whether each thread has its own.
    pub thread_local: bool,
    /// Whether the symbol is visible to other modules.
    pub external: bool,
    /// Initial content; none if it is defined elsewhere.
    pub initializer: Option<ConstantId>,
}
