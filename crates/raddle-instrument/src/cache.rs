//! Instrumented modules, kept by content.
//!
//! A module's id is a hash of its bitcode and of everything else that decides the result, so an
//! entry is never stale and never changed. Entries appear by renaming a finished file: builds that
//! run side by side at worst do the same work twice.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::pass::{self, Instrumented, Style};
use crate::settings::OptLevel;

/// A directory of instrumented modules.
pub(crate) struct Cache {
    dir: PathBuf,
}

impl Cache {
    pub(crate) fn new(dir: &Path) -> Cache {
        Cache {
            dir: dir.join("modules"),
        }
    }

    /// The instrumented form of a module, made now if it is new.
    pub(crate) fn instrument(
        &self,
        bitcode: &[u8],
        name: &str,
        opt: OptLevel,
        style: Style,
    ) -> Result<Instrumented, Error> {
        let id = pass::module_id(bitcode, opt, style)?;
        let object = self.dir.join(format!("{id:016x}.o"));
        let model = self.dir.join(format!("{id:016x}.model"));
        // The model is written last: where it is, the object is too.
        if let (Ok(model), Ok(object)) = (std::fs::read(&model), std::fs::read(&object)) {
            return Ok(Instrumented { object, model });
        }
        let made = pass::instrument(bitcode, name, id, opt, style)?;
        self.store(&object, &made.object)?;
        self.store(&model, &made.model)?;
        Ok(made)
    }

    fn store(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        std::fs::create_dir_all(&self.dir).map_err(Error::io(&self.dir))?;
        let mut file = tempfile::NamedTempFile::new_in(&self.dir).map_err(Error::io(&self.dir))?;
        std::io::Write::write_all(&mut file, bytes).map_err(Error::io(path))?;
        file.persist(path).map_err(|error| Error::Io {
            path: path.to_owned(),
            source: error.error,
        })?;
        Ok(())
    }
}
