//! What Raddle knows of a run: events, traces, schedules, clips.
//!
//! [`wire`] holds the layouts shared with the runtime and is all that is built without the `file`
//! feature. Everything else lives on the launcher's side: [`decode`] turns raw slots into
//! [`event::Event`]s, [`mod@file`] keeps them on disk, [`clip`] keeps a schedule that replays them as
//! text, and the rest are views of a trace.
#![cfg_attr(not(feature = "file"), no_std)]
#![forbid(unsafe_code)]

pub mod raw;
pub mod wire;

#[cfg(feature = "file")]
pub mod action;
#[cfg(feature = "file")]
pub mod allocations;
#[cfg(feature = "file")]
pub mod clip;
#[cfg(feature = "file")]
pub mod decode;
#[cfg(feature = "file")]
pub mod diff;
#[cfg(feature = "file")]
pub mod display;
#[cfg(feature = "file")]
pub mod dump;
#[cfg(feature = "file")]
pub mod event;
#[cfg(feature = "file")]
pub mod file;
#[cfg(feature = "file")]
pub mod filter;
#[cfg(feature = "file")]
pub mod ids;
#[cfg(feature = "file")]
pub mod inputs;
#[cfg(feature = "file")]
pub mod names;
#[cfg(feature = "file")]
pub mod outcome;
#[cfg(feature = "file")]
pub mod packages;
#[cfg(feature = "file")]
pub mod parts;
#[cfg(feature = "file")]
pub mod position;
#[cfg(feature = "file")]
pub mod run;
#[cfg(feature = "file")]
pub mod schedule;
#[cfg(feature = "file")]
pub mod sharing;
#[cfg(feature = "file")]
pub mod sifting;
#[cfg(feature = "file")]
pub mod sites;
#[cfg(feature = "file")]
pub mod stack;
#[cfg(feature = "file")]
pub mod stats;
#[cfg(feature = "file")]
pub mod std_format;
#[cfg(feature = "file")]
mod text;
#[cfg(feature = "file")]
pub mod used;
