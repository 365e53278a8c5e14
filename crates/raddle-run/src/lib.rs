//! Runs programs under Raddle's scheduler.
//!
//! [`launch`] makes one run: it prepares the process, serves its events and judges how it ended.
//! Everything else is built on that: [`explore`] runs a program until it fails, [`dfs`] decides
//! which schedules an exhaustive search tries, [`replay`] runs a clip again.

#![forbid(unsafe_code)]

mod blocks;
pub mod control;
pub mod dfs;
pub mod environment;
mod error;
mod explain;
pub mod explore;
pub mod footprint;
pub mod gdb;
pub mod hang;
pub mod host;
pub mod inputs;
mod interference;
pub mod launch;
pub mod models;
mod objects;
pub mod outcome;
pub mod parallel;
pub mod points;
mod process;
pub mod program;
mod record;
pub mod replay;
pub mod ring;
mod runner;
pub mod runtime;
mod server;
pub mod service;
mod session;
pub mod symbols;
mod systematic;
pub mod usual;
pub mod watch;

pub use error::Error;
