//! `raddle c++` under a name of one word: a C++ compiler whose programs are instrumented, for use as CXX.

#[path = "stand_in/mod.rs"]
mod stand_in;

use std::process::ExitCode;

fn main() -> ExitCode {
    stand_in::become_raddle("c++")
}
