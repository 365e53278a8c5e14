//! Damage: what a file may suffer, from a cut to a number that claims too much.

/// Numbers that readers trip over.
const NUMBERS: [u64; 16] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x100,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_fff8,
    u64::MAX,
];

/// Random numbers that are the same on every machine (xorshift, multiplied).
pub struct Random(u64);

impl Random {
    /// Numbers that follow from a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.number();
        random
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8
    }

    /// A number below `limit`, or 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.number() % (limit.max(1) as u64)) as usize
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// Whether, once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// A number that is often an awkward one.
    pub fn awkward(&mut self) -> u64 {
        match self.below(3) {
            0 => self.number() >> self.below(56),
            _ => self
                .pick(&NUMBERS)
                .wrapping_add(self.number() % 3)
                .wrapping_sub(1),
        }
    }

    /// A part of something `len` long, mostly a short one.
    fn range(&mut self, len: usize) -> std::ops::Range<usize> {
        let start = self.below(len + 1);
        let most = if self.once_in(4) { len } else { 16 };
        start..(start + self.below(most + 1)).min(len)
    }
}

/// Damages bytes in one to four ways; `others` are what may be spliced in.
pub fn bytes(random: &mut Random, input: &mut Vec<u8>, others: &[Vec<u8>]) {
    for _ in 0..=random.below(4) {
        byte_damage(random, input, others);
    }
}

fn byte_damage(random: &mut Random, input: &mut Vec<u8>, others: &[Vec<u8>]) {
    let at = random.below(input.len());
    match random.below(11) {
        0 => input.truncate(random.below(input.len() + 1)),
        1 | 2 if !input.is_empty() => input[at] ^= 1 << random.below(8),
        3 if !input.is_empty() => input[at] = random.awkward() as u8,
        4 => {
            let number = random.awkward().to_le_bytes();
            let width = 1 << random.below(4);
            let end = (at + width).min(input.len());
            input[at..end].copy_from_slice(&number[..end - at]);
        }
        5 => {
            let number = seven_bits_a_byte(random.awkward());
            let end = (at + random.below(number.len() + 1)).min(input.len());
            input.splice(at..end, number);
        }
        6 => {
            let number = length_first(random.awkward());
            let end = (at + random.below(number.len() + 1)).min(input.len());
            input.splice(at..end, number);
        }
        7 => {
            let range = random.range(input.len());
            input.drain(range);
        }
        8 => {
            let copy = input[random.range(input.len())].to_vec();
            let copies = if random.once_in(8) {
                random.below(200)
            } else {
                1
            };
            input.splice(at..at, copy.repeat(copies));
        }
        9 => {
            let other = random.pick(others);
            let part = other[random.range(other.len())].to_vec();
            let range = random.range(input.len());
            input.splice(range, part);
        }
        _ => {
            let new = random.range(64).map(|_| 0).collect::<Vec<u8>>();
            let byte = random.awkward() as u8;
            input.splice(at..at, new.iter().map(|_| byte));
        }
    }
}

/// Damages text in one to four ways, half of the time as words and lines.
pub fn text(random: &mut Random, input: &mut Vec<u8>, others: &[Vec<u8>]) {
    for _ in 0..=random.below(4) {
        if random.once_in(2) {
            byte_damage(random, input, others);
        } else {
            word_damage(random, input, others);
        }
    }
}

fn word_damage(random: &mut Random, input: &mut Vec<u8>, others: &[Vec<u8>]) {
    let lines: Vec<&[u8]> = input.split_inclusive(|byte| *byte == b'\n').collect();
    let mut lines: Vec<Vec<u8>> = lines.into_iter().map(<[u8]>::to_vec).collect();
    let at = random.below(lines.len());
    match random.below(6) {
        0 if !lines.is_empty() => {
            lines.remove(at);
        }
        1 => {
            let other: Vec<&[u8]> = random
                .pick(others)
                .split_inclusive(|it| *it == b'\n')
                .collect();
            if !other.is_empty() {
                lines.insert(at, random.pick(&other).to_vec());
            }
        }
        2 if !lines.is_empty() => {
            let copy = lines[at].clone();
            lines.resize(lines.len() + random.below(20), copy);
        }
        3 if !lines.is_empty() => {
            let other = random.below(lines.len());
            lines.swap(at, other);
        }
        _ if !lines.is_empty() => {
            let words = [
                "\"", "\\", "#", "|", "(", ")", "@", "->", "\r\n", "\\xff", "é", "\u{0}", "[[", "=",
            ];
            let number = random.awkward().to_string();
            let word = if random.once_in(2) {
                *random.pick(&words)
            } else {
                number.as_str()
            };
            let line = &mut lines[at];
            let digits: Vec<usize> = (0..line.len())
                .filter(|at| line[*at].is_ascii_digit())
                .collect();
            let place = if digits.is_empty() || random.once_in(3) {
                random.below(line.len() + 1)
            } else {
                *random.pick(&digits)
            };
            let end = (place + random.below(3)).min(line.len());
            line.splice(place..end, word.bytes());
        }
        _ => {}
    }
    *input = lines.concat();
}

/// A number as tables of traces and models write it.
pub fn seven_bits_a_byte(mut number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
    out
}

/// A number as columns of events write it.
pub fn length_first(number: u64) -> Vec<u8> {
    let len = 1 + (63 - (number | 1).leading_zeros() as usize) / 7;
    if len > 8 {
        return [&[0][..], &number.to_le_bytes()].concat();
    }
    let word = (number << 1 | 1) << (len - 1);
    word.to_le_bytes()[..len].to_vec()
}
