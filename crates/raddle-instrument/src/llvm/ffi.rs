//! The part of LLVM's C interface that Raddle uses, declared by hand.
//!
//! One table serves every LLVM version: functions that older or newer libraries lack are listed
//! under `optional` and have a fallback where they are used.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use libloading::Library;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) struct $name(pub(crate) *mut c_void);

        #[allow(dead_code, reason = "every handle has the same shape")]
        impl $name {
            pub(crate) const NULL: $name = $name(std::ptr::null_mut());

            pub(crate) fn is_null(self) -> bool {
                self.0.is_null()
            }
        }
    )*};
}

handles! {
    /// `LLVMContextRef`.
    ContextRef;
    /// `LLVMModuleRef`.
    ModuleRef;
    /// `LLVMValueRef`.
    ValueRef;
    /// `LLVMTypeRef`.
    TypeRef;
    /// `LLVMBasicBlockRef`.
    BlockRef;
    /// `LLVMMetadataRef`.
    MetadataRef;
    /// `LLVMBuilderRef`.
    BuilderRef;
    /// `LLVMMemoryBufferRef`.
    BufferRef;
    /// `LLVMTargetRef`.
    TargetRef;
    /// `LLVMTargetMachineRef`.
    MachineRef;
    /// `LLVMTargetDataRef`.
    LayoutRef;
    /// `LLVMPassBuilderOptionsRef`.
    OptionsRef;
    /// `LLVMErrorRef`.
    ErrorRef;
    /// `LLVMUseRef`.
    UseRef;
    /// `LLVMAttributeRef`.
    AttributeRef;
    /// `LLVMDbgRecordRef`.
    RecordRef;
    /// `LLVMComdatRef`.
    ComdatRef;
    /// `LLVMDiagnosticInfoRef`.
    DiagnosticRef;
}

/// `LLVMBool`.
pub(crate) type Bool = c_int;
type Str = *const c_char;
type Handler = extern "C" fn(DiagnosticRef, *mut c_void);

macro_rules! api {
    (
        required { $($name:ident($($arg:ty),*) $(-> $ret:ty)?;)* }
        optional { $($extra:ident($($earg:ty),*) $(-> $eret:ty)?;)* }
    ) => {
        /// Addresses of the functions, by their C names.
        #[allow(non_snake_case)]
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            $(pub(crate) $extra: Option<unsafe extern "C" fn($($earg),*) $(-> $eret)?>,)*
        }

        impl Api {
            /// Looks every function up.
            pub(crate) fn load(library: &Library) -> Result<Api, libloading::Error> {
                // SAFETY: the library is an LLVM (its caller checked `LLVMGetVersion`), and the
                // types below are those of LLVM's C headers, which do not change between versions.
                unsafe {
                    Ok(Api {
                        $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)*
                        $($extra: library.get(concat!(stringify!($extra), "\0").as_bytes())
                            .ok().map(|symbol| *symbol),)*
                    })
                }
            }
        }
    };
}

api! {
    required {
        LLVMContextCreate() -> ContextRef;
        LLVMContextDispose(ContextRef);
        LLVMContextSetDiagnosticHandler(ContextRef, Handler, *mut c_void);
        LLVMGetDiagInfoDescription(DiagnosticRef) -> *mut c_char;
        LLVMGetDiagInfoSeverity(DiagnosticRef) -> c_uint;
        LLVMDisposeMessage(*mut c_char);

        LLVMCreateMemoryBufferWithMemoryRangeCopy(Str, usize, Str) -> BufferRef;
        LLVMDisposeMemoryBuffer(BufferRef);
        LLVMGetBufferStart(BufferRef) -> Str;
        LLVMGetBufferSize(BufferRef) -> usize;
        LLVMParseBitcodeInContext2(ContextRef, BufferRef, *mut ModuleRef) -> Bool;
        LLVMParseIRInContext(ContextRef, BufferRef, *mut ModuleRef, *mut *mut c_char) -> Bool;
        LLVMLinkModules2(ModuleRef, ModuleRef) -> Bool;
        LLVMDisposeModule(ModuleRef);
        LLVMVerifyModule(ModuleRef, c_uint, *mut *mut c_char) -> Bool;
        LLVMPrintValueToString(ValueRef) -> *mut c_char;
        LLVMGetTarget(ModuleRef) -> Str;
        LLVMSetTarget(ModuleRef, Str);
        LLVMGetDataLayoutStr(ModuleRef) -> Str;
        LLVMSetDataLayout(ModuleRef, Str);
        LLVMGetModuleDataLayout(ModuleRef) -> LayoutRef;
        LLVMGetSourceFileName(ModuleRef, *mut usize) -> Str;
        LLVMGetNamedFunction(ModuleRef, Str) -> ValueRef;
        LLVMGetModuleFlag(ModuleRef, Str, usize) -> MetadataRef;
        LLVMAddGlobal(ModuleRef, TypeRef, Str) -> ValueRef;
        LLVMGetNamedGlobal(ModuleRef, Str) -> ValueRef;
        LLVMDeleteGlobal(ValueRef);
        LLVMGetComdat(ValueRef) -> ComdatRef;
        LLVMSetComdat(ValueRef, ComdatRef);
        LLVMGetFirstFunction(ModuleRef) -> ValueRef;
        LLVMGetNextFunction(ValueRef) -> ValueRef;
        LLVMGetFirstGlobal(ModuleRef) -> ValueRef;
        LLVMGetNextGlobal(ValueRef) -> ValueRef;
        LLVMGetFirstGlobalIFunc(ModuleRef) -> ValueRef;
        LLVMGetNextGlobalIFunc(ValueRef) -> ValueRef;
        LLVMGetGlobalIFuncResolver(ValueRef) -> ValueRef;

        LLVMGetTargetFromTriple(Str, *mut TargetRef, *mut *mut c_char) -> Bool;
        LLVMCreateTargetMachine(TargetRef, Str, Str, Str, c_uint, c_uint, c_uint) -> MachineRef;
        LLVMDisposeTargetMachine(MachineRef);
        LLVMTargetMachineEmitToMemoryBuffer(MachineRef, ModuleRef, c_uint, *mut *mut c_char, *mut BufferRef) -> Bool;
        LLVMCreatePassBuilderOptions() -> OptionsRef;
        LLVMDisposePassBuilderOptions(OptionsRef);
        LLVMRunPasses(ModuleRef, Str, MachineRef, OptionsRef) -> ErrorRef;
        LLVMGetErrorMessage(ErrorRef) -> *mut c_char;
        LLVMDisposeErrorMessage(*mut c_char);

        LLVMTypeOf(ValueRef) -> TypeRef;
        LLVMGetTypeKind(TypeRef) -> c_uint;
        LLVMTypeIsSized(TypeRef) -> Bool;
        LLVMGetIntTypeWidth(TypeRef) -> c_uint;
        LLVMGetElementType(TypeRef) -> TypeRef;
        LLVMGetVectorSize(TypeRef) -> c_uint;
        LLVMGetArrayLength2(TypeRef) -> u64;
        LLVMCountStructElementTypes(TypeRef) -> c_uint;
        LLVMStructGetTypeAtIndex(TypeRef, c_uint) -> TypeRef;
        LLVMIsPackedStruct(TypeRef) -> Bool;
        LLVMIsOpaqueStruct(TypeRef) -> Bool;
        LLVMGetPointerAddressSpace(TypeRef) -> c_uint;
        LLVMGetReturnType(TypeRef) -> TypeRef;
        LLVMCountParamTypes(TypeRef) -> c_uint;
        LLVMGetParamTypes(TypeRef, *mut TypeRef);
        LLVMIsFunctionVarArg(TypeRef) -> Bool;
        LLVMIntTypeInContext(ContextRef, c_uint) -> TypeRef;
        LLVMPointerTypeInContext(ContextRef, c_uint) -> TypeRef;
        LLVMVectorType(TypeRef, c_uint) -> TypeRef;
        LLVMStoreSizeOfType(LayoutRef, TypeRef) -> c_ulonglong;
        LLVMABISizeOfType(LayoutRef, TypeRef) -> c_ulonglong;
        LLVMSizeOfTypeInBits(LayoutRef, TypeRef) -> c_ulonglong;
        LLVMOffsetOfElement(LayoutRef, TypeRef, c_uint) -> c_ulonglong;

        LLVMGetValueKind(ValueRef) -> c_uint;
        LLVMGetValueName2(ValueRef, *mut usize) -> Str;
        LLVMGetFirstUse(ValueRef) -> UseRef;
        LLVMGetNextUse(UseRef) -> UseRef;
        LLVMGetUser(UseRef) -> ValueRef;
        LLVMGetNumOperands(ValueRef) -> c_int;
        LLVMGetOperand(ValueRef, c_uint) -> ValueRef;
        LLVMSetOperand(ValueRef, c_uint, ValueRef);
        LLVMIsDeclaration(ValueRef) -> Bool;
        LLVMGetLinkage(ValueRef) -> c_uint;
        LLVMSetLinkage(ValueRef, c_uint);
        LLVMGetSection(ValueRef) -> Str;
        LLVMSetSection(ValueRef, Str);
        LLVMSetAlignment(ValueRef, c_uint);
        LLVMGetAlignment(ValueRef) -> c_uint;
        LLVMGlobalGetValueType(ValueRef) -> TypeRef;
        LLVMIsGlobalConstant(ValueRef) -> Bool;
        LLVMSetGlobalConstant(ValueRef, Bool);
        LLVMIsThreadLocal(ValueRef) -> Bool;
        LLVMGetThreadLocalMode(ValueRef) -> c_uint;
        LLVMGetInitializer(ValueRef) -> ValueRef;
        LLVMSetInitializer(ValueRef, ValueRef);
        LLVMCountParams(ValueRef) -> c_uint;
        LLVMGetParam(ValueRef, c_uint) -> ValueRef;
        LLVMGetIntrinsicID(ValueRef) -> c_uint;
        LLVMGetFunctionCallConv(ValueRef) -> c_uint;
        LLVMSetFunctionCallConv(ValueRef, c_uint);
        LLVMSetInstructionCallConv(ValueRef, c_uint);
        LLVMGetSubprogram(ValueRef) -> MetadataRef;
        LLVMGetEnumAttributeKindForName(Str, usize) -> c_uint;
        LLVMGetEnumAttributeAtIndex(ValueRef, c_uint, c_uint) -> AttributeRef;
        LLVMGetEnumAttributeValue(AttributeRef) -> u64;
        LLVMRemoveEnumAttributeAtIndex(ValueRef, c_uint, c_uint);
        LLVMCreateEnumAttribute(ContextRef, c_uint, u64) -> AttributeRef;
        LLVMCreateStringAttribute(ContextRef, Str, c_uint, Str, c_uint) -> AttributeRef;
        LLVMGetStringAttributeAtIndex(ValueRef, c_uint, Str, c_uint) -> AttributeRef;
        LLVMGetStringAttributeValue(AttributeRef, *mut c_uint) -> Str;
        LLVMAddAttributeAtIndex(ValueRef, c_uint, AttributeRef);

        LLVMConstInt(TypeRef, c_ulonglong, Bool) -> ValueRef;
        LLVMConstNull(TypeRef) -> ValueRef;
        LLVMConstArray2(TypeRef, *mut ValueRef, u64) -> ValueRef;
        LLVMConstVector(*mut ValueRef, c_uint) -> ValueRef;
        LLVMConstNamedStruct(TypeRef, *mut ValueRef, c_uint) -> ValueRef;
        LLVMConstGEP2(TypeRef, ValueRef, *mut ValueRef, c_uint) -> ValueRef;
        LLVMConstIntGetZExtValue(ValueRef) -> c_ulonglong;
        LLVMGetConstOpcode(ValueRef) -> c_uint;
        LLVMGetAggregateElement(ValueRef, c_uint) -> ValueRef;
        LLVMConstRealGetDouble(ValueRef, *mut Bool) -> f64;

        LLVMGetFirstBasicBlock(ValueRef) -> BlockRef;
        LLVMGetNextBasicBlock(BlockRef) -> BlockRef;
        LLVMGetFirstInstruction(BlockRef) -> ValueRef;
        LLVMGetNextInstruction(ValueRef) -> ValueRef;
        LLVMGetInstructionParent(ValueRef) -> BlockRef;
        LLVMValueAsBasicBlock(ValueRef) -> BlockRef;
        LLVMInstructionRemoveFromParent(ValueRef);
        LLVMInstructionEraseFromParent(ValueRef);
        LLVMGetInstructionOpcode(ValueRef) -> c_uint;
        LLVMGetICmpPredicate(ValueRef) -> c_uint;
        LLVMGetFCmpPredicate(ValueRef) -> c_uint;
        LLVMGetOrdering(ValueRef) -> c_uint;
        LLVMGetCmpXchgSuccessOrdering(ValueRef) -> c_uint;
        LLVMGetCmpXchgFailureOrdering(ValueRef) -> c_uint;
        LLVMGetAtomicRMWBinOp(ValueRef) -> c_uint;
        LLVMIsAtomicSingleThread(ValueRef) -> Bool;
        LLVMSetVolatile(ValueRef, Bool);
        LLVMGetVolatile(ValueRef) -> Bool;
        LLVMGetWeak(ValueRef) -> Bool;
        LLVMGetAllocatedType(ValueRef) -> TypeRef;
        LLVMGetGEPSourceElementType(ValueRef) -> TypeRef;
        LLVMIsInBounds(ValueRef) -> Bool;
        LLVMGetNumSuccessors(ValueRef) -> c_uint;
        LLVMGetSuccessor(ValueRef, c_uint) -> BlockRef;
        LLVMIsConditional(ValueRef) -> Bool;
        LLVMGetCondition(ValueRef) -> ValueRef;
        LLVMGetSwitchDefaultDest(ValueRef) -> BlockRef;
        LLVMCountIncoming(ValueRef) -> c_uint;
        LLVMGetIncomingBlock(ValueRef, c_uint) -> BlockRef;
        LLVMGetIncomingValue(ValueRef, c_uint) -> ValueRef;
        LLVMGetCalledValue(ValueRef) -> ValueRef;
        LLVMGetCalledFunctionType(ValueRef) -> TypeRef;
        LLVMGetNumArgOperands(ValueRef) -> c_uint;
        LLVMGetNormalDest(ValueRef) -> BlockRef;
        LLVMGetUnwindDest(ValueRef) -> BlockRef;
        LLVMGetNumIndices(ValueRef) -> c_uint;
        LLVMGetIndices(ValueRef) -> *const c_uint;
        LLVMGetNumMaskElements(ValueRef) -> c_uint;
        LLVMGetMaskValue(ValueRef, c_uint) -> c_int;
        LLVMIsCleanup(ValueRef) -> Bool;

        LLVMInstructionGetDebugLoc(ValueRef) -> MetadataRef;
        LLVMDILocationGetLine(MetadataRef) -> c_uint;
        LLVMDILocationGetColumn(MetadataRef) -> c_uint;
        LLVMDILocationGetScope(MetadataRef) -> MetadataRef;
        LLVMDILocationGetInlinedAt(MetadataRef) -> MetadataRef;
        LLVMDIScopeGetFile(MetadataRef) -> MetadataRef;
        LLVMDIFileGetDirectory(MetadataRef, *mut c_uint) -> Str;
        LLVMDIFileGetFilename(MetadataRef, *mut c_uint) -> Str;
        LLVMDISubprogramGetLine(MetadataRef) -> c_uint;
        LLVMDITypeGetSizeInBits(MetadataRef) -> u64;
        LLVMDITypeGetOffsetInBits(MetadataRef) -> u64;
        LLVMDITypeGetFlags(MetadataRef) -> c_uint;
        LLVMDIBuilderCreateDebugLocation(ContextRef, c_uint, c_uint, MetadataRef, MetadataRef) -> MetadataRef;
        LLVMGetMetadataKind(MetadataRef) -> c_uint;
        LLVMMetadataAsValue(ContextRef, MetadataRef) -> ValueRef;
        LLVMValueAsMetadata(ValueRef) -> MetadataRef;
        LLVMMDNodeInContext2(ContextRef, *mut MetadataRef, usize) -> MetadataRef;
        LLVMSetMetadata(ValueRef, c_uint, ValueRef);
        LLVMGetMetadata(ValueRef, c_uint) -> ValueRef;
        LLVMGetMDNodeNumOperands(ValueRef) -> c_uint;
        LLVMGetMDNodeOperands(ValueRef, *mut ValueRef);
        LLVMGetMDString(ValueRef, *mut c_uint) -> Str;
        LLVMGetMDKindIDInContext(ContextRef, Str, c_uint) -> c_uint;
        LLVMGlobalCopyAllMetadata(ValueRef, *mut usize) -> *mut c_void;
        LLVMValueMetadataEntriesGetKind(*mut c_void, c_uint) -> c_uint;
        LLVMValueMetadataEntriesGetMetadata(*mut c_void, c_uint) -> MetadataRef;
        LLVMDisposeValueMetadataEntries(*mut c_void);

        LLVMCreateBuilderInContext(ContextRef) -> BuilderRef;
        LLVMDisposeBuilder(BuilderRef);
        LLVMPositionBuilderBefore(BuilderRef, ValueRef);
        LLVMInsertIntoBuilder(BuilderRef, ValueRef);
        LLVMSetCurrentDebugLocation2(BuilderRef, MetadataRef);
        LLVMBuildAlloca(BuilderRef, TypeRef, Str) -> ValueRef;
        LLVMBuildCall2(BuilderRef, TypeRef, ValueRef, *mut ValueRef, c_uint, Str) -> ValueRef;
        LLVMBuildGEP2(BuilderRef, TypeRef, ValueRef, *mut ValueRef, c_uint, Str) -> ValueRef;
        LLVMBuildBinOp(BuilderRef, c_uint, ValueRef, ValueRef, Str) -> ValueRef;
        LLVMBuildCast(BuilderRef, c_uint, ValueRef, TypeRef, Str) -> ValueRef;
        LLVMBuildICmp(BuilderRef, c_uint, ValueRef, ValueRef, Str) -> ValueRef;
        LLVMBuildSelect(BuilderRef, ValueRef, ValueRef, ValueRef, Str) -> ValueRef;
        LLVMBuildExtractValue(BuilderRef, ValueRef, c_uint, Str) -> ValueRef;
        LLVMBuildExtractElement(BuilderRef, ValueRef, ValueRef, Str) -> ValueRef;
        LLVMLookupIntrinsicID(Str, usize) -> c_uint;
        LLVMGetIntrinsicDeclaration(ModuleRef, c_uint, *mut TypeRef, usize) -> ValueRef;
        LLVMIntrinsicGetName(c_uint, *mut usize) -> Str;
        LLVMGetInlineAsmAsmString(ValueRef, *mut usize) -> Str;
        LLVMGetInlineAsmConstraintString(ValueRef, *mut usize) -> Str;
        LLVMGetInlineAsmDialect(ValueRef) -> c_uint;
        LLVMGetCallSiteEnumAttribute(ValueRef, c_uint, c_uint) -> AttributeRef;
        LLVMGetTypeAttributeValue(AttributeRef) -> TypeRef;
        LLVMBuildLoad2(BuilderRef, TypeRef, ValueRef, Str) -> ValueRef;
    }
    optional {
        LLVMGetRawDataValues(ValueRef, *mut usize) -> Str;
        LLVMGetTailCallKind(ValueRef) -> c_uint;
        LLVMGetSwitchCaseValue(ValueRef, c_uint) -> ValueRef;
        LLVMGetFirstDbgRecord(ValueRef) -> RecordRef;
        LLVMGetNextDbgRecord(RecordRef) -> RecordRef;
        LLVMDbgRecordGetKind(RecordRef) -> c_uint;
        LLVMDbgVariableRecordGetValue(RecordRef, c_uint) -> ValueRef;
        LLVMDbgVariableRecordGetVariable(RecordRef) -> MetadataRef;
        LLVMDbgVariableRecordGetExpression(RecordRef) -> MetadataRef;
        LLVMDbgRecordGetDebugLoc(RecordRef) -> MetadataRef;
        LLVMGetDINodeTag(MetadataRef) -> u16;
        LLVMGetNUW(ValueRef) -> Bool;
        LLVMGetNSW(ValueRef) -> Bool;
        LLVMGetExact(ValueRef) -> Bool;
        LLVMGetNNeg(ValueRef) -> Bool;
        LLVMGetIsDisjoint(ValueRef) -> Bool;
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
        LLVMInitializeX86AsmParser();
        LLVMInitializeAArch64TargetInfo();
        LLVMInitializeAArch64Target();
        LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64AsmPrinter();
        LLVMInitializeAArch64AsmParser();
    }
}
