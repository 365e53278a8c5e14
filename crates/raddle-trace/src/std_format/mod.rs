//! RAPID's STD text format: `thread|op(operand)|location`, one event a line.
//!
//! Importing gives ordinary events, so that every analysis runs on other people's traces. What
//! the events have no room for is kept in [`Names`]; with it, exporting gives the same bytes back, but for
//! blank lines, which are passed over. Lines that no run explains are errors or warnings.
//!
//! Exporting a recorded trace keeps what STD can say: accesses as `r` and `w` (an atomic
//! read-modify-write is one of each), locks that are held exclusively as `acq` and `rel`, threads.
//! STD knows neither shared locks nor waiting: acquiring the read side is a read of the lock,
//! releasing it is left out. An access is named after its first byte, a range after the first
//! bytes of its words, up to [`MAX_RANGE_BYTES`](crate::sharing::MAX_RANGE_BYTES).

mod export;
mod import;
mod plausible;

pub use export::StdExport;
pub use import::{BadLine, StdError, StdImport};
pub use plausible::StdWarning;

use crate::event::{Event, EventKind};
use crate::ids::Address;
use crate::names::Names;

/// Imported operands are this many bytes apart, and as long.
pub const OPERAND_BYTES: u64 = 8;

/// Operand of `begin` and `end`, where nothing else was given.
const NO_OPERAND: &str = "0";

/// The name of an imported operand.
#[must_use]
pub fn operand(names: &Names, address: Address) -> Option<&str> {
    let index = usize::try_from(address.0 / OPERAND_BYTES).ok()?;
    names.operands.get(index).map(String::as_str)
}

/// The name of an imported event's location.
#[must_use]
pub fn location<'a>(names: &'a Names, event: &Event) -> Option<&'a str> {
    let number = match event.kind {
        EventKind::Action { pc, .. } => usize::try_from(pc.0).ok()?,
        _ => event.site()?.0 as usize,
    };
    names.locations.get(number).map(String::as_str)
}
