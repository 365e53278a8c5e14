//! Reads the constraints of inline assembly: where each operand is handed over.
//!
//! LLVM writes outputs, inputs and clobbers in one list: `=*m,={ax},r,*m,0,~{memory},~{flags}`. The text of the
//! assembly numbers outputs and inputs from 0. An output that is not indirect is a part of the call's result, and
//! everything else takes one argument of the call.

use super::registers::{self, Register};

/// How an operand is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// As a part of the result: its number there.
    Result(u32),
    /// As an argument: its number.
    Argument(usize),
}

/// An operand of inline assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Constraint {
    pub(super) passed: Passed,
    pub(super) is_output: bool,
    /// Whether the argument is the address of the operand.
    pub(super) is_indirect: bool,
    /// The output that an input shares its register with.
    pub(super) tied: Option<usize>,
    /// The register that it has to be in.
    pub(super) register: Option<Register>,
}

/// The operands of a list of constraints, by number; clobbers and labels are left out.
pub(super) fn parse(list: &str) -> Vec<Constraint> {
    let mut operands = Vec::new();
    let (mut results, mut arguments) = (0, 0);
    for text in split(list) {
        if text.starts_with(['~', '!']) || text.is_empty() {
            continue;
        }
        let codes = text.trim_start_matches(['=', '+', '*', '&', '%']);
        let modifiers = &text[..text.len() - codes.len()];
        let is_output = modifiers.contains('=');
        let is_indirect = modifiers.contains('*');
        let passed = if is_output && !is_indirect {
            results += 1;
            Passed::Result(results - 1)
        } else {
            arguments += 1;
            Passed::Argument(arguments - 1)
        };
        let name = codes
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        operands.push(Constraint {
            passed,
            is_output,
            is_indirect,
            tied: codes.parse().ok(),
            register: name.and_then(registers::find),
        });
    }
    operands
}

/// The parts of a list; a comma within braces belongs to its part.
fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut is_inside = false;
    list.split(move |c| {
        match c {
            '{' => is_inside = true,
            '}' => is_inside = false,
            _ => {}
        }
        c == ',' && !is_inside
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `result 0` or `argument 1`, with what else is special about it.
    fn describe(list: &str) -> Vec<String> {
        let one = |it: Constraint| {
            let mut text = match it.passed {
                Passed::Result(number) => format!("result {number}"),
                Passed::Argument(number) => format!("argument {number}"),
            };
            if it.is_indirect {
                text += if it.is_output { " out" } else { " in" };
            }
            if let Some(tied) = it.tied {
                text += &format!(" tied {tied}");
            }
            if let Some(register) = it.register {
                text += &format!(" {}", register.whole);
            }
            text
        };
        parse(list).into_iter().map(one).collect()
    }

    #[test]
    fn operands_are_numbered_as_in_the_text() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("~{memory},~{dirflag},~{fpsr},~{flags}", &[]),
            ("=*m,*m,~{memory}", &["argument 0 out", "argument 1 in"]),
            ("=r,*m", &["result 0", "argument 0 in"]),
            (
                "={ax},=*m,r,*m,0,~{memory}",
                &[
                    "result 0 rax",
                    "argument 0 out",
                    "argument 1",
                    "argument 2 in",
                    "argument 3 tied 0",
                ],
            ),
            (
                "=&r,=&{r8d},{di}",
                &["result 0", "result 1 r8", "argument 0 rdi"],
            ),
            ("=@cce,=*m", &["result 0", "argument 0 out"]),
            ("r,!i,~{flags}", &["argument 0"]),
        ];
        for (list, expected) in cases {
            assert_eq!(describe(list), *expected, "{list}");
        }
    }
}
