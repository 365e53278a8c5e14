//! The input log as a file: whether one that somebody was handed can be replayed from.
//!
//! The runtime reads the log inside the program, where there is nobody to tell of an error. So the launcher
//! looks at every entry first: what is refused here never gets there.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::mem::{offset_of, size_of};

use thiserror::Error;

use crate::wire::{INPUT_MAGIC, InputCall, InputEntry, InputHead, MAX_THREADS};

/// Why a log cannot be used.
#[derive(Debug, Error)]
pub enum InputsError {
    /// It does not begin as one.
    #[error("this is no log of a run's inputs")]
    NotALog,
    /// It ends in the middle of an entry, though its run came to its end.
    #[error("it is cut off: the entry at byte {at} goes on behind the file's end")]
    CutOff {
        /// Where the entry begins.
        at: u64,
    },
    /// A number that no recorded run writes.
    #[error("the entry at byte {at} has {what} {value}, which no run writes")]
    Value {
        /// Where the entry begins.
        at: u64,
        /// What the number is.
        what: &'static str,
        /// The number.
        value: u64,
    },
    /// The lengths of an entry's parts do not come to its own.
    #[error("the entry at byte {at} is {len} bytes long, which its parts do not fill")]
    Parts {
        /// Where the entry begins.
        at: u64,
        /// The length of its data.
        len: u32,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
}

/// Signals that nobody can have a handler for, so that none was ever delivered.
const NEVER_HANDLED: [u64; 2] = [9, 19];
const SIGNALS: std::ops::RangeInclusive<u64> = 1..=64;

/// Looks at every entry of a log.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(file: impl Read + Seek) -> Result<(), InputsError> {
    let mut file = BufReader::new(file);
    let len = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    if len < size_of::<InputHead>() as u64 {
        return Err(InputsError::NotALog);
    }
    let head = bytes::<{ size_of::<InputHead>() }>(&mut file)?;
    if word(&head, offset_of!(InputHead, magic)) != INPUT_MAGIC {
        return Err(InputsError::NotALog);
    }
    let complete = half(&head, offset_of!(InputHead, complete)) != 0;
    let mut at = size_of::<InputHead>() as u64;
    while at < len {
        let data = at + size_of::<InputEntry>() as u64;
        let entry = match data <= len {
            true => Some(bytes::<{ size_of::<InputEntry>() }>(&mut file)?),
            false => None,
        };
        let fits = |entry: &[u8]| data + u64::from(data_len(entry)) <= len;
        // A program that was killed may have left its last entry unfinished.
        let Some(entry) = entry.filter(|entry| fits(entry)) else {
            return match complete {
                true => Err(InputsError::CutOff { at }),
                false => Ok(()),
            };
        };
        check_entry(at, &entry)?;
        check_parts(at, data_len(&entry), &mut file)?;
        at = data + u64::from(data_len(&entry));
    }
    Ok(())
}

fn check_entry(at: u64, entry: &[u8]) -> Result<(), InputsError> {
    let wrong = |what, value| Err(InputsError::Value { at, what, value });
    let number = |place: usize| u16::from_ne_bytes([entry[place], entry[place + 1]]);
    let thread = half(entry, offset_of!(InputEntry, thread));
    if thread as usize >= MAX_THREADS {
        return wrong("thread", thread.into());
    }
    let call = number(offset_of!(InputEntry, call)).into();
    let object = word(entry, offset_of!(InputEntry, object));
    match InputCall::from_number(call) {
        None => wrong("call", call),
        Some(InputCall::Signal) if !SIGNALS.contains(&object) => wrong("signal", object),
        Some(InputCall::Signal) if NEVER_HANDLED.contains(&object) => wrong("signal", object),
        Some(_) => Ok(()),
    }
}

fn check_parts<R: Read + Seek>(
    at: u64,
    len: u32,
    file: &mut BufReader<R>,
) -> Result<(), InputsError> {
    let mut left = len;
    while left > 0 {
        let wrong = InputsError::Parts { at, len };
        let Some(behind) = left.checked_sub(4) else {
            return Err(wrong);
        };
        let part = u32::from_ne_bytes(bytes::<4>(file)?);
        left = behind.checked_sub(part).ok_or(wrong)?;
        file.seek_relative(part.into())?;
    }
    Ok(())
}

fn bytes<const N: usize>(file: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes).map(|()| bytes)
}

fn data_len(entry: &[u8]) -> u32 {
    half(entry, offset_of!(InputEntry, len))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from(half(bytes, at)) | u64::from(half(bytes, at + 4)) << 32
}

fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// A log with one entry, whose numbers are as given.
    fn log(complete: u32, thread: u32, call: u16, object: u64, parts: &[&[u8]]) -> Vec<u8> {
        let data: Vec<u8> = parts
            .iter()
            .flat_map(|it| [&(it.len() as u32).to_ne_bytes()[..], it].concat())
            .collect();
        let mut log = INPUT_MAGIC.to_ne_bytes().to_vec();
        for number in [complete, 0, 0, 0, data.len() as u32, thread] {
            log.extend(number.to_ne_bytes());
        }
        log.extend(7_u64.to_ne_bytes());
        log.extend(call.to_ne_bytes());
        log.extend([0; 6]);
        log.extend(object.to_ne_bytes());
        log.extend(3_u64.to_ne_bytes());
        log.extend(data);
        log
    }

    fn refusal(log: &[u8]) -> String {
        check(Cursor::new(log)).map_or_else(|error| error.to_string(), |()| "none".to_owned())
    }

    #[test]
    fn whole_logs_are_taken() {
        let read = InputCall::Read as u16;
        assert_eq!(refusal(&log(1, 0, read, 5, &[b"abc", b""])), "none");
        assert_eq!(refusal(&log(1, 0, read, 5, &[])), "none");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let (read, signal) = (InputCall::Read as u16, InputCall::Signal as u16);
        assert_eq!(refusal(b"RDI"), "this is no log of a run's inputs");
        let thread = MAX_THREADS as u32;
        let said = refusal(&log(1, thread, read, 5, &[]));
        assert!(
            said.starts_with("the entry at byte 24 has thread"),
            "{said}"
        );
        let said = refusal(&log(1, 0, 999, 5, &[]));
        assert!(
            said.starts_with("the entry at byte 24 has call 999"),
            "{said}"
        );
        for number in [0, 9, 19, 65, u64::MAX] {
            let said = refusal(&log(1, 0, signal, number, &[]));
            assert!(
                said.starts_with("the entry at byte 24 has signal"),
                "{said}"
            );
        }
        let mut lies = log(1, 0, read, 5, &[b"abc"]);
        lies[64] = 4;
        assert!(refusal(&lies).contains("its parts do not fill"));
    }

    #[test]
    fn only_a_log_of_a_run_that_was_killed_may_be_cut_off() {
        let whole = log(1, 0, InputCall::Read as u16, 5, &[b"abc"]);
        let cut = &whole[..whole.len() - 1];
        assert!(refusal(cut).contains("cut off: the entry at byte 24"));
        let killed = log(0, 0, InputCall::Read as u16, 5, &[b"abc"]);
        assert_eq!(refusal(&killed[..killed.len() - 1]), "none");
    }
}
