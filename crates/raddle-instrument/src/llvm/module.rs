//! Contexts and modules.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_uint, c_void};

use super::buffer::Buffer;
use super::ffi::{BufferRef, ContextRef, DiagnosticRef, MetadataRef, ModuleRef, ValueRef};
use super::library::{copy_c_text, copy_text, take_message};
use super::machine::Machine;
use super::metadata::Metadata;
use super::types::{Kind, Layout, Ty};
use super::value::Value;
use super::{llvm, open};
use crate::bitcode;
use crate::error::Error;

/// A module in a context of its own.
pub(crate) struct Module {
    raw: ModuleRef,
    context: ContextRef,
    /// Errors that LLVM reported instead of returning; boxed so that its address stays.
    diagnostics: Box<RefCell<Vec<String>>>,
    name: String,
}

/// For strings that become C strings; NULs cannot occur in symbols, and are cut where they do.
pub(super) fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

extern "C" fn collect(diagnostic: DiagnosticRef, sink: *mut c_void) {
    const ERROR: c_uint = 0;
    if llvm!(LLVMGetDiagInfoSeverity(diagnostic)) == ERROR {
        let text = take_message(llvm!(LLVMGetDiagInfoDescription(diagnostic)));
        // SAFETY: the sink is the module's `diagnostics`, which outlives its context, and LLVM
        // calls handlers on the thread that uses the context.
        let sink = unsafe { &*sink.cast::<RefCell<Vec<String>>>() };
        sink.borrow_mut().push(text);
    }
}

impl Module {
    fn empty(name: &str) -> Result<Module, Error> {
        open()?;
        let context = llvm!(LLVMContextCreate());
        let diagnostics = Box::new(RefCell::new(Vec::new()));
        let sink = (&raw const *diagnostics).cast_mut().cast();
        llvm!(LLVMContextSetDiagnosticHandler(context, collect, sink));
        Ok(Module {
            raw: ModuleRef::NULL,
            context,
            diagnostics,
            name: name.to_owned(),
        })
    }

    /// Reads bitcode; several modules, as a partial link leaves them, become one. `name` is for
    /// messages.
    pub(crate) fn parse_bitcode(bitcode: &[u8], name: &str) -> Result<Module, Error> {
        let mut module = Module::empty(name)?;
        for part in bitcode::modules(bitcode) {
            let raw = module.parse_bitcode_here(part)?;
            if module.raw.is_null() {
                module.raw = raw;
            } else if llvm!(LLVMLinkModules2(module.raw, raw)) != 0 {
                return Err(module.error("joining the modules of", String::new()));
            }
        }
        Ok(module)
    }

    fn parse_bitcode_here(&self, bitcode: &[u8]) -> Result<ModuleRef, Error> {
        let buffer = Buffer::copy(bitcode);
        let mut raw = ModuleRef::NULL;
        let failed = llvm!(LLVMParseBitcodeInContext2(
            self.context,
            buffer.raw,
            &mut raw
        ));
        if failed != 0 || !self.diagnostics.borrow().is_empty() {
            return Err(self.error("reading", String::new()));
        }
        Ok(raw)
    }

    /// Reads textual IR.
    pub(crate) fn parse_text(text: &str, name: &str) -> Result<Module, Error> {
        let mut module = Module::empty(name)?;
        module.raw = module.parse_text_here(text)?;
        Ok(module)
    }

    fn parse_text_here(&self, text: &str) -> Result<ModuleRef, Error> {
        // LLVM takes the buffer over.
        let buffer = std::mem::ManuallyDrop::new(Buffer::copy(text.as_bytes()));
        let mut raw = ModuleRef::NULL;
        let mut message: *mut c_char = std::ptr::null_mut();
        if llvm!(LLVMParseIRInContext(
            self.context,
            buffer.raw,
            &mut raw,
            &mut message
        )) != 0
        {
            return Err(self.error("reading", take_message(message)));
        }
        Ok(raw)
    }

    /// Links textual IR into the module.
    pub(crate) fn link_text(&self, text: &str) -> Result<(), Error> {
        let other = self.parse_text_here(text)?;
        let triple = llvm!(LLVMGetTarget(self.raw));
        llvm!(LLVMSetTarget(other, triple));
        let layout = llvm!(LLVMGetDataLayoutStr(self.raw));
        llvm!(LLVMSetDataLayout(other, layout));
        match llvm!(LLVMLinkModules2(self.raw, other)) {
            0 => Ok(()),
            _ => Err(self.error("linking hooks into", String::new())),
        }
    }

    pub(super) fn error(&self, doing: &'static str, message: String) -> Error {
        let mut words = self.diagnostics.borrow().clone();
        if !message.is_empty() {
            words.push(message);
        }
        Error::Llvm {
            doing,
            what: self.name.clone(),
            message: words.join("; "),
        }
    }

    /// Runs a pipeline in `opt`'s notation.
    pub(crate) fn run_passes(&self, pipeline: &str, machine: &Machine<'_>) -> Result<(), Error> {
        let pipeline = c_string(pipeline);
        let options = llvm!(LLVMCreatePassBuilderOptions());
        let failed = llvm!(LLVMRunPasses(
            self.raw,
            pipeline.as_ptr(),
            machine.raw,
            options
        ));
        llvm!(LLVMDisposePassBuilderOptions(options));
        if failed.is_null() {
            return Ok(());
        }
        let message = llvm!(LLVMGetErrorMessage(failed));
        let text = copy_c_text(message);
        llvm!(LLVMDisposeErrorMessage(message));
        Err(self.error("optimising", text))
    }

    /// Checks the module's well-formedness.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        const RETURN_STATUS: c_uint = 2;
        let mut message: *mut c_char = std::ptr::null_mut();
        let broken = llvm!(LLVMVerifyModule(self.raw, RETURN_STATUS, &mut message));
        let text = take_message(message);
        match broken {
            0 => Ok(()),
            _ => Err(self.error("verifying", text)),
        }
    }

    /// Turns the lists of constructors and destructors into sections of addresses. The C interface
    /// cannot ask the code generator for `.init_array`, and its default, `.ctors`, is a section
    /// that today's linkers ignore.
    pub(crate) fn lower_constructors(&self) {
        const NO_PRIORITY: u64 = 65535;
        for (list, section) in [
            ("llvm.global_ctors", ".init_array"),
            ("llvm.global_dtors", ".fini_array"),
        ] {
            let name = c_string(list);
            let Some(list) = Value::option(llvm!(LLVMGetNamedGlobal(self.raw, name.as_ptr())))
            else {
                continue;
            };
            let entries: Vec<Value<'_>> = match list.initializer() {
                Some(content) => content.operands().collect(),
                None => continue,
            };
            for entry in entries {
                let priority = entry.operand(0).as_int().unwrap_or(NO_PRIORITY);
                let function = entry.operand(1);
                let pointer = self.add_global("__raddle_constructor", self.pointer_type());
                llvm!(LLVMSetInitializer(pointer.raw, function.raw));
                pointer.set_internal();
                pointer.set_section(&match priority {
                    NO_PRIORITY => section.to_owned(),
                    priority => format!("{section}.{priority:05}"),
                });
                // An initialiser of a template's variable is dropped together with the variable.
                let owner = entry.operand(2);
                if owner.is_global() {
                    let comdat = llvm!(LLVMGetComdat(owner.raw));
                    if !comdat.is_null() {
                        llvm!(LLVMSetComdat(pointer.raw, comdat));
                    }
                }
            }
            llvm!(LLVMDeleteGlobal(list.raw));
        }
    }

    /// The native object.
    pub(crate) fn emit_object(&self, machine: &Machine<'_>) -> Result<Vec<u8>, Error> {
        const OBJECT: c_uint = 1;
        let mut message: *mut c_char = std::ptr::null_mut();
        let mut raw = BufferRef::NULL;
        let failed = llvm!(LLVMTargetMachineEmitToMemoryBuffer(
            machine.raw,
            self.raw,
            OBJECT,
            &mut message,
            &mut raw
        ));
        if failed != 0 {
            return Err(self.error("generating code for", take_message(message)));
        }
        let buffer = Buffer { raw };
        if !self.diagnostics.borrow().is_empty() {
            return Err(self.error("generating code for", String::new()));
        }
        Ok(buffer.bytes().to_vec())
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn triple(&self) -> String {
        copy_c_text(llvm!(LLVMGetTarget(self.raw)))
    }

    pub(crate) fn data_layout(&self) -> String {
        copy_c_text(llvm!(LLVMGetDataLayoutStr(self.raw)))
    }

    pub(crate) fn layout(&self) -> Layout<'_> {
        Layout::new(llvm!(LLVMGetModuleDataLayout(self.raw)))
    }

    pub(crate) fn source_name(&self) -> String {
        let mut len = 0;
        let start = llvm!(LLVMGetSourceFileName(self.raw, &mut len));
        copy_text(start, len)
    }

    pub(crate) fn function(&self, name: &str) -> Option<Value<'_>> {
        Value::option(llvm!(LLVMGetNamedFunction(
            self.raw,
            c_string(name).as_ptr()
        )))
    }

    /// Whether the module was compiled for an executable, whose thread-locals lie at known places.
    pub(crate) fn is_for_executable(&self) -> bool {
        let key = "PIE Level";
        let flag = llvm!(LLVMGetModuleFlag(self.raw, key.as_ptr().cast(), key.len()));
        !flag.is_null()
    }

    pub(crate) fn functions(&self) -> impl Iterator<Item = Value<'_>> {
        walk(llvm!(LLVMGetFirstFunction(self.raw)), |raw| {
            llvm!(LLVMGetNextFunction(raw))
        })
    }

    pub(crate) fn globals(&self) -> impl Iterator<Item = Value<'_>> {
        walk(llvm!(LLVMGetFirstGlobal(self.raw)), |raw| {
            llvm!(LLVMGetNextGlobal(raw))
        })
    }

    /// Functions that choose an implementation while the program is loaded.
    pub(crate) fn resolvers(&self) -> impl Iterator<Item = Value<'_>> {
        let ifuncs = walk(llvm!(LLVMGetFirstGlobalIFunc(self.raw)), |raw| {
            llvm!(LLVMGetNextGlobalIFunc(raw))
        });
        ifuncs.filter_map(|ifunc| Value::option(llvm!(LLVMGetGlobalIFuncResolver(ifunc.raw))))
    }

    /// Gives an instruction a node without content, by which it is known again.
    pub(crate) fn tag(&self, instruction: Value<'_>, kind: u32) {
        let node = llvm!(LLVMMDNodeInContext2(self.context, std::ptr::null_mut(), 0));
        let node = llvm!(LLVMMetadataAsValue(self.context, node));
        llvm!(LLVMSetMetadata(instruction.raw, kind, node));
    }

    /// Declares an intrinsic with the types it is overloaded on.
    pub(crate) fn intrinsic(&self, name: &str, types: &[Ty<'_>]) -> Value<'_> {
        let id = llvm!(LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len()));
        let mut types: Vec<_> = types.iter().map(|ty| ty.raw).collect();
        Value::new(llvm!(LLVMGetIntrinsicDeclaration(
            self.raw,
            id,
            types.as_mut_ptr(),
            types.len()
        )))
    }

    pub(crate) fn add_global(&self, name: &str, ty: Ty<'_>) -> Value<'_> {
        Value::new(llvm!(LLVMAddGlobal(
            self.raw,
            ty.raw,
            c_string(name).as_ptr()
        )))
    }

    pub(crate) fn int_type(&self, bits: u32) -> Ty<'_> {
        Ty::new(llvm!(LLVMIntTypeInContext(self.context, bits)))
    }

    pub(crate) fn pointer_type(&self) -> Ty<'_> {
        Ty::new(llvm!(LLVMPointerTypeInContext(self.context, 0)))
    }

    pub(crate) fn vector_type<'m>(&'m self, element: Ty<'m>, len: u32) -> Ty<'m> {
        Ty::new(llvm!(LLVMVectorType(element.raw, len)))
    }

    pub(crate) fn const_int<'m>(&'m self, ty: Ty<'m>, value: u64) -> Value<'m> {
        Value::new(llvm!(LLVMConstInt(ty.raw, value, 0)))
    }

    pub(crate) fn const_null<'m>(&'m self, ty: Ty<'m>) -> Value<'m> {
        Value::new(llvm!(LLVMConstNull(ty.raw)))
    }

    /// A constant array, struct or vector.
    pub(crate) fn const_aggregate<'m>(&'m self, ty: Ty<'m>, elements: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<ValueRef> = elements.iter().map(|element| element.raw).collect();
        let start = raw.as_mut_ptr();
        let len = raw.len();
        Value::new(match ty.kind() {
            Kind::Array => llvm!(LLVMConstArray2(ty.element().raw, start, len as u64)),
            Kind::Struct => llvm!(LLVMConstNamedStruct(ty.raw, start, len as c_uint)),
            _ => llvm!(LLVMConstVector(start, len as c_uint)),
        })
    }

    pub(crate) fn const_words(&self, words: &[u64]) -> Value<'_> {
        let word = self.int_type(64);
        let mut values: Vec<ValueRef> = words
            .iter()
            .map(|&value| self.const_int(word, value).raw)
            .collect();
        Value::new(llvm!(LLVMConstArray2(
            word.raw,
            values.as_mut_ptr(),
            values.len() as u64
        )))
    }

    /// A constant address `offset` bytes behind a global.
    pub(crate) fn const_offset<'m>(&'m self, global: Value<'m>, offset: u64) -> Value<'m> {
        let byte = self.int_type(8);
        let mut index = [self.const_int(self.int_type(64), offset).raw];
        Value::new(llvm!(LLVMConstGEP2(
            byte.raw,
            global.raw,
            index.as_mut_ptr(),
            1
        )))
    }

    /// Gives a function a string attribute.
    pub(crate) fn add_string_attribute(&self, function: Value<'_>, key: &str, value: &str) {
        function.add_attribute(llvm!(LLVMCreateStringAttribute(
            self.context,
            key.as_ptr().cast(),
            key.len() as c_uint,
            value.as_ptr().cast(),
            value.len() as c_uint
        )));
    }

    /// Gives a function an attribute without a value.
    pub(crate) fn add_enum_attribute(&self, function: Value<'_>, name: &str) {
        let kind = super::value::attribute_kind(name);
        if kind != 0 {
            function.add_attribute(llvm!(LLVMCreateEnumAttribute(self.context, kind, 0)));
        }
    }

    /// A debug location without a line, in a scope.
    pub(crate) fn artificial_location<'m>(&'m self, scope: Metadata<'m>) -> Metadata<'m> {
        Metadata::new(llvm!(LLVMDIBuilderCreateDebugLocation(
            self.context,
            0,
            0,
            scope.raw,
            MetadataRef::NULL
        )))
    }

    pub(crate) fn metadata_kind(&self, name: &str) -> u32 {
        llvm!(LLVMGetMDKindIDInContext(
            self.context,
            name.as_ptr().cast(),
            name.len() as c_uint
        ))
    }

    /// Operands of a metadata node: nodes and strings.
    pub(crate) fn node_operands<'m>(&'m self, node: Metadata<'m>) -> Vec<NodeOperand<'m>> {
        let value = llvm!(LLVMMetadataAsValue(self.context, node.raw));
        let count = llvm!(LLVMGetMDNodeNumOperands(value));
        let mut operands = vec![ValueRef::NULL; count as usize];
        llvm!(LLVMGetMDNodeOperands(value, operands.as_mut_ptr()));
        let convert = |operand: ValueRef| {
            if operand.is_null() {
                return NodeOperand::None;
            }
            match Metadata::string(operand) {
                Some(text) => NodeOperand::Text(text),
                None => NodeOperand::Node(Metadata::new(llvm!(LLVMValueAsMetadata(operand)))),
            }
        };
        operands.into_iter().map(convert).collect()
    }

    /// A node in LLVM's notation, for what has no other way to be read.
    pub(crate) fn print_node(&self, node: Metadata<'_>) -> String {
        let value = llvm!(LLVMMetadataAsValue(self.context, node.raw));
        take_message(llvm!(LLVMPrintValueToString(value)))
    }

    pub(super) fn context(&self) -> ContextRef {
        self.context
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            llvm!(LLVMDisposeModule(self.raw));
        }
        llvm!(LLVMContextDispose(self.context));
    }
}

fn walk<'m>(
    first: ValueRef,
    next: impl Fn(ValueRef) -> ValueRef,
) -> impl Iterator<Item = Value<'m>> {
    let mut current = first;
    std::iter::from_fn(move || {
        let value = Value::option(current)?;
        current = next(current);
        Some(value)
    })
}

/// An operand of a metadata node.
#[derive(Clone, Debug)]
pub(crate) enum NodeOperand<'m> {
    /// Absent.
    None,
    /// A string.
    Text(String),
    /// Another node.
    Node(Metadata<'m>),
}
