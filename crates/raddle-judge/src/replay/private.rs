//! Stack memory that only its own function can reach, and that is therefore not recorded.

use std::collections::HashMap;

use super::value::Value;

/// Addresses of private memory are made up, from here on.
const BASE: u64 = 0xf000_0000_0000_0000;
/// Distance of two slots, at least.
const GAP: u64 = 4096;

/// Private memory of one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Private {
    bytes: HashMap<u64, Value>,
    slots: u64,
}

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
