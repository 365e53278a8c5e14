//! Puts the planned hooks in.

use std::collections::HashMap;

use raddle_model::Opcode;
use raddle_trace::wire::{
    MODULE_MAGIC, ModuleHeader, SITES_SECTION, SLACK_SLOTS, SiteRecord, VOLATILE,
};

use super::copies::{self, Copies};
use super::hooks::{Family, Hooks, Style};
use super::pieces::{MAX_PIECES, Piece, split};
use super::plan::{Action, Draft, Hook, Length, Plan};
use crate::llvm::{Builder, Metadata, Module, Value};

const HEADER_BYTES: u64 = size_of::<ModuleHeader>() as u64;
const RECORD_BYTES: u64 = size_of::<SiteRecord>() as u64;

// All slots of one access must fit behind a single limit check.
const _: () = assert!(2 * MAX_PIECES < SLACK_SLOTS);

/// LLVM's numbers of integer comparisons.
pub(super) mod predicate {
    pub(in super::super) const EQ: u32 = 32;
    pub(in super::super) const NE: u32 = 33;
    pub(super) const UGT: u32 = 34;
    pub(super) const UGE: u32 = 35;
    pub(super) const ULT: u32 = 36;
    pub(super) const SGT: u32 = 38;
    pub(super) const SLT: u32 = 40;
}

/// Emits the sites and every hook of a plan.
pub(super) fn insert<'m>(
    module: &'m Module,
    hooks: &Hooks<'m>,
    plan: &Plan<'m>,
    id: u64,
    style: Style,
) {
    let sites = (!plan.sites.is_empty()).then(|| emit_sites(module, &plan.sites, id));
    let builder = Builder::new(module);
    let copies = match style {
        Style::Inline => copies::make(module, &builder, hooks, plan),
        Style::Outlined => HashMap::new(),
    };
    let mut inserter = Inserter {
        builder,
        copies: None,
        module,
        hooks,
        sites,
        frame_address: module.intrinsic("llvm.frameaddress", &[module.pointer_type()]),
        return_address: module.intrinsic("llvm.returnaddress", &[]),
    };
    for hook in &plan.hooks {
        inserter.copies = copies.get(&hook.function).copied();
        inserter.insert(hook);
    }
    copies::keep_true(module, &inserter.builder, hooks, &copies);
}

/// The module's part of the sites section.
fn emit_sites<'m>(module: &'m Module, sites: &[Draft<'m>], id: u64) -> Value<'m> {
    let count = sites.len() as u64;
    let mut words = vec![u64::from(MODULE_MAGIC) | count << 32, id];
    for (index, site) in sites.iter().enumerate() {
        let bytes = [
            site.kind as u8,
            site.order as u8 | if site.is_volatile { VOLATILE } else { 0 },
            site.size,
            site.role as u8,
        ];
        words.push(u64::from(u32::from_le_bytes(bytes)) | (index as u64) << 32);
    }
    let content = module.const_words(&words);
    let global = module.add_global("__raddle_sites", content.ty());
    global.define_constant(content, 8);
    global.set_internal();
    global.set_section(SITES_SECTION);
    global
}

pub(super) struct Inserter<'p, 'm> {
    pub(super) builder: Builder<'m>,
    /// Of the function at hand, if hooks are inlined.
    copies: Option<Copies<'m>>,
    pub(super) module: &'m Module,
    hooks: &'p Hooks<'m>,
    sites: Option<Value<'m>>,
    frame_address: Value<'m>,
    return_address: Value<'m>,
}

impl<'m> Inserter<'_, 'm> {
    fn insert(&self, hook: &Hook<'m>) {
        let at = hook.at;
        let site = hook.site;
        let location = self.location(at, hook.function);
        self.builder.position(at, location);
        match &hook.action {
            Action::Panic(stage) => {
                let int = self.module.int_type(32);
                let stage = self.module.const_int(int, u64::from(*stage as u32));
                self.builder.call(self.hooks.panic, &[stage, self.frame()]);
            }
            Action::Enter => {
                let slot = self.first_slot(site, self.frame());
                let zero = self.module.const_int(self.module.int_type(32), 0);
                let caller = self.builder.call(self.return_address, &[zero]);
                self.fill(slot, split(&self.builder, caller)[0]);
            }
            Action::Exit => {
                let slot = self.first_slot(site, self.frame());
                self.fill(slot, self.word(0));
            }
            Action::Load(address, pieces) => {
                let slots = self.slots(site, *address, pieces, false);
                self.after(at, location);
                for (slot, value) in slots.into_iter().zip(split(&self.builder, at)) {
                    self.fill(slot, value);
                }
            }
            Action::Store(address, pieces) => {
                let values = split(&self.builder, at.operand(0));
                let slots = self.slots(site, *address, pieces, false);
                for (slot, value) in slots.into_iter().zip(values) {
                    self.fill(slot, value);
                }
            }
            Action::Rmw(pieces) => {
                let slots = self.slots(site, at.operand(0), pieces, true);
                self.after(at, location);
                let new = self.updated(at);
                self.fill_pairs(&slots, at, new, self.word(1));
            }
            Action::Cas(pieces) => {
                let slots = self.slots(site, at.operand(0), pieces, true);
                self.after(at, location);
                let old = self.builder.extract_value(at, 0);
                let done = self.builder.extract_value(at, 1);
                let done = self
                    .builder
                    .cast(Opcode::ZExt, done, self.module.int_type(64));
                self.fill_pairs(&slots, old, at.operand(2), done);
            }
            Action::Fence => {
                let slot = self.first_slot(site, self.null());
                self.fill(slot, self.word(0));
            }
            Action::Ranges(addresses, length) => {
                let length = match *length {
                    Length::Known(bytes) => self.word(bytes),
                    Length::Computed(value) => split(&self.builder, value)[0],
                };
                for (index, &address) in addresses.iter().enumerate() {
                    let slot = self.slot(site + index as u32, address, index == 0);
                    self.fill(slot, length);
                }
            }
            Action::Branch(condition) => self.branch(at, *condition, location),
            Action::Before(value) => {
                let value = split(&self.builder, *value)[0];
                let slot = self.first_slot(site, self.null());
                self.fill(slot, value);
            }
            Action::Result(pieces) => self.result(at, site, pieces, location),
            Action::Assembly(touches, results) => {
                self.assembly(at, site, touches, results, location);
            }
        }
    }

    /// Where hooks are inlined each side of a branch adds its own outcome, a constant: the outcome need not
    /// be computed from the condition. The pipeline has split critical edges, so nothing but this branch
    /// leads to either side.
    fn branch(&self, at: Value<'m>, condition: Value<'m>, location: Option<Metadata<'m>>) {
        let hook = self.family().branch;
        let sides = at.successors();
        if self.copies.is_none() || sides[0] == sides[1] {
            self.call(hook, &[condition]);
            return;
        }
        for (side, outcome) in sides.into_iter().zip([1, 0]) {
            let first = side.instructions().find(|it| !it.is(Opcode::Phi));
            if let Some(first) = first {
                self.builder.position(first, location);
                let outcome = self.module.const_int(self.module.int_type(1), outcome);
                self.call(hook, &[outcome]);
            }
        }
    }

    fn result(&self, at: Value<'m>, site: u32, pieces: &[Piece], location: Option<Metadata<'m>>) {
        if at.is(Opcode::Invoke) {
            // The pipeline has split critical edges, so nothing but this invoke leads there.
            let (normal, _) = at.invoke_targets();
            let first = normal.instructions().find(|next| !next.is(Opcode::Phi));
            match first {
                Some(first) => self.builder.position(first, location),
                None => return,
            }
        } else {
            self.after(at, location);
        }
        let values = split(&self.builder, at);
        for (index, (_, value)) in pieces.iter().zip(values).enumerate() {
            let slot = self.slot(site + index as u32, self.null(), index == 0);
            self.fill(slot, value);
        }
    }

    /// The instruction's position in the source, so that the inliner and debuggers find one.
    fn location(&self, at: Value<'m>, function: Value<'m>) -> Option<Metadata<'m>> {
        at.debug_location().or_else(|| {
            let subprogram = function.subprogram()?;
            Some(self.module.artificial_location(subprogram))
        })
    }

    pub(super) fn after(&self, at: Value<'m>, location: Option<Metadata<'m>>) {
        if let Some(next) = at.next_instruction() {
            self.builder.position(next, location);
        }
    }

    pub(super) fn word(&self, value: u64) -> Value<'m> {
        self.module.const_int(self.module.int_type(64), value)
    }

    pub(super) fn null(&self) -> Value<'m> {
        self.module.const_null(self.module.pointer_type())
    }

    fn frame(&self) -> Value<'m> {
        let zero = self.module.const_int(self.module.int_type(32), 0);
        self.builder.call(self.frame_address, &[zero])
    }

    pub(super) fn slot(&self, site: u32, address: Value<'m>, check: bool) -> Value<'m> {
        let record = match self.sites {
            Some(sites) => {
                let offset = HEADER_BYTES + u64::from(site) * RECORD_BYTES;
                self.module.const_offset(sites, offset)
            }
            None => self.null(),
        };
        let family = self.family();
        let hook = if check { family.event } else { family.next };
        self.call(hook, &[record, address])
    }

    fn family(&self) -> Family<'m> {
        match self.copies {
            Some(_) => self.hooks.inlined,
            None => self.hooks.called,
        }
    }

    /// Calls a hook that works on the function's copies, if it has such.
    fn call(&self, hook: Value<'m>, args: &[Value<'m>]) -> Value<'m> {
        let copies = self.copies.map(|it| [it.cursor, it.bits]);
        let all: Vec<Value<'m>> = copies
            .into_iter()
            .flatten()
            .chain(args.iter().copied())
            .collect();
        self.builder.call(hook, &all)
    }

    fn first_slot(&self, site: u32, address: Value<'m>) -> Value<'m> {
        self.slot(site, address, true)
    }

    /// One slot or pair of slots a piece. Only the first asks for room: between the events of one
    /// access no other thread may run.
    fn slots(&self, site: u32, base: Value<'m>, pieces: &[Piece], pair: bool) -> Vec<Value<'m>> {
        let one = |(index, piece): (usize, &Piece)| {
            let address = self.builder.offset(base, piece.offset);
            let slot = self.slot(site + index as u32, address, index == 0);
            if pair {
                self.extra(slot);
            }
            slot
        };
        pieces.iter().enumerate().map(one).collect()
    }

    /// Takes the second slot of a pair.
    pub(super) fn extra(&self, slot: Value<'m>) {
        self.call(self.family().extra, &[slot]);
    }

    pub(super) fn fill(&self, slot: Value<'m>, value: Value<'m>) {
        self.builder.call(self.hooks.fill, &[slot, value]);
    }

    fn fill_pairs(&self, slots: &[Value<'m>], old: Value<'m>, new: Value<'m>, stored: Value<'m>) {
        let old = split(&self.builder, old);
        let new = split(&self.builder, new);
        for ((&slot, old), new) in slots.iter().zip(old).zip(new) {
            self.fill(slot, old);
            self.fill_extra(slot, new, stored);
        }
    }

    pub(super) fn fill_extra(&self, slot: Value<'m>, new: Value<'m>, stored: Value<'m>) {
        self.builder
            .call(self.hooks.fill_extra, &[slot, new, stored]);
    }

    /// What a read-modify-write stored, computed again from its result.
    fn updated(&self, at: Value<'m>) -> Value<'m> {
        let builder = &self.builder;
        let old = at;
        let operand = at.operand(1);
        let ty = operand.ty();
        let choose =
            |predicate, yes, no| builder.select(builder.compare(predicate, old, operand), yes, no);
        let float = |name: &str| {
            let function = self.module.intrinsic(name, &[ty]);
            builder.call(function, &[old, operand])
        };
        let binary = |opcode| builder.binary(opcode, old, operand);
        let zero = || self.module.const_null(ty);
        let one = || self.module.const_int(ty, 1);
        match at.rmw_operation() {
            1 => binary(Opcode::Add),
            2 => binary(Opcode::Sub),
            3 => binary(Opcode::And),
            4 => {
                let ones = builder.binary(Opcode::Sub, zero(), one());
                builder.binary(Opcode::Xor, binary(Opcode::And), ones)
            }
            5 => binary(Opcode::Or),
            6 => binary(Opcode::Xor),
            7 => choose(predicate::SGT, old, operand),
            8 => choose(predicate::SLT, old, operand),
            9 => choose(predicate::UGT, old, operand),
            10 => choose(predicate::ULT, old, operand),
            11 => binary(Opcode::FAdd),
            12 => binary(Opcode::FSub),
            13 => float("llvm.maxnum"),
            14 => float("llvm.minnum"),
            15 => choose(
                predicate::UGE,
                zero(),
                builder.binary(Opcode::Add, old, one()),
            ),
            16 => {
                let less = builder.binary(Opcode::Sub, old, one());
                let bounded = choose(predicate::UGT, operand, less);
                let is_zero = builder.compare(predicate::EQ, old, zero());
                builder.select(is_zero, operand, bounded)
            }
            17 => choose(predicate::UGE, binary(Opcode::Sub), old),
            18 => choose(predicate::UGE, binary(Opcode::Sub), zero()),
            19 => float("llvm.maximum"),
            20 => float("llvm.minimum"),
            _ => operand,
        }
    }
}
