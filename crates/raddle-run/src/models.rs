//! Finding the program model of a binary.
//!
//! The link step writes it beside the binary, as `<binary>.raddle`. Builds move binaries about,
//! copy and strip them afterwards; then the model is put together from the cache of instrumented
//! modules, by the ids in the binary's section of sites, which stay with the code.

use std::fs;
use std::path::Path;

use object::{Object, ObjectSection, ReadCache};
use raddle_model::{Model, ModuleId, Outline, model_path, module_id, packages_path};
use raddle_trace::packages::Packages;
use raddle_trace::wire::{MODULE_MAGIC, SITES_SECTION, SiteRecord};

use crate::runtime;

/// The model of an executable or shared library, as far as there is one.
pub fn of_binary(binary: &Path) -> Option<Model> {
    read(binary, |bytes| Model::from_bytes(bytes).ok())
}

/// The same without the code.
pub fn outline_of(binary: &Path) -> Option<Outline> {
    read(binary, |bytes| Outline::from_bytes(bytes).ok())
}

/// The packages that an executable was built from; none are known if Cargo did not build it.
pub fn packages_of(binary: &Path) -> Packages {
    let text = fs::read_to_string(packages_path(binary));
    Packages::parse(&text.unwrap_or_default())
}

/// Reads the first of the files that may be the model's, the better ones first.
fn read<T>(binary: &Path, read: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
    let binary = fs::canonicalize(binary).ok()?;
    let beside = fs::read(model_path(&binary)).ok();
    let known = beside.as_deref().map(Model::module_ids);
    let known = known.and_then(Result::ok).unwrap_or_default();
    let ids = modules_in(&binary);
    let is_whole = ids.iter().all(|id| known.contains(&ModuleId(*id)));
    let read_beside = || read(beside.as_deref()?);
    let first = if is_whole { read_beside() } else { None };
    first
        .or_else(|| read(&from_cache(&ids)?))
        .or_else(read_beside)
}

/// Puts a model together from the modules in the cache; those that are gone are left out.
fn from_cache(ids: &[u64]) -> Option<Vec<u8>> {
    let dir = runtime::cache_dir().join("modules");
    let read = |id: &u64| {
        let blob = fs::read(dir.join(format!("{id:016x}.model"))).ok()?;
        module_id(&blob).is_ok().then_some(blob)
    };
    let blobs: Vec<_> = ids.iter().filter_map(read).collect();
    (!blobs.is_empty()).then(|| Model::join(blobs.iter().map(Vec::as_slice), &[]))
}

/// Ids of the instrumented modules whose sites a binary holds.
fn modules_in(binary: &Path) -> Vec<u64> {
    let sites = || {
        let bytes = ReadCache::new(fs::File::open(binary).ok()?);
        let file = object::File::parse(&bytes).ok()?;
        let data = file.section_by_name(SITES_SECTION)?.data().ok()?;
        Some(module_ids(data))
    };
    sites().unwrap_or_default()
}

/// Walks the arrays of sites, header by header; the empty one that announces an image has no id.
fn module_ids(mut data: &[u8]) -> Vec<u64> {
    const HEADER: usize = 16;
    let mut ids = Vec::new();
    while let Some((header, rest)) = data.split_at_checked(HEADER) {
        let (magic, count) = (word(&header[..4]), word(&header[4..8]));
        // What the linker put between two arrays to align the second.
        if magic != u64::from(MODULE_MAGIC) {
            data = &data[8..];
            continue;
        }
        let id = word(&header[8..]);
        ids.extend((id != 0).then_some(id));
        let records = (count as usize).saturating_mul(size_of::<SiteRecord>());
        data = rest.get(records..).unwrap_or_default();
    }
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// A little-endian number of up to eight bytes.
fn word(bytes: &[u8]) -> u64 {
    let digits = bytes.iter().rev();
    digits.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_from_the_arrays_of_sites() {
        let header = |count: u32, id: u64| {
            let mut bytes = MODULE_MAGIC.to_le_bytes().to_vec();
            bytes.extend(count.to_le_bytes());
            bytes.extend(id.to_le_bytes());
            bytes
        };
        let site = [0xff; size_of::<SiteRecord>()];
        let data = [
            header(2, 7).as_slice(),
            &site,
            &site,
            &[0; 8],
            &header(0, 0),
            &header(1, 3),
            &site,
        ]
        .concat();
        assert_eq!(module_ids(&data), [3, 7]);
        assert_eq!(module_ids(&data[..data.len() - 1]), [3, 7]);
        assert_eq!(module_ids(b"nonsense"), []);
    }
}
