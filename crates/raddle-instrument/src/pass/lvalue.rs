//! Memory as an expression of the source: `self.state`, `table[].next->count`.
//!
//! An address is computed from a variable by adding offsets and by loading pointers. The variable's type says which
//! members these are. Records of the languages' own libraries are passed through in silence: what is inside a `Vec` or
//! an `AtomicUsize` has the name of the `Vec` or the `AtomicUsize`. Where the type is not known, or leaves it open which
//! member is meant (unions, enums, accesses that take in several members), the name ends with what is sure.

use raddle_model::Text;

use super::source_types::{Pointer, Shape, SourceTypes};
use crate::llvm::Metadata;

/// Types within types, at most.
const DEEPEST: usize = 32;
/// Bytes of a pointer.
const POINTER: u64 = 8;

/// A step from an address to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// So many bytes on.
    Offset(i64),
    /// To some element of an array whose elements are so far apart.
    Index(u64),
    /// To what the pointer there points to.
    Load,
}

/// What stands between a name and the memory that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// The name is that memory's.
    Itself,
    /// The name is that of a pointer to it.
    Through(Pointer),
}

/// An expression for some memory.
pub(super) struct Named {
    pub(super) text: String,
    /// The type whose member it is; tuples and what the program leaves anonymous have none.
    pub(super) owner: Option<Text>,
    /// Whether it is known what the bytes are.
    pub(super) is_typed: bool,
    /// Whether it is the name of a library's object that refers to the memory, such as a lock's guard.
    pub(super) is_handle: bool,
}

/// Some memory with an expression for it.
pub(super) struct Lvalue<'a, 'm> {
    types: &'a SourceTypes<'m>,
    text: String,
    /// The type whose member the text means.
    owner: Option<Text>,
    reach: Reach,
    /// Type of the memory that the text means, as far as known.
    ty: Option<Metadata<'m>>,
    /// Bytes from there.
    offset: i64,
    /// Whether a pointer was just followed, so that its target may be one of several elements.
    is_target: bool,
    /// Whether the memory lies within an object of a library, whose parts have no names.
    is_inside: bool,
    /// Whether the text is that of such an object, and the memory lies where it points to.
    is_handle: bool,
    /// What that object is a collection of.
    parameter: Option<Metadata<'m>>,
    /// Whether the text is that of the variable to which the pointer that lies here points.
    is_borrowed: bool,
}

impl<'a, 'm> Lvalue<'a, 'm> {
    /// A variable.
    pub(super) fn variable(
        types: &'a SourceTypes<'m>,
        name: &str,
        ty: Option<Metadata<'m>>,
    ) -> Lvalue<'a, 'm> {
        Lvalue {
            types,
            text: name.to_owned(),
            owner: None,
            reach: Reach::Itself,
            ty,
            offset: 0,
            is_target: false,
            is_inside: false,
            is_handle: false,
            parameter: None,
            is_borrowed: false,
        }
    }

    /// Goes on from here.
    pub(super) fn walk(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        for step in steps {
            match step {
                Step::Offset(bytes) => self.offset = self.offset.wrapping_add(bytes),
                Step::Index(stride) => self.index(stride),
                Step::Load => self.load(),
            }
        }
        self
    }

    /// The expression for so many bytes of this memory, for all of the object that starts there if the number is
    /// unknown.
    pub(super) fn name(mut self, size: Option<u64>) -> Named {
        self.element();
        match size {
            Some(size) => while self.enter(size) {},
            None => while self.offset != 0 && self.enter(1) {},
        }
        Named {
            text: self.bare(),
            owner: self.owner,
            is_typed: self.ty.is_some(),
            is_handle: self.is_handle,
        }
    }

    /// The expression for the memory itself, whatever its offset.
    fn bare(&self) -> String {
        match self.reach {
            Reach::Itself | Reach::Through(Pointer::Reference) => self.text.clone(),
            Reach::Through(_) => format!("*{}", self.text),
        }
    }

    /// Follows the pointer that lies here.
    fn load(&mut self) {
        self.element();
        while self.enter(POINTER) {}
        let shape = self.ty.map(|ty| self.types.get(ty));
        let (to, style) = match shape.as_deref().map(|it| &it.shape) {
            Some(Shape::Pointer { to, style }) => (*to, *style),
            _ => (None, Pointer::Arrow),
        };
        self.text = self.bare();
        self.reach = match self.is_inside || self.is_borrowed {
            true => Reach::Itself,
            false => Reach::Through(style),
        };
        self.is_borrowed = false;
        self.is_handle = self.is_inside;
        self.ty = to;
        self.offset = 0;
        self.is_target = true;
    }

    /// Goes to some element.
    fn index(&mut self, stride: u64) {
        if self.is_target && self.offset == 0 {
            let is_apart = |ty: &Metadata<'m>| self.types.size(*ty) == stride;
            let is_array = self
                .ty
                .is_some_and(|ty| matches!(self.types.get(ty).shape, Shape::Array { .. }));
            if !is_array || self.ty.as_ref().is_some_and(is_apart) {
                let ty = self.ty.filter(is_apart);
                self.ty = ty.or(self.parameter.filter(is_apart));
                self.push("[]");
                return;
            }
        }
        for _ in 0..DEEPEST {
            let Some(ty) = self.ty else { break };
            if let Shape::Array {
                element,
                dimensions,
            } = self.types.get(ty).shape
            {
                let apart = self.types.size(element);
                if apart == stride {
                    self.push(&"[]".repeat(dimensions));
                    self.ty = Some(element);
                    self.offset = self.offset.rem_euclid(apart.cast_signed());
                    return;
                }
                // A row of an array with several dimensions: the element comes with a further index.
                if apart > 0 && stride.is_multiple_of(apart) && dimensions > 1 {
                    return;
                }
            }
            if !self.enter(stride.max(1)) {
                break;
            }
        }
        self.ty = None;
        self.offset = 0;
        self.push("[]");
    }

    /// If a pointer to elements was followed, goes to the one that the offset leads to.
    fn element(&mut self) {
        // Collections point to bytes, whatever their elements are.
        let element = match self.is_inside {
            true => self.parameter,
            false => self.ty,
        };
        let size = element.map_or(0, |ty| self.types.size(ty)).cast_signed();
        if !self.is_target || size == 0 || (self.offset == 0 && !self.is_inside) {
            return;
        }
        let (number, rest) = (self.offset.div_euclid(size), self.offset.rem_euclid(size));
        if number != 0 || self.is_inside {
            self.push(&format!("[{number}]"));
            (self.ty, self.offset) = (element, rest);
        }
    }

    /// Goes to the member or element that so many bytes lie in; says whether there is exactly one.
    fn enter(&mut self, size: u64) -> bool {
        let Ok(offset) = u64::try_from(self.offset) else {
            return false;
        };
        let Some(ty) = self.ty else { return false };
        let known = self.types.get(ty);
        match &known.shape {
            Shape::Record(record) if record.is_library || !record.is_union => {
                let end = offset.saturating_add(size.max(1));
                let mut touched = record
                    .members
                    .iter()
                    .filter(|it| it.offset < end && it.end_bits > offset * 8);
                let Some(member) = touched.next() else {
                    return false;
                };
                let is_one =
                    touched.next().is_none() && end * 8 <= member.end_bits.next_multiple_of(8);
                if !is_one {
                    return false;
                }
                if record.is_library {
                    if self.reach == Reach::Through(Pointer::Dot) {
                        self.reach = Reach::Itself;
                    }
                    if !self.is_inside {
                        self.parameter = record.parameter;
                    }
                    self.is_inside = true;
                } else if record.is_closure {
                    self.text.clear();
                    self.push(&member.name);
                    self.is_borrowed = member.is_borrowed;
                } else if !member.name.is_empty() {
                    let separator = match self.reach {
                        Reach::Through(Pointer::Arrow) => "->",
                        _ => ".",
                    };
                    self.push(&format!("{separator}{}", member.name));
                    let is_named = !record.name.is_empty() && !record.name.starts_with('(');
                    self.owner = is_named.then(|| record.name.clone());
                }
                self.is_target = false;
                self.ty = Some(member.ty);
                self.offset -= member.offset.cast_signed();
                true
            }
            Shape::Array {
                element,
                dimensions,
            } => {
                let apart = self.types.size(*element);
                if apart == 0 || offset >= known.size || offset % apart + size > apart {
                    return false;
                }
                if !self.is_inside {
                    match dimensions {
                        1 => self.push(&format!("[{}]", offset / apart)),
                        _ => self.push(&"[]".repeat(*dimensions)),
                    }
                }
                self.is_target = false;
                self.ty = Some(*element);
                self.offset = (offset % apart).cast_signed();
                true
            }
            _ => false,
        }
    }

    /// Adds a part to the expression, which then means that part.
    fn push(&mut self, part: &str) {
        if self.text.starts_with('*') {
            self.text = format!("({})", self.text);
        }
        self.text.push_str(part);
        self.reach = Reach::Itself;
        self.is_target = false;
        self.is_inside = false;
        self.is_handle = false;
        self.parameter = None;
        self.is_borrowed = false;
    }
}
