//! Volatile accesses: races by the languages' rules, and atomics where the user says that they are meant so.

mod common;

use std::fs;
use std::path::Path;

use common::{Said, exit, fresh_dir, raddle, say};

/// Passes a message as kernels do. What is not published by the flag is not ordered by it either.
const MESSAGE_C: &str = r#"
#include <pthread.h>
static int message, unpublished;
static volatile int flag;
static void *sends(void *arg) {
    message = 42;
    flag = 1;
    AFTER_THE_FLAG;
    return arg;
}
static void *receives(void *arg) {
    while (!flag)
        ;
    unpublished += message != 42;
    return arg;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, sends, 0);
    pthread_create(&b, 0, receives, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return unpublished;
}
"#;

const MESSAGE_RS: &str = r#"
use std::ptr::{addr_of, addr_of_mut, read_volatile, write_volatile};
static mut MESSAGE: u32 = 0;
static mut FLAG: u32 = 0;
fn main() {
    let sender = std::thread::spawn(|| unsafe {
        MESSAGE = 42;
        write_volatile(addr_of_mut!(FLAG), 1);
    });
    let receiver = std::thread::spawn(|| unsafe {
        while read_volatile(addr_of!(FLAG)) == 0 {}
        assert_eq!(MESSAGE, 42);
    });
    sender.join().unwrap();
    receiver.join().unwrap();
}
"#;

/// Calls the tool in a directory with a `raddle.toml`, if it has one.
fn call(dir: &Path, words: &[&str]) -> Said {
    let mut command = raddle(words);
    say(command.current_dir(dir).env("RADDLE_CHECK_RUNS", "10"))
}

fn expect(said: Said, code: i32) -> Said {
    said.expect(code).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_race_on_a_volatile_says_so_unless_it_is_meant_to_be_atomic() {
    for (name, text) in [("message.c", MESSAGE_C), ("message.rs", MESSAGE_RS)] {
        let dir = fresh_dir(&format!("volatile-{name}"));
        fs::write(dir.join(name), text.replace("AFTER_THE_FLAG", "")).unwrap();
        for command in ["check", "run"] {
            let said = expect(call(&dir, &[command, name]), exit::FOUND);
            assert!(said.stdout.contains("data race"), "{}", said.all());
            let advice = "volatile, which orders nothing in C, C++ and Rust";
            assert!(said.stdout.contains(advice), "{}", said.all());
            let said = call(&dir, &[command, "--volatile", "atomic", name]);
            expect(said, exit::CLEAN);
        }
        fs::write(dir.join("raddle.toml"), "volatile = \"atomic\"\n").unwrap();
        for command in ["check", "run"] {
            expect(call(&dir, &[command, name]), exit::CLEAN);
            let said = call(&dir, &[command, "--volatile", "plain", name]);
            expect(said, exit::FOUND);
        }
    }
}

/// Other races are told all the same.
#[test]
fn what_a_volatile_does_not_publish_races() {
    let dir = fresh_dir("volatile-unpublished");
    let text = MESSAGE_C.replace("AFTER_THE_FLAG", "unpublished++");
    fs::write(dir.join("message.c"), text).unwrap();
    for command in ["check", "run"] {
        let words = [command, "--volatile", "atomic", "message.c"];
        let said = expect(call(&dir, &words), exit::FOUND);
        assert!(said.stdout.contains("`unpublished`"), "{}", said.all());
        assert!(!said.stdout.contains("`flag`"), "{}", said.all());
        assert!(!said.stdout.contains("`message`"), "{}", said.all());
    }
}

/// A trace does not say which of its accesses are volatile; the program's model does.
#[test]
fn predictions_know_volatile_accesses_from_the_model() {
    let dir = fresh_dir("volatile-predict");
    fs::write(
        dir.join("message.c"),
        MESSAGE_C.replace("AFTER_THE_FLAG", ""),
    )
    .unwrap();
    let words = [
        "run",
        "--no-races",
        "--runs",
        "1",
        "--strategy",
        "rr",
        "--trace",
        "a.trace",
        "message.c",
    ];
    expect(call(&dir, &words), exit::CLEAN);
    expect(call(&dir, &["predict", "a.trace"]), exit::FOUND);
    let words = ["predict", "--volatile", "atomic", "a.trace"];
    expect(call(&dir, &words), exit::CLEAN);
}
