//! What an object defines, to tell whether it is still what its bitcode says.
//!
//! Between compiling and linking, projects rename, hide and weaken symbols (`objcopy`), or link
//! objects with and without bitcode into one (`ld -r`). Bitcode knows nothing of that, so the
//! instrumented twin of such an object would be another one.

use std::collections::BTreeSet;

use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionKind};

/// Whether the instrumented twin defines for others what the object does. Weak definitions are left
/// out: whether one is kept depends on how far it was inlined.
pub(crate) fn agree(object: &[u8], instrumented: &[u8]) -> bool {
    match (strong(object), strong(instrumented)) {
        (Some(theirs), Some(ours)) => theirs == ours,
        _ => false,
    }
}

/// Names of strong definitions.
fn strong(data: &[u8]) -> Option<BTreeSet<Vec<u8>>> {
    let file = object::File::parse(data).ok()?;
    let mut names = BTreeSet::new();
    for symbol in file.symbols() {
        let is_strong = symbol.is_global() && !symbol.is_weak();
        if is_strong && !symbol.is_undefined() {
            names.insert(symbol.name_bytes().ok()?.to_vec());
        }
    }
    Some(names)
}

/// Whether an object's code is for the machine that the runtime is for.
pub(crate) fn is_for_this_machine(data: &[u8]) -> bool {
    const CLASS_64: u8 = 2;
    let is_wide = data.get(4) == Some(&CLASS_64);
    is_wide && object::File::parse(data).is_ok_and(|it| it.architecture() == Architecture::X86_64)
}

/// Whether an object holds any code.
pub(crate) fn has_code(data: &[u8]) -> bool {
    let Ok(file) = object::File::parse(data) else {
        return false;
    };
    file.sections()
        .any(|section| section.kind() == SectionKind::Text && section.size() > 0)
}
