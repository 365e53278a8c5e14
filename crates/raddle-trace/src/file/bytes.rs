//! Numbers and strings as bytes: variable-length integers, length-prefixed strings.

use super::rows::Malformed;

/// Appends a number, seven bits a byte, lowest first.
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends bytes with their length before them.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads what the functions above wrote.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at byte `at`, which must not lie behind the end.
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        assert!(at <= bytes.len(), "a cursor starts inside its bytes");
        Self { bytes, at }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub fn malformed(&self, what: &'static str) -> Malformed {
        Malformed { at: self.at, what }
    }

    pub fn byte(&mut self) -> Result<u8, Malformed> {
        let byte = *self
            .bytes
            .get(self.at)
            .ok_or_else(|| self.malformed("it ends too early"))?;
        self.at += 1;
        Ok(byte)
    }

    pub fn number(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                return Err(self.malformed("a number has more than 64 bits"));
            }
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.malformed("a number has more than 64 bits"))
    }

    pub fn number_u32(&mut self) -> Result<u32, Malformed> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| self.malformed("a number has more than 32 bits"))
    }

    pub fn take(&mut self, len: u64) -> Result<&'a [u8], Malformed> {
        let rest = &self.bytes[self.at..];
        let taken = usize::try_from(len).ok().and_then(|len| rest.get(..len));
        let taken = taken.ok_or_else(|| self.malformed("a length reaches behind the end"))?;
        self.at += taken.len();
        Ok(taken)
    }

    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let len = self.number()?;
        self.take(len)
    }

    pub fn string(&mut self) -> Result<String, Malformed> {
        let bytes = self.bytes()?;
        let text = std::str::from_utf8(bytes);
        text.map(str::to_owned)
            .map_err(|_| self.malformed("a text is not UTF-8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(number: u64) {
            let mut out = Vec::new();
            put(&mut out, number);
            put_bytes(&mut out, b"end");
            let mut cursor = Cursor::new(&out, 0);
            prop_assert_eq!(cursor.number(), Ok(number));
            prop_assert_eq!(cursor.bytes(), Ok(&b"end"[..]));
            prop_assert!(cursor.is_at_end());
        }
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_refused() {
        assert!(Cursor::new(&[0xff; 11], 0).number().is_err());
        let mut largest = [0xff; 10];
        largest[9] = 1;
        assert_eq!(Cursor::new(&largest, 0).number(), Ok(u64::MAX));
        largest[9] = 2;
        assert!(Cursor::new(&largest, 0).number().is_err());
    }
}
