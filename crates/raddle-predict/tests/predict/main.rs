//! The analyses, on traces written by hand, and against every reordering of random small ones.

mod again;
mod analyses;
mod deadlocks;
mod every_instance;
mod goals;
mod happens_before;
mod machine;
mod maximal;
mod memory;
mod pattern_properties;
mod patterns;
mod properties;
mod published;
mod races;
mod reach;
mod reference;
mod relaxed;
mod reorderings;
mod text;
mod untraced;
mod views;
