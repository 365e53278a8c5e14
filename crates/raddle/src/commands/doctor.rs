//! `raddle doctor`: says what Raddle builds with, and what is missing.

use anyhow::Result;
use clap::Args;

use crate::exit::Exit;
use crate::output::sayln;
use crate::state;

/// Options of `raddle doctor`.
#[derive(Args)]
pub struct Doctor {}

impl Doctor {
    /// Looks around, and tells.
    pub fn run(&self) -> Result<Exit> {
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
