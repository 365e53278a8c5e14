//! Takes the text of inline assembly apart, into instructions and their operands.
//!
//! LLVM's text refers to operands as `$0` or, with a modifier, `${0:q}`; `$$` is a dollar sign, `$(a$|b$)` has one
//! alternative for each dialect, and `${:uid}` is a number that makes labels unique. AT&T's dialect names the
//! destination last and puts addresses into parentheses, Intel's names it first and puts them into brackets; here
//! the destination is last always. What is not understood is a [`Operand::Other`], or a place that is not known.

use super::place::{self, Place};

/// Whose notation the text is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Att,
    Intel,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    /// Whether it has the prefix `lock`.
    pub(super) is_locked: bool,
    /// Whether it has one of the prefixes that repeat it.
    pub(super) is_repeated: bool,
    /// Whether a jump before it may lead past it.
    pub(super) is_conditional: bool,
    /// In lower case.
    pub(super) name: String,
    /// The destination comes last.
    pub(super) operands: Vec<Operand>,
}

/// An operand of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// An operand of the whole assembly: a value or, if it is handed over by its address, memory.
    Numbered {
        number: usize,
        /// How its register is to be called: `b`, `w`, `k`, `q` for 1, 2, 4, 8 bytes.
        modifier: Option<char>,
        /// Bytes after its address.
        offset: i64,
        /// Its width, where the text says so.
        bytes: Option<u64>,
    },
    /// A register that the text names, with its width.
    Register(u64),
    /// Memory at an address that the text computes.
    Memory(Place),
    /// A number, a label, or something unknown.
    Other,
}

/// Stands before and after a reference to an operand, once LLVM's escapes are resolved.
pub(super) const OPEN: char = '\u{1}';
pub(super) const CLOSE: char = '\u{2}';

const REPEATS: [&str; 5] = ["rep", "repe", "repz", "repne", "repnz"];
/// Prefixes that change nothing here.
const IDLE_PREFIXES: [&str; 9] = [
    "data16", "addr32", "bnd", "notrack", "xacquire", "xrelease", "rex64", "ds", "cs",
];

/// The instructions of a text, in order.
pub(super) fn parse(text: &str, dialect: Dialect) -> Vec<Instruction> {
    let text = without_comments(&resolve(text, dialect));
    let mut instructions = Vec::new();
    let (mut is_locked, mut is_repeated, mut is_conditional) = (false, false, false);
    for statement in text.split(['\n', ';']) {
        let mut rest = without_labels(statement);
        loop {
            let (word, after) = first_word(rest);
            let word = word.to_ascii_lowercase();
            if word == "lock" {
                is_locked = true;
            } else if REPEATS.contains(&word.as_str()) {
                is_repeated = true;
            } else if !IDLE_PREFIXES.contains(&word.as_str()) {
                break;
            }
            rest = after;
        }
        let (name, after) = first_word(rest);
        if name.is_empty() || name.starts_with('.') {
            // A prefix by itself belongs to the next instruction; a directive is none.
            continue;
        }
        let mut operands = operands(after, dialect);
        if dialect == Dialect::Intel {
            operands.reverse();
        }
        let name = name.to_ascii_lowercase();
        let jumps = name.starts_with('j') || name.starts_with("loop");
        instructions.push(Instruction {
            is_locked: std::mem::take(&mut is_locked),
            is_repeated: std::mem::take(&mut is_repeated),
            is_conditional,
            name,
            operands,
        });
        is_conditional |= jumps;
    }
    instructions
}

/// Puts references between [`OPEN`] and [`CLOSE`], as `number` or `number:modifier`, and resolves the other escapes.
fn resolve(text: &str, dialect: Dialect) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    // Within alternatives: the number of the current one.
    let mut alternative: Option<usize> = None;
    let wanted = usize::from(dialect == Dialect::Intel);
    while let Some(c) = chars.next() {
        let is_hidden = alternative.is_some_and(|it| it != wanted);
        let mut add = |text: &str| {
            if !is_hidden {
                out.push_str(text);
            }
        };
        if c != '$' {
            add(c.encode_utf8(&mut [0; 4]));
            continue;
        }
        match chars.peek().copied() {
            Some('(') => alternative = Some(0),
            Some('|') => alternative = alternative.map(|it| it + 1),
            Some(')') => alternative = None,
            Some('{') => {
                let inside: String = chars.by_ref().skip(1).take_while(|&it| it != '}').collect();
                if !inside.starts_with(':') {
                    add(&format!("{OPEN}{inside}{CLOSE}"));
                }
                continue;
            }
            Some(digit) if digit.is_ascii_digit() => {
                let mut number = String::new();
                while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                    number.push(digit);
                }
                add(&format!("{OPEN}{number}{CLOSE}"));
                continue;
            }
            _ => add("$"),
        }
        chars.next();
    }
    out
}

/// The text without what assemblers skip.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        rest = after.split_once("*/").map_or("", |it| it.1);
    }
    out.push_str(rest);
    let lines = out.lines().map(|line| {
        let end = line.find('#').into_iter().chain(line.find("//")).min();
        &line[..end.unwrap_or(line.len())]
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A statement without the labels in front.
fn without_labels(statement: &str) -> &str {
    let mut rest = statement.trim();
    loop {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "._$@:".contains(c) || c < ' ';
        let end = rest.find(|c| !is_part(c) || c == ':').unwrap_or(rest.len());
        // References contain colons of their own, and segments stand before a colon within operands only.
        match rest[end..].strip_prefix(':') {
            Some(after) if end > 0 && !rest[..end].contains(OPEN) => rest = after.trim_start(),
            _ => return rest,
        }
    }
}

fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(|c: char| c.is_whitespace() || c == ',');
    text.split_at(end.unwrap_or(text.len()))
}

/// The operands as they are written.
fn operands(text: &str, dialect: Dialect) -> Vec<Operand> {
    let mut depth = 0;
    let parts = text.split(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    let parts = parts.map(str::trim).filter(|it| !it.is_empty());
    let read = |text| match dialect {
        Dialect::Att => place::att(text),
        Dialect::Intel => place::intel(text),
    };
    parts.map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `[if] [lock] [rep] name operand, operand`.
    pub(super) fn show(text: &str, dialect: Dialect) -> Vec<String> {
        let one = |it: Instruction| {
            let operands: Vec<String> = it.operands.iter().map(place::show).collect();
            let flags = [
                (it.is_conditional, "if "),
                (it.is_locked, "lock "),
                (it.is_repeated, "rep "),
            ];
            let flags: String = flags.iter().filter(|it| it.0).map(|it| it.1).collect();
            format!("{flags}{} {}", it.name, operands.join(", "))
                .trim_end()
                .to_owned()
        };
        parse(text, dialect).into_iter().map(one).collect()
    }

    #[test]
    fn att_is_taken_apart() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("# only a comment\n /* two\nlines */", &[]),
            ("pause", &["pause"]),
            ("rep; nop", &["rep nop"]),
            ("lock; incl $0", &["lock incl $0"]),
            ("lock\n\tincl $0 # there", &["lock incl $0"]),
            ("LOCK INCL $0", &["lock incl $0"]),
            (
                "lock; cmpxchg $2,$1; sete $0",
                &["lock cmpxchg $2, $1", "sete $0"],
            ),
            ("xchgl ${0:k}, $1", &["xchgl $0:k, $1"]),
            ("movq %rax, 8($1)", &["movq register 8, [$1 +8]"]),
            ("movl $$5, ($0)", &["movl other, [$0]"]),
            (
                "movl -4($0,$1,4), %eax",
                &["movl [$0 +$1*4 -4], register 4"],
            ),
            ("movl ${2:c}($0), %eax", &["movl [$0 +$2], register 4"]),
            ("lock; addl $$0,0(%rsp)", &["lock addl other, [rsp]"]),
            ("movl %fs:0x28, %eax", &["movl [+40 ?], register 4"]),
            ("movl counter(%rip), %eax", &["movl [rip ?], register 4"]),
            ("movl 4+$0, $1", &["movl $0+4, $1"]),
            ("movq ${0:H}, %rax", &["movq $0+8, register 8"]),
            (
                "1: testl $0,$0; jz 2f; movl ($0),$1; 2:",
                &["testl $0, $0", "jz other", "if movl [$0], $1"],
            ),
            ("spin${:uid}: nop", &["nop"]),
            (
                ".pushsection .smp_locks,\"a\"\n.long 671f\n.popsection\n671:\n\tlock; decl $0",
                &["lock decl $0"],
            ),
            ("$(mov $0,$1$|mov $1,$0$)", &["mov $0, $1"]),
            ("call *8($0)", &["call [$0 +8]"]),
        ];
        for (text, expected) in cases {
            assert_eq!(show(text, Dialect::Att), *expected, "{text}");
        }
    }

    #[test]
    fn intel_is_taken_apart() {
        let cases: &[(&str, &[&str])] = &[
            ("lock inc dword ptr [${0:q}]", &["lock inc [$0]:4"]),
            ("mov ${0:e}, dword ptr [${1:q}]", &["mov [$1]:4, $0:e"]),
            ("mov qword ptr [$0 + 8], $1", &["mov $1, [$0 +8]:8"]),
            (
                "xchg byte ptr [rdi + 4*${1:q} - 0x10], al",
                &["xchg register 1, [rdi +$1*4 -16]:1"],
            ),
            ("mov eax, [rip + counter]", &["mov [rip ?], register 4"]),
            (
                "lock inc dword ptr [rip + ${0:c}]",
                &["lock inc [rip +$0]:4"],
            ),
            (
                "mov rax, qword ptr fs:[0x28]",
                &["mov [+40 ?]:8, register 8"],
            ),
            ("add dword ptr $0, 5", &["add other, $0:4"]),
            ("cmpxchg16b xmmword ptr [rsi]", &["cmpxchg16b [rsi]:16"]),
            ("$(mov $0,$1$|mov $1,$0$)", &["mov $0, $1"]),
        ];
        for (text, expected) in cases {
            assert_eq!(show(text, Dialect::Intel), *expected, "{text}");
        }
    }
}
