//! The analyses, on traces written by hand, and against every reordering of random small ones.

mod analyses;
mod machine;
mod maximal;
mod properties;
mod published;
mod reorderings;
mod text;
mod views;
