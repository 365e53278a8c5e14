//! Building as projects do: separate compile and link steps, archives, shared libraries, Cargo packages.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Said, cargo_raddle, exit, fresh_dir, program, raddle, say};

const COUNTER_H: &str = "int counter_add(int);\n";
const COUNTER_C: &str = r#"#include "counter.h"
static int counter;
int counter_add(int amount) { counter += amount; return counter; }
"#;
const MAIN_C: &str = r#"#include <assert.h>
#include <pthread.h>
#include "counter.h"
static void *add(void *arg) { (void)arg; counter_add(1); return 0; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, add, 0);
    counter_add(1);
    pthread_join(thread, 0);
    assert(counter_add(0) == 2);
    return 0;
}
"#;

/// A directory with a race whose two halves lie in different files.
fn sources(name: &str) -> std::path::PathBuf {
    let dir = fresh_dir(name);
    fs::write(dir.join("counter.h"), COUNTER_H).unwrap();
    fs::write(dir.join("counter.c"), COUNTER_C).unwrap();
    fs::write(dir.join("main.c"), MAIN_C).unwrap();
    dir
}

fn tool(dir: &Path, args: &[&str]) {
    let said = say(raddle(args).current_dir(dir));
    assert_eq!(said.code, Some(exit::CLEAN), "{args:?}: {}", said.all());
}

/// The race has to be found, in the library's own line.
fn finds_the_race(dir: &Path, binary: &str) -> Said {
    let said =
        say(raddle(["run", "--strategy", "pos", "--runs", "200", "--", binary]).current_dir(dir));
    let said = said.expect(exit::FOUND).unwrap();
    assert_eq!(
        said.failure().as_deref(),
        Some("assertion"),
        "{}",
        said.all()
    );
    said
}

#[test]
fn separate_compile_and_link() {
    let dir = sources("cc-separate");
    tool(
        &dir,
        &[
            "cc",
            "-Wall",
            "-O2",
            "-g",
            "-I.",
            "-c",
            "counter.c",
            "-o",
            "counter.o",
        ],
    );
    tool(&dir, &["cc", "-O2", "-g", "-c", "main.c"]);
    tool(
        &dir,
        &["cc", "main.o", "counter.o", "-pthread", "-o", "program"],
    );
    finds_the_race(&dir, "./program");
}

/// An object is an ordinary one for everybody else: it has native code, and a list of what it depends on.
#[test]
fn optimised_objects_can_be_linked_by_others() {
    let dir = sources("cc-native");
    fs::create_dir(dir.join("out")).unwrap();
    let compile = ["cc", "-O2", "-g", "-MMD", "-Wall", "-c"];
    let mut args = compile.to_vec();
    args.extend(["counter.c", "-o", "out/counter.o"]);
    tool(&dir, &args);
    let depends = fs::read_to_string(dir.join("out/counter.d")).unwrap();
    assert_eq!(depends.trim(), "out/counter.o: counter.c counter.h");
    tool(&dir, &[&compile[..], &["main.c"]].concat());
    let native = Command::new("cc")
        .args(["main.o", "out/counter.o", "-pthread", "-o", "native"])
        .current_dir(&dir)
        .status()
        .unwrap();
    assert!(native.success());
    let said = say(Command::new("./native").current_dir(&dir));
    said.expect(exit::CLEAN).unwrap();
    tool(
        &dir,
        &["cc", "main.o", "out/counter.o", "-pthread", "-o", "program"],
    );
    finds_the_race(&dir, "./program");
}

/// Code that may only be compiled if an optimiser removes a call.
#[test]
fn a_source_may_rely_on_the_optimiser() {
    let dir = sources("cc-optimiser");
    let mut text = fs::read_to_string(dir.join("counter.c")).unwrap();
    text.push_str(
        "__attribute__((error(\"this is never called\"))) void never(void);\n\
         int checked(void) { int one = 1; if (one != 1) never(); return one; }\n",
    );
    fs::write(dir.join("counter.c"), &text).unwrap();
    tool(&dir, &["cc", "-O2", "-c", "counter.c"]);
    tool(
        &dir,
        &[
            "cc",
            "-O2",
            "main.c",
            "counter.o",
            "-pthread",
            "-o",
            "program",
        ],
    );
    finds_the_race(&dir, "./program");
    fs::write(dir.join("counter.c"), text.replace("one != 1", "one == 1")).unwrap();
    let said = say(raddle(["cc", "-O2", "-c", "counter.c"]).current_dir(&dir));
    assert!(
        said.code == Some(1) && said.stderr.contains("this is never called"),
        "{}",
        said.all()
    );
}

#[test]
fn several_sources_at_once() {
    let dir = sources("cc-several");
    tool(
        &dir,
        &["cc", "-pthread", "main.c", "counter.c", "-o", "program"],
    );
    finds_the_race(&dir, "./program");
}

#[test]
fn static_archives() {
    let dir = sources("cc-archive");
    tool(&dir, &["cc", "-c", "counter.c"]);
    let ar = Command::new("ar")
        .args(["rcs", "libcounter.a", "counter.o"])
        .current_dir(&dir)
        .status()
        .unwrap();
    assert!(ar.success());
    tool(
        &dir,
        &[
            "cc",
            "main.c",
            "-L.",
            "-lcounter",
            "-pthread",
            "-o",
            "program",
        ],
    );
    let said = finds_the_race(&dir, "./program");
    let clip = said.clip().unwrap();
    let dump = say(raddle(["trace", "dump"]).arg(dir.join(clip.with_extension("trace"))));
    assert!(
        dump.stdout.contains("counter.c:3"),
        "the archive's accesses are there: {}",
        dump.all()
    );
}

#[test]
fn only_what_was_built_with_the_tool_is_traced() {
    let dir = sources("cc-foreign");
    let plain = Command::new("cc")
        .args(["-c", "counter.c"])
        .current_dir(&dir)
        .status()
        .unwrap();
    assert!(plain.success());
    tool(
        &dir,
        &["cc", "main.c", "counter.o", "-pthread", "-o", "program"],
    );
    let said = say(raddle([
        "run",
        "--runs",
        "5",
        "--trace",
        "a.trace",
        "--",
        "./program",
    ])
    .current_dir(&dir));
    said.expect(exit::CLEAN).unwrap();
    let dump = say(raddle(["trace", "dump", "a.trace"]).current_dir(&dir));
    assert!(
        dump.stdout.contains("main.c:") && !dump.stdout.contains("counter.c:"),
        "{}",
        dump.all()
    );
}

#[test]
fn cpp_with_its_own_standard() {
    let dir = fresh_dir("cxx");
    let source = program("fail/vector_push.cpp");
    let source = source.to_str().unwrap();
    tool(&dir, &["c++", "-std=gnu++20", "-c", source, "-o", "a.o"]);
    tool(&dir, &["c++", "a.o", "-pthread", "-o", "program"]);
    finds_the_race(&dir, "./program");
}

#[test]
fn shared_libraries_opened_at_run_time() {
    let dir = fresh_dir("dlopen");
    let file = |name: &str| {
        program("hostile/dlopen")
            .join(name)
            .to_str()
            .unwrap()
            .to_owned()
    };
    tool(
        &dir,
        &[
            "cc",
            "-shared",
            "-fPIC",
            &file("plugin.c"),
            "-o",
            "plugin.so",
        ],
    );
    tool(&dir, &["cc", &file("host.c"), "-pthread", "-o", "host"]);
    let args = [
        "run",
        "--strategy",
        "random,pct,pos",
        "--runs",
        "20",
        "--verify",
        "--trace",
        "a.trace",
        "--",
        "./host",
        "./plugin.so",
    ];
    say(raddle(args).current_dir(&dir))
        .expect(exit::CLEAN)
        .unwrap()
        .expect_line("60 runs, 0 failures, 0 data races, 60 verified")
        .unwrap();
    let dump = say(raddle(["trace", "dump", "a.trace"]).current_dir(&dir));
    assert!(
        dump.stdout.contains("plugin.c:"),
        "the library's accesses are there: {}",
        dump.all()
    );
}

#[test]
fn questions_to_the_compiler_are_passed_on() {
    let dir = fresh_dir("cc-questions");
    let said = say(raddle(["cc", "--version"]).current_dir(&dir))
        .expect(exit::CLEAN)
        .unwrap();
    assert!(said.stdout.contains("clang"), "{}", said.all());
    fs::write(dir.join("a.c"), "#define ANSWER 42\nint answer = ANSWER;\n").unwrap();
    let said = say(raddle(["cc", "-E", "a.c"]).current_dir(&dir))
        .expect(exit::CLEAN)
        .unwrap();
    assert!(said.stdout.contains("int answer = 42;"), "{}", said.all());
    let said = say(raddle(["cc", "-c", "missing.c"]).current_dir(&dir));
    assert!(
        said.code != Some(exit::CLEAN) && said.stderr.contains("missing.c"),
        "{}",
        said.all()
    );
}

const CARGO_FILES: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nstock = { path = \"stock\" }\n[workspace]\n",
    ),
    (
        "build.rs",
        "fn main() { println!(\"cargo:rustc-env=SHOP_NAME={}\", std::thread::spawn(|| \"corner\").join().unwrap()); }\n",
    ),
    (
        "src/main.rs",
        "fn main() {
    let other = std::thread::spawn(stock::sell);
    stock::sell();
    other.join().unwrap();
    assert_eq!(stock::left(), 8, \"{} shop\", env!(\"SHOP_NAME\"));
}\n",
    ),
    (
        "stock/Cargo.toml",
        "[package]\nname = \"stock\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    ),
    (
        "stock/src/lib.rs",
        "use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
static LEFT: AtomicU32 = AtomicU32::new(10);
pub fn sell() {
    let left = LEFT.load(SeqCst);
    LEFT.store(left - 1, SeqCst);
}
pub fn left() -> u32 {
    LEFT.load(SeqCst)
}\n",
    ),
];

#[test]
fn a_cargo_package_with_a_dependency_and_a_build_script() {
    let dir = fresh_dir("cargo-package");
    for (path, text) in CARGO_FILES {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let cargo = |args: &[&str]| {
        say(cargo_raddle(args)
            .current_dir(&dir)
            .env_remove("CARGO_TARGET_DIR"))
    };
    let built = cargo(&["build"]).expect(exit::CLEAN).unwrap();
    assert!(built.stdout.contains("shop"), "{}", built.all());
    let said = cargo(&["run", "--strategy", "pos", "--runs", "200"])
        .expect(exit::FOUND)
        .unwrap();
    assert_eq!(said.failure().as_deref(), Some("panic"), "{}", said.all());
    assert!(said.stdout.contains("corner shop"), "{}", said.all());
    let clip = dir.join(said.clip().unwrap());
    say(raddle(["replay", "--times", "10"])
        .arg(&clip)
        .current_dir(&dir))
    .expect(exit::FOUND)
    .unwrap();
    let dump = say(raddle(["trace", "dump"]).arg(clip.with_extension("trace")));
    assert!(
        dump.stdout.contains("stock/src/lib.rs"),
        "the dependency's accesses are there"
    );
}
