//! Stack memory that only its own function can reach, and that is therefore not recorded.

use std::collections::BTreeMap;

use super::value::Value;

/// Addresses of private memory are made up, from here on.
const BASE: u64 = 0xf000_0000_0000_0000;
/// Distance of two slots, at least.
const GAP: u64 = 4096;

/// Private memory of one thread: a stack of slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Private {
    bytes: BTreeMap<u64, Value>,
    slots: u64,
}

/// How much private memory there was at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent(u64);

impl Private {
    /// The address of a new slot.
    pub(super) fn allocate(&mut self, size: u64) -> Value {
        let address = BASE + self.slots;
        self.slots += size.next_multiple_of(GAP) + GAP;
        Value {
            fake: true,
            ..Value::known(address.into())
        }
    }

    /// How much there is now.
    pub(super) fn extent(&self) -> Extent {
        Extent(self.slots)
    }

    /// Gives back the slots that were made since.
    pub(super) fn shrink_to(&mut self, extent: Extent) {
        self.slots = extent.0;
        self.bytes.split_off(&(BASE + extent.0));
    }

    /// Reads bytes; what was never written is as it was.
    pub(super) fn read(&self, address: Value, len: u64) -> Value {
        if !address.same {
            return Value::LOST;
        }
        let Some(start) = private_address(address) else {
            return Value::SAME;
        };
        let bytes: Vec<Value> = self.bytes(start, len);
        Value::compute(&bytes, |bytes| {
            let numbered = bytes.iter().enumerate();
            Some(numbered.fold(0, |all, (place, byte)| all | byte << (8 * place)))
        })
    }

    fn bytes(&self, start: u64, len: u64) -> Vec<Value> {
        let byte = |offset| {
            let found = self.bytes.get(&start.wrapping_add(offset));
            found.copied().unwrap_or(Value::SAME)
        };
        (0..len).map(byte).collect()
    }

    /// Writes bytes. False if the address is not private, or not known.
    pub(super) fn write(&mut self, address: Value, len: u64, value: Value) -> bool {
        let Some(start) = private_address(address).filter(|_| address.same) else {
            return false;
        };
        for offset in 0..len {
            let byte = |bits: &[u128]| Some(bits[0] >> (8 * offset).min(127) & 0xff);
            let byte = Value::compute(&[value], byte);
            self.bytes.insert(start.wrapping_add(offset), byte);
        }
        true
    }

    /// Writes single bytes. False if the address is not private, or not known.
    pub(super) fn write_bytes(&mut self, address: Value, values: &[Value]) -> bool {
        let Some(start) = private_address(address).filter(|_| address.same) else {
            return false;
        };
        for (offset, &value) in (0..).zip(values) {
            self.bytes.insert(start.wrapping_add(offset), value);
        }
        true
    }

    /// Reads single bytes; `None` if the address is not private, or not known.
    pub(super) fn read_bytes(&self, address: Value, len: u64) -> Option<Vec<Value>> {
        let start = private_address(address).filter(|_| address.same)?;
        Some(self.bytes(start, len))
    }
}

fn private_address(address: Value) -> Option<u64> {
    let bits = address.old.and_then(|bits| u64::try_from(bits).ok())?;
    (address.fake && bits >= BASE).then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_that_were_given_back_are_as_if_never_written() {
        let mut private = Private::default();
        let kept = private.allocate(8);
        assert!(private.write(kept, 8, Value::known(7)));
        let extent = private.extent();
        let slot = private.allocate(8);
        assert!(private.write(slot, 8, Value::known(9)));
        assert_eq!(private.read(slot, 8), Value::known(9));
        private.shrink_to(extent);
        let again = private.allocate(8);
        assert_eq!(again, slot);
        assert_eq!(private.read(again, 8), Value::SAME);
        assert_eq!(private.read(kept, 8), Value::known(7));
    }
}
