//! `raddle cc`, `raddle c++`, `raddle link`: stand-ins for a compiler and a linker.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::exit::Exit;
use crate::state;

/// The tool's own arguments, whatever they are.
#[derive(Args)]
pub struct Arguments {
    /// Arguments of the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}

/// A tool that stands in for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// For a C compiler.
    Cc,
    /// For a C++ compiler.
    Cxx,
    /// For a linker driver.
    Link,
}

impl Tool {
    /// The tool with this subcommand's name.
    pub fn named(name: &OsStr) -> Option<Tool> {
        match name.to_str()? {
            "cc" => Some(Tool::Cc),
            "c++" => Some(Tool::Cxx),
            "link" => Some(Tool::Link),
            _ => None,
        }
    }

    /// The tool that an executable is called as, by a link with one of these names.
    pub fn called(executable: &OsStr) -> Option<Tool> {
        let name = Path::new(executable).file_name()?.to_str()?;
        match name.strip_prefix("raddle-")? {
            "cc" => Some(Tool::Cc),
            "c++" | "cxx" => Some(Tool::Cxx),
            _ => None,
        }
    }

    /// Runs it, and ends as the tool behind it ends.
    pub fn run(self, args: &[OsString]) -> Result<Exit> {
        start_again_with_quick_memory();
        let settings = state::settings(None)?;
        let code = match self {
            Tool::Cc => raddle_instrument::cc_main(args, &settings),
            Tool::Cxx => raddle_instrument::cxx_main(args, &settings),
            Tool::Link => raddle_instrument::link_main(args, &settings),
        }?;
        Ok(Exit::Tool(u8::try_from(code).unwrap_or(1)))
    }
}

/// How glibc's allocator is told something before a process starts.
const ALLOCATOR: &str = "GLIBC_TUNABLES";

/// Freed blocks that a thread keeps of each small size, at most. LLVM frees and allocates them by the ten thousand; with
/// the default, 7, a sixth of the time of a large link goes into glibc's lists of free blocks.
const KEPT: &str = "glibc.malloc.tcache_count=65535";

/// Starts this command again with an allocator that suits LLVM, unless that was done or the user tunes it. If it is
/// not possible, the command goes on as it is.
fn start_again_with_quick_memory() {
    use std::os::unix::process::CommandExt;
    if std::env::var_os(ALLOCATOR).is_some() {
        return;
    }
    let mut args = std::env::args_os();
    if let (Ok(this), Some(name)) = (std::env::current_exe(), args.next()) {
        let mut again = Command::new(this);
        // It only returns if it has failed.
        let _ = again.arg0(name).args(args).env(ALLOCATOR, KEPT).exec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_the_names_of_compilers() {
        let called = |name: &str| Tool::called(OsStr::new(name));
        assert_eq!(called("/usr/bin/raddle-cc"), Some(Tool::Cc));
        assert_eq!(called("raddle-c++"), Some(Tool::Cxx));
        assert_eq!(called("./raddle-cxx"), Some(Tool::Cxx));
        assert_eq!(called("raddle"), None);
        assert_eq!(called("raddle-old"), None);
    }
}
