//! `raddle doctor`: says what Raddle builds with, and what is missing.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use raddle_run::models;

use crate::exit::Exit;
use crate::output::sayln;
use crate::{state, untraced};

/// Options of `raddle doctor`.
#[derive(Args)]
pub struct Doctor {
    /// Name the parts of this program that cannot be traced
    program: Option<PathBuf>,
}

impl Doctor {
    /// Looks around, and tells.
    pub fn run(&self) -> Result<Exit> {
        if let Some(program) = &self.program {
            return tell_of(program);
        }
        let settings = state::settings(None)?;
        let doctor = raddle_instrument::doctor();
        for check in &doctor.checks {
            match &check.found {
                Some(found) => sayln!("{:<10} {found}", check.tool),
                None => sayln!(
                    "{:<10} MISSING, needed for {}: {}",
                    check.tool,
                    check.purpose,
                    check.advice
                ),
            }
        }
        sayln!("{:<10} {}", "runtime", settings.runtime.display());
        let fixed = raddle_run::host::addresses_fixed();
        sayln!(
            "{:<10} {}",
            "addresses",
            if fixed {
                "fixed"
            } else {
                "random: `personality` is forbidden here, so replays may differ in addresses"
            }
        );
        Ok(if doctor.is_healthy() && fixed {
            Exit::Clean
        } else {
            Exit::Usage
        })
    }
}

/// Tells of a program, or a shared library, which parts of it cannot be traced.
fn tell_of(program: &Path) -> Result<Exit> {
    let program = program
        .canonicalize()
        .with_context(|| format!("cannot find {}", program.display()))?;
    let Some(model) = models::of_binary(&program) else {
        sayln!(
            "{}: nothing in it is instrumented, or its model is gone: build it with `raddle cc`, `raddle c++`, `cargo raddle` or `raddle env`",
            program.display()
        );
        return Ok(Exit::NotInstrumented);
    };
    let untraced = untraced::objects(&program);
    sayln!(
        "{}: {} objects are traced, {} are not",
        program.display(),
        model.modules().len(),
        untraced.len()
    );
    for it in untraced.into_iter().chain(untraced::optimised(&program)) {
        sayln!("  {}: {}", it.object, it.reason);
    }
    Ok(Exit::Clean)
}
