//! The judge, tried on traces made by hand, on all orders of tiny programs, and on published traces.

mod claims;
mod executor;
mod published;
mod relaxed;
mod text;
mod witness_text;
mod witnesses;
