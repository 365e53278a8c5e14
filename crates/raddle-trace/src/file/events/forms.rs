//! How an address and a value are given: foreseen, or as a difference of so many bytes.

use std::hint::select_unpredictable;

use super::memory::Known;
use crate::file::columns::fold;

/// Last time's step further than last time at this site.
const STEP: u8 = 0;
/// As last time at this site.
const SAME: u8 = 1;
/// As in the site's event before, whatever its site.
const BEFORE: u8 = 2;
/// The difference to last time follows; from here on in more and more bytes.
const DELTA: u8 = 3;
/// The value itself follows; from here on in more and more bytes.
const PLAIN: u8 = 9;

/// Bytes that follow, by an address's form.
pub const ADDR_WIDTHS: [u8; 8] = [0, 0, 0, 1, 2, 4, 8, 0];
/// Bytes that follow, by a value's form.
pub const VALUE_WIDTHS: [u8; 16] = [0, 0, 0, 1, 2, 3, 4, 6, 8, 1, 2, 3, 4, 6, 8, 0];

/// Of a difference's folded bits: how many steps behind [`DELTA`] the form is that holds them.
const ADDR_FORMS: [u8; 65] = of_bits(&[1, 2, 4, 8]);
const VALUE_FORMS: [u8; 65] = of_bits(&[1, 2, 3, 4, 6, 8]);

const fn of_bits(widths: &[usize]) -> [u8; 65] {
    let mut forms = [0; 65];
    let (mut bits, mut form) = (0, 0);
    while bits < forms.len() {
        if bits > 8 * widths[form] {
            form += 1;
        }
        forms[bits] = form as u8;
        bits += 1;
    }
    forms
}

/// An event's address and value as they are written.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// Their forms, as they stand in an op.
    pub forms: u8,
    /// What follows of the address, in its lowest bytes.
    pub addr: u64,
    /// What follows of the value.
    pub value: u64,
}

impl Given {
    /// Bytes that follow of the address.
    #[inline(always)]
    pub fn addr_width(self) -> usize {
        ADDR_WIDTHS[usize::from(self.forms & 7)].into()
    }

    /// Bytes that follow of the value.
    #[inline(always)]
    pub fn value_width(self) -> usize {
        VALUE_WIDTHS[usize::from(self.forms >> 3 & 15)].into()
    }
}

/// The address and value of the event before, whatever its site.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    pub addr: u64,
    pub value: u64,
}

/// Finds the shortest form, without branching on what nobody can foresee, and takes note of the event.
#[inline(always)]
pub fn give(known: &mut Known, before: Before, addr: u64, value: u64) -> Given {
    let step = addr.wrapping_sub(known.addr);
    let bits = 64 - fold(step).leading_zeros() as usize;
    let form = DELTA + ADDR_FORMS[bits];
    let form = select_unpredictable(addr == before.addr, BEFORE, form);
    let form = select_unpredictable(step == 0, SAME, form);
    let addr_form = select_unpredictable(step == known.step, STEP, form);

    let difference = value.wrapping_sub(known.value);
    let folded = fold(difference);
    let is_plain = value < folded;
    let bits = 64 - value.min(folded).leading_zeros() as usize;
    let form = VALUE_FORMS[bits] + select_unpredictable(is_plain, PLAIN, DELTA);
    let form = select_unpredictable(value == before.value, BEFORE, form);
    let form = select_unpredictable(difference == 0, SAME, form);
    let value_form = select_unpredictable(difference == known.difference, STEP, form);

    (known.addr, known.step) = (addr, step);
    (known.value, known.difference) = (value, difference);
    Given {
        forms: value_form << 3 | addr_form,
        addr: step,
        value: select_unpredictable(is_plain, value, difference),
    }
}

/// Undoes [`give`]; of the words only the bytes that their form has are looked at. `None` if a form is not known.
#[inline(always)]
pub fn take(known: &mut Known, before: Before, given: Given) -> Option<Before> {
    let (addr_form, value_form) = (given.forms & 7, given.forms >> 3 & 15);
    if value_form == 15 {
        return None;
    }
    let unused = |width: usize| (64 - 8 * width) as u32 & 63;
    let width = given.addr_width();
    let extended = ((given.addr << unused(width)) as i64 >> unused(width)) as u64;
    let stepped = known.addr.wrapping_add(known.step);
    let step = if width == 0 { 0 } else { extended };
    let bases = [stepped, known.addr, before.addr, known.addr];
    let base = bases[usize::from(addr_form.min(DELTA))];
    let addr = base.wrapping_add(step);

    let width = given.value_width();
    let shifted = given.value << unused(width);
    let signed = (shifted as i64 >> unused(width)) as u64;
    let plain = shifted >> unused(width);
    let follows = if value_form < PLAIN { signed } else { plain };
    let follows = if width == 0 { 0 } else { follows };
    let stepped = known.value.wrapping_add(known.difference);
    let bases = [stepped, known.value, before.value, known.value];
    let base = bases[usize::from(value_form.min(DELTA))];
    let base = if value_form < PLAIN { base } else { 0 };
    let value = base.wrapping_add(follows);

    known.step = addr.wrapping_sub(known.addr);
    known.addr = addr;
    known.difference = value.wrapping_sub(known.value);
    known.value = value;
    Some(Before { addr, value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_width_holds_what_its_bits_need() {
        for bits in 0..=64 {
            let addr = ADDR_WIDTHS[usize::from(DELTA + ADDR_FORMS[bits])];
            let value = VALUE_FORMS[bits];
            for width in [
                addr,
                VALUE_WIDTHS[usize::from(DELTA + value)],
                VALUE_WIDTHS[usize::from(PLAIN + value)],
            ] {
                assert!(usize::from(width) * 8 >= bits);
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_given_is_taken(
            numbers in prop::collection::vec((any::<u64>(), any::<u64>(), 0..64_u32, 0..64_u32), 1..40),
        ) {
            let (mut giver, mut taker) = (Known::nothing(), Known::nothing());
            let (mut before, mut behind) = (Before::default(), Before::default());
            for (addr, value, less, lesser) in numbers {
                let (addr, value) = (addr >> less, value >> lesser);
                for (addr, value) in [(addr, value), (addr, value), (addr + 8, addr), (value, !value)] {
                    let mut given = give(&mut giver, before, addr, value);
                    before = Before { addr, value };
                    // Behind the bytes that follow, anything may stand.
                    let noise = |width: usize| u64::MAX.checked_shl(8 * width as u32).unwrap_or(0);
                    given.addr |= noise(given.addr_width());
                    given.value |= noise(given.value_width());
                    behind = take(&mut taker, behind, given).unwrap();
                    prop_assert_eq!((behind.addr, behind.value), (addr, value));
                }
            }
        }
    }
}
