//! The one line that says what a finding is, and the words for its accesses.

use std::collections::BTreeSet;
use std::path::Path;

use raddle_trace::position::SourcePosition;

use crate::finding::{Finding, Location};
use crate::kind::{Access, Kind};
use crate::text::{clean, listed};

/// A finding's places, called by as little as tells them apart.
struct Places<'a> {
    finding: &'a Finding,
    directory: &'a Path,
    /// Two files have the same name, in different directories.
    ambiguous: bool,
}

/// What was found and where, in one line.
pub fn headline(finding: &Finding, directory: &Path) -> String {
    let places = Places::new(finding, directory);
    let told = match &finding.kind {
        Kind::DataRace => places.race(),
        Kind::AtomicityViolation | Kind::AtomicSetViolation => places.intrusion(),
        Kind::Deadlock => places.circle(),
        Kind::UseAfterFree => places.use_after_free(),
        Kind::DoubleFree => places.double_free(),
        Kind::NullDereference => places.null(),
        kind if kind.is_failure() => {
            return places.failure();
        }
        _ => None,
    };
    let kind = &finding.kind;
    match told {
        Some(told) => format!("{kind}: {told}"),
        None if finding.locations.is_empty() => kind.to_string(),
        None => format!("{kind} at {}", places.all(&finding.locations)),
    }
}

/// What a thread does at a location: "writes `balance`".
pub fn doing(location: &Location) -> String {
    match &location.variable {
        Some(variable) => format!("{} `{}`", location.access.verb(), clean(variable)),
        None => location.access.phrase().to_owned(),
    }
}

/// A position's file as the user would write it, seen from the current directory.
pub fn file_from(position: &SourcePosition, directory: &Path) -> String {
    let file = Path::new(&position.file);
    match file.strip_prefix(directory) {
        Ok(inside) => clean(&inside.to_string_lossy()),
        Err(_) => clean(&shortened(&position.file)),
    }
}

/// A file of a package or of the language's library, from the package's own directory on: what comes before is where
/// Cargo or rustc keep it.
fn shortened(file: &str) -> String {
    let after = |root: &str| {
        let rest = file.split_once(root)?.1;
        // The name of the registry, the checkout or the compiler's commit.
        rest.split_once('/').map(|it| it.1)
    };
    let roots = ["/registry/src/", "/git/checkouts/"];
    let kept = roots.iter().find_map(|root| after(root));
    let kept = kept.or_else(|| after("/rustc/").filter(|_| file.starts_with("/rustc/")));
    kept.map_or_else(|| file.to_owned(), |it| format!("\u{2026}/{it}"))
}

fn message(finding: &Finding) -> Option<String> {
    let first = finding.outcome_text.as_ref()?.lines().next()?;
    (!first.trim().is_empty()).then(|| clean(first.trim()))
}

impl<'a> Places<'a> {
    fn new(finding: &'a Finding, directory: &'a Path) -> Self {
        let files: BTreeSet<&str> = finding
            .locations
            .iter()
            .flat_map(|it| [Some(&it.position), it.inside.as_ref()])
            .flatten()
            .map(|it| it.file.as_str())
            .collect();
        let names: BTreeSet<&str> = files.iter().map(|it| file_name(it)).collect();
        Self {
            finding,
            directory,
            ambiguous: names.len() < files.len(),
        }
    }

    /// `bank.rs:26`, or `deque.rs:9 (called at bank.rs:26)` inside a package.
    fn name(&self, location: &Location) -> String {
        let called = self.place(&location.position);
        match &location.inside {
            Some(inside) => format!("{} (called at {called})", self.place(inside)),
            None => called,
        }
    }

    fn place(&self, position: &SourcePosition) -> String {
        let mut position = position.clone();
        position.column = 0;
        let file = file_from(&position, self.directory);
        position.file = match self.ambiguous {
            true => file,
            false => file_name(&file).to_owned(),
        };
        match position.to_string().as_str() {
            "?" => "an unknown place".to_owned(),
            name => clean(name),
        }
    }

    /// "panic at src/lib.rs:11: sold more than there is".
    fn failure(&self) -> String {
        let kind = &self.finding.kind;
        let fails = |it: &&Location| it.access == Access::Fail && it.position.line != 0;
        let place = self.finding.locations.iter().find(fails);
        let place = place.map(|it| {
            format!(
                "{}:{}",
                file_from(&it.position, self.directory),
                it.position.line
            )
        });
        match (place, message(self.finding)) {
            (Some(place), Some(message)) => format!("{kind} at {place}: {message}"),
            (Some(place), None) => format!("{kind} at {place}"),
            (None, Some(message)) => format!("{kind}: {message}"),
            (None, None) if self.finding.locations.is_empty() => kind.to_string(),
            (None, None) => format!("{kind} at {}", self.all(&self.finding.locations)),
        }
    }

    fn all<'b>(&self, locations: impl IntoIterator<Item = &'b Location>) -> String {
        let mut names: Vec<String> = Vec::new();
        for location in locations {
            let name = self.name(location);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        listed(&names)
    }

    fn race(&self) -> Option<String> {
        let [one, other] = self.finding.locations.as_slice() else {
            return None;
        };
        let (first, second) = if other.access.writes() && !one.access.writes() {
            (other, one)
        } else {
            (one, other)
        };
        let (here, there) = (self.name(first), self.name(second));
        let verb = second.access.verb();
        let variable = first.variable.as_ref().or(second.variable.as_ref());
        let variable = variable.map(|it| format!("`{}`", clean(it)));
        let does = format!("{here} {}", first.access.verb());
        Some(match (here == there, variable) {
            (true, variable) => {
                let what = variable.as_deref().unwrap_or("the same memory");
                if first.access == second.access {
                    format!("{does} {what} in two threads at once")
                } else {
                    format!("{does} {what} in one thread and {verb} it in another")
                }
            }
            (false, Some(variable)) => format!("{does} {variable} while {there} {verb} it"),
            (false, None) => format!("{does} while {there} {verb} the same memory"),
        })
    }

    /// Other threads came between the first and the last access of the first one's thread.
    fn intrusion(&self) -> Option<String> {
        let locations = &self.finding.locations;
        let first = locations.first()?;
        let end = locations.iter().rposition(|it| it.thread == first.thread)?;
        let last = &locations[end];
        let (start, end) = (self.name(first), self.name(last));
        // Where both threads run the same lines, a line alone does not say whose access is meant.
        let is_shared = |name: &String| *name == start || *name == end;
        let mut between: Vec<String> = locations
            .iter()
            .take_while(|it| !std::ptr::eq(*it, last))
            .filter(|it| it.thread != first.thread)
            .map(|it| {
                let name = self.name(it);
                let whose = if is_shared(&name) {
                    " in another thread"
                } else {
                    ""
                };
                format!("{name}{whose} {}", doing(it))
            })
            .collect();
        between.dedup();
        if between.is_empty() {
            return None;
        }
        let (opens, closes) = (first.access.noun(), last.access.noun());
        let region = match (start == end, opens == closes) {
            (true, true) => format!("the two {opens}s at {start}"),
            (true, false) => format!("the {opens} and the {closes} at {start}"),
            (false, _) => format!("the {opens} at {start} and the {closes} at {end}"),
        };
        Some(format!("{} between {region}", listed(&between)))
    }

    fn circle(&self) -> Option<String> {
        let locations = self.finding.locations.iter();
        let stuck: Vec<&Location> = locations.filter(|it| it.access.blocks()).collect();
        let threads: BTreeSet<_> = stuck.iter().map(|it| it.thread).collect();
        let names = self.all(stuck.iter().copied());
        Some(match threads.len() {
            0 => return None,
            1 if names.contains(" and ") => format!("{names} wait for ever"),
            1 => format!("{names} waits for ever"),
            2 if names.contains(" and ") => format!("{names} wait for each other"),
            2 => format!("two threads wait for each other at {names}"),
            count => format!("{count} threads wait for one another at {names}"),
        })
    }

    fn use_after_free(&self) -> Option<String> {
        let locations = &self.finding.locations;
        let free = locations.iter().find(|it| it.access == Access::Free)?;
        let access = locations.iter().rfind(|it| it.access != Access::Free)?;
        let (access_name, free_name) = (self.name(access), self.name(free));
        Some(match &access.variable {
            Some(_) => format!("{access_name} {} after {free_name} freed it", doing(access)),
            None => format!(
                "{access_name} {} what {free_name} freed",
                access.access.verb()
            ),
        })
    }

    fn double_free(&self) -> Option<String> {
        let [first, .., second] = self.finding.locations.as_slice() else {
            return None;
        };
        let (here, there) = (self.name(second), self.name(first));
        let variable = second.variable.as_ref().or(first.variable.as_ref());
        let variable = variable.map(|it| format!("`{}`", clean(it)));
        Some(match (variable, here == there) {
            (Some(it), true) => format!("{here} frees {it} twice"),
            (None, true) => format!("{here} frees the same memory twice"),
            (Some(it), false) => format!("{here} frees {it} again after {there}"),
            (None, false) => format!("{here} frees again what {there} freed"),
        })
    }

    /// Found null after the one write, or before the other.
    fn null(&self) -> Option<String> {
        let locations = &self.finding.locations;
        let read = locations.iter().position(|it| !it.access.writes())?;
        let write = locations.iter().position(|it| it.access.writes());
        let variable = locations[read].variable.as_ref();
        let object = variable.map_or("a pointer".to_owned(), |it| format!("`{}`", clean(it)));
        let found = format!("{} finds {object} null", self.name(&locations[read]));
        let Some(at) = write else {
            return Some(found);
        };
        let write = &locations[at];
        let written = match &write.variable {
            Some(name) if Some(name) != variable => format!("`{}`", clean(name)),
            _ => "it".to_owned(),
        };
        let place = self.name(write);
        Some(match at < read {
            true => format!("{found} after {place} wrote {written}"),
            false => format!("{found} before {place} writes {written}"),
        })
    }
}

fn file_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_trace::ids::ThreadId;

    /// Locations as `thread access line variable`, the variable `-` if unknown.
    #[track_caller]
    fn check(kind: Kind, locations: &[(u32, Access, u32, &str)], expected: &str) {
        let location = |(thread, access, line, variable): &(u32, Access, u32, &str)| {
            let position = SourcePosition {
                file: "/home/me/src/a.c".into(),
                line: *line,
                column: 3,
                ..SourcePosition::default()
            };
            Location {
                variable: (*variable != "-").then(|| (*variable).to_owned()),
                ..Location::new(ThreadId(*thread), *access, position)
            }
        };
        let finding = Finding {
            locations: locations.iter().map(location).collect(),
            ..Finding::new(kind)
        };
        assert_eq!(headline(&finding, "/home/me".as_ref()), expected);
    }

    #[test]
    fn races() {
        use Access::{Read, Write};
        let race = |locations: &[_], expected| check(Kind::DataRace, locations, expected);
        race(
            &[(1, Read, 5, "x"), (2, Write, 9, "y")],
            "data race: a.c:9 writes `y` while a.c:5 reads it",
        );
        race(
            &[(1, Write, 5, "-"), (2, Write, 9, "-")],
            "data race: a.c:5 writes while a.c:9 writes the same memory",
        );
        race(
            &[(1, Write, 5, "-"), (2, Write, 5, "-")],
            "data race: a.c:5 writes the same memory in two threads at once",
        );
        race(
            &[(1, Read, 5, "x"), (2, Write, 5, "x")],
            "data race: a.c:5 writes `x` in one thread and reads it in another",
        );
        race(&[(1, Read, 5, "x")], "data race at a.c:5");
        race(&[], "data race");
    }

    #[test]
    fn packages_are_named_with_the_line_that_calls_them() {
        let at = |file: &str, line| SourcePosition {
            file: file.into(),
            line,
            ..SourcePosition::default()
        };
        let registry = "/home/me/.cargo/registry/src/index.crates.io-1/deque-0.8.0/src/deque.rs";
        let location = |thread, access, line| Location {
            inside: Some(at(registry, 100 + line)),
            ..Location::new(ThreadId(thread), access, at("/home/me/app/main.rs", line))
        };
        let finding = Finding {
            locations: vec![location(1, Access::Write, 7), location(2, Access::Read, 9)],
            ..Finding::new(Kind::DataRace)
        };
        assert_eq!(
            headline(&finding, "/home/me/app".as_ref()),
            "data race: deque.rs:107 (called at main.rs:7) writes while deque.rs:109 (called at main.rs:9) reads \
             the same memory"
        );
        assert_eq!(
            file_from(&at(registry, 1), "/home/me/app".as_ref()),
            "\u{2026}/deque-0.8.0/src/deque.rs"
        );
    }

    #[test]
    fn intrusions() {
        use Access::{Read, Write};
        let violation =
            |locations: &[_], expected| check(Kind::AtomicityViolation, locations, expected);
        violation(
            &[(1, Read, 5, "x"), (2, Write, 9, "x"), (1, Write, 6, "x")],
            "atomicity violation: a.c:9 writes `x` between the read at a.c:5 and the write at a.c:6",
        );
        violation(
            &[(1, Read, 5, "x"), (2, Write, 5, "x"), (1, Write, 5, "x")],
            "atomicity violation: a.c:5 in another thread writes `x` between the read and the write at a.c:5",
        );
        violation(
            &[(1, Read, 5, "x"), (2, Write, 9, "x"), (1, Read, 5, "x")],
            "atomicity violation: a.c:9 writes `x` between the two reads at a.c:5",
        );
        violation(
            &[(1, Read, 5, "x"), (2, Write, 9, "x")],
            "atomicity violation at a.c:5 and a.c:9",
        );
    }

    #[test]
    fn circles() {
        use Access::{Acquire, Join, Request, Wait};
        let circle = |locations: &[_], expected| check(Kind::Deadlock, locations, expected);
        circle(
            &[
                (1, Acquire, 4, "a"),
                (1, Request, 5, "b"),
                (2, Request, 9, "a"),
            ],
            "deadlock: a.c:5 and a.c:9 wait for each other",
        );
        circle(
            &[(1, Request, 5, "b"), (2, Wait, 9, "c"), (3, Join, 5, "-")],
            "deadlock: 3 threads wait for one another at a.c:5 and a.c:9",
        );
        circle(&[(1, Wait, 5, "b")], "deadlock: a.c:5 waits for ever");
        circle(&[(1, Acquire, 5, "b")], "deadlock at a.c:5");
    }

    #[test]
    fn memory_errors() {
        use Access::{Free, Read, Write};
        check(
            Kind::UseAfterFree,
            &[(1, Free, 5, "-"), (2, Write, 9, "-")],
            "use after free: a.c:9 writes what a.c:5 freed",
        );
        check(
            Kind::DoubleFree,
            &[(1, Free, 5, "p"), (2, Free, 9, "-")],
            "double free: a.c:9 frees `p` again after a.c:5",
        );
        check(
            Kind::DoubleFree,
            &[(1, Free, 5, "-"), (2, Free, 9, "-")],
            "double free: a.c:9 frees again what a.c:5 freed",
        );
        check(
            Kind::DoubleFree,
            &[(1, Free, 5, "p"), (2, Free, 5, "p")],
            "double free: a.c:5 frees `p` twice",
        );
        check(
            Kind::NullDereference,
            &[(1, Write, 5, "p"), (2, Read, 9, "p")],
            "null dereference: a.c:9 finds `p` null after a.c:5 wrote it",
        );
        check(
            Kind::NullDereference,
            &[(2, Read, 9, "-")],
            "null dereference: a.c:9 finds a pointer null",
        );
    }
}
