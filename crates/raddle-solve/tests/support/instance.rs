//! A constraint problem as plain data: a script of what is said to a solver, in order.
//!
//! Things are named by their number among their kind, in the order of the steps that make them.

use std::fmt;

/// A Boolean condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    Constant(bool),
    Boolean(usize),
    Before(usize, usize),
    /// A variable of its own for each unordered pair; it being true forbids events between.
    Adjacent(usize, usize),
    Not(Box<Formula>),
    And(Vec<Formula>),
    Or(Vec<Formula>),
    Xor(Box<[Formula; 2]>),
    Iff(Box<[Formula; 2]>),
    Implies(Box<[Formula; 2]>),
    Ite(Box<[Formula; 3]>),
    Compare(Relation, Box<[Bits; 2]>),
}

/// Comparisons of bit-vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Equal,
    UnsignedLess,
    UnsignedAtMost,
    SignedLess,
    SignedAtMost,
}

/// A bit-vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bits {
    Constant {
        width: u32,
        value: u64,
    },
    Unknown(usize),
    /// The value that a read takes.
    Read(usize),
    Not(Box<Bits>),
    Neg(Box<Bits>),
    Binary(Operation, Box<[Bits; 2]>),
    Chosen(Box<Formula>, Box<[Bits; 2]>),
    OfLit(Box<Formula>),
    ZeroExtend(Box<Bits>, u32),
    SignExtend(Box<Bits>, u32),
    Truncate(Box<Bits>, u32),
    Extract {
        of: Box<Bits>,
        low: u32,
        width: u32,
    },
    Concat(Box<[Bits; 2]>),
}

/// Operations on two bit-vectors of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    And,
    Or,
    Xor,
    Add,
    Sub,
    Mul,
    Udiv,
    Sdiv,
    Urem,
    Srem,
    Shl,
    Lshr,
    Ashr,
}

/// All of them.
pub const OPERATIONS: [Operation; 13] = [
    Operation::And,
    Operation::Or,
    Operation::Xor,
    Operation::Add,
    Operation::Sub,
    Operation::Mul,
    Operation::Udiv,
    Operation::Sdiv,
    Operation::Urem,
    Operation::Srem,
    Operation::Shl,
    Operation::Lshr,
    Operation::Ashr,
];

/// All comparisons.
pub const RELATIONS: [Relation; 5] = [
    Relation::Equal,
    Relation::UnsignedLess,
    Relation::UnsignedAtMost,
    Relation::SignedLess,
    Relation::SignedAtMost,
];

/// When a hold or a read counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    Always,
    Before(usize),
    If(Formula),
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    Initial,
    Write(usize),
}

/// A time during which a resource is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    pub resource: usize,
    pub from: usize,
    pub to: Option<usize>,
    pub exclusive: bool,
    pub when: When,
}

/// A write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    pub location: usize,
    pub event: usize,
    pub value: Option<Bits>,
}

/// A read; its value is asked for if it has a width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    pub location: usize,
    pub event: usize,
    pub sources: usize,
    pub when: When,
    pub width: Option<u32>,
    /// The value that is probably read.
    pub hint: u64,
}

/// One thing that is said to a solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Chain,
    /// In this chain, or in one of its own.
    Event(Option<usize>),
    Order(usize, usize),
    Boolean,
    Unknown {
        width: u32,
        hint: u64,
    },
    Resource,
    Hold(Hold),
    /// With its initial value, if that is known.
    Location(Option<Bits>),
    Write(Write),
    Sources {
        location: usize,
        from: Vec<Source>,
    },
    Read(Read),
    Require(Vec<Formula>),
    Solve(Vec<Formula>),
}

/// What is numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Chain,
    Event,
    Boolean,
    Unknown,
    Resource,
    Location,
    Write,
    Sources,
    Read,
}

/// A whole problem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    pub steps: Vec<Step>,
}

impl Formula {
    /// Its negation.
    pub fn negated(self) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(!value),
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    /// Calls `visit` on every number in it.
    pub fn ids(&mut self, visit: &mut dyn FnMut(Kind, &mut usize)) {
        match self {
            Self::Constant(_) => {}
            Self::Boolean(b) => visit(Kind::Boolean, b),
            Self::Before(a, b) | Self::Adjacent(a, b) => {
                visit(Kind::Event, a);
                visit(Kind::Event, b);
            }
            Self::Not(inner) => inner.ids(visit),
            Self::And(parts) | Self::Or(parts) => parts.iter_mut().for_each(|f| f.ids(visit)),
            Self::Xor(parts) | Self::Iff(parts) | Self::Implies(parts) => {
                parts.iter_mut().for_each(|f| f.ids(visit));
            }
            Self::Ite(parts) => parts.iter_mut().for_each(|f| f.ids(visit)),
            Self::Compare(_, sides) => sides.iter_mut().for_each(|b| b.ids(visit)),
        }
    }
}

impl Bits {
    /// Calls `visit` on every number in it.
    pub fn ids(&mut self, visit: &mut dyn FnMut(Kind, &mut usize)) {
        match self {
            Self::Constant { .. } => {}
            Self::Unknown(u) => visit(Kind::Unknown, u),
            Self::Read(r) => visit(Kind::Read, r),
            Self::Not(of)
            | Self::Neg(of)
            | Self::ZeroExtend(of, _)
            | Self::SignExtend(of, _)
            | Self::Truncate(of, _)
            | Self::Extract { of, .. } => of.ids(visit),
            Self::Binary(_, sides) | Self::Concat(sides) => {
                sides.iter_mut().for_each(|b| b.ids(visit));
            }
            Self::Chosen(condition, sides) => {
                condition.ids(visit);
                sides.iter_mut().for_each(|b| b.ids(visit));
            }
            Self::OfLit(condition) => condition.ids(visit),
        }
    }
}

impl When {
    fn ids(&mut self, visit: &mut dyn FnMut(Kind, &mut usize)) {
        match self {
            Self::Always => {}
            Self::Before(event) => visit(Kind::Event, event),
            Self::If(condition) => condition.ids(visit),
        }
    }
}

impl Step {
    /// What kind of thing the step makes.
    pub fn makes(&self) -> Option<Kind> {
        match self {
            Self::Chain => Some(Kind::Chain),
            Self::Event(_) => Some(Kind::Event),
            Self::Boolean => Some(Kind::Boolean),
            Self::Unknown { .. } => Some(Kind::Unknown),
            Self::Resource => Some(Kind::Resource),
            Self::Location(_) => Some(Kind::Location),
            Self::Write(_) => Some(Kind::Write),
            Self::Sources { .. } => Some(Kind::Sources),
            Self::Read(_) => Some(Kind::Read),
            Self::Order(..) | Self::Hold(_) | Self::Require(_) | Self::Solve(_) => None,
        }
    }

    /// Calls `visit` on every number in it.
    pub fn ids(&mut self, visit: &mut dyn FnMut(Kind, &mut usize)) {
        match self {
            Self::Chain | Self::Boolean | Self::Unknown { .. } | Self::Resource => {}
            Self::Event(chain) => chain.iter_mut().for_each(|c| visit(Kind::Chain, c)),
            Self::Order(a, b) => {
                visit(Kind::Event, a);
                visit(Kind::Event, b);
            }
            Self::Hold(hold) => {
                visit(Kind::Resource, &mut hold.resource);
                visit(Kind::Event, &mut hold.from);
                hold.to.iter_mut().for_each(|to| visit(Kind::Event, to));
                hold.when.ids(visit);
            }
            Self::Location(initial) => initial.iter_mut().for_each(|b| b.ids(visit)),
            Self::Write(write) => {
                visit(Kind::Location, &mut write.location);
                visit(Kind::Event, &mut write.event);
                write.value.iter_mut().for_each(|b| b.ids(visit));
            }
            Self::Sources { location, from } => {
                visit(Kind::Location, location);
                for source in from {
                    if let Source::Write(write) = source {
                        visit(Kind::Write, write);
                    }
                }
            }
            Self::Read(read) => {
                visit(Kind::Location, &mut read.location);
                visit(Kind::Event, &mut read.event);
                visit(Kind::Sources, &mut read.sources);
                read.when.ids(visit);
            }
            Self::Require(formulas) | Self::Solve(formulas) => {
                formulas.iter_mut().for_each(|f| f.ids(visit));
            }
        }
    }
}

impl Instance {
    /// Appends a step; if it makes something, says which number that has.
    pub fn say(&mut self, step: Step) -> usize {
        let kind = step.makes();
        let number = kind.map_or(0, |kind| self.count(kind));
        self.steps.push(step);
        number
    }

    /// How many of a kind there are. Linear in the steps: makers of large problems count themselves.
    pub fn count(&self, kind: Kind) -> usize {
        let made = self.steps.iter().filter(|s| s.makes() == Some(kind));
        made.count()
    }

    /// The steps before number `end`.
    pub fn prefix(&self, end: usize) -> &[Step] {
        &self.steps[..end]
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counts = [0; 9];
        for step in &self.steps {
            if let Some(kind) = step.makes() {
                write!(f, "{kind:?} {}: ", counts[kind as usize])?;
                counts[kind as usize] += 1;
            }
            writeln!(f, "{step:?}")?;
        }
        Ok(())
    }
}
