//! Varints, interned strings, and a reader that believes nothing.

use std::collections::HashMap;

use super::ModelError;
use crate::Text;

/// A value with a file form.
pub(super) trait Codec: Sized {
    fn put(&self, writer: &mut Writer);
    fn take(reader: &mut Reader<'_>) -> Result<Self, ModelError>;
}

/// Collects bytes, and strings in the order of their first use.
#[derive(Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    strings: Vec<Text>,
    known: HashMap<Text, u64>,
}

impl Writer {
    pub(super) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.raw(bytes);
    }

    pub(super) fn string(&mut self, text: &Text) {
        let next = self.strings.len() as u64;
        let number = *self.known.entry(text.clone()).or_insert(next);
        if number == next {
            self.strings.push(text.clone());
        }
        self.number(number);
    }

    /// The strings used and the bytes written.
    pub(super) fn finish(self) -> (Vec<Text>, Vec<u8>) {
        (self.strings, self.bytes)
    }
}

/// Sizes of the tables that indices point into.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    pub(super) types: u64,
    pub(super) constants: u64,
    pub(super) globals: u64,
    pub(super) positions: u64,
    pub(super) functions: u64,
    pub(super) sites: u64,
    pub(super) blocks: u64,
    pub(super) instructions: u64,
}

/// Reads what a [`Writer`] wrote.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    base: usize,
    strings: Vec<Text>,
    pub(super) limits: Limits,
}

impl<'a> Reader<'a> {
    /// `base` is the offset of the first byte in the file, for messages.
    pub(super) fn new(bytes: &'a [u8], base: usize) -> Reader<'a> {
        Reader {
            bytes,
            at: 0,
            base,
            strings: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// Offset in the file.
    pub(super) fn offset(&self) -> usize {
        self.base + self.at
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(super) fn invalid(&self, what: &'static str, found: u64) -> ModelError {
        ModelError::Invalid {
            offset: self.offset(),
            what,
            found,
        }
    }

    pub(super) fn number(&mut self, what: &'static str) -> Result<u64, ModelError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or(ModelError::Truncated {
                offset: self.offset(),
                what,
            })?;
            self.at += 1;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(self.invalid(what, bits));
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.invalid(what, value))
    }

    /// Eight bytes, low first.
    pub(super) fn word(&mut self, what: &'static str) -> Result<u64, ModelError> {
        let bytes = self.bytes[self.at..].first_chunk::<8>();
        let bytes = bytes.ok_or(ModelError::Truncated {
            offset: self.offset(),
            what,
        })?;
        self.at += bytes.len();
        Ok(u64::from_le_bytes(*bytes))
    }

    /// A number of elements, each at least one byte long.
    pub(super) fn count(&mut self, what: &'static str) -> Result<usize, ModelError> {
        let count = self.number(what)?;
        match usize::try_from(count) {
            Ok(count) if count <= self.left() => Ok(count),
            _ => Err(ModelError::Truncated {
                offset: self.offset(),
                what,
            }),
        }
    }

    pub(super) fn bytes(&mut self, what: &'static str) -> Result<&'a [u8], ModelError> {
        let len = self.count(what)?;
        let bytes = &self.bytes[self.at..self.at + len];
        self.at += len;
        Ok(bytes)
    }

    /// A string written in place.
    pub(super) fn text(&mut self, what: &'static str) -> Result<Text, ModelError> {
        let bytes = self.bytes(what)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.into()),
            Err(error) => Err(self.invalid("UTF-8 text", error.valid_up_to() as u64)),
        }
    }

    /// The table of strings, before anything that uses it.
    pub(super) fn read_strings(&mut self) -> Result<(), ModelError> {
        let count = self.count("strings")?;
        self.strings = (0..count)
            .map(|_| self.text("a string"))
            .collect::<Result<_, _>>()?;
        Ok(())
    }

    /// A string of the table.
    pub(super) fn string(&mut self, what: &'static str) -> Result<Text, ModelError> {
        let number = self.number(what)?;
        let found = usize::try_from(number).ok();
        match found.and_then(|index| self.strings.get(index)) {
            Some(text) => Ok(text.clone()),
            None => Err(self.invalid(what, number)),
        }
    }

    /// An index below `limit`.
    pub(super) fn index(&mut self, what: &'static str, limit: u64) -> Result<u32, ModelError> {
        let number = self.number(what)?;
        match u32::try_from(number) {
            Ok(index) if number < limit => Ok(index),
            _ => Err(self.invalid(what, number)),
        }
    }

    pub(super) fn end(&self) -> Result<(), ModelError> {
        match self.left() {
            0 => Ok(()),
            extra => Err(ModelError::Trailing {
                offset: self.offset(),
                extra,
            }),
        }
    }
}

macro_rules! unsigned {
    ($($ty:ty),*) => {$(
        impl Codec for $ty {
            fn put(&self, writer: &mut Writer) {
                writer.number(u64::from(*self));
            }
            fn take(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
                let number = reader.number("a number")?;
                <$ty>::try_from(number).map_err(|_| reader.invalid("number of this width", number))
            }
        }
    )*};
}
unsigned!(u8, u16, u32, u64);

impl Codec for bool {
    fn put(&self, writer: &mut Writer) {
        writer.number(u64::from(*self));
    }
    fn take(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
        Ok(reader.index("truth value", 2)? == 1)
    }
}

impl Codec for Text {
    fn put(&self, writer: &mut Writer) {
        writer.string(self);
    }
    fn take(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
        reader.string("string")
    }
}

impl<T: Codec> Codec for Option<T> {
    fn put(&self, writer: &mut Writer) {
        writer.number(u64::from(self.is_some()));
        if let Some(value) = self {
            value.put(writer);
        }
    }
    fn take(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
        Ok(match bool::take(reader)? {
            true => Some(T::take(reader)?),
            false => None,
        })
    }
}

impl<T: Codec> Codec for Vec<T> {
    fn put(&self, writer: &mut Writer) {
        writer.number(self.len() as u64);
        for value in self {
            value.put(writer);
        }
    }
    fn take(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
        let count = reader.count("elements")?;
        (0..count).map(|_| T::take(reader)).collect()
    }
}

impl<A: Codec, B: Codec> Codec for (A, B) {
    fn put(&self, writer: &mut Writer) {
        self.0.put(writer);
        self.1.put(writer);
    }
    fn take(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
        Ok((A::take(reader)?, B::take(reader)?))
    }
}

/// Writes and reads a struct field by field, in the order given.
macro_rules! record {
    ($ty:ident { $($field:ident),* $(,)? }) => {
        impl Codec for $ty {
            fn put(&self, writer: &mut Writer) {
                $(self.$field.put(writer);)*
            }
            fn take(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
                Ok($ty { $($field: Codec::take(reader)?),* })
            }
        }
    };
}

/// Writes and reads an index, checked against the size of its table.
macro_rules! reference {
    ($ty:ident, $limit:ident, $what:literal) => {
        impl Codec for $ty {
            fn put(&self, writer: &mut Writer) {
                writer.number(u64::from(self.0));
            }
            fn take(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
                let limit = reader.limits.$limit;
                reader.index($what, limit).map($ty)
            }
        }
    };
}

/// Writes and reads an enum: a tag, then the variant's fields.
macro_rules! choice {
    ($ty:ident, $what:literal; $($tag:literal => $variant:ident
        $(($($tuple:ident),*))? $({$($field:ident),*})?),* $(,)?) => {
        impl Codec for $ty {
            fn put(&self, writer: &mut Writer) {
                match self {
                    $($ty::$variant $(($($tuple),*))? $({$($field),*})? => {
                        writer.number($tag);
                        $($($tuple.put(writer);)*)?
                        $($($field.put(writer);)*)?
                    })*
                }
            }
            fn take(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
                match reader.number($what)? {
                    $($tag => {
                        $($(let $tuple = Codec::take(reader)?;)*)?
                        $($(let $field = Codec::take(reader)?;)*)?
                        Ok($ty::$variant $(($($tuple),*))? $({$($field),*})?)
                    })*
                    other => Err(reader.invalid($what, other)),
                }
            }
        }
    };
}

pub(super) use {choice, record, reference};
