//! Reads one operand of an instruction: a register, a number, or a place in memory.

use super::registers;
use super::template::{CLOSE, OPEN, Operand};

/// An address as the text computes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) base: Option<Term>,
    /// What is added, times how much.
    pub(super) index: Option<(Term, u64)>,
    /// Numbered operands that are added: constants, or addresses of variables.
    pub(super) addends: Vec<usize>,
    pub(super) offset: i64,
    /// Whether something else is added, that only the assembler or the processor know: a symbol, a segment's start.
    pub(super) is_unknown: bool,
    /// The width of the access, where the text says so.
    pub(super) bytes: Option<u64>,
}

/// A register of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
    /// The one that a numbered operand is in.
    Numbered(usize),
    /// A named one.
    Register(&'static str),
}

/// How Intel's dialect names widths.
const WIDTHS: [(&str, u64); 9] = [
    ("byte", 1),
    ("word", 2),
    ("dword", 4),
    ("qword", 8),
    ("tbyte", 10),
    ("xmmword", 16),
    ("oword", 16),
    ("ymmword", 32),
    ("zmmword", 64),
];

/// An operand in AT&T's dialect.
pub(super) fn att(text: &str) -> Operand {
    let text = text.trim_start_matches('*').trim();
    if text.starts_with('$') {
        return Operand::Other;
    }
    if let Some(register) = text.strip_prefix('%')
        && !register.contains([':', '('])
    {
        let found = registers::find(register.trim());
        return found.map_or(Operand::Other, |it| Operand::Register(it.bytes));
    }
    let mut place = Place::default();
    let (outside, inside) = match text.rsplit_once('(') {
        Some((outside, inside)) => (outside, inside.trim_end_matches(')')),
        None => (text, ""),
    };
    let outside = match outside.strip_prefix('%').and_then(|it| it.split_once(':')) {
        Some((_, after)) => {
            place.is_unknown = true;
            after
        }
        None => outside,
    };
    if inside.is_empty() && !place.is_unknown {
        return alone(outside, None);
    }
    for (is_negative, term) in terms(outside) {
        place.add(term, is_negative);
    }
    let mut parts = inside.split(',').map(str::trim);
    let mut register = || {
        let part = parts.next().unwrap_or_default();
        let name = part.trim_start_matches('%');
        let found = term_of(name);
        if found.is_none() && !part.is_empty() && part.parse::<u64>().is_err() {
            place.is_unknown = true;
        }
        found
    };
    let (base, index) = (register(), register());
    let scale = parts.next().and_then(|it| it.parse().ok()).unwrap_or(1);
    place.base = base;
    place.index = index.map(|it| (it, scale));
    Operand::Memory(place)
}

/// An operand in Intel's dialect.
pub(super) fn intel(text: &str) -> Operand {
    let mut text = text;
    let mut bytes = None;
    let lower = text.to_ascii_lowercase();
    for (name, width) in WIDTHS {
        let after = lower.strip_prefix(name).map(str::trim_start);
        if let Some(after) = after.filter(|it| it.starts_with("ptr")) {
            text = text[text.len() - after.len() + "ptr".len()..].trim();
            bytes = Some(width);
        }
    }
    let Some((outside, inside)) = text.split_once('[') else {
        return alone(text, bytes);
    };
    let mut place = Place {
        bytes,
        ..Place::default()
    };
    let outside = outside.trim();
    if let Some((_, after)) = outside.split_once(':').filter(|it| !it.0.contains(OPEN)) {
        place.is_unknown = true;
        place.add(after, false);
    } else {
        place.add(outside, false);
    }
    for (is_negative, term) in terms(inside.trim_end_matches(']')) {
        let (register, scale) = match term.split_once('*') {
            Some((left, right)) => match (number(left), number(right)) {
                (Some(scale), _) => (right.trim(), scale),
                (_, Some(scale)) => (left.trim(), scale),
                _ => (term, 1),
            },
            None => (term, 1),
        };
        match term_of(register).filter(|_| !is_negative && !is_constant(register)) {
            Some(found) if scale == 1 && place.base.is_none() => place.base = Some(found),
            Some(found) if place.index.is_none() => place.index = Some((found, scale as u64)),
            Some(_) => place.is_unknown = true,
            None => place.add(term, is_negative),
        }
    }
    Operand::Memory(place)
}

impl Place {
    /// Adds a constant to the address.
    fn add(&mut self, term: &str, is_negative: bool) {
        let term = term.trim();
        if term.is_empty() {
            return;
        }
        match (number(term), reference(term)) {
            (Some(number), _) if is_negative => self.offset = self.offset.wrapping_sub(number),
            (Some(number), _) => self.offset = self.offset.wrapping_add(number),
            (_, Some((operand, _))) if !is_negative => self.addends.push(operand),
            _ => self.is_unknown = true,
        }
    }
}

/// An operand without parentheses or brackets: a reference, perhaps with an offset, or a name.
fn alone(text: &str, bytes: Option<u64>) -> Operand {
    if let Some(register) = registers::find(text.trim()) {
        return Operand::Register(register.bytes);
    }
    let mut found = None;
    let mut offset = 0i64;
    for (is_negative, term) in terms(text) {
        match (number(term), reference(term)) {
            (Some(number), _) => offset += if is_negative { -number } else { number },
            (_, Some(it)) if found.is_none() && !is_negative => found = Some(it),
            _ => return Operand::Other,
        }
    }
    let Some((number, modifier)) = found else {
        return Operand::Other;
    };
    // The high half of an operand of 16 bytes.
    let (modifier, offset) = match modifier {
        Some('H') => (None, offset + 8),
        other => (other, offset),
    };
    Operand::Numbered {
        number,
        modifier,
        offset,
        bytes,
    }
}

/// The parts of a sum, and whether each is subtracted.
fn terms(text: &str) -> Vec<(bool, &str)> {
    let mut found = Vec::new();
    let mut is_negative = false;
    let mut rest = text;
    loop {
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        let term = rest[..end].trim();
        if !term.is_empty() {
            found.push((is_negative, term));
        }
        let Some(sign) = rest[end..].chars().next() else {
            return found;
        };
        is_negative = sign == '-';
        rest = &rest[end + 1..];
    }
}

fn number(text: &str) -> Option<i64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The operand that a text refers to, and its modifier.
fn reference(text: &str) -> Option<(usize, Option<char>)> {
    let inside = text.trim().strip_prefix(OPEN)?.strip_suffix(CLOSE)?;
    let (number, modifier) = inside.split_once(':').unwrap_or((inside, ""));
    Some((number.parse().ok()?, modifier.chars().next()))
}

/// Whether a reference is written out as a constant.
fn is_constant(text: &str) -> bool {
    reference(text).is_some_and(|(_, modifier)| matches!(modifier, Some('c' | 'P' | 'a')))
}

fn term_of(text: &str) -> Option<Term> {
    match reference(text) {
        Some((number, _)) => Some(Term::Numbered(number)),
        None => registers::find(text.trim()).map(|it| Term::Register(it.whole)),
    }
}

/// An operand as text, for the tests.
#[cfg(test)]
pub(super) fn show(operand: &Operand) -> String {
    let width = |bytes: Option<u64>| bytes.map_or_else(String::new, |it| format!(":{it}"));
    let term = |term: Term| match term {
        Term::Numbered(number) => format!("${number}"),
        Term::Register(name) => name.to_owned(),
    };
    match operand {
        Operand::Numbered {
            number,
            modifier,
            offset,
            bytes,
        } => {
            let modifier = modifier.map_or_else(String::new, |it| format!(":{it}"));
            let offset = match offset {
                0 => String::new(),
                other => format!("{other:+}"),
            };
            format!("${number}{modifier}{offset}{}", width(*bytes))
        }
        Operand::Register(bytes) => format!("register {bytes}"),
        Operand::Memory(place) => {
            let mut parts: Vec<String> = place.base.map(term).into_iter().collect();
            parts.extend(place.index.map(|it| match it.1 {
                1 => format!("+{}", term(it.0)),
                scale => format!("+{}*{scale}", term(it.0)),
            }));
            parts.extend(place.addends.iter().map(|it| format!("+${it}")));
            parts.extend((place.offset != 0).then(|| format!("{:+}", place.offset)));
            parts.extend(place.is_unknown.then(|| "?".to_owned()));
            format!("[{}]{}", parts.join(" "), width(place.bytes))
        }
        Operand::Other => "other".to_owned(),
    }
}
