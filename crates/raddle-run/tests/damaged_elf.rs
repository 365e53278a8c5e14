//! Damaged executables: whatever the launcher is given to name program counters with, it goes on.

#[path = "../../raddle-model/tests/fuzz/mutate.rs"]
#[allow(dead_code, reason = "texts and traces are damaged elsewhere")]
mod mutate;

use std::io::Write;

use mutate::Random;
use raddle_run::symbols::Symbols;
use raddle_trace::wire::Image;

/// Bytes of the site records.
const SITES: usize = 48;

/// Damaged executables: `FUZZ_INPUTS`, or this many.
const INPUTS: u64 = 2000;

#[test]
fn a_damaged_executable_does_no_harm() {
    let whole = executable();
    let image = Image {
        start: 0x5555_5555_8000,
        len: SITES as u64,
        offset: 0,
    };
    let inputs = std::env::var("FUZZ_INPUTS").ok();
    let inputs = inputs.map_or(INPUTS, |it| it.parse().expect("FUZZ_INPUTS is a number"));
    for number in 0..inputs {
        let mut input = whole.clone();
        if number > 0 {
            mutate::bytes(
                &mut Random::new(number),
                &mut input,
                std::slice::from_ref(&whole),
            );
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&input).unwrap();
        let symbols = Symbols::load(file.path(), &[image]);
        for address in [0, 1, 0x5555_5555_4001, 0x5555_5555_8008, u64::MAX] {
            let _ = symbols.program_counter(address);
        }
    }
}

/// An executable with nothing but site records: header, records, names of sections, three sections.
fn executable() -> Vec<u8> {
    const HEADER: u64 = 64;
    let records = [0; SITES];
    let names = b"\0raddle_sites\0.shstrtab\0";
    let sections = HEADER + (records.len() + names.len()) as u64;
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend([3, 0, 62, 0, 1, 0, 0, 0]);
    for number in [0x1040, 0, sections] {
        file.extend(u64::to_le_bytes(number));
    }
    file.extend(0_u32.to_le_bytes());
    for number in [64_u16, 56, 0, 64, 3, 2] {
        file.extend(number.to_le_bytes());
    }
    file.extend(records);
    file.extend(names);
    // Name, type, flags, address, offset, size, link and info, alignment, size of an entry.
    let section = |name: u32, kind: u32, address: u64, offset: u64, size: usize| {
        let mut bytes = [name.to_le_bytes(), kind.to_le_bytes()].concat();
        for number in [2, address, offset, size as u64, 0, 8, 0] {
            bytes.extend(u64::to_le_bytes(number));
        }
        bytes
    };
    file.extend(section(0, 0, 0, 0, 0));
    file.extend(section(1, 1, 0x4000, HEADER, records.len()));
    file.extend(section(
        14,
        3,
        0,
        HEADER + records.len() as u64,
        names.len(),
    ));
    file
}
