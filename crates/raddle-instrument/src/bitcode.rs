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

/// The modules in a file's bitcode. A partial link (`ld -r`) puts those of its objects one after
/// another into one section.
pub(crate) fn modules(bitcode: &[u8]) -> Vec<&[u8]> {
    const MAGIC: &[u8] = b"BC\xC0\xDE";
    /// Abbreviation id, block id and abbreviation width in one word, then the length in words.
    const BLOCK_HEAD: usize = 8;
    let mut starts = Vec::new();
    let mut at = 0;
    while let Some(head) = bitcode.get(at..at + BLOCK_HEAD) {
        if head.starts_with(MAGIC) {
            starts.push(at);
            at += MAGIC.len();
            continue;
        }
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        at += BLOCK_HEAD + 4 * length;
    }
    if starts.len() < 2 {
        return vec![bitcode];
    }
    let ends = starts.iter().skip(1).copied().chain([bitcode.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &bitcode[*start..end])
        .collect()
}
