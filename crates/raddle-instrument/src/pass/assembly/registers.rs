//! The registers of x86-64 by their names.

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Register {
    /// Name of the 64-bit register that it is part of, or its own.
    pub(super) whole: &'static str,
    /// Its width.
    pub(super) bytes: u64,
}

/// The old registers: the names of 64, 32, 16 and 8 bits.
const OLD: [[&str; 4]; 8] = [
    ["rax", "eax", "ax", "al"],
    ["rbx", "ebx", "bx", "bl"],
    ["rcx", "ecx", "cx", "cl"],
    ["rdx", "edx", "dx", "dl"],
    ["rsi", "esi", "si", "sil"],
    ["rdi", "edi", "di", "dil"],
    ["rbp", "ebp", "bp", "bpl"],
    ["rsp", "esp", "sp", "spl"],
];

/// The high halves of the 16-bit registers that have such.
const HIGH: [(&str, &str); 4] = [("ah", "rax"), ("bh", "rbx"), ("ch", "rcx"), ("dh", "rdx")];

/// The new registers; 32, 16 and 8 bits of them are called `r8d`, `r8w` and `r8b`.
const NEW: [&str; 8] = ["r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"];

/// The vector registers: how they are called, and their width.
const VECTORS: [(&str, u64); 3] = [("xmm", 16), ("ymm", 32), ("zmm", 64)];

/// The register with a name, in any case, without the percent sign.
pub(super) fn find(name: &str) -> Option<Register> {
    let name = name.to_ascii_lowercase();
    let register = |whole, bytes| Some(Register { whole, bytes });
    for names in OLD {
        if let Some(place) = names.iter().position(|it| *it == name) {
            return register(names[0], 8 >> place);
        }
    }
    if let Some((_, whole)) = HIGH.iter().find(|(high, _)| *high == name) {
        return register(whole, 1);
    }
    for whole in NEW {
        let bytes = match name.strip_prefix(whole) {
            Some("") => 8,
            Some("d") => 4,
            Some("w") => 2,
            Some("b" | "l") => 1,
            _ => continue,
        };
        return register(whole, bytes);
    }
    if name == "rip" {
        return register("rip", 8);
    }
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|it| it.is_ascii_digit());
    let vector = VECTORS
        .iter()
        .find(|(start, _)| name.strip_prefix(start).is_some_and(is_number));
    if let Some(&(whole, bytes)) = vector {
        return register(whole, bytes);
    }
    match name.strip_prefix("mm") {
        Some(rest) if is_number(rest) => register("mm", 8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_widths() {
        let cases = [
            ("rax", Some(("rax", 8))),
            ("EAX", Some(("rax", 4))),
            ("si", Some(("rsi", 2))),
            ("bpl", Some(("rbp", 1))),
            ("dh", Some(("rdx", 1))),
            ("r8", Some(("r8", 8))),
            ("r15d", Some(("r15", 4))),
            ("r10w", Some(("r10", 2))),
            ("xmm11", Some(("xmm", 16))),
            ("ymm0", Some(("ymm", 32))),
            ("mm3", Some(("mm", 8))),
            ("xmm", None),
            ("r16", None),
            ("counter", None),
        ];
        for (name, expected) in cases {
            let found = find(name).map(|it| (it.whole, it.bytes));
            assert_eq!(found, expected, "{name}");
        }
    }
}
