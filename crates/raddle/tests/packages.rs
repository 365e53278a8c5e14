//! Findings in the code of packages: the line of the user's own code and the line in the package are both told, wherever
//! the package comes from, and nothing is told by a line of the language's own library.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Said, cargo_raddle, exit, fresh_dir, say};
use serde_json::Value;

/// A slot that is not safe to share, although it says so.
const SLOT: &str = r"
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicPtr, Ordering};

pub struct Slot {
    count: UnsafeCell<u64>,
    content: AtomicPtr<u64>,
}

unsafe impl Sync for Slot {}

impl Slot {
    pub fn new(value: u64) -> Self {
        Self {
            count: UnsafeCell::new(0),
            content: AtomicPtr::new(Box::into_raw(Box::new(value))),
        }
    }

    pub fn count(&self) {
        self.add();
    }

    #[inline(never)]
    fn add(&self) {
        unsafe { *self.count.get() += 1 } // racing
    }

    pub fn get(&self) -> u64 {
        let content = self.content.load(Ordering::Acquire);
        unsafe { content.as_ref().copied().unwrap_or_default() } // using
    }

    pub fn empty(&self) {
        let content = self.content.swap(std::ptr::null_mut(), Ordering::AcqRel);
        if !content.is_null() {
            drop(unsafe { Box::from_raw(content) }); // freeing
        }
    }
}
";

const MAIN: &str = r#"
use slot::Slot;

fn main() {
    let slot = Slot::new(1);
    let what = std::env::args().nth(1).unwrap_or_default();
    std::thread::scope(|scope| {
        if what == "race" {
            scope.spawn(|| slot.count()); // first
            scope.spawn(|| slot.count()); // second
        } else {
            scope.spawn(|| slot.get()); // user
            scope.spawn(|| slot.empty()); // freer
        }
    });
}
"#;

/// A program with its only dependency.
struct Project {
    dir: PathBuf,
    slot: PathBuf,
}

impl Project {
    /// The package lies at a path that is seen from the program's.
    fn new(name: &str, slot: &str) -> Self {
        let dir = fresh_dir(name).join("app");
        let slot = dir.join(slot);
        fs::create_dir_all(&dir).unwrap();
        let manifest = |name: &str| {
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n")
        };
        let path = slot.display();
        let dependency = format!(
            "[dependencies]\nslot = {{ path = \"{path}\" }}\n\n[workspace]\nexclude = [\"vendor\"]\n"
        );
        write(&dir.join("Cargo.toml"), &(manifest("app") + &dependency));
        write(&dir.join("src/main.rs"), MAIN);
        write(&slot.join("Cargo.toml"), &manifest("slot"));
        write(&slot.join("src/lib.rs"), SLOT);
        let slot = slot.canonicalize().unwrap();
        Self { dir, slot }
    }

    fn check(&self, what: &str, format: &str) -> Said {
        let args = ["check", "--time", "20", "--format", format, "--", what];
        let mut command = cargo_raddle(args);
        command.env_remove("CARGO_TARGET_DIR");
        let said = say(command.current_dir(&self.dir));
        said.expect(exit::FOUND).unwrap()
    }

    /// The one finding, as JSON.
    fn finding(&self, what: &str) -> Value {
        let said = self.check(what, "json");
        let report: Value = serde_json::from_str(&said.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{}", said.all());
        findings[0].clone()
    }

    /// Complains unless a place of a finding is a line of the program that calls a line of the package.
    #[track_caller]
    fn expect_place(&self, place: &Value, own: &str, inside: &str) {
        let at = |place: &Value| {
            let file = place["file"].as_str().unwrap_or_default().to_owned();
            (PathBuf::from(file), place["line"].as_u64().unwrap_or(0))
        };
        let main = self.dir.join("src/main.rs");
        assert_eq!(at(place), (main, line(MAIN, own)), "{place:#}");
        let package = self.slot.join("src/lib.rs");
        let inner = at(&place["inside"]);
        assert_eq!(inner, (package, line(SLOT, inside)), "{place:#}");
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The number of the line with a comment.
fn line(text: &str, comment: &str) -> u64 {
    let comment = format!("// {comment}");
    let at = text.lines().position(|it| it.ends_with(&comment));
    at.unwrap() as u64 + 1
}

fn both_lines_are_told(name: &str, slot: &str) {
    let project = Project::new(name, slot);
    let race = project.finding("race");
    assert_eq!(race["kind"], "data-race");
    let mut callers = ["first", "second"];
    if race["locations"][0]["line"] != line(MAIN, "first") {
        callers.reverse();
    }
    for (place, caller) in [0, 1].map(|it| &race["locations"][it]).iter().zip(callers) {
        project.expect_place(place, caller, "racing");
        assert_eq!(place["variable"], "self.count", "{place:#}");
    }

    let used = project.finding("use");
    assert_eq!(used["kind"], "use-after-free");
    let access = |place: &Value| place["access"].as_str().map(str::to_owned);
    let freed = (0..2).map(|it| &used["locations"][it]);
    for place in freed {
        match access(place).as_deref() {
            Some("free") => project.expect_place(place, "freer", "freeing"),
            _ => project.expect_place(place, "user", "using"),
        }
    }
    let message = used["message"].as_str().unwrap_or_default();
    let places = [
        format!("src/lib.rs:{}:", line(SLOT, "freeing")),
        format!("src/main.rs:{}:", line(MAIN, "freer")),
    ];
    for place in places {
        assert!(message.contains(&place), "{place}: {message}");
    }
    for text in [&race["headline"], &used["headline"], &used["message"]] {
        let text = text.as_str().unwrap_or_default();
        assert!(!text.contains("rustc"), "{text}");
    }
}

#[test]
fn a_package_from_a_registry() {
    both_lines_are_told(
        "packages-registry",
        "../home/registry/src/index-1/slot-0.1.0",
    );
}

#[test]
fn a_package_from_a_repository() {
    both_lines_are_told("packages-git", "../home/git/checkouts/slot-0123/4567/slot");
}

#[test]
fn a_package_beside_the_workspace() {
    let name = "packages-path";
    both_lines_are_told(name, "../slot");
}

#[test]
fn a_package_within_the_workspaces_directory() {
    both_lines_are_told("packages-vendored", "vendor/slot");
}

#[test]
fn no_frame_is_left_out_of_a_package_that_lies_elsewhere() {
    let project = Project::new("packages-frames", "../slot");
    let said = project.check("race", "text");
    for function in ["slot::Slot::add", "slot::Slot::count", "app::main::"] {
        assert!(said.stdout.contains(function), "{function}: {}", said.all());
    }
}

#[test]
fn a_member_of_the_workspace_is_the_users_own() {
    let project = Project::new("packages-member", "slot");
    let manifest = project.dir.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    write(
        &manifest,
        &text.replace("exclude = [\"vendor\"]", "members = [\"slot\"]"),
    );
    let race = project.finding("race");
    for place in race["locations"].as_array().unwrap() {
        assert_eq!(place["line"], line(SLOT, "racing"), "{place:#}");
        assert_eq!(place["inside"], Value::Null, "{place:#}");
    }
}
