//! `raddle cc`, `raddle c++`, `raddle link`: stand-ins for a compiler and a linker.

use std::ffi::{OsStr, OsString};
use std::path::Path;

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
        let settings = state::settings(None)?;
        let code = match self {
            Tool::Cc => raddle_instrument::cc_main(args, &settings),
            Tool::Cxx => raddle_instrument::cxx_main(args, &settings),
            Tool::Link => raddle_instrument::link_main(args, &settings),
        }?;
        Ok(Exit::Tool(u8::try_from(code).unwrap_or(1)))
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
