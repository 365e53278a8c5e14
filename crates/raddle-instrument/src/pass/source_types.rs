//! Types as debug information has them: records with their members, arrays, pointers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use raddle_model::Text;

use crate::llvm::{self, Metadata, Module, NodeOperand};

/// Tags of DWARF.
mod tag {
    pub(super) const ARRAY: u16 = 0x01;
    pub(super) const CLASS: u16 = 0x02;
    pub(super) const MEMBER: u16 = 0x0d;
    pub(super) const POINTER: u16 = 0x0f;
    pub(super) const REFERENCE: u16 = 0x10;
    pub(super) const STRUCTURE: u16 = 0x13;
    pub(super) const TYPEDEF: u16 = 0x16;
    pub(super) const UNION: u16 = 0x17;
    pub(super) const INHERITANCE: u16 = 0x1c;
    pub(super) const CONST: u16 = 0x26;
    pub(super) const VARIANT_PART: u16 = 0x33;
    pub(super) const VOLATILE: u16 = 0x35;
    pub(super) const RESTRICT: u16 = 0x37;
    pub(super) const RVALUE_REFERENCE: u16 = 0x42;
    pub(super) const ATOMIC: u16 = 0x47;
}

const SCOPE_OPERAND: usize = 1;
const NAME_OPERAND: usize = 2;
/// Since this version a type's size and offset are operands, before the ones that are its own.
const SIZES_ARE_OPERANDS: u32 = 21;
/// Scopes that a type may lie in, at most.
const DEEPEST: usize = 32;

/// What rustc writes before the name of a variable that a closure borrows.
const BORROWED: &str = "_ref__";

/// Namespaces of the languages' own libraries.
const LIBRARIES: &[&str] = &["core", "alloc", "std", "hashbrown", "__gnu_cxx"];

/// A type, as far as names need it.
#[derive(Debug)]
pub(super) struct SourceType<'m> {
    /// Bytes that it takes; 0 if unknown.
    pub(super) size: u64,
    pub(super) shape: Shape<'m>,
}

/// What a type is made of.
#[derive(Debug)]
pub(super) enum Shape<'m> {
    Record(Record<'m>),
    Array {
        element: Metadata<'m>,
        dimensions: usize,
    },
    Pointer {
        /// Unknown for `void *`.
        to: Option<Metadata<'m>>,
        style: Pointer,
    },
    /// Numbers, enumerations, whatever has no parts with names.
    Plain,
}

/// How what a pointer points to is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pointer {
    /// `p->member`, `*p`: C and C++.
    Arrow,
    /// `p.member`, `*p`: Rust.
    Dot,
    /// `p.member`, `p`: a reference in C++.
    Reference,
}

/// A struct, class or union.
#[derive(Debug)]
pub(super) struct Record<'m> {
    /// Empty where the program gives it none.
    pub(super) name: Text,
    pub(super) members: Vec<Member<'m>>,
    /// Of the language's own library, whose inside means nothing to its users.
    pub(super) is_library: bool,
    pub(super) is_union: bool,
    /// What a closure captured: to the program its members are variables.
    pub(super) is_closure: bool,
    /// What a `Vec` has many of. Its own pointer is one to bytes.
    pub(super) parameter: Option<Metadata<'m>>,
}

/// A part of a record.
#[derive(Debug)]
pub(super) struct Member<'m> {
    /// Empty for base classes and for what the program leaves anonymous.
    pub(super) name: Text,
    pub(super) offset: u64,
    /// In bits for a bit-field, so that it may end within a byte.
    pub(super) end_bits: u64,
    pub(super) ty: Metadata<'m>,
    /// Of a closure: the variable is borrowed, and the member a pointer to it.
    pub(super) is_borrowed: bool,
}

/// The types of one module, each read once.
pub(super) struct SourceTypes<'m> {
    module: &'m Module,
    /// First operand of a type that is not common to all of them.
    own_operand: usize,
    known: RefCell<HashMap<Metadata<'m>, Rc<SourceType<'m>>>>,
}

impl<'m> SourceTypes<'m> {
    pub(super) fn new(module: &'m Module) -> SourceTypes<'m> {
        let major = llvm::open().map_or(0, |library| library.version.0);
        SourceTypes {
            module,
            own_operand: match major >= SIZES_ARE_OPERANDS {
                true => NAME_OPERAND + 3,
                false => NAME_OPERAND + 1,
            },
            known: RefCell::default(),
        }
    }

    /// A type without the names and qualifiers that it was given.
    pub(super) fn get(&self, ty: Metadata<'m>) -> Rc<SourceType<'m>> {
        if let Some(known) = self.known.borrow().get(&ty) {
            return known.clone();
        }
        let read = Rc::new(self.read(ty));
        self.known.borrow_mut().insert(ty, read.clone());
        read
    }

    /// Bytes that a type takes.
    pub(super) fn size(&self, ty: Metadata<'m>) -> u64 {
        self.get(ty).size
    }

    /// The type of what a closure captured, or of the pointer to it, if a function is a closure that gets it as its
    /// first argument.
    pub(super) fn captures(&self, function: Metadata<'m>) -> Option<Metadata<'m>> {
        const TYPE: usize = 4;
        let signature = node(self.module.node_operands(function).get(TYPE))?;
        let types = node(self.module.node_operands(signature).get(self.own_operand))?;
        // The result comes first.
        let first = node(self.module.node_operands(types).get(1))?;
        let known = self.get(first);
        let target = match known.shape {
            Shape::Pointer { to, .. } => self.get(to?),
            _ => known,
        };
        matches!(&target.shape, Shape::Record(record) if record.is_closure).then_some(first)
    }

    fn read(&self, ty: Metadata<'m>) -> SourceType<'m> {
        let given = self.module.node_operands(ty);
        let given = text(given.get(NAME_OPERAND)).unwrap_or_default();
        let (ty, operands) = self.stripped(ty);
        let own = |index: usize| node(operands.get(self.own_operand + index));
        let name = text(operands.get(NAME_OPERAND)).unwrap_or_default();
        let shape = match ty.tag() {
            tag::STRUCTURE | tag::CLASS | tag::UNION => {
                const ELEMENTS: usize = 1;
                const PARAMETERS: usize = 3;
                let parameter = own(PARAMETERS).filter(|_| name.starts_with("Vec<"));
                let parameter = parameter.and_then(|it| self.parameter(it));
                // Rust's slices, strings and trait objects are records of a pointer and what it needs.
                let is_fat = node(operands.get(SCOPE_OPERAND)).is_none()
                    && (name.starts_with('&') || name.starts_with('*'));
                let members = own(ELEMENTS).map(|it| self.members(it));
                match members.unwrap_or_default() {
                    Some(members) => Shape::Record(Record {
                        name: if name.is_empty() { given } else { name }.into(),
                        members,
                        is_library: is_fat || self.is_library(ty),
                        is_union: ty.tag() == tag::UNION,
                        // Clang gives the class of a lambda no name.
                        is_closure: name.starts_with("{closure_env")
                            || (name.is_empty() && ty.tag() == tag::CLASS),
                        parameter,
                    }),
                    None => Shape::Plain,
                }
            }
            tag::ARRAY => {
                const SUBRANGES: usize = 1;
                let ranges = own(SUBRANGES).map_or(1, |it| self.module.node_operands(it).len());
                match own(0) {
                    Some(element) => Shape::Array {
                        element,
                        dimensions: ranges.max(1),
                    },
                    None => Shape::Plain,
                }
            }
            tag::POINTER => Shape::Pointer {
                to: own(0),
                // Pointers have names in Rust alone.
                style: match name.is_empty() {
                    true => Pointer::Arrow,
                    false => Pointer::Dot,
                },
            },
            tag::REFERENCE | tag::RVALUE_REFERENCE => Shape::Pointer {
                to: own(0),
                style: Pointer::Reference,
            },
            _ => Shape::Plain,
        };
        SourceType {
            size: ty.type_bits().div_ceil(8),
            shape,
        }
    }

    /// The type that names and qualifiers were given to.
    fn stripped(&self, ty: Metadata<'m>) -> (Metadata<'m>, Vec<NodeOperand<'m>>) {
        let (mut ty, mut operands) = (ty, self.module.node_operands(ty));
        for _ in 0..DEEPEST {
            let is_name = matches!(
                ty.tag(),
                tag::TYPEDEF | tag::CONST | tag::VOLATILE | tag::RESTRICT | tag::ATOMIC
            );
            let base = node(operands.get(self.own_operand)).filter(|_| is_name);
            let Some(base) = base else { break };
            (ty, operands) = (base, self.module.node_operands(base));
        }
        (ty, operands)
    }

    /// Members and base classes; `None` for a record whose members depend on its content.
    fn members(&self, elements: Metadata<'m>) -> Option<Vec<Member<'m>>> {
        let mut members = Vec::new();
        for element in self.module.node_operands(elements) {
            let NodeOperand::Node(element) = element else {
                continue;
            };
            let tag = element.tag();
            if tag == tag::VARIANT_PART {
                return None;
            }
            if !matches!(tag, tag::MEMBER | tag::INHERITANCE) || element.is_static_member() {
                continue;
            }
            let operands = self.module.node_operands(element);
            let Some(ty) = node(operands.get(self.own_operand)) else {
                continue;
            };
            let bits = match tag {
                tag::INHERITANCE => self.size(ty) * 8,
                _ => element.type_bits(),
            };
            if bits == 0 || self.is_empty(ty) {
                continue;
            }
            let offset_bits = element.member_offset_bits();
            let name = text(operands.get(NAME_OPERAND)).filter(|_| tag == tag::MEMBER);
            let name = name.unwrap_or_default();
            let borrowed = name.strip_prefix(BORROWED);
            members.push(Member {
                name: member_name(borrowed.unwrap_or(name)),
                is_borrowed: borrowed.is_some(),
                offset: offset_bits / 8,
                end_bits: offset_bits + bits,
                ty,
            });
        }
        Some(members)
    }

    /// Whether a type has no content. In C++ such a base class or member lies where another one does.
    fn is_empty(&self, ty: Metadata<'m>) -> bool {
        matches!(&self.get(ty).shape, Shape::Record(record) if record.members.is_empty())
    }

    fn parameter(&self, parameters: Metadata<'m>) -> Option<Metadata<'m>> {
        // A template parameter's operands are its name and its type.
        const TYPE: usize = 1;
        let first = self.module.node_operands(parameters).into_iter().next()?;
        let NodeOperand::Node(first) = first else {
            return None;
        };
        node(self.module.node_operands(first).get(TYPE))
    }

    fn is_library(&self, ty: Metadata<'m>) -> bool {
        const NAMESPACE: u32 = 20;
        let mut outermost = None;
        let mut scope = Some(ty);
        for _ in 0..DEEPEST {
            let Some(current) = scope else { break };
            let operands = self.module.node_operands(current);
            if current.kind() == NAMESPACE {
                outermost = text(operands.get(NAME_OPERAND)).map(str::to_owned);
            }
            scope = node(operands.get(SCOPE_OPERAND));
        }
        outermost.is_some_and(|it| LIBRARIES.contains(&it.as_str()))
    }
}

fn node<'m>(operand: Option<&NodeOperand<'m>>) -> Option<Metadata<'m>> {
    match operand {
        Some(NodeOperand::Node(node)) => Some(*node),
        _ => None,
    }
}

fn text<'a>(operand: Option<&'a NodeOperand<'_>>) -> Option<&'a str> {
    match operand {
        Some(NodeOperand::Text(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// A member's name as the program writes it: rustc calls the fields of tuples `__0`.
fn member_name(name: &str) -> Text {
    let number = name.strip_prefix("__");
    let is_number = |it: &&str| !it.is_empty() && it.chars().all(|it| it.is_ascii_digit());
    number.filter(is_number).unwrap_or(name).into()
}
