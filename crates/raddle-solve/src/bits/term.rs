//! Terms and the pool that shares them.

use crate::hash::Table;
use crate::lit::Lit;

/// A bit-vector of 1 to 64 bits. A handle into the solver that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term {
    index: u32,
    width: u8,
}

/// An operation on two terms of the same width, with a result of that width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(super) enum Operation {
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

/// How a term is made of others. Its width is the term's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// The bits above the width are zero.
    Constant(u64),
    /// Any value. Each is different from all others, whatever its hint.
    Unknown {
        hint: u64,
    },
    /// One bit.
    Literal(Lit),
    /// The first term if the literal holds, the second if not.
    Chosen(Lit, Term, Term),
    Not(Term),
    Binary(Operation, Term, Term),
    SignExtend(Term),
    /// As many bits as the width says, from this one on.
    Extract(Term, u32),
    /// The high part and the low part. A zero extension has a high part that is zero.
    Concat(Term, Term),
}

/// All terms of a solver. Terms that are made in the same way are the same term.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    nodes: Vec<Node>,
    widths: Vec<u8>,
    known: Table<(Node, u8), Term>,
}

impl Term {
    /// The largest width.
    pub(super) const MAX_WIDTH: u32 = 64;

    /// How many bits it has.
    #[must_use]
    pub const fn width(self) -> u32 {
        self.width as u32
    }

    /// Its number in the pool.
    pub(super) const fn index(self) -> usize {
        self.index as usize
    }
}

impl Operation {
    /// Whether the operands can be swapped.
    pub(super) const fn commutes(self) -> bool {
        matches!(
            self,
            Self::And | Self::Or | Self::Xor | Self::Add | Self::Mul
        )
    }
}

impl Node {
    /// The terms that it is made of.
    pub(super) fn operands(&self) -> impl Iterator<Item = Term> + use<> {
        let (first, second) = match *self {
            Self::Constant(_) | Self::Unknown { .. } | Self::Literal(_) => (None, None),
            Self::Not(a) | Self::SignExtend(a) | Self::Extract(a, _) => (Some(a), None),
            Self::Chosen(_, a, b) | Self::Binary(_, a, b) | Self::Concat(a, b) => {
                (Some(a), Some(b))
            }
        };
        first.into_iter().chain(second)
    }
}

impl Terms {
    /// How a term is made.
    pub(super) fn node(&self, term: Term) -> Node {
        self.nodes[term.index()]
    }

    /// Whether a term is a constant.
    pub(crate) fn is_constant(&self, term: Term) -> bool {
        self.as_constant(term).is_some()
    }

    /// The value of a constant.
    pub(super) fn as_constant(&self, term: Term) -> Option<u64> {
        match self.node(term) {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The term made in this way, which the caller has simplified.
    pub(super) fn shared(&mut self, node: Node, width: u32) -> Term {
        let key = (node, width as u8);
        if let Some(&term) = self.known.get(&key) {
            return term;
        }
        let term = self.add_node(node, width);
        self.known.insert(key, term);
        term
    }

    /// A term that is equal to no other one.
    pub(super) fn distinct(&mut self, node: Node, width: u32) -> Term {
        self.add_node(node, width)
    }

    /// Panics if the term is not of this pool, as far as that can be seen.
    pub(super) fn check(&self, term: Term) {
        assert!(
            self.widths.get(term.index()) == Some(&term.width),
            "a term of another solver"
        );
    }

    fn add_node(&mut self, node: Node, width: u32) -> Term {
        let index = u32::try_from(self.nodes.len()).expect("more than 2^32 terms in one solver");
        let width = width as u8;
        self.nodes.push(node);
        self.widths.push(width);
        Term { index, width }
    }
}
