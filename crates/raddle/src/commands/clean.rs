//! `raddle clean`: removes what Raddle keeps.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use raddle_run::runtime;

use crate::exit::Exit;
use crate::output::sayln;
use crate::state;

/// Which of the things to remove.
#[derive(Args)]
pub struct Clean {
    /// The directory of builds and clips
    #[arg(long, value_name = "DIR", default_value = state::DEFAULT_DIR)]
    out: PathBuf,
    /// Remove the clips and their traces too, not only builds
    #[arg(long)]
    clips: bool,
    /// Remove the cache of instrumented objects that all projects share
    #[arg(long)]
    cache: bool,
}

impl Clean {
    /// Removes them.
    pub fn run(&self) -> Result<Exit> {
        remove(&self.out.join("build"))?;
        if self.clips {
            remove(&self.out.join("clips"))?;
            // Goes only if nothing else is in it.
            let _ = fs::remove_dir(&self.out);
        }
        if self.cache {
            remove(&runtime::cache_dir())?;
        }
        Ok(Exit::Clean)
    }
}

fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Ok(()) => sayln!("removed {}", dir.display()),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error).context(format!("cannot remove {}", dir.display())),
    }
    Ok(())
}
