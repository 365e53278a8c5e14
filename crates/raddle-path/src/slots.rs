//! Stack slots that only their own function can reach, and whose accesses are therefore not recorded.

use std::collections::BTreeMap;

use crate::compute::{ValueOf, apply, unknown};
use crate::domain::Domain;
use crate::operation::Operation;
use crate::value::Value;

/// Addresses of slots are made up, from here on.
const BASE: u64 = 0xf000_0000_0000_0000;
/// Distance of two slots, at least.
const GAP: u64 = 4096;

/// The slots of one thread: a stack.
#[derive(Clone, Debug)]
pub(crate) struct Slots<C> {
    bytes: BTreeMap<u64, Value<C>>,
    extent: Extent,
}

/// How much there was at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent(u64);

impl<C> Default for Slots<C> {
    fn default() -> Self {
        Self {
            bytes: BTreeMap::new(),
            extent: Extent(0),
        }
    }
}

impl<C: Clone> Slots<C> {
    /// The address of a new slot.
    pub(crate) fn allocate(&mut self, size: u64) -> Value<C> {
        let address = BASE + self.extent.0;
        self.extent.0 += size.next_multiple_of(GAP) + GAP;
        Value {
            is_made_up: true,
            ..Value::known(address.into())
        }
    }

    /// How much there is now.
    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }

    /// Gives back the slots that were made since.
    pub(crate) fn shrink_to(&mut self, extent: Extent) {
        self.extent = extent;
        self.bytes.split_off(&(BASE + extent.0));
    }

    /// Reads a number; what was never written is as it was.
    pub(crate) fn read<D: Domain<Change = C>>(
        &self,
        domain: &mut D,
        address: &Value<C>,
        len: u64,
    ) -> Value<C> {
        if !address.is_same() {
            return unknown(domain, std::slice::from_ref(address));
        }
        let Some(start) = slot_address(address) else {
            return Value::SAME;
        };
        let bytes = self.bytes(start, len);
        apply(domain, &Operation::Bytes, &bytes)
    }

    fn bytes(&self, start: u64, len: u64) -> Vec<Value<C>> {
        let byte = |offset| {
            let found = self.bytes.get(&start.wrapping_add(offset));
            found.cloned().unwrap_or(Value::SAME)
        };
        (0..len).map(byte).collect()
    }

    /// Writes a number of so many bytes. False if the address is no slot's, or not known.
    pub(crate) fn write<D: Domain<Change = C>>(
        &mut self,
        domain: &mut D,
        address: &Value<C>,
        len: u64,
        value: &Value<C>,
    ) -> bool {
        let Some(start) = slot_address(address).filter(|_| address.is_same()) else {
            return false;
        };
        for index in 0..len {
            let byte = Operation::Byte {
                index: index as u32,
            };
            let byte = apply(domain, &byte, std::slice::from_ref(value));
            self.bytes.insert(start.wrapping_add(index), byte);
        }
        true
    }

    /// Writes single bytes. False if the address is no slot's, or not known.
    pub(crate) fn write_bytes(&mut self, address: &Value<C>, values: &[Value<C>]) -> bool {
        let Some(start) = slot_address(address).filter(|_| address.is_same()) else {
            return false;
        };
        for (offset, value) in (0..).zip(values) {
            self.bytes.insert(start.wrapping_add(offset), value.clone());
        }
        true
    }

    /// Reads single bytes; none if the address is no slot's, or not known.
    pub(crate) fn read_bytes(&self, address: &Value<C>, len: u64) -> Option<Vec<Value<C>>> {
        let start = slot_address(address).filter(|_| address.is_same())?;
        Some(self.bytes(start, len))
    }
}

fn slot_address<C>(address: &Value<C>) -> Option<u64> {
    let bits = address.recorded.and_then(|it| u64::try_from(it).ok())?;
    (address.is_made_up && bits >= BASE).then_some(bits)
}

/// A place so many bytes after an address.
pub(crate) fn place_after<D: Domain>(
    domain: &mut D,
    address: &ValueOf<D>,
    offset: u64,
) -> ValueOf<D> {
    let strides = Vec::new();
    let address = std::slice::from_ref(address);
    apply(domain, &Operation::Address { offset, strides }, address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Branch, Exchange, Kept, Switch};

    /// A domain in which nothing changes.
    struct Unchanging;

    /// There is none.
    #[derive(Clone, Debug, PartialEq, Eq)]
    enum Change {}

    impl Domain for Unchanging {
        type Change = Change;
        type Refusal = ();

        fn fork(&self) -> Self {
            Self
        }

        fn name(&self, event: usize) -> String {
            event.to_string()
        }

        fn compute(
            &mut self,
            _: &Operation,
            _: &[Value<Change>],
            _: Option<u128>,
        ) -> Option<Change> {
            None
        }

        fn unknown(&mut self, _: &[Value<Change>]) -> Option<Change> {
            None
        }

        fn number(&mut self, _: usize, recorded: u64) -> Value<Change> {
            Value::known(recorded.into())
        }

        fn bytes(&mut self, _: usize) -> Vec<Value<Change>> {
            Vec::new()
        }

        fn write(&mut self, _: usize, _: &Value<Change>) {}

        fn write_bytes(&mut self, _: usize, _: &[Value<Change>]) {}

        fn pass(&mut self, _: usize, _: &str) -> Result<(), ()> {
            Ok(())
        }

        fn keep(&mut self, _: usize, _: &[Value<Change>], _: Kept<'_>) -> Result<(), ()> {
            Ok(())
        }

        fn branch(&mut self, _: Branch<'_>, _: &Value<Change>) -> Result<(), ()> {
            Ok(())
        }

        fn switch(&mut self, _: Switch<'_>, _: &Value<Change>) -> Result<(), ()> {
            Ok(())
        }

        fn exchange(&mut self, _: Exchange<'_, Change>) -> Result<(), ()> {
            Ok(())
        }
    }

    #[test]
    fn slots_that_were_given_back_are_as_if_never_written() {
        let (mut slots, domain) = (Slots::default(), &mut Unchanging);
        let kept = slots.allocate(8);
        assert!(slots.write(domain, &kept, 8, &Value::known(7)));
        let extent = slots.extent();
        let slot = slots.allocate(8);
        assert!(slots.write(domain, &slot, 8, &Value::known(9)));
        assert_eq!(slots.read(domain, &slot, 8), Value::known(9));
        slots.shrink_to(extent);
        let again = slots.allocate(8);
        assert_eq!(again, slot);
        assert_eq!(slots.read(domain, &again, 8), Value::SAME);
        assert_eq!(slots.read(domain, &kept, 8), Value::known(7));
    }

    #[test]
    fn numbers_of_sixteen_bytes_are_whole() {
        let (mut slots, domain) = (Slots::default(), &mut Unchanging);
        let slot = slots.allocate(16);
        let wide = 0x0123_4567_89ab_cdef_0011_2233_4455_6677;
        assert!(slots.write(domain, &slot, 16, &Value::known(wide)));
        assert_eq!(slots.read(domain, &slot, 16), Value::known(wide));
        let upper = place_after(domain, &slot, 8);
        assert_eq!(slots.read(domain, &upper, 8), Value::known(wide >> 64));
    }
}
