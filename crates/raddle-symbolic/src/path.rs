//! A thread's path: its conditions, and what it writes.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use raddle_model::{InstructionId, Text};
use raddle_path::{
    Branch, Domain, Exchange, Followed, Follower, Kept, Operation, Spot, Switch, Track, Value,
};
use raddle_trace::action::Action;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::wire::Role;
use rustc_hash::FxHashSet;

use crate::terms::{Comparison, TermId, Terms};
use crate::translate::Number;

/// Heavier terms are concretised: a solver would hardly see through them.
const HEAVIEST: u32 = 2_000;

/// What a thread does, in terms of what it reads.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// What has to hold for the thread to do what it did, in its order.
    pub conditions: Vec<Condition>,
    /// What its writes to shared memory write, where that depends on what it reads; by event.
    pub writes: BTreeMap<u32, TermId>,
    /// Its reads whose values are symbols.
    pub symbols: BTreeSet<u32>,
    /// How well it could be followed.
    pub followed: Followed,
}

/// Something that has to hold before a thread can execute an event.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The event.
    pub before: u32,
    /// One bit.
    pub term: TermId,
    /// Which value it had, and has to have.
    pub holds: bool,
    /// What it decides.
    pub decision: Decision,
}

/// An instruction of the program: module, function, instruction.
pub type Place = (u64, Text, InstructionId);

/// What a condition decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Which way the thread goes at a conditional branch.
    Branch {
        /// How many conditional branches it executed before.
        number: u64,
        /// Where it is.
        place: Place,
    },
    /// Whether a compare-exchange stores.
    Exchange {
        /// Where it is.
        place: Place,
    },
    /// Whether something is what it was on which more depends than is modelled: an address, a target of a switch, an
    /// argument.
    Concrete,
}

/// Follows a thread. `is_shared` says of which events the memory is accessed by others, too: what they read are symbols.
#[must_use]
pub fn follow(track: Track<'_>, terms: &mut Terms, is_shared: &dyn Fn(u32) -> bool) -> Path {
    let mut shared = FxHashSet::default();
    shared.extend(track.own.iter().copied().filter(|at| is_shared(*at)));
    let domain = Symbols {
        events: track.events,
        shared: Rc::new(shared),
        terms: Rc::new(RefCell::new(std::mem::take(terms))),
        heading: 0,
        concrete: Rc::default(),
        memory: Rc::default(),
        path: Path::default(),
    };
    let mut follower = Follower::new(track, domain);
    for &at in track.own {
        follower.domain_mut().heading = at;
        follower.domain_mut().forget_recycled(at);
        let Ok(()) = follower.step(at as usize);
    }
    let followed = follower.account().clone();
    let domain = follower.domain_mut();
    *terms = domain.terms.take();
    let mut path = std::mem::take(&mut domain.path);
    path.followed = followed;
    path
}

/// What cannot be: conditions are taken note of, nothing is refused.
enum Never {}

/// Values as terms over what the thread reads.
struct Symbols<'t> {
    events: &'t [Event],
    shared: Rc<FxHashSet<u32>>,
    terms: Rc<RefCell<Terms>>,
    /// The event that the thread is on its way to.
    heading: u32,
    /// Symbols that have their recorded values.
    concrete: Rc<FxHashSet<u32>>,
    /// Bytes of memory of the thread's own that are terms.
    memory: Rc<BTreeMap<u64, Value<TermId>>>,
    path: Path,
}

impl Symbols<'_> {
    /// Forgets what was in memory that is given out.
    fn forget_recycled(&mut self, at: u32) {
        let EventKind::Action { action, .. } = self.events[at as usize].kind else {
            return;
        };
        if let Action::Alloc { addr, size, .. } = action {
            let inside = addr.0..addr.0.saturating_add(size);
            let bytes: Vec<u64> = self.memory.range(inside).map(|(byte, _)| *byte).collect();
            if !bytes.is_empty() {
                let memory = Rc::make_mut(&mut self.memory);
                for byte in bytes {
                    memory.remove(&byte);
                }
            }
        }
    }

    fn require(&mut self, term: TermId, holds: bool, decision: Decision) {
        if self.terms.borrow().constant_of(term).is_some() {
            return;
        }
        self.path.conditions.push(Condition {
            before: self.heading,
            term,
            holds,
            decision,
        });
    }

    /// The symbols of terms have their recorded values from now on.
    fn concretise<'v>(&mut self, values: impl IntoIterator<Item = &'v Value<TermId>>) {
        for term in values.into_iter().filter_map(|it| it.change) {
            let symbols = self.terms.borrow().symbols(term);
            for event in symbols {
                self.concretise_symbol(event);
            }
        }
    }

    fn concretise_symbol(&mut self, event: u32) {
        if self.concrete.contains(&event) {
            return;
        }
        Rc::make_mut(&mut self.concrete).insert(event);
        let Some((recorded, size)) = read_number(&self.events[event as usize]) else {
            return;
        };
        let mut terms = self.terms.borrow_mut();
        let width = 8 * u32::from(size);
        let symbol = terms.symbol(event, width);
        let recorded = terms.constant(width, recorded);
        let same = terms.compare(Comparison::Equal, symbol, recorded);
        drop(terms);
        self.require(same, true, Decision::Concrete);
    }

    /// Whether a value can differ from the recorded one still.
    fn is_open(&self, value: &Value<TermId>) -> bool {
        value.change.is_some_and(|term| {
            let symbols = self.terms.borrow().symbols(term);
            symbols.iter().any(|it| !self.concrete.contains(it))
        })
    }

    /// A value as a number; none if it is not known what it was.
    fn number_of(&self, value: &Value<TermId>) -> Option<Number> {
        match value.change {
            Some(term) => Some(Number::Term(term)),
            None => value.recorded.map(Number::Known),
        }
    }

    /// A term for the result of an operation; none if there is none, or it would be too heavy.
    fn translate(&self, operation: &Operation, operands: &[Value<TermId>]) -> Option<TermId> {
        if operands.iter().any(|it| it.is_made_up) {
            return None;
        }
        let numbers: Option<Vec<Number>> = operands.iter().map(|it| self.number_of(it)).collect();
        let mut terms = self.terms.borrow_mut();
        let term = terms.apply(operation, &numbers?)?;
        (terms.weight(term) <= HEAVIEST).then_some(term)
    }

    /// What the thread has left in bytes of its own memory.
    fn own_bytes(&self, event: &Event) -> Vec<Value<TermId>> {
        let Some(footprint) = event.footprint() else {
            return Vec::new();
        };
        let byte = |offset: u64| {
            let found = self.memory.get(&footprint.addr.0.wrapping_add(offset));
            found.copied().unwrap_or(Value::SAME)
        };
        (0..footprint.len).map(byte).collect()
    }

    fn keep_own_bytes(&mut self, event: &Event, bytes: &[Value<TermId>]) {
        let Some(footprint) = event.footprint() else {
            return;
        };
        if self.memory.is_empty() && bytes.iter().all(Value::is_same) {
            return;
        }
        let memory = Rc::make_mut(&mut self.memory);
        for (offset, byte) in (0..footprint.len).zip(bytes) {
            let address = footprint.addr.0.wrapping_add(offset);
            match byte.is_same() {
                true => drop(memory.remove(&address)),
                false => drop(memory.insert(address, *byte)),
            }
        }
    }

    fn is_shared(&self, event: usize) -> bool {
        self.shared.contains(&(event as u32))
    }

    /// A comparison of two values; none if there is no term for it.
    fn equality(&self, a: &Value<TermId>, b: &Value<TermId>, width: u32) -> Option<TermId> {
        let predicate = 32;
        self.translate(&Operation::Compare { predicate, width }, &[*a, *b])
    }
}

/// The number that an event reads, and its bytes; none if it is none, or decides whether a lock is taken.
fn read_number(event: &Event) -> Option<(u64, u8)> {
    let (access, role) = match event.kind {
        EventKind::Read(access) => (access, Role::None),
        EventKind::AtomicLoad(access, atomicity)
        | EventKind::Rmw {
            access, atomicity, ..
        }
        | EventKind::Cas {
            access, atomicity, ..
        } => (access, atomicity.role),
        _ => return None,
    };
    let fits = (1..=8).contains(&access.size) && role == Role::None;
    fits.then_some((access.value, access.size))
}

impl Domain for Symbols<'_> {
    type Change = TermId;
    type Refusal = Never;

    fn fork(&self) -> Self {
        Self {
            events: self.events,
            shared: Rc::clone(&self.shared),
            terms: Rc::clone(&self.terms),
            heading: self.heading,
            concrete: Rc::clone(&self.concrete),
            memory: Rc::clone(&self.memory),
            path: Path::default(),
        }
    }

    fn name(&self, event: usize) -> String {
        format!("event {event}")
    }

    fn compute(
        &mut self,
        operation: &Operation,
        operands: &[Value<TermId>],
        recorded: Option<u128>,
    ) -> Option<TermId> {
        // What was not defined then is no number to compare with.
        let term = recorded.and_then(|_| self.translate(operation, operands));
        let Some(term) = term else {
            self.concretise(operands);
            return None;
        };
        if divides(operation) {
            let divisor = operands.get(1).and_then(|it| it.change);
            if let Some(divisor) = divisor {
                let mut terms = self.terms.borrow_mut();
                let width = terms.width(divisor);
                let zero = terms.constant(width, 0);
                let is_zero = terms.compare(Comparison::Equal, divisor, zero);
                drop(terms);
                self.require(is_zero, false, Decision::Concrete);
            }
        }
        let is_constant = self.terms.borrow().constant_of(term).is_some();
        (!is_constant).then_some(term)
    }

    fn unknown(&mut self, from: &[Value<TermId>]) -> Option<TermId> {
        self.concretise(from);
        None
    }

    fn number(&mut self, at: usize, recorded: u64) -> Value<TermId> {
        let event = &self.events[at];
        let known = u128::from(recorded);
        let recorded = Some(known);
        if self.is_shared(at) {
            let Some((_, size)) = read_number(event) else {
                return Value {
                    recorded,
                    ..Value::SAME
                };
            };
            let symbol = self
                .terms
                .borrow_mut()
                .symbol(at as u32, 8 * u32::from(size));
            self.path.symbols.insert(at as u32);
            return Value::changed(recorded, symbol);
        }
        let bytes = self.own_bytes(event);
        if bytes.iter().all(Value::is_same) {
            return Value {
                recorded,
                ..Value::SAME
            };
        }
        let filled: Vec<Value<TermId>> = (0..)
            .zip(&bytes)
            .map(|(index, byte)| match byte.is_same() {
                true => Value::known(known >> (8 * index) & 0xff),
                false => *byte,
            })
            .collect();
        match self.translate(&Operation::Bytes, &filled) {
            Some(term) => Value::changed(recorded, term),
            None => {
                self.concretise(&filled);
                Value {
                    recorded,
                    ..Value::SAME
                }
            }
        }
    }

    fn bytes(&mut self, at: usize) -> Vec<Value<TermId>> {
        let event = &self.events[at];
        match self.is_shared(at) {
            // What a range reads from shared memory has to be what it was.
            true => vec![Value::SAME; event.footprint().map_or(0, |it| it.len as usize)],
            false => self.own_bytes(event),
        }
    }

    fn write(&mut self, at: usize, value: &Value<TermId>) {
        let event = &self.events[at];
        let size = event.footprint().map_or(0, |it| it.len);
        if self.is_shared(at) {
            let width = 8 * size as u32;
            let open = value.change.filter(|_| self.is_open(value));
            let term = open.and_then(|term| {
                let mut terms = self.terms.borrow_mut();
                terms.number(Number::Term(term), width)
            });
            if let Some(term) = term {
                self.path.writes.insert(at as u32, term);
            }
            return;
        }
        let byte = |index| {
            let change = match value.is_same() {
                true => None,
                false => Some(self.translate(&Operation::Byte { index }, &[*value])?),
            };
            Some(Value {
                recorded: value.recorded.map(|it| it >> (8 * index) & 0xff),
                change,
                is_made_up: value.is_made_up,
            })
        };
        let bytes: Option<Vec<Value<TermId>>> = (0..size as u32).map(byte).collect();
        let event = *event;
        let bytes = bytes.unwrap_or_else(|| {
            self.concretise([value]);
            vec![Value::SAME; size as usize]
        });
        self.keep_own_bytes(&event, &bytes);
    }

    fn write_bytes(&mut self, at: usize, bytes: &[Value<TermId>]) {
        if self.is_shared(at) {
            self.concretise(bytes);
        } else {
            let event = self.events[at];
            self.keep_own_bytes(&event, bytes);
        }
    }

    fn pass(&mut self, at: usize, _: &str) -> Result<(), Never> {
        if !self.is_shared(at) {
            let event = self.events[at];
            let bytes = self.own_bytes(&event);
            self.concretise(&bytes);
            if event.footprint().is_some_and(|it| it.writes) {
                let same = vec![Value::SAME; bytes.len()];
                self.keep_own_bytes(&event, &same);
            }
        }
        Ok(())
    }

    fn keep(&mut self, _: usize, values: &[Value<TermId>], what: Kept<'_>) -> Result<(), Never> {
        let address = match (what, values) {
            (Kept::Address(recorded), [address]) if !address.is_made_up => {
                let recorded = Value::known(recorded.into());
                self.equality(address, &recorded, 64)
            }
            _ => None,
        };
        match address {
            Some(same) => self.require(same, true, Decision::Concrete),
            None => self.concretise(values),
        }
        Ok(())
    }

    fn branch(&mut self, branch: Branch<'_>, condition: &Value<TermId>) -> Result<(), Never> {
        let bit = self.translate(&Operation::Truncate { width: 1 }, &[*condition]);
        let (true, Some(bit)) = (self.is_open(condition), bit) else {
            self.concretise([condition]);
            return Ok(());
        };
        let decision = Decision::Branch {
            number: branch.number,
            place: place(branch.spot),
        };
        self.require(bit, branch.is_taken, decision);
        Ok(())
    }

    fn switch(&mut self, switch: Switch<'_>, number: &Value<TermId>) -> Result<(), Never> {
        let target = switch.target(switch.recorded);
        let width = number.change.map_or(64, |it| self.terms.borrow().width(it));
        let is_default = target == switch.default;
        // The numbers that lead there, or of the default those that do not.
        let cases = switch
            .cases
            .iter()
            .filter(|(_, to)| (*to == target) != is_default);
        for (case, _) in cases {
            match self.equality(number, &Value::known(*case), width) {
                Some(equal) if is_default => self.require(equal, false, Decision::Concrete),
                Some(equal) if *case == switch.recorded => {
                    self.require(equal, true, Decision::Concrete);
                }
                Some(_) => {}
                None => self.concretise([number]),
            }
        }
        Ok(())
    }

    fn exchange(&mut self, exchange: Exchange<'_, TermId>) -> Result<(), Never> {
        let size = self.events[exchange.event]
            .footprint()
            .map_or(0, |it| it.len);
        let equal = match exchange.is_whole {
            true => self.equality(exchange.found, exchange.expected, 8 * size as u32),
            false => None,
        };
        match equal {
            Some(equal) => {
                let place = place(exchange.spot);
                self.require(equal, exchange.success, Decision::Exchange { place });
            }
            None => self.concretise([exchange.found, exchange.expected]),
        }
        Ok(())
    }
}

/// Whether an operation is not defined for a second operand of zero.
fn divides(operation: &Operation) -> bool {
    use raddle_model::Opcode as O;
    let Operation::Binary { opcode, .. } = operation else {
        return false;
    };
    matches!(opcode, O::UDiv | O::SDiv | O::URem | O::SRem)
}

fn place(spot: Spot<'_>) -> Place {
    let function = spot.function.linkage_name.clone();
    (spot.module.id, function, spot.instruction)
}
