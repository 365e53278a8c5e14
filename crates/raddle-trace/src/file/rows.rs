//! Rows: what the header and the trailer's tables are made of, written and read side by side.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::Header;
use super::bytes::{Cursor, put, put_bytes};
use crate::ids::{Address, BuildId, SiteId, ThreadId, Tick};
use crate::outcome::{Ending, Outcome, ThreadInfo, Wait};
use crate::packages::Package;
use crate::position::{CodePosition, SiteInfo, SourcePosition, Variable};
use crate::run::{Clock, Cwd, RunSpec, Stdin, Strategy, TimeMode};
use crate::schedule::Switch;
use crate::sites::SiteShape;
use crate::wire::{Mark, SwitchReason, ThreadState};

/// Bytes inside a block that make no sense, although its checksum is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at} of the block: {what}")]
pub struct Malformed {
    /// Where, in the unpacked block.
    pub at: usize,
    /// What is wrong.
    pub what: &'static str,
}

/// A value with a byte form.
pub trait Row: Sized {
    /// Appends the value.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads it back.
    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed>;
}

impl Row for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        put(out, *self);
    }

    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        cursor.number()
    }
}

impl Row for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        put(out, (*self).into());
    }

    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        cursor.number_u32()
    }
}

impl Row for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.as_bytes());
    }

    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        cursor.string()
    }
}

impl Row for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push((*self).into());
    }

    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        match cursor.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(cursor.malformed("neither true nor false")),
        }
    }
}

impl Row for OsString {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.as_bytes());
    }

    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        Ok(Self::from_vec(cursor.bytes()?.to_vec()))
    }
}

impl Row for PathBuf {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.as_os_str().as_bytes());
    }

    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        OsString::get(cursor).map(Self::from)
    }
}

impl<T: Row> Row for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(self.is_some().into());
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        match cursor.byte()? {
            0 => Ok(None),
            1 => T::get(cursor).map(Some),
            _ => Err(cursor.malformed("neither something nor nothing")),
        }
    }
}

impl<T: Row> Row for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put(out, self.len() as u64);
        for value in self {
            value.put(out);
        }
    }

    /// Grows with what is really there: each element takes at least a byte of the block.
    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let len = cursor.number()?;
        let mut values = Self::new();
        for _ in 0..len {
            values.push(T::get(cursor)?);
        }
        Ok(values)
    }
}

impl<A: Row, B: Row> Row for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        Ok((A::get(cursor)?, B::get(cursor)?))
    }
}

/// Newtypes and structs whose row is the rows of their fields, in order.
macro_rules! rows {
    ($($type:ident { $($field:tt),+ })+) => {$(
        impl Row for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)+
            }

            fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
                Ok(Self { $($field: Row::get(cursor)?),+ })
            }
        }
    )+};
}

rows! {
    ThreadId { 0 }
    Tick { 0 }
    SiteId { 0 }
    Address { 0 }
    BuildId { 0 }
    SourcePosition { function, file, line, column }
    SiteInfo { site, module, index, shape, positions, variable }
    CodePosition { pc, positions, object }
    Variable { name, owner, is_global }
    Package { dir, is_own }
    Switch { from, tick, to, reason, site }
    Outcome { ending, thread, tick, object, position, message }
    ThreadInfo { thread, state, ticks, visible, wait, stack }
    Wait { wants, object, held_by }
    Clock { start_ns, ns_per_tick }
    Strategy { name, parameters }
    RunSpec { program, build_args, build, args, env, stdin, cwd, seed, clock, time, strategy }
    Header { raddle_version, run }
}

/// Enums without fields, by number.
macro_rules! numbered {
    ($($type:ident: $repr:ty, $from:ident;)+) => {$(
        impl Row for $type {
            fn put(&self, out: &mut Vec<u8>) {
                put(out, u64::from(*self as $repr));
            }

            fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
                let number = cursor.number()?;
                let value = <$repr>::try_from(number).ok().and_then(Self::$from);
                value.ok_or_else(|| cursor.malformed(concat!("unknown ", stringify!($type))))
            }
        }
    )+};
}

numbered! {
    SwitchReason: u32, from_u32;
    ThreadState: u32, from_u32;
    Mark: u16, from_u16;
}

impl Row for SiteShape {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend([
            self.kind as u8,
            self.order as u8,
            self.size,
            self.role as u8,
        ]);
    }

    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let [kind, order, size, role] = [
            cursor.byte()?,
            cursor.byte()?,
            cursor.byte()?,
            cursor.byte()?,
        ];
        let shape = Self::from_raw(kind, order, size, role);
        shape.ok_or_else(|| cursor.malformed("a site of unknown kind"))
    }
}

impl Row for Ending {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.name().as_bytes());
        self.code().map(|code| code as u32).put(out);
    }

    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let (name, code) = (cursor.string()?, Option::<u32>::get(cursor)?);
        let ending = Self::from_name(&name, code.map(|code| code as i32));
        ending.ok_or_else(|| cursor.malformed("unknown outcome"))
    }
}

impl Row for Stdin {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Empty => out.push(0),
            Self::Inline(bytes) => {
                out.push(1);
                put_bytes(out, bytes);
            }
            Self::File { path, digest } => {
                out.push(2);
                path.put(out);
                digest.put(out);
            }
        }
    }

    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        match cursor.byte()? {
            0 => Ok(Self::Empty),
            1 => Ok(Self::Inline(cursor.bytes()?.to_vec())),
            2 => Ok(Self::File {
                path: Row::get(cursor)?,
                digest: Row::get(cursor)?,
            }),
            _ => Err(cursor.malformed("unknown form of standard input")),
        }
    }
}

impl Row for Cwd {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Inherit => out.push(0),
            Self::Path(path) => {
                out.push(1);
                path.put(out);
            }
        }
    }

    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        match cursor.byte()? {
            0 => Ok(Self::Inherit),
            1 => PathBuf::get(cursor).map(Self::Path),
            _ => Err(cursor.malformed("unknown working directory")),
        }
    }
}

impl Row for TimeMode {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(match self {
            Self::Virtual => 0,
            Self::Real => 1,
        });
    }

    fn get(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        match cursor.byte()? {
            0 => Ok(Self::Virtual),
            1 => Ok(Self::Real),
            _ => Err(cursor.malformed("unknown time mode")),
        }
    }
}
