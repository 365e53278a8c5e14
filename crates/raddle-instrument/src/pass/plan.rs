//! Decides what is recorded: which hooks go where, and their sites.
//!
//! Planning looks at the optimised module and changes nothing, so that the program model can be
//! written from the same, still hook-free instructions that the sites refer to.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use raddle_model::{Opcode, ordering};
use raddle_trace::wire::{Ordering, PanicStage, Role, SiteKind};

use super::assembly::{self, Extent, Touch};
use super::catalogue;
use super::debug::Debug;
use super::escape::Privacy;
use super::hooks::{PREFIX, Style};
use super::pieces::{Piece, pieces_of};
use crate::demangle;
use crate::llvm::{Kind, Layout, Module, Value, ValueKind, intrinsic_name};

/// A site to be.
#[derive(Clone, Debug)]
pub(super) struct Draft<'m> {
    pub(super) kind: SiteKind,
    pub(super) order: Ordering,
    /// Whether it is a plain access that the program declares volatile.
    pub(super) is_volatile: bool,
    pub(super) size: u8,
    pub(super) role: Role,
    pub(super) instruction: Option<Value<'m>>,
    /// The address accessed, for the variable's name.
    pub(super) address: Option<Value<'m>>,
}

/// A hook to be.
pub(super) struct Hook<'m> {
    pub(super) function: Value<'m>,
    /// The instruction it stands at.
    pub(super) at: Value<'m>,
    /// Number of its first site; it uses as many as its action needs.
    pub(super) site: u32,
    pub(super) action: Action<'m>,
}

/// What a hook does.
pub(super) enum Action<'m> {
    /// Reports a step of a panic.
    Panic(PanicStage),
    /// Function entry.
    Enter,
    /// Function exit.
    Exit,
    /// One event a piece, values filled in after the load.
    Load(Value<'m>, Vec<Piece>),
    /// One event a piece, complete before the store.
    Store(Value<'m>, Vec<Piece>),
    /// A read-modify-write, two slots a piece.
    Rmw(Vec<Piece>),
    /// A compare-exchange, two slots a piece.
    Cas(Vec<Piece>),
    /// A fence.
    Fence,
    /// Ranges touched, all of one length.
    Ranges(Vec<Value<'m>>, Length<'m>),
    /// A branch outcome, without a site.
    Branch(Value<'m>),
    /// A value known before the instruction.
    Before(Value<'m>),
    /// The pieces of the instruction's result.
    Result(Vec<Piece>),
    /// What inline assembly accesses, and the pieces of its result.
    Assembly(Vec<Touch<'m>>, Vec<Piece>),
}

/// Length of a range.
#[derive(Clone, Copy)]
pub(super) enum Length<'m> {
    Known(u64),
    Computed(Value<'m>),
}

/// Everything that will be inserted.
pub(super) struct Plan<'m> {
    pub(super) hooks: Vec<Hook<'m>>,
    pub(super) sites: Vec<Draft<'m>>,
    /// Functions that get hooks.
    pub(super) instrumented: HashSet<Value<'m>>,
    /// The sites of a function that has some.
    ranges: HashMap<Value<'m>, Range<usize>>,
    /// The sites that report an instruction.
    pub(super) reported: HashMap<Value<'m>, Range<u32>>,
}

/// `LLVMAvailableExternallyLinkage`: a body that is never emitted.
const AVAILABLE_EXTERNALLY: u32 = 1;

/// C functions that touch memory as an intrinsic would: (name, addresses read, addresses written);
/// the length is the third argument.
const MEMORY_FUNCTIONS: &[(&str, &[usize], &[usize])] = &[
    ("memcpy", &[1], &[0]),
    ("mempcpy", &[1], &[0]),
    ("memmove", &[1], &[0]),
    ("memset", &[], &[0]),
    ("memcmp", &[0, 1], &[]),
    ("bcmp", &[0, 1], &[]),
];

impl<'m> Plan<'m> {
    /// Plans a whole module.
    pub(super) fn make(module: &'m Module, debug: &mut Debug<'m>, style: Style) -> Plan<'m> {
        let resolvers: HashSet<Value<'m>> = module.resolvers().collect();
        let mut plan = Plan {
            hooks: Vec::new(),
            sites: Vec::new(),
            instrumented: HashSet::new(),
            ranges: HashMap::new(),
            reported: HashMap::new(),
        };
        for function in module.functions() {
            let readable = demangle::readable(&function.name());
            let is_wanted = style == Style::Inline || !catalogue::is_backtrace(&readable);
            if is_wanted && is_eligible(function) && !resolvers.contains(&function) {
                Planner::new(&mut plan, debug, module.layout(), function).run(&readable);
            }
        }
        plan
    }

    /// The sites of a function.
    pub(super) fn sites_of(&self, function: Value<'m>) -> Option<Range<usize>> {
        self.ranges.get(&function).cloned()
    }
}

fn is_eligible(function: Value<'_>) -> bool {
    let section = function.section();
    !function.is_declaration()
        && function.linkage() != AVAILABLE_EXTERNALLY
        && !function.name().starts_with(PREFIX)
        && !function.has_attribute("naked")
        && !function.has_attribute("presplitcoroutine")
        && section != ".init"
        && section != ".fini"
}

struct Planner<'p, 'm> {
    plan: &'p mut Plan<'m>,
    debug: &'p mut Debug<'m>,
    layout: Layout<'m>,
    function: Value<'m>,
    privacy: Privacy<'m>,
}

impl<'p, 'm> Planner<'p, 'm> {
    fn new(
        plan: &'p mut Plan<'m>,
        debug: &'p mut Debug<'m>,
        layout: Layout<'m>,
        function: Value<'m>,
    ) -> Planner<'p, 'm> {
        Planner {
            plan,
            debug,
            layout,
            function,
            privacy: Privacy::of(function),
        }
    }

    fn run(mut self, readable: &str) {
        let sites_before = self.plan.sites.len();
        let hooks_before = self.plan.hooks.len();
        let Some(entry) = self.function.blocks().next().and_then(entry_point) else {
            return;
        };
        let panic_stage = catalogue::panic_stage(readable);
        self.site(SiteKind::Enter, None);
        self.hook_at(entry, Action::Enter, 1);
        if let Some(stage) = panic_stage {
            self.hook_at(entry, Action::Panic(stage), 0);
        }
        let mut worth_it = panic_stage.is_some();
        for block in self.function.blocks() {
            for instruction in block.instructions() {
                let first = self.plan.sites.len() as u32;
                worth_it |= self.visit(instruction);
                let after = self.plan.sites.len() as u32;
                if after > first {
                    self.plan.reported.insert(instruction, first..after);
                }
            }
        }
        if worth_it {
            self.plan.instrumented.insert(self.function);
            let range = sites_before..self.plan.sites.len();
            self.plan.ranges.insert(self.function, range);
        } else {
            // Only entry and exit: nothing happens in between that anybody could ask about.
            for hook in &self.plan.hooks[hooks_before..] {
                self.plan.reported.remove(&hook.at);
            }
            self.plan.sites.truncate(sites_before);
            self.plan.hooks.truncate(hooks_before);
        }
    }

    fn site(&mut self, kind: SiteKind, instruction: Option<Value<'m>>) {
        self.plan.sites.push(Draft {
            kind,
            order: Ordering::Plain,
            is_volatile: false,
            size: 0,
            role: Role::None,
            instruction,
            address: None,
        });
    }

    /// Adds a hook for the last `sites` sites.
    fn hook_at(&mut self, at: Value<'m>, action: Action<'m>, sites: usize) {
        let site = (self.plan.sites.len() - sites) as u32;
        let function = self.function;
        self.plan.hooks.push(Hook {
            function,
            at,
            site,
            action,
        });
    }

    /// Plans one instruction; says whether it makes its function worth an entry event.
    fn visit(&mut self, at: Value<'m>) -> bool {
        match at.opcode() {
            Some(Opcode::Load) => self.load(at),
            Some(Opcode::Store) => self.store(at),
            Some(Opcode::Rmw) => self.update(at, SiteKind::Rmw, at.ordering()),
            Some(Opcode::CmpXchg) => self.update(at, SiteKind::Cas, at.exchange_orderings().0),
            Some(Opcode::Fence) => self.fence(at),
            Some(Opcode::Call | Opcode::Invoke) => self.call(at),
            Some(Opcode::CallBr) => self.assembly(at),
            Some(Opcode::Br) => match at.branch_condition() {
                Some(condition) => {
                    self.hook_at(at, Action::Branch(condition), 0);
                    true
                }
                None => false,
            },
            Some(Opcode::Switch | Opcode::IndirectBr) => {
                let operand = at.operand(0);
                self.before(at, operand)
            }
            Some(Opcode::Ret | Opcode::Resume) => {
                if !follows_musttail(at) {
                    self.exit(at);
                }
                false
            }
            _ => false,
        }
    }

    fn exit(&mut self, at: Value<'m>) {
        self.site(SiteKind::Exit, Some(at));
        self.hook_at(at, Action::Exit, 1);
    }

    fn before(&mut self, at: Value<'m>, value: Value<'m>) -> bool {
        if pieces_of(self.layout, value.ty()).is_none_or(|pieces| pieces.len() != 1) {
            return false;
        }
        self.site(SiteKind::Value, Some(at));
        self.hook_at(at, Action::Before(value), 1);
        true
    }

    /// Whether an access to an address is recorded.
    fn is_shared(&self, address: Value<'m>) -> bool {
        address.ty().kind() == Kind::Pointer
            && address.ty().address_space() == 0
            && !self.privacy.covers(address)
    }

    fn load(&mut self, at: Value<'m>) -> bool {
        let address = at.operand(0);
        let (kind, order) = match ordering(at.ordering()) {
            Ordering::Plain => (SiteKind::Read, Ordering::Plain),
            order => (SiteKind::AtomicLoad, order),
        };
        self.access(at, address, at.ty(), kind, order)
    }

    fn store(&mut self, at: Value<'m>) -> bool {
        let address = at.operand(1);
        let (kind, order) = match ordering(at.ordering()) {
            Ordering::Plain => (SiteKind::Write, Ordering::Plain),
            order => (SiteKind::AtomicStore, order),
        };
        self.access(at, address, at.operand(0).ty(), kind, order)
    }

    fn update(&mut self, at: Value<'m>, kind: SiteKind, order: u8) -> bool {
        let ty = at.operand(if kind == SiteKind::Cas { 2 } else { 1 }).ty();
        self.access(at, at.operand(0), ty, kind, ordering(order))
    }

    fn access(
        &mut self,
        at: Value<'m>,
        address: Value<'m>,
        ty: crate::llvm::Ty<'m>,
        kind: SiteKind,
        order: Ordering,
    ) -> bool {
        if !self.is_shared(address) || !ty.is_sized() {
            return false;
        }
        let Some(pieces) = pieces_of(self.layout, ty) else {
            return self.wide_access(at, address, ty, kind);
        };
        if pieces.is_empty() {
            return false;
        }
        let role = match order {
            Ordering::Plain => Role::None,
            _ => at.opcode().map_or(Role::None, |opcode| {
                catalogue::role(&self.debug.chain(at), opcode, order)
            }),
        };
        for piece in &pieces {
            self.plan.sites.push(Draft {
                kind,
                order,
                is_volatile: order == Ordering::Plain && at.is_volatile(),
                size: piece.size,
                role,
                instruction: Some(at),
                address: Some(address),
            });
        }
        let count = pieces.len();
        let action = match kind {
            SiteKind::Rmw => Action::Rmw(pieces),
            SiteKind::Cas => Action::Cas(pieces),
            SiteKind::Read | SiteKind::AtomicLoad => Action::Load(address, pieces),
            _ => Action::Store(address, pieces),
        };
        self.hook_at(at, action, count);
        true
    }

    /// An access of more pieces than an event may have.
    fn wide_access(
        &mut self,
        at: Value<'m>,
        address: Value<'m>,
        ty: crate::llvm::Ty<'m>,
        kind: SiteKind,
    ) -> bool {
        let kind = match kind {
            SiteKind::Read | SiteKind::AtomicLoad => SiteKind::RangeRead,
            _ => SiteKind::RangeWrite,
        };
        let length = Length::Known(self.layout.store_size(ty));
        self.ranges(at, &[(kind, address)], length)
    }

    fn ranges(
        &mut self,
        at: Value<'m>,
        ranges: &[(SiteKind, Value<'m>)],
        length: Length<'m>,
    ) -> bool {
        let mut addresses = Vec::new();
        for &(kind, address) in ranges {
            if self.is_shared(address) {
                self.site(kind, Some(at));
                if let Some(site) = self.plan.sites.last_mut() {
                    site.address = Some(address);
                }
                addresses.push(address);
            }
        }
        let count = addresses.len();
        if count > 0 {
            self.hook_at(at, Action::Ranges(addresses, length), count);
        }
        count > 0
    }

    fn fence(&mut self, at: Value<'m>) -> bool {
        if at.is_single_thread() {
            return false;
        }
        self.site(SiteKind::Fence, Some(at));
        if let Some(site) = self.plan.sites.last_mut() {
            site.order = ordering(at.ordering());
        }
        self.hook_at(at, Action::Fence, 1);
        true
    }

    fn call(&mut self, at: Value<'m>) -> bool {
        let callee = at.callee();
        let direct = at.direct_callee();
        if let Some(id) = direct.map(Value::intrinsic).filter(|&id| id != 0) {
            return self.intrinsic(at, &intrinsic_name(id));
        }
        if at.is_musttail() {
            self.indirect_callee(at, callee);
            self.exit(at);
            return true;
        }
        if let Some(function) = direct.filter(|function| function.is_declaration()) {
            self.memory_function(at, &function.name());
        }
        self.indirect_callee(at, callee);
        let is_traced = direct.is_some_and(|function| !function.is_declaration());
        if !is_traced && !self.assembly(at) && !asks_processor(callee) {
            self.result(at);
        }
        true
    }

    /// Inline assembly that accesses memory; false if a call is none.
    fn assembly(&mut self, at: Value<'m>) -> bool {
        if at.is(Opcode::Invoke) {
            return false;
        }
        let mut touches = assembly::touches(at, self.layout);
        touches.retain(|touch| {
            let base = touch.address.map(|address| address.base);
            let pointer = base.filter(|base| base.ty().kind() == Kind::Pointer);
            pointer.is_none_or(|pointer| self.is_shared(pointer))
        });
        if touches.is_empty() {
            return false;
        }
        let before = self.plan.sites.len();
        for touch in &touches {
            let sizes: Vec<u8> = match &touch.extent {
                Extent::Pieces(pieces) => pieces.iter().map(|piece| piece.size).collect(),
                Extent::Range(..) => vec![0],
            };
            self.plan.sites.extend(sizes.into_iter().map(|size| Draft {
                kind: touch.kind,
                order: touch.order,
                is_volatile: false,
                size,
                role: Role::None,
                instruction: Some(at),
                address: touch.address.map(|address| address.base),
            }));
        }
        // Where assembly jumps to is not recorded, so re-execution could not use its result.
        let results = match at.is(Opcode::CallBr) || asks_processor(at.callee()) {
            true => Vec::new(),
            false => self.result_sites(at),
        };
        let count = self.plan.sites.len() - before;
        self.hook_at(at, Action::Assembly(touches, results), count);
        true
    }

    /// Records which function an indirect call goes to.
    fn indirect_callee(&mut self, at: Value<'m>, callee: Value<'m>) {
        if matches!(callee.kind(), ValueKind::Instruction | ValueKind::Argument) {
            self.before(at, callee);
        }
    }

    fn result(&mut self, at: Value<'m>) {
        let pieces = self.result_sites(at);
        let count = pieces.len();
        if count > 0 {
            self.hook_at(at, Action::Result(pieces), count);
        }
    }

    /// Adds the sites of a call's result; its pieces, none if it cannot be told.
    fn result_sites(&mut self, at: Value<'m>) -> Vec<Piece> {
        let pieces = pieces_of(self.layout, at.ty()).unwrap_or_default();
        for piece in &pieces {
            self.site(SiteKind::Value, Some(at));
            if let Some(site) = self.plan.sites.last_mut() {
                site.size = piece.size;
            }
        }
        pieces
    }

    fn intrinsic(&mut self, at: Value<'m>, name: &str) -> bool {
        use SiteKind::{RangeRead, RangeWrite};
        let args = at.args();
        if name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove") {
            let ranges = [(RangeRead, args[1]), (RangeWrite, args[0])];
            return self.ranges(at, &ranges, Length::Computed(args[2]));
        }
        if name.starts_with("llvm.memset") && !name.starts_with("llvm.memset.pattern") {
            return self.ranges(at, &[(RangeWrite, args[0])], Length::Computed(args[2]));
        }
        false
    }

    fn memory_function(&mut self, at: Value<'m>, name: &str) {
        let Some((_, reads, writes)) = MEMORY_FUNCTIONS.iter().find(|row| row.0 == name) else {
            return;
        };
        let args = at.args();
        let [_, _, length] = args[..] else { return };
        let reads = reads
            .iter()
            .map(|&index| (SiteKind::RangeRead, args[index]));
        let writes = writes
            .iter()
            .map(|&index| (SiteKind::RangeWrite, args[index]));
        let ranges: Vec<_> = reads.chain(writes).collect();
        if length.ty().kind() == Kind::Integer {
            self.ranges(at, &ranges, Length::Computed(length));
        }
    }
}

/// The first instruction of an entry block behind its stack slots. Hooks split blocks, and a slot
/// outside the entry block would be allocated anew each time it is passed.
pub(super) fn entry_point(block: crate::llvm::Block<'_>) -> Option<Value<'_>> {
    let mut instructions = block.instructions();
    instructions.find(|instruction| !instruction.is(Opcode::Alloca))
}

/// Whether a return belongs to a call that nothing may come behind.
fn follows_musttail(ret: Value<'_>) -> bool {
    ret.parent().instructions().any(Value::is_musttail)
}

/// Whether a callee is the instruction that says what the processor can do. Its result also names the core
/// that the program happens to run on, which is another one in every run and of interest to nobody.
fn asks_processor(callee: Value<'_>) -> bool {
    callee.kind() == ValueKind::Assembly && callee.assembly().contains("cpuid")
}
