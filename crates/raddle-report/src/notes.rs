//! Notes that are alike are said once.

use std::collections::BTreeMap;

/// Each note once, in the order in which they came, and how often. Notes that differ only in their numbers, as of one
/// run and another, are alike: the first one stands for them.
#[must_use]
pub fn said_once(notes: Vec<String>) -> Vec<String> {
    let mut firsts: BTreeMap<String, usize> = BTreeMap::new();
    let mut said: Vec<(String, u64)> = Vec::new();
    for note in notes {
        let at = *firsts.entry(shape(&note)).or_insert(said.len());
        match said.get_mut(at) {
            Some((_, count)) => *count += 1,
            None => said.push((note, 1)),
        }
    }
    let told = said.into_iter().map(|(note, count)| match count {
        1 => note,
        _ => format!("{note} ({count} notes like this)"),
    });
    told.collect()
}

/// A note without its numbers.
fn shape(note: &str) -> String {
    let mut shape = String::new();
    for sign in note.chars() {
        match sign.is_ascii_digit() {
            true if shape.ends_with('#') => {}
            true => shape.push('#'),
            false => shape.push(sign),
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_notes_are_counted() {
        let notes = [
            "12 were not tried",
            "other",
            "3 were not tried",
            "7 were not tried",
        ];
        let notes = notes.map(str::to_owned).to_vec();
        let said = ["12 were not tried (3 notes like this)", "other"];
        assert_eq!(said_once(notes), said);
        assert_eq!(said_once(vec!["a".into(), "b".into()]), ["a", "b"]);
    }
}
