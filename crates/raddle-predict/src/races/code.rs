//! What a program's code says of its events: after which ones unknown code may run, what failed
//! compare-exchanges acquire, and which accesses are volatile.
//!
//! A call leads to unknown code if its function is in no module of the model and not among the
//! [harmless](super::harmless), or if it is inline assembly with instructions in it. Calls without a result leave
//! no event, so such a call is told by the events that may come right before it: from the call backwards through
//! the blocks of its function, to the nearest instructions that have sites, or to the function's entry. A call
//! through a pointer has an event of its own before it; whether it leads to traced code shows in the next event.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use raddle_model::{
    BlockId, Constant, Detail, Flags, Function, FunctionId, Instruction, Model, Module, ModuleId,
    Opcode, Operand, ordering,
};
use raddle_trace::file::Trailer;
use raddle_trace::ids::SiteId;
use raddle_trace::sharing::SiteSet;
use raddle_trace::wire::{Ordering, SiteKind};

use super::frames::unknown;
use super::harmless;

/// What is known of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fact {
    /// What code that may come next does; see [`unknown`].
    pub(super) next: u8,
    /// What a compare-exchange that fails does, if that is known.
    pub(super) failure: Option<Ordering>,
    /// Whether it is a volatile access.
    pub(super) is_volatile: bool,
}

/// What a program's code says of the sites of its runs. It is made once for a program, and shown the sites of each
/// run before the run's events.
#[derive(Clone, Debug, Default)]
pub struct Code<'m> {
    model: Option<&'m Model>,
    /// Names of all functions that have code in the model.
    defined: HashSet<&'m str>,
    /// Functions that were looked at, with what was found, by index of site.
    functions: BTreeSet<(u64, FunctionId)>,
    found: BTreeMap<(u64, u32), Fact>,
    /// By number of site; none where the code is not known.
    facts: Vec<Option<Fact>>,
    /// What holds there.
    otherwise: Fact,
    /// By number of site: its module and its index there. Runs that load libraries in another order have other
    /// numbers.
    places: Vec<Option<(u64, u32)>>,
}

impl<'m> Code<'m> {
    /// The code of a program.
    #[must_use]
    pub fn new(model: &'m Model) -> Self {
        let functions = model.modules().iter().flat_map(|it| &it.functions);
        let defined = functions.filter(|it| !it.blocks.is_empty());
        Self {
            model: Some(model),
            defined: defined.map(|it| &*it.linkage_name).collect(),
            otherwise: Fact {
                next: unknown::ALL,
                ..Fact::default()
            },
            ..Self::default()
        }
    }

    /// Code of which everything is traced: for traces that were made by hand, or imported.
    #[must_use]
    pub fn all_traced() -> Self {
        Self::default()
    }

    /// Code that orders no more than any program's code does: a run in which it leaves nothing unordered has no
    /// races, whatever the program's own code says.
    #[must_use]
    pub fn least_ordered() -> Self {
        Self {
            otherwise: Fact {
                failure: Some(Ordering::Relaxed),
                ..Fact::default()
            },
            ..Self::default()
        }
    }

    /// Learns the sites of a run, from the tables that follow its events.
    pub fn learn(&mut self, trailer: &Trailer) {
        let sites = trailer.sites.iter();
        self.learn_sites(sites.map(|it| (it.site, it.module, it.index)));
    }

    /// Whether it has been shown a site under this number.
    #[must_use]
    pub fn knows(&self, SiteId(number): SiteId, module: u64, index: u32) -> bool {
        self.places.get(number as usize).copied().flatten() == Some((module, index))
    }

    /// Learns sites: the number of each in a run, its module's content hash, and its index in the module. Those
    /// that it has never been shown count as being next to unknown code.
    pub fn learn_sites(&mut self, sites: impl IntoIterator<Item = (SiteId, u64, u32)>) {
        for (site, module, index) in sites {
            if self.knows(site, module, index) {
                continue;
            }
            let number = site.0 as usize;
            if self.places.len() <= number {
                self.places.resize(number + 1, None);
                self.facts.resize(number + 1, None);
            }
            self.places[number] = Some((module, index));
            self.facts[number] = self.find(module, index);
        }
    }

    /// What is known of a site; none if its code is not.
    fn find(&mut self, id: u64, index: u32) -> Option<Fact> {
        let module = self.model?.module(ModuleId(id))?;
        let site = module.sites.get(index as usize)?;
        if self.functions.insert((id, site.function)) {
            self.look_at(module, site.function);
        }
        let found = self.found.get(&(id, index));
        Some(found.copied().unwrap_or_default())
    }

    /// The sites that it was shown after which a thread may wait in code that is not traced.
    pub fn waits(&self) -> impl Iterator<Item = SiteId> {
        let takes = |fact: &&Option<Fact>| fact.is_some_and(|it| it.next & unknown::TAKES != 0);
        let numbered = (0..).map(SiteId).zip(&self.facts);
        let waits = numbered.filter(move |(_, fact)| takes(fact));
        waits.map(|(site, _)| site)
    }

    /// The sites that it was shown after which code may run that is not traced.
    #[must_use]
    pub fn hidden(&self) -> SiteSet {
        let mut hidden = SiteSet::default();
        let sites = (0..self.facts.len() as u32).map(SiteId);
        let next_to_it = sites.filter(|it| self.fact(*it).next != 0);
        next_to_it.for_each(|it| hidden.insert(it));
        hidden
    }

    /// Whether a site accesses memory as volatile.
    #[must_use]
    pub fn is_volatile(&self, site: SiteId) -> bool {
        self.fact(site).is_volatile
    }

    pub(super) fn is_all_traced(&self) -> bool {
        self.model.is_none()
    }

    #[inline]
    pub(super) fn fact(&self, site: SiteId) -> Fact {
        let fact = self.facts.get(site.0 as usize).copied().flatten();
        fact.unwrap_or(self.otherwise)
    }

    fn look_at(&mut self, module: &'m Module, id: FunctionId) {
        let Some(function) = module.functions.get(id.index()) else {
            return;
        };
        for instruction in function.blocks.iter().flat_map(|it| &it.instructions) {
            let failure = match instruction.detail {
                Detail::Memory { failure, .. } if instruction.opcode == Opcode::CmpXchg => {
                    Some(ordering(failure))
                }
                _ => None,
            };
            for site in instruction.sites.clone() {
                let fact = self.found.entry((module.id, site)).or_default();
                fact.failure = failure;
                fact.is_volatile = instruction.flags.contains(Flags::VOLATILE);
            }
        }
        let entry = module
            .sites
            .iter()
            .position(|it| it.function == id && it.kind == SiteKind::Enter);
        let mut walk = Backwards::new(function);
        for (at, block) in function.blocks.iter().enumerate() {
            for (position, instruction) in block.instructions.iter().enumerate() {
                let next = self.next(module, instruction);
                if next & unknown::INDIRECT != 0 {
                    self.mark(module, instruction.sites.start, next);
                } else if next != 0 {
                    let found = walk.events_before(at, position);
                    for site in found.sites {
                        self.mark(module, site, next);
                    }
                    if let Some(entry) = entry.filter(|_| found.entry) {
                        self.mark(module, entry as u32, next);
                    }
                }
            }
        }
    }

    fn mark(&mut self, module: &Module, site: u32, next: u8) {
        self.found.entry((module.id, site)).or_default().next |= next;
    }

    /// What an instruction may do in code that is not traced.
    fn next(&self, module: &Module, instruction: &Instruction) -> u8 {
        let Detail::Call { callee, .. } = &instruction.detail else {
            return 0;
        };
        let constant = match callee {
            Operand::Constant(id) => module.constants.get(id.index()),
            _ if instruction.sites.is_empty() => return unknown::ALL,
            _ => return unknown::ALL | unknown::INDIRECT,
        };
        match constant {
            Some(Constant::Function(id)) => match module.functions.get(id.index()) {
                Some(function) => self.of_function(function),
                None => unknown::ALL,
            },
            Some(Constant::Assembly(_, text)) => of_assembly(text, !instruction.sites.is_empty()),
            _ => unknown::ALL,
        }
    }

    fn of_function(&self, function: &Function) -> u8 {
        let name = &*function.linkage_name;
        let is_traced = !function.blocks.is_empty() || self.defined.contains(name);
        match is_traced || name.starts_with("llvm.") {
            true => 0,
            false => harmless::of(name),
        }
    }
}

/// Assembly without instructions only keeps the compiler from moving accesses, and what instructions without jumps
/// and calls do to memory is in their events, where they have some.
fn of_assembly(text: &str, has_events: bool) -> u8 {
    let mut instructions = text.trim_matches('"').split([';', '\n']);
    let is_known = |words: &str| {
        let words = words.trim().replace("\\09", " ").replace("\\0A", " ");
        let mut words = words.split_whitespace();
        let name = words.find(|it| !PREFIXES.contains(it)).unwrap_or_default();
        SILENT.contains(&name) || (has_events && STRAIGHT.iter().any(|it| name.starts_with(it)))
    };
    match instructions.all(is_known) {
        true => 0,
        false => unknown::ALL,
    }
}

/// What may stand before the name of an instruction.
const PREFIXES: &[&str] = &["lock", "rep", "volatile"];

/// Instructions that touch no memory and wait for nothing.
const SILENT: &[&str] = &["", "pause", "nop", "cpuid", "rdtsc"];

/// What the names of instructions begin with that do one thing to their operands and go on.
const STRAIGHT: &[&str] = &[
    "mov", "xchg", "cmpxchg", "xadd", "inc", "dec", "add", "adc", "sub", "sbb", "and", "or", "xor",
    "not", "neg", "set", "bts", "btr", "btc", "mfence", "lfence", "sfence",
];

/// The nearest events before an instruction.
#[derive(Debug, Default)]
struct Before {
    sites: Vec<u32>,
    /// Whether the function's entry is one.
    entry: bool,
}

/// Walks through a function against the direction of execution.
struct Backwards<'f> {
    function: &'f Function,
    predecessors: Vec<Vec<usize>>,
}

impl<'f> Backwards<'f> {
    fn new(function: &'f Function) -> Self {
        let mut predecessors = vec![Vec::new(); function.blocks.len()];
        for (at, block) in function.blocks.iter().enumerate() {
            for target in block.instructions.iter().flat_map(targets) {
                if let Some(list) = predecessors.get_mut(target.index()) {
                    list.push(at);
                }
            }
        }
        Self {
            function,
            predecessors,
        }
    }

    /// From an instruction of a block.
    fn events_before(&mut self, block: usize, position: usize) -> Before {
        let mut found = Before::default();
        let mut seen = BTreeSet::new();
        let mut left = vec![(block, position)];
        while let Some((block, end)) = left.pop() {
            let before = &self.function.blocks[block].instructions[..end];
            let event = before.iter().rev().find(|it| !it.sites.is_empty());
            match event {
                Some(instruction) => found.sites.extend(instruction.sites.clone()),
                None => {
                    found.entry |= block == 0;
                    for &from in &self.predecessors[block] {
                        if seen.insert(from) {
                            left.push((from, self.function.blocks[from].instructions.len()));
                        }
                    }
                }
            }
        }
        found
    }
}

/// The blocks that an instruction may lead to.
fn targets(instruction: &Instruction) -> Vec<BlockId> {
    match &instruction.detail {
        Detail::Branch(targets) => targets.clone(),
        Detail::Switch { default, cases } => {
            let cases = cases.iter().map(|case| case.target);
            cases.chain([*default]).collect()
        }
        Detail::Call {
            targets: Some((normal, unwind)),
            ..
        } => vec![*normal, *unwind],
        _ => {
            let blocks = instruction.operands.iter();
            let blocks = blocks.filter_map(|it| match it {
                Operand::Block(id) => Some(*id),
                _ => None,
            });
            blocks.collect()
        }
    }
}
