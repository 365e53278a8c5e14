//! Replays in gdb: where they stop, and what gdb shows there.

mod common;

use std::path::Path;

use common::{Said, exit, fresh_dir, program, raddle, run, say};

/// Replays a clip in gdb, which executes these commands where it stops.
fn replay(clip: &Path, commands: &[&str]) -> Said {
    let mut replay = raddle(["replay", "--gdb", "--gdb-arg=-batch"]);
    for command in commands {
        replay
            .arg("--gdb-arg=-ex")
            .arg(format!("--gdb-arg={command}"));
    }
    say(replay.arg(clip))
}

#[test]
fn gdb_stops_at_the_failing_point() {
    for (name, frames) in [
        ("fail/race.c", &["__assert_fail", "main"][..]),
        ("fail/lock_order.c", &["pthread_mutex_lock", "main"][..]),
        ("fail/order_null.c", &["SIGSEGV"][..]),
    ] {
        let dir = fresh_dir("gdb");
        let said = run(&program(name), &dir.join("out"), &["--runs", "200"]);
        let said = said.expect(exit::FOUND).unwrap();
        let clip = said.clip().expect("a clip");
        let said = replay(&clip, &["thread apply all backtrace"]);
        for frame in frames {
            assert!(
                said.all().contains(frame),
                "{name}: no {frame} in {}",
                said.all()
            );
        }
    }
}

/// Loses an update in some schedules, and then exits with the status 3, in a function or by returning from `main`; without
/// its two arguments with 9.
const EXITS: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static int x;
static void *adds(void *arg) {
    x = x + 1; /* races */
    return arg;
}
static int leave(int how) {
    if (how) exit(3); /* exits */
    return 3;
}
int main(int count, char **words) {
    if (count != 3 || strcmp(words[1], "two words") != 0) return 9;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, adds, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    if (x != 2) return leave(atoi(words[2]));
    return 0;
}
"#;

#[test]
fn gdb_stops_at_failing_exits_with_the_programs_arguments() {
    let dir = fresh_dir("gdb-exit");
    let source = dir.join("exits.c");
    std::fs::write(&source, EXITS).unwrap();
    for (how, place) in [("1", "/* exits */"), ("0", "in main (")] {
        let options = ["--runs", "200", "--no-races", "--", "two words", how];
        let said = run(&source, &dir.join(how), &options);
        let said = said.expect(exit::FOUND).unwrap();
        let said = replay(&said.clip().expect("a clip"), &["info threads", "continue"]);
        let text = said.all();
        assert!(text.contains(place), "{text}");
        assert!(text.contains("\"T0\""), "{text}");
        assert!(text.contains("exited with code 03"), "{text}");
    }
}

#[test]
fn gdb_stops_at_the_second_access_of_a_race() {
    let dir = fresh_dir("gdb-race");
    let source = dir.join("exits.c");
    std::fs::write(&source, EXITS).unwrap();
    let mut check = raddle(["check", "--quiet", "--runs", "1", "--out"]);
    let check = check.arg(dir.join("out")).arg(&source);
    let said = say(check.args(["--", "two words", "0"]));
    let said = said.expect(exit::FOUND).unwrap();
    let command = said
        .stdout
        .lines()
        .find_map(|it| it.split_once("raddle replay "));
    let (_, clip) = command.expect("a clip");
    let said = replay(Path::new(clip), &["info threads", "continue"]);
    let text = said.all();
    assert!(text.contains("x = x + 1; /* races */"), "{text}");
    let selected = text.lines().find(|it| it.starts_with("* "));
    let selected = selected.expect("a thread is selected");
    assert!(
        selected.contains("\"T1\"") || selected.contains("\"T2\""),
        "{text}"
    );
    assert!(text.contains("exited with code 03"), "{text}");
}
