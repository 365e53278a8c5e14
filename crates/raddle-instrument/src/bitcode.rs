//! Finding bitcode in objects.

use std::borrow::Cow;

use object::read::elf::{ElfFile, FileHeader};
use object::{Object, ObjectSection};

/// What a file on a linker's command line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// LLVM bitcode, bare or wrapped.
    Bitcode,
    /// A relocatable ELF object.
    Object,
    /// An archive, thin or not.
    Archive,
    /// Anything else: shared libraries, linker scripts.
    Other,
}

impl FileKind {
    /// Looks at a file's first bytes.
    pub(crate) fn of(bytes: &[u8]) -> FileKind {
        const RELOCATABLE: u8 = 1;
        if bytes.starts_with(b"BC\xC0\xDE") || bytes.starts_with(&[0xDE, 0xC0, 0x17, 0x0B]) {
            FileKind::Bitcode
        } else if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
            FileKind::Archive
        } else if bytes.starts_with(b"\x7fELF") && bytes.get(16) == Some(&RELOCATABLE) {
            FileKind::Object
        } else {
            FileKind::Other
        }
    }
}

/// The bitcode that a bitcode file is or an object embeds; `None` if there is none.
pub(crate) fn bitcode_of(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    match FileKind::of(bytes) {
        FileKind::Bitcode => Some(Cow::Borrowed(bytes)),
        FileKind::Object => embedded::<object::elf::FileHeader64<object::Endianness>>(bytes)
            .or_else(|| embedded::<object::elf::FileHeader32<object::Endianness>>(bytes)),
        _ => None,
    }
}

fn embedded<H: FileHeader>(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    let file = ElfFile::<H>::parse(bytes).ok()?;
    let data = file.section_by_name(".llvmbc")?.data().ok()?;
    // Assembler sources and rustc's metadata objects carry an empty section.
    (FileKind::of(data) == FileKind::Bitcode).then_some(Cow::Borrowed(data))
}
