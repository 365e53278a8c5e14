//! When something is wrong, the tool says what, and what to do; it is never green by accident.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Said, exit, fresh_dir, program, raddle, run, say};

/// Complains unless standard error speaks of each of `words`.
fn tells(said: &Said, words: &[&str]) {
    for word in words {
        assert!(
            said.stderr.contains(word),
            "nothing about `{word}` in {}",
            said.all()
        );
    }
}

/// A failing clip of `fail/race.c`, copied so that it can be changed.
fn clip(dir: &Path) -> (PathBuf, PathBuf) {
    let source = dir.join("race.c");
    fs::copy(program("fail/race.c"), &source).unwrap();
    let said = run(
        &source,
        &dir.join("out"),
        &["--strategy", "pos", "--runs", "200"],
    )
    .expect(exit::FOUND)
    .unwrap();
    (source, said.clip().unwrap())
}

#[test]
fn a_program_without_hooks_is_not_green() {
    let dir = fresh_dir("not-instrumented");
    let binary = dir.join("plain");
    let built = Command::new("cc")
        .args(["-pthread", "-o"])
        .arg(&binary)
        .arg(program("pass/race.c"))
        .status();
    assert!(built.unwrap().success());
    let said = say(raddle(["run", "--"]).arg(&binary))
        .expect(exit::NOT_INSTRUMENTED)
        .unwrap();
    tells(
        &said,
        &["nothing was instrumented", "raddle cc", "cargo raddle"],
    );
}

#[test]
fn a_missing_clang_is_named_with_its_package() {
    let dir = fresh_dir("no-clang");
    let tools = dir.join("bin");
    fs::create_dir(&tools).unwrap();
    for tool in ["cc", "gcc", "ld", "as", "rustc", "cargo"] {
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|dir| dir.join(tool))
            .find(|it| it.exists());
        if let Some(found) = found {
            symlink(found, tools.join(tool)).unwrap();
        }
    }
    let mut command = raddle(["run", "--out"]);
    let said = say(command
        .arg(dir.join("out"))
        .arg(program("pass/race.c"))
        .env("PATH", &tools))
    .expect(exit::USAGE)
    .unwrap();
    tells(&said, &["clang", "apt"]);
    let doctor = say(raddle(["doctor"]).env("PATH", &tools));
    let line = doctor
        .line("clang ")
        .unwrap_or_else(|| panic!("{}", doctor.all()));
    assert!(
        line.contains("MISSING") && line.contains("apt install clang"),
        "{line}"
    );
}

#[test]
fn a_clip_of_another_build_is_refused() {
    let dir = fresh_dir("other-build");
    let (source, clip) = clip(&dir);
    let text = fs::read_to_string(&source).unwrap();
    fs::write(&source, text.replace("counter++", "counter += 2")).unwrap();
    let said = say(raddle(["replay"]).arg(&clip))
        .expect(exit::USAGE)
        .unwrap();
    let clip = fs::read_to_string(&clip).unwrap();
    let build = clip
        .lines()
        .find_map(|line| line.strip_prefix("build "))
        .unwrap();
    tells(&said, &[build, "build"]);
    let ids = said
        .stderr
        .split(|it: char| !it.is_ascii_hexdigit())
        .filter(|word| word.len() == build.len());
    assert_eq!(
        ids.collect::<std::collections::BTreeSet<_>>().len(),
        2,
        "both build ids: {}",
        said.all()
    );
}

#[test]
fn an_edited_clip_says_where_it_is_wrong() {
    let dir = fresh_dir("edited-clip");
    let (_, clip) = clip(&dir);
    let text = fs::read_to_string(&clip).unwrap();
    let behind = format!("line {}, column 1", text.lines().count() + 1);
    let cases = [
        (
            text.replacen("raddle clip 1", "raddle clip 9", 1),
            "line 1, column 13",
            "version 9",
        ),
        (format!("{text}T1@x -> T0\n"), &behind, "`T1@x`"),
        (
            text.lines().take(3).collect::<Vec<_>>().join("\n"),
            "line 4, column 1",
            "`switches:`",
        ),
        (String::new(), "line 1, column 1", "`raddle clip 1`"),
    ];
    for (changed, place, what) in cases {
        let path = dir.join("changed.clip");
        fs::write(&path, changed).unwrap();
        let said = say(raddle(["replay"]).arg(&path))
            .expect(exit::USAGE)
            .unwrap();
        tells(&said, &["changed.clip", place, what]);
    }
}

#[test]
fn a_schedule_that_cannot_be_followed_says_where() {
    let dir = fresh_dir("diverging-clip");
    let (_, clip) = clip(&dir);
    let text = fs::read_to_string(&clip).unwrap();
    let (head, _) = text.split_once("switches:\n").unwrap();
    fs::write(&clip, format!("{head}switches:\nT0@4 -> T7\n")).unwrap();
    let said = say(raddle(["replay"]).arg(&clip))
        .expect(exit::DIFFERS)
        .unwrap();
    for word in ["NOT the same", "event ", "T0@", "expected ", "came "] {
        assert!(
            said.stdout.contains(word),
            "nothing about `{word}` in {}",
            said.all()
        );
    }
}

#[test]
fn a_truncated_trace_is_read_up_to_its_last_whole_block() {
    let dir = fresh_dir("truncated");
    let trace = dir.join("whole.trace");
    let args = [
        "--strategy",
        "random",
        "--runs",
        "1",
        "--trace",
        trace.to_str().unwrap(),
    ];
    run(&program("sync/heap.c"), &dir, &args)
        .expect(exit::CLEAN)
        .unwrap();
    let bytes = fs::read(&trace).unwrap();
    let whole = say(raddle(["trace", "dump"]).arg(&trace))
        .expect(exit::CLEAN)
        .unwrap();
    let cut = dir.join("cut.trace");
    for keep in [bytes.len() - 1, bytes.len() * 3 / 4, bytes.len() / 2] {
        fs::write(&cut, &bytes[..keep]).unwrap();
        let said = say(raddle(["trace", "dump"]).arg(&cut))
            .expect(exit::CLEAN)
            .unwrap();
        assert!(
            said.stdout.lines().count() <= whole.stdout.lines().count(),
            "{}",
            said.all()
        );
        tells(&said, &["cut.trace"]);
        assert!(
            said.stderr.contains("cut") || said.stderr.contains("truncated"),
            "{}",
            said.stderr
        );
    }
    fs::write(&cut, b"not a trace at all, just some text").unwrap();
    let said = say(raddle(["trace", "stats"]).arg(&cut))
        .expect(exit::USAGE)
        .unwrap();
    tells(&said, &["not a Raddle trace"]);
}

#[test]
fn mistakes_on_the_command_line_are_explained() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["run", "--strategy", "lucky", "x.c"], &["lucky", "pct"]),
        (&["run", "no-such-file.c"], &["no-such-file.c"]),
        (&["run"], &["source file"]),
        (&["run", "--runs", "many", "x.c"], &["many", "--runs"]),
        (&["replay", "no-such.clip"], &["no-such.clip"]),
        (&["trace", "dump", "no-such.trace"], &["no-such.trace"]),
        (&["fly"], &["fly"]),
    ];
    for (args, words) in cases {
        let said = say(&mut raddle(*args)).expect(exit::USAGE).unwrap();
        tells(&said, words);
    }
}

#[test]
fn a_program_that_does_not_compile_shows_the_compilers_words() {
    let dir = fresh_dir("does-not-compile");
    for (name, text, word) in [
        ("bad.c", "int main(void) { return x; }", "'x'"),
        ("bad.rs", "fn main() { y }", "`y`"),
    ] {
        let source = dir.join(name);
        fs::write(&source, text).unwrap();
        let said = run(&source, &dir, &[]).expect(exit::USAGE).unwrap();
        tells(&said, &[word, name]);
    }
}
