//! Findings as values, and how they are told: in the terminal and as JSON.
//!
//! An analysis fills in [`Finding`]s and hands them to [`merge()`], which leaves one for each set of source
//! positions, numbers them and links those that belong together. The [`Report`] around them is then told by
//! [`terminal`] to people and by [`json`] to machines. Nothing here runs, predicts or decides anything.
//!
//! ```
//! use raddle_report::{Access, Finding, Kind, Location, Options, Report, Status, merge, terminal};
//! use raddle_trace::ids::ThreadId;
//! use raddle_trace::position::SourcePosition;
//!
//! let at = |line| SourcePosition { file: "bank.rs".into(), line, column: 5, ..Default::default() };
//! let race = Finding {
//!     status: Status::Confirmed,
//!     proved_by: "happens-before".into(),
//!     locations: vec![
//!         Location { variable: Some("balance".into()), ..Location::new(ThreadId(1), Access::Write, at(26)) },
//!         Location::new(ThreadId(2), Access::Read, at(35)),
//!     ],
//!     ..Finding::new(Kind::DataRace)
//! };
//! let report = Report { findings: merge(vec![race]), runs: 2, ..Report::default() };
//! let text = terminal::plain(&report, &Options::default());
//! assert!(text.starts_with("bug[R1]: data race: bank.rs:26 writes `balance` while bank.rs:35 reads it\n"));
//! ```

#![forbid(unsafe_code)]

mod diagram;
mod finding;
mod headline;
pub mod json;
mod kind;
mod merge;
mod notes;
mod snippet;
mod source;
pub mod terminal;
mod text;

pub use finding::{Finding, Instrumented, Location, Moment, Report, Told};
pub use headline::{doing, headline};
pub use kind::{Access, Consequence, Kind, Severity, Status};
pub use merge::{Place, Signature, merge, signature};
pub use notes::said_once;
pub use terminal::Options;
