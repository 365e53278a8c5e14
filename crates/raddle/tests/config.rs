//! `raddle.toml`: a project's own patterns and atomic functions, options, and what is wrong with them.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Said, cargo_raddle, exit, fresh_dir, raddle, say};
use serde::Deserialize;

/// What `--format json` prints, as far as it is looked at.
#[derive(Debug, Deserialize)]
struct Report {
    findings: Vec<Finding>,
}

#[derive(Debug, Deserialize)]
struct Finding {
    kind: String,
    status: String,
    severity: String,
    clip: Option<PathBuf>,
}

/// One thread publishes a value and then looks at it, another publishes, too, each time under a lock: nothing goes
/// wrong whatever is seen.
const PUBLISH: &str = r"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int latest;

static void *mine(void *arg) {
    pthread_mutex_lock(&lock);
    latest = 1;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    long seen = latest;
    pthread_mutex_unlock(&lock);
    return (char *)arg + seen;
}

static void *other(void *arg) {
    pthread_mutex_lock(&lock);
    latest = 2;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, mine, 0);
    pthread_create(&two, 0, other, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
";

/// A directory with this program as `program.c` and this `raddle.toml`.
fn project(name: &str, config: &str) -> PathBuf {
    let dir = fresh_dir(name);
    fs::write(dir.join("program.c"), PUBLISH).unwrap();
    fs::write(dir.join("raddle.toml"), config).unwrap();
    dir
}

fn check(dir: &Path, args: &[&str]) -> Command {
    let mut command = raddle(["check", "--quiet", "program.c"]);
    command.args(args).current_dir(dir);
    command
}

fn report(said: Said, code: i32) -> Report {
    let said = said.expect(code).unwrap();
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.all()))
}

fn json(dir: &Path, args: &[&str], code: i32) -> Report {
    let args = [&["--format", "json"], args].concat();
    report(say(&mut check(dir, &args)), code)
}

fn kinds(report: &Report) -> Vec<(&str, &str, &str)> {
    let findings = report.findings.iter();
    findings
        .map(|it| (&*it.kind, &*it.status, &*it.severity))
        .collect()
}

#[test]
fn a_pattern_of_the_users_is_found_and_confirmed() {
    let config = r#"
        [[pattern]]
        name = "overwritten"
        events = "e1-e2-e3"
        threads = "t1-t2-t1"
        variables = "s-s-s"
        regions = "u1-u2-u3"
        access = "w-w-r"
    "#;
    let dir = project("config-pattern", config);
    let found = json(&dir, &[], exit::FOUND);
    assert_eq!(
        kinds(&found),
        [("pattern:overwritten", "confirmed", "bug")],
        "{found:?}"
    );
    let clip = dir.join(found.findings[0].clip.as_ref().unwrap());
    let mut replay = raddle(["replay", "--quiet", "--times", "5"]);
    say(replay.arg(clip).current_dir(&dir))
        .expect(exit::CLEAN)
        .unwrap();
}

#[test]
fn what_an_atomic_function_suffers_is_a_bug() {
    let dir = project("config-atomic", "");
    assert!(json(&dir, &[], exit::CLEAN).findings.is_empty());
    let suspected = json(&dir, &["--all"], exit::CLEAN);
    let expected = [("atomicity-violation", "confirmed", "warning")];
    assert_eq!(kinds(&suspected), expected, "{suspected:?}");
    let line = |text: &str| {
        let mut lines = (1..).zip(PUBLISH.lines());
        lines.find(|it| it.1.contains(text)).unwrap().0
    };
    let block: (u32, u32) = (line("latest = 1"), line("seen = latest"));
    let block = format!("program.c:{}-{}", block.0, block.1);
    for name in ["mine", "m*", &block] {
        let config = format!("atomic = [\"{name}\"]\n");
        fs::write(dir.join("raddle.toml"), config).unwrap();
        let found = json(&dir, &[], exit::FOUND);
        let expected = [("atomicity-violation", "confirmed", "bug")];
        assert_eq!(kinds(&found), expected, "{name}: {found:?}");
    }
}

#[test]
fn an_atomic_function_may_be_inlined() {
    let dir = project("config-atomic-inlined", "atomic = [\"publish_and_look\"]\n");
    let inlined = PUBLISH
        .replace(
            "static void *mine",
            "static inline __attribute__((always_inline)) void *publish_and_look",
        )
        .replace(
            "static void *other",
            "static void *mine(void *arg) { return publish_and_look(arg); }\nstatic void *other",
        );
    fs::write(dir.join("program.c"), inlined).unwrap();
    let found = json(&dir, &[], exit::FOUND);
    let expected = [("atomicity-violation", "confirmed", "bug")];
    assert_eq!(kinds(&found), expected, "{found:?}");
}

#[test]
fn an_atomic_function_that_is_never_called_is_named() {
    let dir = project("config-atomic-missing", "atomic = [\"mime\"]\n");
    let said = say(&mut check(&dir, &[])).expect(exit::CLEAN).unwrap();
    assert!(said.stdout.contains("`mime`"), "{}", said.all());
}

#[test]
fn the_command_line_comes_before_the_environment_and_the_file() {
    let dir = project("config-order", "[check]\nout = \"by-file\"\nseed = 5\n");
    let inner = dir.join("inner");
    fs::create_dir(&inner).unwrap();
    // The file is found from below, and its paths are its own.
    let source = dir.join("program.c");
    let call = || {
        let mut command = raddle(["check", "--quiet"]);
        command.arg(&source).current_dir(&inner);
        command
    };
    say(&mut call()).expect(exit::CLEAN).unwrap();
    assert!(dir.join("by-file/build").is_dir());
    say(call().env("RADDLE_CHECK_OUT", "by-environment"))
        .expect(exit::CLEAN)
        .unwrap();
    assert!(inner.join("by-environment/build").is_dir());
    say(call()
        .env("RADDLE_CHECK_OUT", "by-environment-again")
        .args(["--out", "by-command-line"]))
    .expect(exit::CLEAN)
    .unwrap();
    assert!(inner.join("by-command-line/build").is_dir());
    assert!(!inner.join("by-environment-again").exists());

    let said = say(call().env("RADDLE_CHECK_RUNS", "many"))
        .expect(exit::USAGE)
        .unwrap();
    assert!(said.stderr.contains("RADDLE_CHECK_RUNS"), "{}", said.all());
    let said = say(call().env("RADDLE_CHECK_RUNZ", "2"))
        .expect(exit::CLEAN)
        .unwrap();
    assert!(said.stderr.contains("RADDLE_CHECK_RUNZ"), "{}", said.all());
}

#[test]
fn a_flag_of_the_file_is_taken_back_on_the_command_line() {
    let dir = project("config-flag", "[check]\nall = true\n");
    assert_eq!(json(&dir, &[], exit::CLEAN).findings.len(), 1);
    let none = json(&dir, &["--all=false"], exit::CLEAN);
    assert!(none.findings.is_empty(), "{none:?}");
}

#[test]
fn the_program_gets_the_files_variables() {
    let dir = project("config-env", "[check]\nenv = { GREETING = \"hello\" }\n");
    let greets = r#"
        #include <stdlib.h>
        #include <string.h>
        int main(void) {
            const char *greeting = getenv("GREETING");
            return greeting && strcmp(greeting, "hello") == 0 ? 0 : 3;
        }
    "#;
    fs::write(dir.join("program.c"), greets).unwrap();
    say(&mut check(&dir, &[])).expect(exit::CLEAN).unwrap();
    let said = say(&mut check(
        &dir,
        &["--env", "GREETING=no", "--expect-exit", "0"],
    ));
    said.expect(exit::FOUND).unwrap();
}

#[test]
fn mistakes_are_told_with_their_place() {
    let pattern = |change: (&str, &str)| {
        let text = "[[pattern]]\nname = \"mine\"\nthreads = \"t1-t2-t1\"\nvariables = \"s-s-s\"\n\
                    regions = \"u1-u2-u1\"\naccess = \"r-w-r\"\n";
        assert!(text.contains(change.0));
        text.replace(change.0, change.1)
    };
    let cases = [
        (
            "[check]\nrnus = 3".to_owned(),
            ":2:1",
            "did you mean `runs`?",
        ),
        (
            "[chekc]\nruns = 3".to_owned(),
            ":1:2",
            "did you mean `check`?",
        ),
        ("[check]\nruns = \"3\"".to_owned(), ":2:8", "string"),
        ("[check]\nruns = 0".to_owned(), ":2:8", "nonzero"),
        ("[check]\ntimeout = 0".to_owned(), ":2:11", "time"),
        ("[check]\nstrategy = \"lucky\"".to_owned(), ":2:12", "pct"),
        ("[check\n".to_owned(), ":1:", ""),
        ("atomic = [\"two words\"]".to_owned(), ":1:11", "blanks"),
        (
            "atomic = \"mine\"".to_owned(),
            ":1:10",
            "expected a sequence",
        ),
        (pattern(("r-w-r", "r-x-r")), ":2:8", "`x`"),
        (
            pattern(("s-s-s", "s-s")),
            ":2:8",
            "`variables` has 2 entries",
        ),
        (pattern(("\"s-s-s\"", "3")), ":4:13", "dashes"),
        (pattern(("mine", "my own")), ":2:8", "no name for a pattern"),
        (
            pattern(("threads", "thread")),
            ":3:1",
            "did you mean `threads`?",
        ),
        (pattern(("access = \"r-w-r\"\n", "")), ":1:1", "`access`"),
        (
            [pattern(("mine", "mine")), pattern(("mine", "mine"))].concat(),
            ":8:8",
            "two patterns `mine`",
        ),
    ];
    let dir = project("config-mistakes", "");
    for (config, place, what) in cases {
        fs::write(dir.join("raddle.toml"), &config).unwrap();
        let said = say(&mut check(&dir, &[])).expect(exit::USAGE).unwrap();
        for word in [&format!("raddle.toml{place}"), what] {
            assert!(
                said.stderr.contains(word),
                "{config}\n{word}: {}",
                said.all()
            );
        }
    }
    let said = say(&mut check(&dir, &["--config", "none.toml"]));
    let said = said.expect(exit::USAGE).unwrap();
    assert!(said.stderr.contains("none.toml"), "{}", said.all());
}

#[test]
fn a_cargo_package_is_checked_with_its_own_file() {
    let dir = fresh_dir("config-cargo");
    let manifest =
        "[package]\nname = \"racer\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(dir.join("Cargo.toml"), manifest).unwrap();
    fs::create_dir(dir.join("src")).unwrap();
    let source = "
        use std::thread;
        static mut SHARED: u32 = 0;
        fn main() {
            let one = thread::spawn(|| unsafe { SHARED = 1 });
            let two = thread::spawn(|| unsafe { SHARED = 2 });
            one.join().unwrap();
            two.join().unwrap();
        }
    ";
    fs::write(dir.join("src/main.rs"), source).unwrap();
    fs::write(dir.join("raddle.toml"), "[check]\nout = \"kept\"\n").unwrap();
    let mut command = cargo_raddle(["check", "--quiet", "--format", "json", "--bin", "racer"]);
    command.current_dir(&dir).env("CARGO_TERM_COLOR", "never");
    let found = report(say(&mut command), exit::FOUND);
    assert_eq!(kinds(&found), [("data-race", "confirmed", "bug")]);
    assert!(dir.join("kept/clips").is_dir());
}
