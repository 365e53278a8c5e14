//! Reading archives, and writing them again with other members.
//!
//! Written archives are plain GNU ones with a symbol table, so every linker takes them.

use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};

use crate::error::Error;

/// A member of an archive.
pub(crate) struct Member {
    /// Its name in the archive.
    pub(crate) name: String,
    /// Its content.
    pub(crate) data: Vec<u8>,
}

/// The members of an archive, thin or not, in order.
pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Vec<Member>, Error> {
    let bad = |error: object::Error| Error::BadObject {
        path: path.to_owned(),
        message: error.to_string(),
    };
    let archive = ArchiveFile::parse(bytes).map_err(bad)?;
    let mut members = Vec::new();
    for member in archive.members() {
        let member = member.map_err(bad)?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let data = if archive.is_thin() {
            let dir = path.parent().unwrap_or(Path::new("."));
            let file: PathBuf = dir.join(&name);
            std::fs::read(&file).map_err(Error::io(&file))?
        } else {
            member.data(bytes).map_err(bad)?.to_vec()
        };
        members.push(Member { name, data });
    }
    Ok(members)
}

/// An archive with these members.
pub(crate) fn write(members: &[Member]) -> Vec<u8> {
    let (long_names, name_fields) = name_table(members);
    let symbols: Vec<Vec<String>> = members
        .iter()
        .map(|member| defined_symbols(&member.data))
        .collect();

    let count: usize = symbols.iter().map(Vec::len).sum();
    let text: usize = symbols.iter().flatten().map(|name| name.len() + 1).sum();
    let index_size = 4 + 4 * count + text;
    let mut offset = MAGIC.len() + HEADER + even(index_size);
    if !long_names.is_empty() {
        offset += HEADER + even(long_names.len());
    }
    let mut offsets = Vec::new();
    for member in members {
        offsets.push(offset as u32);
        offset += HEADER + even(member.data.len());
    }

    let mut index = (count as u32).to_be_bytes().to_vec();
    for (names, offset) in symbols.iter().zip(&offsets) {
        names
            .iter()
            .for_each(|_| index.extend_from_slice(&offset.to_be_bytes()));
    }
    for name in symbols.iter().flatten() {
        index.extend_from_slice(name.as_bytes());
        index.push(0);
    }

    let mut out = MAGIC.to_vec();
    append(&mut out, "/", &index);
    if !long_names.is_empty() {
        append(&mut out, "//", long_names.as_bytes());
    }
    for (member, field) in members.iter().zip(&name_fields) {
        append(&mut out, field, &member.data);
    }
    out
}

const MAGIC: &[u8] = b"!<arch>\n";

/// Bytes of a member's header.
const HEADER: usize = 60;

/// Longest name that fits a header's field, with its slash.
const SHORT_NAME: usize = 15;

fn even(len: usize) -> usize {
    len + len % 2
}

/// The table of long names, and each member's name field.
fn name_table(members: &[Member]) -> (String, Vec<String>) {
    let mut table = String::new();
    let mut fields = Vec::new();
    for member in members {
        let name = member.name.rsplit('/').next().unwrap_or_default();
        if name.len() <= SHORT_NAME && name.is_ascii() {
            fields.push(format!("{name}/"));
        } else {
            fields.push(format!("/{}", table.len()));
            table.push_str(name);
            table.push_str("/\n");
        }
    }
    (table, fields)
}

fn append(out: &mut Vec<u8>, name: &str, data: &[u8]) {
    let header = format!(
        "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
        0,
        0,
        0,
        644,
        data.len()
    );
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(data);
    if data.len() % 2 == 1 {
        out.push(b'\n');
    }
}

/// Symbols for which a linker would pull a member in.
fn defined_symbols(data: &[u8]) -> Vec<String> {
    let Ok(file) = object::File::parse(data) else {
        return Vec::new();
    };
    file.symbols()
        .filter(|symbol| symbol.is_global() && !symbol.is_undefined())
        .filter_map(|symbol| symbol.name().ok().filter(|name| !name.is_empty()))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_archives_read_back() {
        let member = |name: &str, data: &[u8]| Member {
            name: name.to_owned(),
            data: data.to_vec(),
        };
        let members = [
            member("a.o", b"odd"),
            member("a_name_too_long_for_a_header.o", b"even"),
            member("a.o", b"same name again"),
        ];
        let bytes = write(&members);
        let back = read(Path::new("x.a"), &bytes).expect("a valid archive");
        let names: Vec<_> = back
            .iter()
            .map(|m| (m.name.as_str(), m.data.as_slice()))
            .collect();
        let expected: Vec<_> = members
            .iter()
            .map(|m| (m.name.as_str(), m.data.as_slice()))
            .collect();
        assert_eq!(names, expected);
    }
}
