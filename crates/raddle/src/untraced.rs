//! Saying which parts of a program Raddle does not see.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use raddle_model::{Model, Skipped, model_path};
use raddle_run::program::Program;

/// Objects that every link has and nobody wrote: start files, and what Rust's own code stands on.
const EXPECTED: &[&str] = &["crt", "Scrt", "libcompiler_builtins"];

/// The objects of a binary that were linked as they were, without those of the toolchain.
pub fn objects(binary: &Path) -> Vec<Skipped> {
    let is_expected = |it: &Skipped| {
        let name = it.object.rsplit('/').next().unwrap_or_default();
        EXPECTED.iter().any(|start| name.starts_with(start))
    };
    let mut skipped = skipped(binary);
    skipped.retain(|it| !it.is_optimised() && !is_expected(it));
    skipped
}

/// What of a binary was optimised before it was instrumented.
pub fn optimised(binary: &Path) -> Vec<Skipped> {
    let mut skipped = skipped(binary);
    skipped.retain(Skipped::is_optimised);
    skipped
}

fn skipped(binary: &Path) -> Vec<Skipped> {
    Model::read_skipped(&model_path(binary)).unwrap_or_default()
}

/// Says how many there are, if there are any.
pub fn tell(program: &Program) {
    let count = objects(&program.binary).len();
    let objects = match count {
        0 => return,
        1 => "1 object".to_owned(),
        _ => format!("{count} objects"),
    };
    eprintln!(
        "raddle: note: {objects} of {} cannot be traced, and bugs in there are not seen; `raddle doctor {}` names them",
        program.name(),
        program.binary.display()
    );
}

/// Refuses the script that libtool leaves in a program's place until it is installed.
///
/// # Errors
/// If the file is one.
pub fn refuse_libtool_script(binary: &Path) -> anyhow::Result<()> {
    const MARK: &[u8] = b"temporary wrapper script for";
    const HEAD: u64 = 1024;
    let mut start = Vec::new();
    if let Ok(file) = File::open(binary) {
        let _ = file.take(HEAD).read_to_end(&mut start);
    }
    let is_script = start.starts_with(b"#!") && start.windows(MARK.len()).any(|it| it == MARK);
    anyhow::ensure!(
        !is_script,
        "{} is a script of libtool's: put `libtool --mode=execute` before this command, or run `make install` and take the installed program",
        binary.display()
    );
    Ok(())
}
