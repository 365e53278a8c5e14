//! The commands, one file each.

pub mod cargo;
pub mod check;
pub mod clean;
pub mod doctor;
pub mod env;
pub mod predict;
pub mod replay;
pub mod run;
pub mod tools;
pub mod trace;
