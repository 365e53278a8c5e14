//! The program model: what the instrumenter knew about a program, kept beside its binary.
//!
//! A [`Model`] holds one [`Module`] for each instrumented object. Two readers need it: reports,
//! which turn a site of a trace into a function, a file and a line ([`Outline::site`]), and offline
//! symbolic execution, which walks the [`Function`]s' blocks along a recorded path. The functions
//! are kept in the form in which they were instrumented: optimised, without hooks, each instruction
//! with the range of sites that report it.
//!
//! Numbers (types, constants, positions, functions) are indices into their module's tables and
//! mean nothing outside it. Texts are shared `Arc<str>`s; the file stores each once.

#![forbid(unsafe_code)]

mod code;
mod file;
mod influence;
mod site;
mod types;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use code::{
    Block, Case, Constant, Detail, Flags, Function, Global, Instruction, Opcode, Operand, Parameter,
};
pub use file::{MODEL_VERSION, ModelError, encode_module, module_id};
pub use influence::{Feed, Influence, Influences};
pub use site::{
    ASYNC_BODY, CallInfo, Frame, Frames, Name, Position, Site, SiteInfo, is_language_file,
    is_library_file, ordering,
};
pub use types::{Type, TypeInfo};

/// A text that many places of a model share.
pub type Text = Arc<str>;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The index as a position in its table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index! {
    /// A type of a module.
    TypeId
}
index! {
    /// A constant of a module.
    ConstantId
}
index! {
    /// A function of a module, defined or declared.
    FunctionId
}
index! {
    /// A global variable of a module.
    GlobalId
}
index! {
    /// A block of a function.
    BlockId
}
index! {
    /// An instruction of a function, counted over its blocks in order.
    InstructionId
}
index! {
    /// A source position of a module.
    PositionId
}

/// A module's content hash: what a `ModuleHeader` of a running program carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(pub u64);

/// Everything known about a program or shared library.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// One for each instrumented object, ordered by id.
    modules: Vec<Module>,
    /// Objects and archive members that were linked as they were, and why.
    pub skipped: Vec<Skipped>,
}

/// What a model says of sites and positions, without the code: read in a small part of the time.
#[derive(Clone, Debug)]
pub struct Outline(Model);

/// The reason of code that was instrumented, but not all of whose accesses were still there.
pub const OPTIMISED: &str =
    "it was optimised before it was instrumented: accesses that the optimiser removed are not seen";

/// An object that was not instrumented, or not all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its file, with the member's name in parentheses if it is an archive's.
    pub object: Text,
    /// Why it was left alone.
    pub reason: Text,
}

impl Skipped {
    /// Whether it is instrumented, as far as an optimiser left it.
    #[must_use]
    pub fn is_optimised(&self) -> bool {
        &*self.reason == OPTIMISED
    }
}

/// One instrumented object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// Content hash.
    pub id: u64,
    /// Name of the object or source file.
    pub name: Text,
    /// Target triple.
    pub triple: Text,
    /// LLVM's data layout string.
    pub data_layout: Text,
    /// Types with their layouts.
    pub types: Vec<TypeInfo>,
    /// Constants; one refers only to those before it, or to itself through a global.
    pub constants: Vec<Constant>,
    /// Global variables.
    pub globals: Vec<Global>,
    /// Source positions; one is inlined only into those before it.
    pub positions: Vec<Position>,
    /// Functions, defined and declared.
    pub functions: Vec<Function>,
    /// The static parts of events, in the order of the object's site records.
    pub sites: Vec<SiteInfo>,
    /// Calls that are given something with a name.
    pub calls: Vec<CallInfo>,
}

impl Model {
    /// Joins modules; of several with one id the first is kept.
    pub fn new(mut modules: Vec<Module>, skipped: Vec<Skipped>) -> Model {
        modules.sort_by_key(|module| module.id);
        modules.dedup_by_key(|module| module.id);
        Model { modules, skipped }
    }

    /// The modules, ordered by id.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The module with an id.
    pub fn module(&self, id: ModuleId) -> Option<&Module> {
        let found = self.modules.binary_search_by_key(&id.0, |module| module.id);
        Some(&self.modules[found.ok()?])
    }

    /// The site that record `index` of a module describes.
    pub fn site(&self, module: ModuleId, index: u32) -> Option<Site<'_>> {
        self.module(module)?.site(index)
    }

    /// Number of instrumented functions.
    pub fn function_count(&self) -> usize {
        let defined = |module: &Module| module.functions.iter().filter(|f| f.instrumented).count();
        self.modules.iter().map(defined).sum()
    }

    /// Number of sites.
    pub fn site_count(&self) -> usize {
        self.modules.iter().map(|module| module.sites.len()).sum()
    }
}

impl Outline {
    /// The site that record `index` of a module describes.
    pub fn site(&self, module: ModuleId, index: u32) -> Option<Site<'_>> {
        self.0.site(module, index)
    }

    /// The calls that are given something with a name, with the frames that each stands in.
    pub fn calls(&self) -> impl Iterator<Item = (Frames<'_>, &Name)> {
        let modules = self.0.modules.iter();
        modules.flat_map(|module| {
            let calls = module.calls.iter();
            calls.map(|call| (module.frames(call.position), &call.object))
        })
    }

    /// Every source position.
    pub fn positions(&self) -> impl Iterator<Item = &Position> {
        self.0.modules.iter().flat_map(|it| &it.positions)
    }
}

impl Module {
    /// The site that record `index` describes.
    pub fn site(&self, index: u32) -> Option<Site<'_>> {
        let info = self.sites.get(index as usize)?;
        Some(Site::new(self, info))
    }

    /// A position's frames, innermost first.
    pub fn frames(&self, position: PositionId) -> Frames<'_> {
        Frames::new(self, Some(position))
    }

    /// A function by its linkage name.
    pub fn function(&self, linkage_name: &str) -> Option<(FunctionId, &Function)> {
        let found = |f: &Function| &*f.linkage_name == linkage_name;
        let index = self.functions.iter().position(found)?;
        Some((
            FunctionId(u32::try_from(index).ok()?),
            &self.functions[index],
        ))
    }
}

/// Where the program model of an executable or shared library lies.
pub fn model_path(binary: &Path) -> PathBuf {
    beside(binary, ".raddle")
}

/// Where the list of packages lies that an executable was built from, if Cargo built it.
pub fn packages_path(binary: &Path) -> PathBuf {
    beside(binary, ".packages")
}

fn beside(binary: &Path, extension: &str) -> PathBuf {
    let mut name = binary.as_os_str().to_owned();
    name.push(extension);
    PathBuf::from(name)
}
