//! Names an instrumented module by everything that decides what it looks like.
//!
//! The same number identifies the module in the program model and in a running program, so two
//! modules with one key must be the same to the last site.

use raddle_trace::wire::WIRE_VERSION;
use xxhash_rust::xxh3::Xxh3;

use super::hooks::{self, Style, Vectors};
use crate::error::Error;
use crate::llvm;
use crate::settings::OptLevel;

/// Hash of this crate's passes, the catalogue among them, and of the layouts and the model's file
/// form; the build script computes it.
const SOURCES: &str = env!("RADDLE_SOURCES");

/// Content hash of what an instrumented module is made from.
pub(crate) fn module_id(bitcode: &[u8], opt: OptLevel, style: Style) -> Result<u64, Error> {
    let library = llvm::open()?;
    let (major, minor, patch) = library.version;
    Ok(Inputs {
        bitcode,
        opt,
        style,
        hooks: &hooks::text(Vectors::All),
        sources: SOURCES,
        // Toolchains patch LLVM without changing its version.
        llvm: format!("{major}.{minor}.{patch} {}", library.path.display()),
        package: env!("CARGO_PKG_VERSION"),
        wire: WIRE_VERSION,
        model: raddle_model::MODEL_VERSION,
    }
    .digest())
}

/// A word that changes with what this version of Raddle makes of a module.
pub(crate) fn version() -> String {
    let mut hash = Xxh3::new();
    hash.update(&WIRE_VERSION.to_le_bytes());
    for text in [
        SOURCES,
        &hooks::text(Vectors::All),
        env!("CARGO_PKG_VERSION"),
    ] {
        hash.update(text.as_bytes());
    }
    format!("{:016x}", hash.digest())
}

#[derive(Clone)]
struct Inputs<'a> {
    bitcode: &'a [u8],
    opt: OptLevel,
    style: Style,
    hooks: &'a str,
    sources: &'a str,
    llvm: String,
    package: &'a str,
    wire: u32,
    model: u32,
}

impl Inputs<'_> {
    fn digest(&self) -> u64 {
        let mut hash = Xxh3::new();
        let numbers = [self.wire, self.model, self.opt as u32, self.style as u32];
        for number in numbers {
            hash.update(&number.to_le_bytes());
        }
        // Each text ends with a NUL, so that no two lists of texts read the same.
        for text in [self.hooks, self.sources, &self.llvm, self.package] {
            hash.update(text.as_bytes());
            hash.update(&[0]);
        }
        hash.update(self.bitcode);
        hash.digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(hooks: &str) -> Inputs<'_> {
        Inputs {
            bitcode: b"BC",
            opt: OptLevel::O1,
            style: Style::Inline,
            hooks,
            sources: SOURCES,
            llvm: "22.1.0 /lib/libLLVM.so".into(),
            package: "0.1.0",
            wire: 1,
            model: 1,
        }
    }

    #[test]
    fn each_input_changes_the_key() {
        let text = hooks::text(Vectors::All);
        let base = inputs(&text);
        let changed = [
            Inputs {
                bitcode: b"BD",
                ..base.clone()
            },
            Inputs {
                opt: OptLevel::O2,
                ..base.clone()
            },
            Inputs {
                style: Style::Outlined,
                ..base.clone()
            },
            Inputs {
                hooks: "; other hooks",
                ..base.clone()
            },
            Inputs {
                sources: "0123456789abcdef",
                ..base.clone()
            },
            Inputs {
                llvm: "22.1.1 /lib/libLLVM.so".into(),
                ..base.clone()
            },
            Inputs {
                package: "0.1.1",
                ..base.clone()
            },
            Inputs {
                wire: 2,
                ..base.clone()
            },
            Inputs {
                model: 2,
                ..base.clone()
            },
        ];
        let mut keys: Vec<u64> = changed.iter().map(Inputs::digest).collect();
        keys.push(base.digest());
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), changed.len() + 1, "no two of them are alike");
    }

    #[test]
    fn the_key_of_a_module_covers_the_hooks_and_the_sources() {
        let library = llvm::open().expect("an LLVM library");
        let (major, minor, patch) = library.version;
        let llvm = format!("{major}.{minor}.{patch} {}", library.path.display());
        let text = hooks::text(Vectors::All);
        let expected = Inputs {
            llvm,
            package: env!("CARGO_PKG_VERSION"),
            wire: WIRE_VERSION,
            model: raddle_model::MODEL_VERSION,
            ..inputs(&text)
        };
        let id = module_id(b"BC", OptLevel::O1, Style::Inline).expect("an id");
        assert_eq!(id, expected.digest());
        assert!(text.contains("define weak_odr hidden ptr @__raddle_event"));
        assert_eq!(SOURCES.len(), 16);
    }
}
