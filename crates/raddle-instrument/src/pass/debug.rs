//! Source positions and names out of debug metadata.

use std::collections::HashMap;

use raddle_model::{ASYNC_BODY, Position, PositionId, Text};

use crate::demangle;
use crate::llvm::{Metadata, Module, NodeOperand, Value};

/// `LLVMMetadataKind` of the scopes that matter.
const FILE: u32 = 15;
const COMPILE_UNIT: u32 = 16;
const SUBPROGRAM: u32 = 17;
const LEXICAL_BLOCK: u32 = 18;
const LEXICAL_BLOCK_FILE: u32 = 19;

/// Operands that scopes have in common.
const SCOPE_OPERAND: usize = 1;
const NAME_OPERAND: usize = 2;
const LINKAGE_NAME_OPERAND: usize = 3;

/// Names of a function in debug information.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// For people: demangled, without hashes.
    pub(super) readable: Text,
    /// Namespaces, types and name, joined by `::`; generic arguments as debug information has them.
    pub(super) path: Text,
}

/// A function, as it was inlined through one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DebugFrame<'m> {
    function: Metadata<'m>,
    /// The call; none if the function stands by itself.
    inlined_at: Option<Metadata<'m>>,
}

/// Collects positions of one module, each once.
pub(super) struct Debug<'m> {
    module: &'m Module,
    positions: Vec<Position>,
    known: HashMap<Metadata<'m>, PositionId>,
    subprograms: HashMap<Metadata<'m>, Option<Metadata<'m>>>,
    names: HashMap<Metadata<'m>, Names>,
    files: HashMap<Metadata<'m>, Text>,
}

impl<'m> Debug<'m> {
    pub(super) fn new(module: &'m Module) -> Debug<'m> {
        Debug {
            module,
            positions: Vec::new(),
            known: HashMap::new(),
            subprograms: HashMap::new(),
            names: HashMap::new(),
            files: HashMap::new(),
        }
    }

    /// Hands over what was collected.
    pub(super) fn into_positions(self) -> Vec<Position> {
        self.positions
    }

    /// The position of a debug location.
    pub(super) fn position(&mut self, location: Metadata<'m>) -> PositionId {
        if let Some(&id) = self.known.get(&location) {
            return id;
        }
        let inlined_at = location.inlined_at().map(|outer| self.position(outer));
        let (line, column) = location.line_column();
        let scope = location.scope();
        let position = Position {
            function: self
                .scope_names(scope)
                .map_or_else(|| "".into(), |names| names.readable),
            file: scope.map_or_else(|| "".into(), |scope| self.file(scope)),
            line,
            column,
            inlined_at,
        };
        let id = self.add(position);
        self.known.insert(location, id);
        id
    }

    /// Where a function is written.
    pub(super) fn function_position(&mut self, function: Value<'m>) -> Option<PositionId> {
        let subprogram = function.subprogram()?;
        let position = Position {
            function: self.names(subprogram).readable,
            file: self.file(subprogram),
            line: subprogram.subprogram_line(),
            column: 0,
            inlined_at: None,
        };
        Some(self.add(position))
    }

    fn add(&mut self, position: Position) -> PositionId {
        let id = PositionId(self.positions.len() as u32);
        self.positions.push(position);
        id
    }

    /// Names of the functions whose code an instruction comes from, innermost first.
    pub(super) fn chain(&mut self, instruction: Value<'m>) -> Vec<Names> {
        let mut chain = Vec::new();
        let mut location = instruction.debug_location();
        while let Some(current) = location {
            chain.extend(self.scope_names(current.scope()));
            location = current.inlined_at();
        }
        chain
    }

    /// The calls that an instruction was inlined through, innermost first.
    pub(super) fn frames(&mut self, instruction: Option<Value<'m>>) -> Vec<DebugFrame<'m>> {
        let mut frames = Vec::new();
        let mut location = instruction.and_then(Value::debug_location);
        while let Some(current) = location {
            frames.extend(self.frame(current));
            location = current.inlined_at();
        }
        frames
    }

    /// The call that a debug location belongs to.
    pub(super) fn frame(&mut self, location: Metadata<'m>) -> Option<DebugFrame<'m>> {
        Some(DebugFrame {
            function: self.subprogram(location.scope()?)?,
            inlined_at: location.inlined_at(),
        })
    }

    /// A function that was not inlined.
    pub(super) fn outermost_frame(&self, subprogram: Metadata<'m>) -> DebugFrame<'m> {
        DebugFrame {
            function: subprogram,
            inlined_at: None,
        }
    }

    /// The file that a call's function is written in.
    pub(super) fn file_of(&mut self, frame: DebugFrame<'m>) -> Text {
        self.file(frame.function)
    }

    fn scope_names(&mut self, scope: Option<Metadata<'m>>) -> Option<Names> {
        let subprogram = self.subprogram(scope?)?;
        Some(self.names(subprogram))
    }

    /// The function that a lexical scope lies in.
    fn subprogram(&mut self, scope: Metadata<'m>) -> Option<Metadata<'m>> {
        if let Some(&known) = self.subprograms.get(&scope) {
            return known;
        }
        let found = match scope.kind() {
            SUBPROGRAM => Some(scope),
            LEXICAL_BLOCK | LEXICAL_BLOCK_FILE => {
                let operands = self.module.node_operands(scope);
                match operands.into_iter().nth(SCOPE_OPERAND) {
                    Some(NodeOperand::Node(outer)) => self.subprogram(outer),
                    _ => None,
                }
            }
            _ => None,
        };
        self.subprograms.insert(scope, found);
        found
    }

    fn names(&mut self, subprogram: Metadata<'m>) -> Names {
        if let Some(known) = self.names.get(&subprogram) {
            return known.clone();
        }
        let operands = self.module.node_operands(subprogram);
        let path: Text = self.path(subprogram).into();
        let readable = match operands.get(LINKAGE_NAME_OPERAND) {
            Some(NodeOperand::Text(linkage)) if !linkage.is_empty() => {
                with_async(demangle::readable(linkage), &path).into()
            }
            _ => path.clone(),
        };
        let names = Names { readable, path };
        self.names.insert(subprogram, names.clone());
        names
    }

    fn path(&self, scope: Metadata<'m>) -> String {
        const DEEPEST: usize = 32;
        let mut parts = Vec::new();
        let mut next = Some(scope);
        // Files and compile units end the chain; their second operand is a checksum or a producer.
        let is_named = |scope: &Metadata<'m>| !matches!(scope.kind(), FILE | COMPILE_UNIT);
        while let Some(scope) = next.filter(is_named).filter(|_| parts.len() < DEEPEST) {
            let mut operands = self.module.node_operands(scope);
            let Some(NodeOperand::Text(name)) = operands.get(NAME_OPERAND).cloned() else {
                break;
            };
            parts.push(name);
            next = match operands.swap_remove(SCOPE_OPERAND) {
                NodeOperand::Node(outer) => Some(outer),
                _ => None,
            };
        }
        parts.reverse();
        parts.join("::")
    }

    fn file(&mut self, scope: Metadata<'m>) -> Text {
        if let Some(known) = self.files.get(&scope) {
            return known.clone();
        }
        let file: Text = match scope.scope_file() {
            Some((directory, name)) if !directory.is_empty() && !name.starts_with('/') => {
                format!("{}/{name}", directory.trim_end_matches('/')).into()
            }
            Some((_, name)) => name.into(),
            None => "".into(),
        };
        self.files.insert(scope, file.clone());
        file
    }
}

/// A function's name, with the body of an `async` function or block told from a closure: in symbols they are the same.
fn with_async(readable: String, path: &str) -> String {
    const CLOSURE: &str = "{{closure}}";
    let last = path.rsplit("::").next().unwrap_or_default();
    let is_async = last.starts_with("{async_fn#") || last.starts_with("{async_block#");
    match readable.strip_suffix(CLOSURE).filter(|_| is_async) {
        Some(outer) => format!("{outer}{ASYNC_BODY}"),
        None => readable,
    }
}
