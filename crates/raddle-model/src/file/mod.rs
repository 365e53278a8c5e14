//! The model's file: `"RDLM"`, the version, the skipped objects, then each module as a
//! length-prefixed blob.
//!
//! A blob stands for itself: the version, the module's id, strings, the sizes of the tables, then the tables, those
//! first that name sites. That is the form in which the instrumenter caches a module, so joining modules is copying
//! bytes, and who wants no code need not read it.
//! Numbers are LEB128 varints. A reader checks every count against the bytes that are left and
//! every index against its table's size, so that a damaged file is an error and nothing else.

mod codec;
mod tables;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use codec::{Reader, Writer};

use crate::{Model, Module, ModuleId, Outline, Skipped};

/// Version of the file form. It is part of the first bytes of every file and blob.
pub const MODEL_VERSION: u32 = 3;

const MAGIC: &[u8; 4] = b"RDLM";

/// Bytes at a file's beginning that mostly hold all that comes before the modules.
const HEAD_BYTES: u64 = 1 << 16;

/// Why a model could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Not a model.
    #[error("this is not a Raddle program model: it does not begin with `RDLM`")]
    NotAModel,
    /// Another version.
    #[error(
        "the program model has version {found}, this Raddle reads version {MODEL_VERSION}: build the program again"
    )]
    Version {
        /// The version found.
        found: u64,
    },
    /// The file ends too early.
    #[error("the program model ends in the middle of {what} at byte {offset}")]
    Truncated {
        /// Where.
        offset: usize,
        /// What was being read.
        what: &'static str,
    },
    /// A value that cannot be.
    #[error("byte {offset} of the program model holds no valid {what}: {found}")]
    Invalid {
        /// Where.
        offset: usize,
        /// What was being read.
        what: &'static str,
        /// The value found.
        found: u64,
    },
    /// Bytes behind the end.
    #[error("the program model ends at byte {offset}, but {extra} bytes follow")]
    Trailing {
        /// Where it ends.
        offset: usize,
        /// How many bytes are too many.
        extra: usize,
    },
    /// The file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: std::path::PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// One module's blob.
pub fn encode_module(module: &Module) -> Vec<u8> {
    let mut writer = Writer::default();
    module.put(&mut writer);
    let (strings, body) = writer.finish();
    let mut blob = Writer::default();
    blob.number(u64::from(MODEL_VERSION));
    blob.raw(&module.id.to_le_bytes());
    blob.number(strings.len() as u64);
    for text in &strings {
        blob.bytes(text.as_bytes());
    }
    let mut blob = blob.finish().1;
    blob.extend_from_slice(&body);
    blob
}

/// The id of a module, from the beginning of its blob.
pub fn module_id(blob: &[u8]) -> Result<ModuleId, ModelError> {
    read_id(&mut Reader::new(blob, 0)).map(ModuleId)
}

fn decode_whole(reader: &mut Reader<'_>) -> Result<Module, ModelError> {
    let id = read_id(reader)?;
    reader.read_strings()?;
    let module = Module::take(reader, id)?;
    reader.end()?;
    Ok(module)
}

fn decode_outline(reader: &mut Reader<'_>) -> Result<Module, ModelError> {
    let id = read_id(reader)?;
    reader.read_strings()?;
    Module::take_outline(reader, id)
}

fn read_id(reader: &mut Reader<'_>) -> Result<u64, ModelError> {
    check_version(reader)?;
    reader.word("a module's id")
}

fn check_version(reader: &mut Reader<'_>) -> Result<(), ModelError> {
    let found = reader.number("a version")?;
    if found == u64::from(MODEL_VERSION) {
        Ok(())
    } else {
        Err(ModelError::Version { found })
    }
}

/// Reads what comes before the modules.
fn read_head(bytes: &[u8]) -> Result<(Vec<Skipped>, Reader<'_>), ModelError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(ModelError::NotAModel)?;
    let mut reader = Reader::new(rest, MAGIC.len());
    check_version(&mut reader)?;
    let mut skipped = Vec::new();
    for _ in 0..reader.count("skipped objects")? {
        skipped.push(Skipped {
            object: reader.text("an object's name")?,
            reason: reader.text("a reason")?,
        });
    }
    Ok((skipped, reader))
}

/// Reads every module of a file in a certain way.
fn read_modules<T>(
    bytes: &[u8],
    read: impl Fn(&mut Reader<'_>) -> Result<T, ModelError>,
) -> Result<(Vec<T>, Vec<Skipped>), ModelError> {
    let (skipped, mut reader) = read_head(bytes)?;
    let mut modules = Vec::new();
    for _ in 0..reader.count("modules")? {
        let blob = reader.bytes("a module")?;
        let start = reader.offset() - blob.len();
        modules.push(read(&mut Reader::new(blob, start))?);
    }
    reader.end()?;
    Ok((modules, skipped))
}

impl Outline {
    /// Reads of a file's bytes what names sites.
    pub fn from_bytes(bytes: &[u8]) -> Result<Outline, ModelError> {
        let (modules, skipped) = read_modules(bytes, decode_outline)?;
        Ok(Outline(Model::new(modules, skipped)))
    }
}

impl Model {
    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let blobs: Vec<Vec<u8>> = self.modules.iter().map(encode_module).collect();
        Model::join(blobs.iter().map(Vec::as_slice), &self.skipped)
    }

    /// The file's bytes from modules that are already encoded.
    pub fn join<'a>(
        blobs: impl ExactSizeIterator<Item = &'a [u8]>,
        skipped: &[Skipped],
    ) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw(MAGIC);
        writer.number(u64::from(MODEL_VERSION));
        writer.number(skipped.len() as u64);
        for entry in skipped {
            writer.bytes(entry.object.as_bytes());
            writer.bytes(entry.reason.as_bytes());
        }
        writer.number(blobs.len() as u64);
        for blob in blobs {
            writer.bytes(blob);
        }
        writer.finish().1
    }

    /// Reads a file's bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, ModelError> {
        let (modules, skipped) = read_modules(bytes, decode_whole)?;
        Ok(Model::new(modules, skipped))
    }

    /// Reads of a file's bytes only which modules there are.
    pub fn module_ids(bytes: &[u8]) -> Result<Vec<ModuleId>, ModelError> {
        let (ids, _) = read_modules(bytes, read_id)?;
        Ok(ids.into_iter().map(ModuleId).collect())
    }

    /// Reads of a file only which objects were left as they were.
    pub fn read_skipped(path: &Path) -> Result<Vec<Skipped>, ModelError> {
        let read = |most: u64| {
            let mut bytes = Vec::new();
            let file = File::open(path);
            let read = file.and_then(|file| file.take(most).read_to_end(&mut bytes));
            read.map(|_| bytes).map_err(|source| ModelError::Io {
                path: path.to_owned(),
                source,
            })
        };
        let skipped_in = |bytes: &[u8]| Ok(read_head(bytes)?.0);
        match skipped_in(&read(HEAD_BYTES)?) {
            Err(ModelError::Truncated { .. }) => skipped_in(&read(u64::MAX)?),
            known => known,
        }
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Model, ModelError> {
        let bytes = std::fs::read(path).map_err(|source| ModelError::Io {
            path: path.to_owned(),
            source,
        })?;
        Model::from_bytes(&bytes)
    }

    /// Writes a file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), ModelError> {
        let fail = |source| ModelError::Io {
            path: path.to_owned(),
            source,
        };
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}.tmp", std::process::id()));
        std::fs::write(&temporary, self.to_bytes()).map_err(fail)?;
        std::fs::rename(&temporary, path).map_err(fail)
    }
}
