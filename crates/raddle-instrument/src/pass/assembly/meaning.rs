//! What an instruction does to an operand in memory.
//!
//! On x86 a locked instruction, and an exchange with memory, is one step that orders everything around it. A move
//! acquires if it reads and releases if it writes, since the processor reorders neither loads with loads nor
//! stores with stores. An update without `lock` is two steps: another processor may write in between.

use raddle_trace::wire::Ordering;

use super::template::Instruction;

/// What an instruction does, as far as memory is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// It accesses nothing, though it may compute an address.
    Idle,
    /// It orders accesses.
    Fence(Ordering),
    /// It reads its sources and writes its destination.
    Move,
    /// It writes its only operand.
    Set,
    /// It reads its sources, and reads and writes its destination.
    Update,
    /// It exchanges its operands, as if locked.
    Exchange,
    /// It compares its destination, and may write it.
    CompareExchange,
    /// It reads all its operands.
    Look,
    /// A string instruction: whether it reads at `rsi`, and what it does at `rdi`.
    String {
        source: bool,
        target: Option<Effect>,
    },
    Unknown,
}

/// The meaning of an instruction's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) verb: Verb,
    /// Bytes accessed, if the name says so.
    pub(super) bytes: Option<u64>,
    /// Whether the other operand is as wide as the one in memory.
    pub(super) is_even: bool,
}

/// What an instruction does to one of its operands that is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Read,
    Write,
    /// Read and written in two steps.
    Update,
    /// Read and written in one step, with everything around it ordered.
    Rmw,
    /// As `Rmw`, if it has the expected value.
    Cas,
}

const UPDATES: [&str; 18] = [
    "inc", "dec", "neg", "not", "add", "sub", "adc", "sbb", "and", "or", "xor", "xadd", "bts",
    "btr", "btc", "shld", "shrd", "andn",
];
/// Updates whose other operand is a count of bits.
const SHIFTS: [&str; 8] = ["shl", "shr", "sal", "sar", "rol", "ror", "rcl", "rcr"];
const LOOKS: [&str; 12] = [
    "cmp", "test", "bt", "push", "mul", "div", "idiv", "imul", "call", "jmp", "bsf", "bsr",
];
const LOADS: [&str; 5] = ["ldmxcsr", "fldcw", "fxrstor", "xrstor", "lddqu"];
const SETS: [&str; 8] = [
    "pop", "stmxcsr", "fnstcw", "fstcw", "fnstsw", "fstsw", "sgdt", "sidt",
];
const IDLE: [&str; 9] = [
    "nop",
    "pause",
    "lea",
    "endbr64",
    "clflush",
    "clflushopt",
    "clwb",
    "cldemote",
    "invlpg",
];
/// Moves whose names do not begin as those of the others do, or whose width no suffix tells.
const MOVES: [(&str, Option<u64>); 14] = [
    ("mov", None),
    ("movabs", None),
    ("movbe", None),
    ("movnti", None),
    ("movd", Some(4)),
    ("movss", Some(4)),
    ("movsd", Some(8)),
    ("movlps", Some(8)),
    ("movhps", Some(8)),
    ("movlpd", Some(8)),
    ("movhpd", Some(8)),
    ("movzx", None),
    ("movsx", None),
    ("movsxd", Some(4)),
];
const CONDITIONS: [&str; 30] = [
    "a", "ae", "b", "be", "c", "e", "g", "ge", "l", "le", "na", "nae", "nb", "nbe", "nc", "ne",
    "ng", "nge", "nl", "nle", "no", "np", "ns", "nz", "o", "p", "pe", "po", "s", "z",
];
/// Names of string instructions without the letter of their width; whether they read at `rsi`, what they do at `rdi`.
/// Not those that compare: how far they read depends on what they find.
const STRINGS: [(&str, bool, Option<Effect>); 3] = [
    ("movs", true, Some(Effect::Write)),
    ("stos", false, Some(Effect::Write)),
    ("lods", true, None),
];

/// What a name means. Names of AT&T's dialect may end in the letter of a width.
pub(super) fn meaning(name: &str, operands: usize) -> Meaning {
    let of = |verb, bytes, is_even| Meaning {
        verb,
        bytes,
        is_even,
    };
    if let Some((verb, bytes)) = string(name).filter(|_| operands == 0) {
        return of(verb, Some(bytes), false);
    }
    if let Some(bytes) = extension(name) {
        return of(Verb::Move, Some(bytes), false);
    }
    match name {
        "mfence" => return of(Verb::Fence(Ordering::SeqCst), None, false),
        "lfence" => return of(Verb::Fence(Ordering::Acquire), None, false),
        "sfence" => return of(Verb::Fence(Ordering::Release), None, false),
        "cmpxchg8b" => return of(Verb::CompareExchange, Some(8), false),
        "cmpxchg16b" => return of(Verb::CompareExchange, Some(16), false),
        _ => {}
    }
    if let Some(found) = known(name) {
        return of(found.0, found.1, found.2);
    }
    let (stem, letter) = name.split_at(name.len().saturating_sub(1));
    let suffix = width_letter(letter);
    if let (Some(bytes), Some((verb, _, _))) = (suffix, known(stem)) {
        return of(verb, Some(bytes), false);
    }
    // Moves of vectors are as wide as their registers.
    if name.starts_with("mov") || name.starts_with("vmov") {
        return of(Verb::Move, None, true);
    }
    of(Verb::Unknown, None, true)
}

/// A name without a letter of width: what it does, its width, whether both operands have the same.
fn known(name: &str) -> Option<(Verb, Option<u64>, bool)> {
    let is_condition = |start: &str| {
        let rest = name.strip_prefix(start);
        rest.is_some_and(|rest| CONDITIONS.contains(&rest))
    };
    if let Some((_, bytes)) = MOVES.iter().find(|row| row.0 == name) {
        let is_even = !matches!(name, "movzx" | "movsx");
        return Some((Verb::Move, *bytes, is_even));
    }
    let verb = if UPDATES.contains(&name) {
        Verb::Update
    } else if SHIFTS.contains(&name) {
        return Some((Verb::Update, None, false));
    } else if LOOKS.contains(&name) || LOADS.contains(&name) || is_condition("cmov") {
        Verb::Look
    } else if SETS.contains(&name) {
        Verb::Set
    } else if name == "xchg" {
        Verb::Exchange
    } else if name == "cmpxchg" {
        Verb::CompareExchange
    } else if is_condition("set") {
        return Some((Verb::Set, Some(1), false));
    } else if IDLE.contains(&name) || name.starts_with("prefetch") {
        Verb::Idle
    } else {
        return None;
    };
    Some((verb, None, true))
}

fn width_letter(letter: &str) -> Option<u64> {
    match letter {
        "b" => Some(1),
        "w" => Some(2),
        "l" => Some(4),
        "q" => Some(8),
        _ => None,
    }
}

/// Bytes that AT&T's extending moves read: `movzbl`, `movswq`, `movslq`.
fn extension(name: &str) -> Option<u64> {
    let rest = name
        .strip_prefix("movz")
        .or_else(|| name.strip_prefix("movs"))?;
    let mut letters = rest.chars();
    let from = width_letter(letters.next()?.encode_utf8(&mut [0; 4]))?;
    let to = width_letter(letters.next()?.encode_utf8(&mut [0; 4]))?;
    (from < to && letters.next().is_none()).then_some(from)
}

fn string(name: &str) -> Option<(Verb, u64)> {
    let (stem, letter) = name.split_at(name.len().checked_sub(1)?);
    let bytes = match letter {
        "d" => 4,
        other => width_letter(other)?,
    };
    let (_, source, target) = *STRINGS.iter().find(|row| row.0 == stem)?;
    Some((Verb::String { source, target }, bytes))
}

impl Instruction {
    /// What it does to its operand at `place`, which is in memory. `is_input` and `is_output` say what the
    /// constraints promise, which counts where the instruction is not known.
    pub(super) fn effect(&self, place: usize, is_input: bool, is_output: bool) -> Option<Effect> {
        let is_last = place + 1 == self.operands.len();
        let verb = meaning(&self.name, self.operands.len()).verb;
        Some(match verb {
            Verb::Idle | Verb::Fence(_) | Verb::String { .. } => return None,
            Verb::CompareExchange if is_last && self.is_locked => Effect::Cas,
            Verb::Exchange => Effect::Rmw,
            _ if self.is_locked => Effect::Rmw,
            Verb::Look => Effect::Read,
            Verb::Set => Effect::Write,
            Verb::Move if is_last => Effect::Write,
            Verb::Update | Verb::CompareExchange if is_last => Effect::Update,
            Verb::Move | Verb::Update | Verb::CompareExchange => Effect::Read,
            Verb::Unknown => match (is_input, is_output) {
                (true, true) => Effect::Rmw,
                (_, true) => Effect::Write,
                (true, _) => Effect::Read,
                // An address in a register, of which constraints say nothing.
                _ if is_last && place > 0 => Effect::Write,
                _ => Effect::Read,
            },
        })
    }
}

impl Effect {
    /// What two accesses to one place within the same assembly are together.
    pub(super) fn with(self, other: Effect) -> Effect {
        use Effect::{Cas, Read, Rmw, Update, Write};
        match (self, other) {
            (one, same) if one == same && one != Cas => one,
            (Cas, Read) | (Read, Cas) => Cas,
            (Rmw | Cas, _) | (_, Rmw | Cas) => Rmw,
            // What is written first is read from the writer itself.
            (Write, Read) => Write,
            (Read | Write | Update, _) => Update,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::template::{Dialect, parse};
    use super::*;

    #[test]
    fn names_tell_verb_and_width() {
        use Verb::{CompareExchange, Exchange, Idle, Look, Move, Set, Unknown, Update};
        let cases = [
            ("incl", Update, Some(4)),
            ("inc", Update, None),
            ("sub", Update, None),
            ("subb", Update, Some(1)),
            ("shl", Update, None),
            ("shlq", Update, Some(8)),
            ("sbb", Update, None),
            ("xaddw", Update, Some(2)),
            ("btsl", Update, Some(4)),
            ("btl", Look, Some(4)),
            ("mov", Move, None),
            ("movb", Move, Some(1)),
            ("movq", Move, Some(8)),
            ("movzbl", Move, Some(1)),
            ("movswq", Move, Some(2)),
            ("movslq", Move, Some(4)),
            ("movzx", Move, None),
            ("movdqa", Move, None),
            ("vmovups", Move, None),
            ("xchgq", Exchange, Some(8)),
            ("cmpxchgb", CompareExchange, Some(1)),
            ("cmpxchg16b", CompareExchange, Some(16)),
            ("setb", Set, Some(1)),
            ("setnz", Set, Some(1)),
            ("cmpl", Look, Some(4)),
            ("pause", Idle, None),
            ("leaq", Idle, Some(8)),
            ("prefetchw", Idle, None),
            ("paddd", Unknown, None),
        ];
        for (name, verb, bytes) in cases {
            let found = meaning(name, 2);
            assert_eq!((found.verb, found.bytes), (verb, bytes), "{name}");
        }
        let string = Verb::String {
            source: true,
            target: Some(Effect::Write),
        };
        assert_eq!(meaning("movsb", 0).verb, string);
        assert_eq!(meaning("stosq", 0).bytes, Some(8));
        assert_eq!(meaning("scasb", 0).verb, Unknown);
    }

    /// The effect of the only instruction of a text on the operand at a place.
    fn effect(text: &str, place: usize) -> Option<Effect> {
        let instructions = parse(text, Dialect::Att);
        assert_eq!(instructions.len(), 1, "{text}");
        instructions[0].effect(place, false, false)
    }

    #[test]
    fn effects_follow_from_the_position() {
        use Effect::{Cas, Read, Rmw, Update, Write};
        let cases = [
            ("lock; incl $0", 0, Some(Rmw)),
            ("incl $0", 0, Some(Update)),
            ("addl $0, %eax", 0, Some(Read)),
            ("addl %eax, $0", 1, Some(Update)),
            ("lock xaddl $1, $0", 1, Some(Rmw)),
            ("xchgl $0, $1", 0, Some(Rmw)),
            ("xchgl $0, $1", 1, Some(Rmw)),
            ("lock cmpxchgq $2, $1", 1, Some(Cas)),
            ("cmpxchgq $2, $1", 1, Some(Update)),
            ("lock cmpxchg16b $0", 0, Some(Cas)),
            ("movl $1, $0", 0, Some(Read)),
            ("movl $1, $0", 1, Some(Write)),
            ("cmpl %eax, $0", 1, Some(Read)),
            ("sete $0", 0, Some(Write)),
            ("leaq $0, %rax", 0, None),
            ("prefetcht0 ($0)", 0, None),
            ("vmovdqu %ymm0, ($0)", 1, Some(Write)),
            ("paddd ($0), %xmm0", 0, Some(Read)),
            ("vpmaskmovd %ymm0, %ymm1, ($0)", 2, Some(Write)),
        ];
        for (text, place, expected) in cases {
            assert_eq!(effect(text, place), expected, "{text}");
        }
    }

    #[test]
    fn constraints_count_where_the_name_does_not() {
        let instruction = &parse("frob $0", Dialect::Att)[0];
        assert_eq!(instruction.effect(0, true, false), Some(Effect::Read));
        assert_eq!(instruction.effect(0, false, true), Some(Effect::Write));
        assert_eq!(instruction.effect(0, true, true), Some(Effect::Rmw));
    }

    #[test]
    fn accesses_to_one_place_become_one() {
        use Effect::{Cas, Read, Rmw, Update, Write};
        let cases = [
            (Read, Read, Read),
            (Read, Write, Update),
            (Write, Read, Write),
            (Read, Rmw, Rmw),
            (Read, Cas, Cas),
            (Cas, Cas, Rmw),
            (Write, Cas, Rmw),
            (Update, Write, Update),
        ];
        for (first, second, both) in cases {
            assert_eq!(first.with(second), both, "{first:?} {second:?}");
        }
    }
}
