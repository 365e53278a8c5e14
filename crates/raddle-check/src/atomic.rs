//! Functions that the user means to be atomic, found by their names.
//!
//! A name stands for every function of which it is the whole name or the last part: `deposit` and
//! `Account::deposit` both stand for `bank::Account::deposit`. A `*` stands for anything. Parameters and
//! type arguments, which C++ and Rust have in their functions' names, need not be given.

use std::borrow::Cow;

use raddle_trace::file::Trailer;
use raddle_trace::ids::SiteId;
use raddle_trace::wire::SiteKind;

/// What names stand for in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The entries of the functions, by number.
    pub entries: Vec<SiteId>,
    /// Names of which no call was seen.
    pub missing: Vec<String>,
}

/// Finds functions in the tables of a run, which name all that it called.
#[must_use]
pub fn find(names: &[String], trailer: &Trailer) -> Found {
    let mut found = Found::default();
    for name in names {
        let before = found.entries.len();
        let functions = trailer.sites.iter().filter_map(|info| {
            let is_entry = info.shape.kind == SiteKind::Enter;
            let position = info.positions.last().filter(|_| is_entry)?;
            Some((info.site, position.function.as_str()))
        });
        let fitting = functions.filter(|(_, function)| stands_for(name, function));
        found.entries.extend(fitting.map(|(site, _)| site));
        if found.entries.len() == before {
            found.missing.push(name.clone());
        }
    }
    found.entries.sort_unstable();
    found.entries.dedup();
    found
}

/// What to tell about a name of which no call was seen.
#[must_use]
pub fn missing(name: &str) -> String {
    format!(
        "no call of the atomic function `{name}` was seen: it is called otherwise, or not at all, or the \
         compiler put its code into its callers"
    )
}

/// Whether a name stands for a function.
fn stands_for(name: &str, function: &str) -> bool {
    let plain = without_arguments(function);
    [function, &plain].into_iter().any(|function| {
        let parts = function
            .match_indices("::")
            .map(|(at, part)| at + part.len());
        let mut starts = std::iter::once(0).chain(parts);
        starts.any(|at| matches(name.as_bytes(), &function.as_bytes()[at..]))
    })
}

/// A function's name without parameters and type arguments.
fn without_arguments(function: &str) -> Cow<'_, str> {
    if !function.contains(['<', '(']) {
        return Cow::Borrowed(function);
    }
    let mut plain = String::new();
    let mut depth = 0_u32;
    for c in function.chars() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    // Rust has `::<T>`, and C++ has ` const` behind the parameters.
    let plain = plain.replace("::::", "::");
    let plain = plain.trim_end_matches("::").trim_end_matches(" const");
    Cow::Owned(plain.trim().to_owned())
}

/// Whether a text is what a glob describes.
fn matches(glob: &[u8], text: &[u8]) -> bool {
    // Where to go on if it does not fit: behind the last `*`, with one more byte taken for it.
    let mut retry = None;
    let (mut g, mut t) = (0, 0);
    while t < text.len() {
        match glob.get(g) {
            Some(b'*') => {
                retry = Some((g + 1, t));
                g += 1;
            }
            Some(byte) if *byte == text[t] => {
                g += 1;
                t += 1;
            }
            _ => {
                let Some((behind, from)) = retry else {
                    return false;
                };
                retry = Some((behind, from + 1));
                (g, t) = (behind, from + 1);
            }
        }
    }
    glob[g..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_functions() {
        let check = |name, function| assert!(stands_for(name, function), "{name}: {function}");
        check("deposit", "deposit");
        check("deposit", "bank::Account::deposit");
        check("Account::deposit", "bank::Account::deposit");
        check("Account::*", "bank::Account::deposit");
        check("*posit", "bank::Account::deposit");
        check("bank::*::deposit", "bank::Account::deposit");
        check("deposit", "bank::Account::deposit(int, long)");
        check("deposit", "bank::Account::deposit(int) const");
        check("push", "queue::Queue<T>::push::<i32>");
        check("Queue::push", "queue::Queue<T>::push::<i32>");
        check("Queue<T>::push::<i32>", "queue::Queue<T>::push::<i32>");
        check("main::{closure#0}", "bank::main::{closure#0}");
    }

    #[test]
    fn and_not_for_others() {
        let check = |name, function| assert!(!stands_for(name, function), "{name}: {function}");
        check("deposit", "bank::redeposit");
        check("deposit", "bank::deposit_all");
        check("Account::deposit", "bank::OldAccount::deposit");
        check("*x", "bank::Account::deposit");
        check("", "deposit");
    }
}
