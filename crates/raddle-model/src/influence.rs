//! What a function does with the values that it loads.
//!
//! A forward slice over definitions and uses, from each load of a function: does the value come to a branch,
//! an address, a call or the function's result, which another value may lead elsewhere, or only to stores?
//! Stack slots that no event reports are followed as a whole. Whether an addition overflows is taken to
//! stay as it was, so that a checked counter is a counter: who relies on a slice has to execute it again.
//! Inline assembly without jumps is taken to make everything that it writes or results in from everything it reads.

use std::collections::BTreeMap;

use raddle_trace::wire::SiteKind;

use crate::{
    Constant, Detail, Function, FunctionId, Instruction, InstructionId, Model, Module, ModuleId,
    Opcode, Operand, Type,
};

/// LLVM's number of the read-modify-write that stores its operand.
const EXCHANGE: u8 = 0;

/// Functions that only compute, by how their names begin.
const COMPUTING: &[&str] = &[
    "llvm.sadd.",
    "llvm.uadd.",
    "llvm.ssub.",
    "llvm.usub.",
    "llvm.smul.",
    "llvm.umul.",
    "llvm.umax.",
    "llvm.umin.",
    "llvm.smax.",
    "llvm.smin.",
    "llvm.abs.",
    "llvm.ctpop.",
    "llvm.ctlz.",
    "llvm.cttz.",
    "llvm.bswap.",
    "llvm.expect",
];

/// How far the value of a load reaches within its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Influence {
    /// Nothing is made of it.
    Nothing,
    /// It, or what is computed from it, is stored, and no more.
    Data,
    /// It may decide where the thread goes or what it accesses. So may whatever is not known.
    Control,
}

/// A load whose value a store may store, or something computed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Feed {
    /// Index of the load's site in its module.
    pub load: u32,
    /// Whether an earlier execution of the load than the latest one may be meant.
    pub carried: bool,
}

/// The influences of a model's loads: found out function by function, when one is asked for.
#[derive(Clone, Debug)]
pub struct Influences<'m> {
    model: &'m Model,
    functions: BTreeMap<(ModuleId, FunctionId), Slices>,
}

/// The loads and stores of a function, by sites.
#[derive(Clone, Debug, Default)]
struct Slices {
    loads: BTreeMap<u32, Influence>,
    /// What each store is fed by. Loads that have influence on control are left out.
    stores: BTreeMap<u32, Vec<Feed>>,
}

impl<'m> Influences<'m> {
    /// Those of a model.
    #[must_use]
    pub fn new(model: &'m Model) -> Self {
        Self {
            model,
            functions: BTreeMap::new(),
        }
    }

    /// How far what a site reads reaches: `Control` if it is no load or read-modify-write, or is not known.
    pub fn of(&mut self, module: ModuleId, site: u32) -> Influence {
        let found = self.slices(module, site);
        let found = found.and_then(|slices| slices.loads.get(&site));
        found.copied().unwrap_or(Influence::Control)
    }

    /// The loads without influence on control that feed what a site writes.
    pub fn feeds(&mut self, module: ModuleId, site: u32) -> &[Feed] {
        let found = self.slices(module, site);
        let found = found.and_then(|slices| slices.stores.get(&site));
        found.map_or(&[], Vec::as_slice)
    }

    fn slices(&mut self, module: ModuleId, site: u32) -> Option<&Slices> {
        let code = self.model.module(module)?;
        let id = code.sites.get(site as usize)?.function;
        let function = code.functions.get(id.index())?;
        let slices = self.functions.entry((module, id));
        Some(slices.or_insert_with(|| Slices::new(code, function)))
    }
}

impl Slices {
    fn new(module: &Module, function: &Function) -> Self {
        let body = Body::new(module, function);
        let mut slices = Self::default();
        for (number, instruction) in (0..).zip(&body.instructions) {
            let updates = instruction.opcode == Opcode::Rmw;
            let is_assembly = body.is_straight_assembly(instruction);
            let reads = updates || is_assembly || instruction.opcode == Opcode::Load;
            if !reads || instruction.sites.is_empty() {
                continue;
            }
            let mut reach = body.reach(InstructionId(number));
            let feeds_itself = updates && operation(instruction) != Some(EXCHANGE)
                || is_assembly && body.writes(instruction);
            if feeds_itself {
                reach.stores.push((InstructionId(number), false));
            }
            let influence = match (reach.is_control, reach.stores.is_empty()) {
                (true, _) => Influence::Control,
                (false, true) => Influence::Nothing,
                (false, false) => Influence::Data,
            };
            for load in instruction.sites.clone() {
                slices.loads.insert(load, influence);
                if influence == Influence::Data {
                    slices.add_feeds(&body, load, &reach.stores);
                }
            }
        }
        slices
    }

    fn add_feeds(&mut self, body: &Body<'_>, load: u32, stores: &[(InstructionId, bool)]) {
        for &(store, carried) in stores {
            let sites = body.instructions[store.index()].sites.clone();
            for site in sites {
                self.stores
                    .entry(site)
                    .or_default()
                    .push(Feed { load, carried });
            }
        }
    }
}

/// Where a value comes to.
#[derive(Default)]
struct Reach {
    is_control: bool,
    /// Stores that have sites, and whether an earlier execution's value may come there.
    stores: Vec<(InstructionId, bool)>,
}

/// A function's instructions, with who uses their results.
struct Body<'m> {
    module: &'m Module,
    instructions: Vec<&'m Instruction>,
    users: Vec<Vec<InstructionId>>,
    /// The loads of each stack slot that no event reports.
    private_loads: BTreeMap<InstructionId, Vec<InstructionId>>,
}

impl<'m> Body<'m> {
    fn new(module: &'m Module, function: &'m Function) -> Self {
        let blocks = function.blocks.iter();
        let instructions: Vec<_> = blocks.flat_map(|block| &block.instructions).collect();
        let mut body = Self {
            module,
            users: vec![Vec::new(); instructions.len()],
            instructions,
            private_loads: BTreeMap::new(),
        };
        for (number, instruction) in (0..).map(InstructionId).zip(&body.instructions) {
            let callee = match &instruction.detail {
                Detail::Call { callee, .. } => Some(*callee),
                _ => None,
            };
            for operand in instruction.operands.iter().copied().chain(callee) {
                if let Operand::Instruction(used) = operand
                    && let Some(users) = body.users.get_mut(used.index())
                {
                    users.push(number);
                }
            }
        }
        for number in (0..body.instructions.len() as u32).map(InstructionId) {
            let instruction = body.instructions[number.index()];
            if instruction.opcode == Opcode::Load
                && instruction.sites.is_empty()
                && let Some(slot) = body.slot(instruction.operands.first().copied())
            {
                body.private_loads.entry(slot).or_default().push(number);
            }
        }
        body
    }

    /// The stack slot that an address points into, if it is plain to see.
    fn slot(&self, address: Option<Operand>) -> Option<InstructionId> {
        let mut address = address?;
        // Addresses are computed from earlier ones; a hand-made model that breaks the rule must not loop.
        for _ in 0..self.instructions.len() {
            let Operand::Instruction(id) = address else {
                return None;
            };
            let instruction = self.instructions.get(id.index())?;
            match instruction.opcode {
                Opcode::Alloca => return Some(id),
                Opcode::GetElementPtr | Opcode::BitCast | Opcode::AddrSpaceCast => {
                    address = *instruction.operands.first()?;
                }
                _ => return None,
            }
        }
        None
    }

    /// Whether an instruction is inline assembly that does the same steps whatever it reads.
    fn is_straight_assembly(&self, instruction: &Instruction) -> bool {
        let Detail::Call {
            callee: Operand::Constant(callee),
            ..
        } = instruction.detail
        else {
            return false;
        };
        let Some(Constant::Assembly(_, text)) = self.module.constants.get(callee.index()) else {
            return false;
        };
        let mut words = text.split(|c: char| c.is_whitespace() || c == ';' || c == ':');
        !words.any(|word| word.starts_with(['j', 'J']) || word.starts_with("loop"))
    }

    /// Whether an event of an instruction writes.
    fn writes(&self, instruction: &Instruction) -> bool {
        let kinds = instruction.sites.clone();
        let mut kinds = kinds.filter_map(|site| Some(self.module.sites.get(site as usize)?.kind));
        kinds.any(|kind| matches!(kind, SiteKind::AtomicStore | SiteKind::Rmw | SiteKind::Cas))
    }

    /// Where the result of an instruction comes to.
    fn reach(&self, from: InstructionId) -> Reach {
        let mut reach = Reach::default();
        // By instruction: whether its result is reached, by this execution's value and by earlier ones'.
        let mut seen = vec![[false; 2]; self.instructions.len()];
        let mut left = vec![(from, false)];
        while let Some((value, carried)) = left.pop() {
            if std::mem::replace(&mut seen[value.index()][usize::from(carried)], true) {
                continue;
            }
            for &user in &self.users[value.index()] {
                match self.use_of(value, user) {
                    Use::Ends => {}
                    Use::Decides => reach.is_control = true,
                    Use::Stores => reach.stores.push((user, carried)),
                    Use::Computes => left.push((user, carried)),
                    Use::Carries => left.push((user, true)),
                    Use::Keeps(slot) => {
                        let loads = self.private_loads.get(&slot).into_iter().flatten();
                        left.extend(loads.map(|load| (*load, true)));
                    }
                }
            }
            if reach.is_control {
                return reach;
            }
        }
        reach.stores.sort_unstable();
        // A carried value stands for the latest one as well.
        reach.stores.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            earlier.1 |= same && later.1;
            same
        });
        reach
    }

    /// What an instruction does with a value.
    fn use_of(&self, value: InstructionId, user: InstructionId) -> Use {
        let instruction = self.instructions[user.index()];
        let is_at = |index: usize| {
            instruction.operands.get(index).copied() == Some(Operand::Instruction(value))
        };
        match instruction.opcode {
            Opcode::Store if is_at(1) => Use::Decides,
            Opcode::Store if instruction.sites.is_empty() => {
                match self.slot(instruction.operands.get(1).copied()) {
                    Some(slot) => Use::Keeps(slot),
                    None => Use::Decides,
                }
            }
            Opcode::Store => Use::Stores,
            Opcode::Rmw if is_at(0) || instruction.sites.is_empty() => Use::Decides,
            Opcode::Rmw => Use::Stores,
            Opcode::Phi => Use::Carries,
            // The second one traps if it is zero.
            Opcode::UDiv | Opcode::SDiv | Opcode::URem | Opcode::SRem if is_at(1) => Use::Decides,
            Opcode::Call => match self.callee_name(instruction) {
                Some(name) if COMPUTING.iter().any(|start| name.starts_with(start)) => {
                    Use::Computes
                }
                _ => Use::Decides,
            },
            Opcode::ExtractValue if self.is_overflow_flag(value, instruction) => Use::Ends,
            Opcode::ICmp if self.is_overflow_test(value, instruction) => Use::Ends,
            Opcode::Add
            | Opcode::FAdd
            | Opcode::Sub
            | Opcode::FSub
            | Opcode::Mul
            | Opcode::FMul
            | Opcode::UDiv
            | Opcode::SDiv
            | Opcode::FDiv
            | Opcode::URem
            | Opcode::SRem
            | Opcode::FRem
            | Opcode::Shl
            | Opcode::LShr
            | Opcode::AShr
            | Opcode::And
            | Opcode::Or
            | Opcode::Xor
            | Opcode::GetElementPtr
            | Opcode::Trunc
            | Opcode::ZExt
            | Opcode::SExt
            | Opcode::FpToUi
            | Opcode::FpToSi
            | Opcode::UiToFp
            | Opcode::SiToFp
            | Opcode::FpTrunc
            | Opcode::FpExt
            | Opcode::PtrToInt
            | Opcode::IntToPtr
            | Opcode::BitCast
            | Opcode::ICmp
            | Opcode::FCmp
            | Opcode::Select
            | Opcode::ExtractElement
            | Opcode::InsertElement
            | Opcode::ShuffleVector
            | Opcode::ExtractValue
            | Opcode::InsertValue
            | Opcode::AddrSpaceCast
            | Opcode::FNeg
            | Opcode::Freeze
            | Opcode::PtrToAddr => Use::Computes,
            _ => Use::Decides,
        }
    }

    /// Whether a comparison asks if the value plus a positive constant, which is computed, too, overflows:
    /// that is what the optimiser makes of a checked addition.
    fn is_overflow_test(&self, value: InstructionId, comparison: &Instruction) -> bool {
        let Some((limit, width)) = self.constant_beside(value, comparison) else {
            return false;
        };
        let (all, half) = (u64::MAX >> (64 - width), 1 << (width - 1));
        self.users[value.index()].iter().any(|user| {
            let sum = self.instructions[user.index()];
            let added = self.constant_beside(value, sum);
            let added = added.filter(|_| sum.opcode == Opcode::Add);
            added.is_some_and(|(added, _)| {
                let end = limit.wrapping_add(added) & all;
                (1..half).contains(&added) && [0, all, half, half - 1].contains(&end)
            })
        })
    }

    /// The integer, of at most 64 bits, that an instruction combines with a value on its left; with its width.
    fn constant_beside(&self, value: InstructionId, user: &Instruction) -> Option<(u64, u32)> {
        let [Operand::Instruction(left), Operand::Constant(right)] = user.operands[..] else {
            return None;
        };
        let constant = self.module.constants.get(right.index());
        let Some(Constant::Int(ty, words)) = constant.filter(|_| left == value) else {
            return None;
        };
        match self.module.types.get(ty.index())?.ty {
            Type::Int(width @ 1..=64) => Some((words.first()? & (u64::MAX >> (64 - width)), width)),
            _ => None,
        }
    }

    fn callee_name(&self, instruction: &Instruction) -> Option<&'m str> {
        let Detail::Call {
            callee: Operand::Constant(callee),
            ..
        } = instruction.detail
        else {
            return None;
        };
        match self.module.constants.get(callee.index())? {
            Constant::Function(id) => {
                let function = self.module.functions.get(id.index())?;
                Some(&*function.linkage_name)
            }
            _ => None,
        }
    }

    /// Whether an extraction takes the flag from the result of checked arithmetic.
    fn is_overflow_flag(&self, value: InstructionId, extraction: &Instruction) -> bool {
        let checked = self.instructions[value.index()];
        let name = self.callee_name(checked);
        let is_flag = matches!(&extraction.detail, Detail::Indices(path) if path[..] == [1]);
        is_flag && name.is_some_and(|name| name.contains(".with.overflow"))
    }
}

/// What becomes of a value.
enum Use {
    /// Nothing.
    Ends,
    /// It decides where the thread goes or what it accesses, or nobody knows.
    Decides,
    /// It is written to memory that others may see.
    Stores,
    /// It becomes part of a result.
    Computes,
    /// It becomes part of a result, perhaps of a later turn of a loop.
    Carries,
    /// It is kept in a stack slot of the function's own.
    Keeps(InstructionId),
}

fn operation(instruction: &Instruction) -> Option<u8> {
    match instruction.detail {
        Detail::Memory { operation, .. } => Some(operation),
        _ => None,
    }
}
