//! Tests of what the crate promises to the rest of Raddle.

mod clip_text;
mod common;
mod decoding;
mod printing;
mod std_files;
mod trace_file;
