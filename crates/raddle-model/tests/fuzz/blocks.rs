//! Damage to a trace file that its checksums do not tell.
//!
//! The file is taken apart into its blocks, whose contents are damaged and packed again with the lengths and
//! checksums that fit them, so that what gets past the first checks is looked at too.

use xxhash_rust::xxh3::xxh3_64;

use crate::mutate::{self, Random};

const PREFIX: usize = 12;
const HEAD: usize = 32;
const FOOTER: usize = 24;
const EVENTS: u8 = 2;
const COLUMNS: usize = 5;

#[derive(Clone)]
struct Block {
    kind: u8,
    /// Index of its first event.
    first: u64,
    raw: Vec<u8>,
}

/// Damages some blocks of a whole trace file.
pub fn damage(random: &mut Random, file: &[u8], others: &[Vec<u8>]) -> Vec<u8> {
    let mut blocks = split(file);
    let contents: Vec<Vec<u8>> = blocks.iter().map(|block| block.raw.clone()).collect();
    for _ in 0..=random.below(2) {
        let at = random.below(blocks.len());
        match random.below(10) {
            0 if blocks.len() > 1 => {
                blocks.remove(at);
            }
            1 => {
                let copy = blocks[at].clone();
                let copies = if random.once_in(10) { 40 } else { 1 };
                blocks.splice(at..at, vec![copy; copies]);
            }
            2 => {
                let other = random.below(blocks.len());
                blocks.swap(at, other);
            }
            3 => blocks[at].kind = random.below(12) as u8,
            4 => {
                let other: &Vec<u8> = random.pick(others);
                let other = split(other);
                blocks.push(random.pick(&other).clone());
            }
            5 => stretch(random, &mut blocks[at].raw),
            6..=8 if blocks[at].kind == EVENTS => {
                damage_column(random, &mut blocks[at].raw, &contents)
            }
            _ => mutate::bytes(random, &mut blocks[at].raw, &contents),
        }
    }
    join(random, &file[..PREFIX], &blocks)
}

/// Damages one column of events and corrects its length.
fn damage_column(random: &mut Random, raw: &mut Vec<u8>, others: &[Vec<u8>]) {
    let mut rest = &raw[..];
    let Some(numbers) = (0..=COLUMNS)
        .map(|_| number(&mut rest))
        .collect::<Option<Vec<_>>>()
    else {
        return;
    };
    let (start, lengths) = numbers.split_at(1);
    let mut columns = Vec::new();
    for length in lengths {
        let Some((column, behind)) = rest.split_at_checked(*length as usize) else {
            return;
        };
        columns.push(column.to_vec());
        rest = behind;
    }
    let at = random.below(columns.len());
    if random.once_in(2) {
        mutate::bytes(random, &mut columns[at], others);
    } else {
        replace_number(random, &mut columns[at]);
    }
    let lengths = columns.iter().map(|column| column.len() as u64);
    let numbers = start.iter().copied().chain(lengths);
    *raw = numbers.flat_map(mutate::seven_bits_a_byte).collect();
    raw.extend(columns.concat());
}

/// Puts another number in the place of one, so that what stands around it keeps its meaning.
fn replace_number(random: &mut Random, column: &mut Vec<u8>) {
    let mut at = 0;
    let mut left = if random.once_in(3) {
        0
    } else {
        random.below(column.len())
    };
    while let Some(first) = column.get(at) {
        let end = (at + first.trailing_zeros() as usize + 1).min(column.len());
        if left == 0 {
            column.splice(at..end, mutate::length_first(random.awkward()));
            return;
        }
        (at, left) = (end, left - 1);
    }
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Makes contents long that pack well: a small file that asks for much memory.
fn stretch(random: &mut Random, raw: &mut Vec<u8>) {
    let most = if random.once_in(16) { 12 } else { 8 };
    let len = 1 << (10 + random.below(most));
    let byte = random.awkward() as u8;
    let at = random.below(raw.len() + 1);
    raw.splice(at..at, std::iter::repeat_n(byte, len));
}

fn split(file: &[u8]) -> Vec<Block> {
    let word =
        |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes")) as usize;
    let mut blocks = Vec::new();
    let mut at = PREFIX;
    while at < file.len() - FOOTER {
        let (raw_len, stored_len) = (word(at + 8), word(at + 12));
        let stored = &file[at + HEAD..at + HEAD + stored_len];
        let raw = match file[at + 5] {
            1 => lz4_flex::block::decompress(stored, raw_len).expect("seeds are whole"),
            _ => stored.to_vec(),
        };
        blocks.push(Block {
            kind: file[at + 4],
            first: (word(at + 16) | word(at + 20) << 32) as u64,
            raw,
        });
        at += HEAD + stored_len;
    }
    blocks
}

fn join(random: &mut Random, prefix: &[u8], blocks: &[Block]) -> Vec<u8> {
    let mut file = prefix.to_vec();
    let mut trailer = None;
    for (index, Block { kind, first, raw }) in blocks.iter().enumerate() {
        if index > 0 && *kind != EVENTS {
            trailer.get_or_insert(file.len() as u64);
        }
        let packed = lz4_flex::block::compress(raw);
        let pack = packed.len() < raw.len() || random.once_in(8);
        let stored = if pack { &packed } else { raw };
        let claimed = if random.once_in(40) {
            random.awkward() as u32
        } else {
            raw.len() as u32
        };
        let mut head = b"RBLK".to_vec();
        head.extend([*kind, pack.into(), 0, 0]);
        head.extend(claimed.to_le_bytes());
        head.extend((stored.len() as u32).to_le_bytes());
        let first = match random.once_in(40) {
            true => random.awkward(),
            false => *first,
        };
        head.extend(first.to_le_bytes());
        let checksum = xxh3_64(&[&head[..], stored].concat());
        head.extend(checksum.to_le_bytes());
        file.extend(head);
        file.extend(stored);
    }
    if !random.once_in(10) {
        let place = if random.once_in(20) {
            random.awkward()
        } else {
            trailer.unwrap_or(file.len() as u64)
        };
        let footer = [&b"RDTREND\n"[..], &place.to_le_bytes()].concat();
        let checksum = xxh3_64(&footer);
        file.extend(footer);
        file.extend(checksum.to_le_bytes());
    }
    file
}
