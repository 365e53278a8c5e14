//! How an address and a value are given: foreseen, or as a difference of so many bytes.

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

/// Forms of an address, by what is true of it: it is a step further, as last time, as before, and how wide its folded
/// difference is, see [`ADDR_CLASSES`].
const ADDR_FORMS: [u8; 256] = {
    let mut forms = [0; 256];
    let mut at = 0;
    while at < 4 << 3 {
        forms[at] = foreseen(at, DELTA + (at >> 3) as u8);
        at += 1;
    }
    forms
};

/// The same of a value, where one more bit says that the value itself is shorter than the difference. The forms stand
/// where they do in an op.
const VALUE_FORMS: [u8; 256] = {
    let mut forms = [0; 256];
    let mut at = 0;
    while at < 6 << 4 {
        let first = if at >> 3 & 1 == 1 { PLAIN } else { DELTA };
        forms[at] = foreseen(at, first + (at >> 4) as u8) << 3;
        at += 1;
    }
    forms
};

/// Which of these widths holds a number of so many bits, times `unit`.
const fn classes<const N: usize>(widths: [usize; N], unit: u8) -> [u8; 65] {
    let mut classes = [0; 65];
    let (mut bits, mut class) = (0, 0);
    while bits < classes.len() {
        if bits > 8 * widths[class] {
            class += 1;
        }
        classes[bits] = class as u8 * unit;
        bits += 1;
    }
    classes
}

const ADDR_CLASSES: [u8; 65] = classes([1, 2, 4, 8], 1 << 3);
const VALUE_CLASSES: [u8; 65] = classes([1, 2, 3, 4, 6, 8], 1 << 4);

/// How many bits a number has.
#[inline(always)]
fn bits_of(number: u64) -> usize {
    64 - number.leading_zeros() as usize
}

/// The form of what is known to be foreseen in some of three ways, else the one given.
const fn foreseen(ways: usize, form: u8) -> u8 {
    match ways & 7 {
        0 => form,
        4 => BEFORE,
        2 | 6 => SAME,
        _ => STEP,
    }
}

/// An event's address and value as they are written.
#[derive(Clone, Copy, Debug, Default)]
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

/// Finds the shortest form, and takes note of the event. Nothing here branches on what differs from event to event: what
/// is true of it makes an index, since compilers turn selections back into branches, which are mispredicted half the time.
#[inline(always)]
pub fn give(known: &mut Known, before: Before, addr: u64, value: u64) -> Given {
    let bit = |is: bool, at: u32| u8::from(is) << at;
    let step = addr.wrapping_sub(known.addr);
    let ways = bit(step == known.step, 0) | bit(step == 0, 1) | bit(addr == before.addr, 2);
    let class = ADDR_CLASSES[bits_of(fold(step))];
    let addr_form = ADDR_FORMS[usize::from(ways | class)];

    let difference = value.wrapping_sub(known.value);
    let folded = fold(difference);
    let is_plain = value < folded;
    let plain = u64::from(is_plain).wrapping_neg();
    let ways = bit(difference == known.difference, 0)
        | bit(difference == 0, 1)
        | bit(value == before.value, 2)
        | bit(is_plain, 3);
    let class = VALUE_CLASSES[bits_of(folded ^ ((folded ^ value) & plain))];
    let value_form = VALUE_FORMS[usize::from(ways | class)];

    let given = Given {
        forms: value_form | addr_form,
        addr: step,
        value: difference.wrapping_add(known.value & plain),
    };
    (known.addr, known.step) = (addr, step);
    (known.value, known.difference) = (value, difference);
    given
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
    fn every_form_is_the_shortest_that_holds_the_number() {
        for bits in 0..64 {
            for number in [1_u64 << bits, (1 << bits) - 1] {
                let bytes = (64 - number.leading_zeros() as usize).div_ceil(8);
                let least = |widths: &[usize]| widths.iter().copied().find(|it| *it >= bytes);
                // A step that folds to the number, and values that are shorter than their difference, and longer.
                let mut known = Known::nothing();
                (known.step, known.difference) = (1, 1);
                let before = Before { addr: 3, value: 3 };
                let step = crate::file::columns::unfold(number);
                let given = give(&mut known.clone(), before, step, number);
                if ![0, 1, 3].contains(&step) {
                    assert_eq!(Some(given.addr_width()), least(&[1, 2, 4, 8]), "{number}");
                }
                if ![0, 1, 3].contains(&number) {
                    let widths = [1, 2, 3, 4, 6, 8];
                    assert_eq!(Some(given.value_width()), least(&widths), "{number}");
                    known.value = u64::MAX >> 1;
                    let value = known.value.wrapping_add(step);
                    let given = give(&mut known, before, 0, value);
                    let shorter = number.min(value);
                    if ![0, 1].contains(&step) && value != before.value {
                        let bytes = (64 - shorter.leading_zeros() as usize).div_ceil(8);
                        let least = widths.into_iter().find(|it| *it >= bytes);
                        assert_eq!(Some(given.value_width()), least, "{number}");
                    }
                }
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
