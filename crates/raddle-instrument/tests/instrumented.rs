//! Builds small programs with the example driver, runs them against a stub runtime that dumps its
//! slots, and compares the events with what the programs must do.

mod common;

use common::{Event, Kind, Workbench};
use raddle_trace::wire::{Ordering, Role};

#[test]
fn values_and_order_of_plain_accesses() {
    let bench = Workbench::new();
    let run = bench.c(
        "plain",
        r#"
        volatile int x = 5; volatile long y; volatile unsigned char b = 200; volatile float f = 1.5f;
        int main(void) { y = x; b = b + 1; f = f * 2; x = (int)y + 1; return 0; }
        "#,
    );
    let seen = run.accesses();
    let expected = [
        (Kind::Read, "x", 4, 5),
        (Kind::Write, "y", 8, 5),
        (Kind::Read, "b", 1, 200),
        (Kind::Write, "b", 1, 201),
        (Kind::Read, "f", 4, u64::from(1.5f32.to_bits())),
        (Kind::Write, "f", 4, u64::from(3f32.to_bits())),
        (Kind::Read, "y", 8, 5),
        (Kind::Write, "x", 4, 6),
    ];
    assert_eq!(
        seen,
        expected.map(|(kind, name, size, value)| (kind, name.to_owned(), size, value))
    );
}

#[test]
fn wide_accesses_are_split_by_address() {
    let bench = Workbench::new();
    let run = bench.c(
        "wide",
        r#"
        volatile __int128 w; volatile long double d = 1.0L;
        typedef int v4 __attribute__((vector_size(16))); volatile v4 v;
        int main(void) {
            w = ((__int128)7 << 64) | 9;
            d = d + 1;
            v = (v4){1, 2, 3, 4};
            return 0;
        }
        "#,
    );
    let events = run.events();
    let writes = |name: &str| -> Vec<(u64, u8, u64)> {
        let of = events
            .iter()
            .filter(|e| e.kind == Kind::Write && e.name == name);
        let base = of.clone().map(|e| e.addr).min().unwrap_or(0);
        of.map(|e| (e.addr - base, e.size, e.value)).collect()
    };
    assert_eq!(writes("w"), [(0, 8, 9), (8, 8, 7)]);
    assert_eq!(writes("d"), [(0, 8, 0x8000_0000_0000_0000), (8, 2, 0x4000)]);
    assert_eq!(writes("v"), [(0, 8, 0x2_0000_0001), (8, 8, 0x4_0000_0003)]);
}

#[test]
fn atomics_carry_old_and_new_values() {
    let bench = Workbench::new();
    let run = bench.c(
        "atomics",
        r#"
        #include <stdatomic.h>
        atomic_uint a = 5; int s = -3; _Atomic(unsigned char) c = 250;
        int main(void) {
            atomic_fetch_add_explicit(&a, 2, memory_order_relaxed);
            atomic_fetch_sub_explicit(&a, 3, memory_order_release);
            atomic_exchange_explicit(&a, 12, memory_order_acq_rel);
            atomic_fetch_and(&a, 10); atomic_fetch_or(&a, 1); atomic_fetch_xor(&a, 3);
            __atomic_fetch_nand((unsigned *)&a, 2, __ATOMIC_SEQ_CST);
            __atomic_fetch_max(&s, -1, __ATOMIC_SEQ_CST);
            __atomic_fetch_min(&s, -9, __ATOMIC_SEQ_CST);
            c += 10;
            unsigned expected = 1;
            atomic_compare_exchange_strong_explicit(&a, &expected, 4, memory_order_acquire, memory_order_relaxed);
            atomic_compare_exchange_strong(&a, &expected, 4);
            atomic_store_explicit(&a, 77, memory_order_release);
            atomic_thread_fence(memory_order_seq_cst);
            return (int)atomic_load_explicit(&a, memory_order_acquire) - 77;
        }
        "#,
    );
    let events = run.events();
    let updates: Vec<_> = events
        .iter()
        .filter_map(|event| Some((event.kind, event.order, event.value, event.extra?)))
        .collect();
    let nand = u64::from(!(10u32 & 2));
    let word = |value: i32| u64::from(value as u32);
    use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    let expected = [
        (Kind::Rmw, Relaxed, 5, (7, 1)),
        (Kind::Rmw, Release, 7, (4, 1)),
        (Kind::Rmw, AcqRel, 4, (12, 1)),
        (Kind::Rmw, SeqCst, 12, (8, 1)),
        (Kind::Rmw, SeqCst, 8, (9, 1)),
        (Kind::Rmw, SeqCst, 9, (10, 1)),
        (Kind::Rmw, SeqCst, 10, (nand, 1)),
        (Kind::Rmw, SeqCst, word(-3), (word(-1), 1)),
        (Kind::Rmw, SeqCst, word(-1), (word(-9), 1)),
        (Kind::Rmw, SeqCst, 250, (4, 1)),
        (Kind::Cas, Acquire, nand, (4, 0)),
        (Kind::Cas, SeqCst, nand, (4, 1)),
    ];
    assert_eq!(updates, expected);
    let rest: Vec<_> = events
        .iter()
        .filter(|e| matches!(e.kind, Kind::AtomicStore | Kind::Fence | Kind::AtomicLoad))
        .map(|e| (e.kind, e.order, e.value))
        .collect();
    let expected = [
        (Kind::AtomicStore, Release, 77),
        (Kind::Fence, SeqCst, 0),
        (Kind::AtomicLoad, Acquire, 77),
    ];
    assert_eq!(rest, expected);
}

#[test]
fn private_memory_is_skipped_and_escaping_memory_is_not() {
    let bench = Workbench::new();
    let run = bench.c(
        "private",
        r#"
        static const volatile int table[4] = {1, 2, 3, 4};
        int *volatile leak; int out;
        __attribute__((noinline)) int kept(int n) {
            volatile int local[4]; for (int i = 0; i < 4; i++) local[i] = table[i] + n;
            return local[n & 3];
        }
        __attribute__((noinline)) int leaked(int n) {
            volatile int escaping = n; leak = (int *)&escaping; escaping = escaping + 1; return escaping;
        }
        int main(int argc, char **argv) { out = kept(argc) + leaked(argc); return 0; }
        "#,
    );
    let names: Vec<String> = run
        .accesses()
        .into_iter()
        .map(|(_, name, ..)| name)
        .collect();
    assert!(
        !names.iter().any(|name| name == "local" || name == "table"),
        "{names:?}"
    );
    assert_eq!(
        names.iter().filter(|name| *name == "escaping").count(),
        4,
        "{names:?}"
    );
    assert!(names.iter().any(|name| name == "leak") && names.iter().any(|name| name == "out"));
}

#[test]
fn ranges_branches_calls_and_frames() {
    let bench = Workbench::new();
    let run = bench.c(
        "control",
        r#"
        #include <stdlib.h>
        #include <string.h>
        char from[100], to[100]; volatile int n = 3; int (*volatile hook)(const char *) = atoi;
        const char *volatile text = "-42";
        int main(void) {
            memcpy(to, from, 90 + n); memset(from, 1, n);
            for (volatile int i = 0; i < 3; i++) {}
            switch (n) { case 1: return 1; case 3: n = 30; break; case 7: n = 9; break; case 8: n = 5; break; default: return 2; }
            return hook("42") + atoi(text);
        }
        "#,
    );
    let events = run.events();
    let ranges: Vec<_> = events
        .iter()
        .filter(|e| matches!(e.kind, Kind::RangeRead | Kind::RangeWrite))
        .map(|e| (e.kind, e.name.as_str(), e.value))
        .collect();
    let expected = [
        (Kind::RangeRead, "from", 93),
        (Kind::RangeWrite, "to", 93),
        (Kind::RangeWrite, "from", 3),
    ];
    assert_eq!(ranges, expected);
    let values: Vec<u64> = events
        .iter()
        .filter(|e| e.kind == Kind::Value)
        .map(|e| e.value)
        .collect();
    assert!(
        values.contains(&3),
        "the switch's operand is a value: {values:?}"
    );
    assert!(
        values.contains(&42),
        "the indirect call's result is a value: {values:?}"
    );
    assert!(
        values.contains(&(-42i64 as u64)),
        "so is a library call's: {values:?}"
    );
    let frames: Vec<_> = events
        .iter()
        .filter(|e| matches!(e.kind, Kind::Enter | Kind::Exit))
        .collect();
    assert_eq!(frames.len(), 2, "main is entered and left");
    assert_eq!(frames[0].addr, frames[1].addr, "with one frame address");
    assert!(frames[0].value != 0, "and a return address");
    // One outcome each time round the loop, and a sentinel above them.
    assert!(run.bits > 0b1_0000, "{:#b}", run.bits);
}

#[test]
fn large_functions_report_what_small_ones_do() {
    const BRANCHES: usize = 20;
    const MORE: u64 = 500;
    let step = |number| {
        format!(
            "if (x & {}) y = {number}; x = x * 5 + 1; ",
            1 << (number % 3)
        )
    };
    let steps: String = (0..BRANCHES).map(step).collect();
    let program = |more: u64| {
        let more: String = (0..more).map(|number| format!("y = {number}; ")).collect();
        format!("volatile unsigned x = 3, y; int main(void) {{ {steps} {more} return 0; }}")
    };
    let bench = Workbench::new();
    let small = bench.c("small", &program(0));
    let large = bench.c("large", &program(MORE));
    assert_eq!(small.bits >> BRANCHES, 1, "one outcome a branch");
    assert_eq!(large.bits, small.bits);
    let writes = (0..MORE).map(|number| (Kind::Write, "y".to_owned(), 4, number));
    let expected: Vec<_> = small.accesses().into_iter().chain(writes).collect();
    assert_eq!(large.accesses(), expected);
}

#[test]
fn exceptions_and_static_constructors_still_work() {
    let bench = Workbench::new();
    let run = bench.cpp(
        "throws",
        r#"
        #include <cstdio>
        #include <stdexcept>
        #include <string>
        struct Early { int value = 3; Early() { value = 4; } } early;
        template <class T> struct Holder { static T object; };
        template <class T> T Holder<T>::object{};
        int risky(int n) { if (n > 2) throw std::runtime_error(std::to_string(n)); return n; }
        int main() {
            int sum = early.value + Holder<Early>::object.value;
            for (int i = 0; i < 5; i++) { try { sum += risky(i); } catch (std::exception &e) { sum += 100; } }
            printf("%d\n", sum);
            return 0;
        }
        "#,
    );
    assert_eq!(run.stdout, "211\n");
}

#[test]
fn rust_locks_carry_their_roles_in_optimised_code() {
    let bench = Workbench::new();
    let run = bench.rust(
        "locks",
        r#"
        use std::sync::{Mutex, RwLock};
        static COUNTER: Mutex<u64> = Mutex::new(40);
        static TABLE: RwLock<u32> = RwLock::new(7);
        fn main() {
            *COUNTER.lock().unwrap() += 2;
            assert!(COUNTER.try_lock().is_ok());
            *TABLE.write().unwrap() += 1;
            let seen = *TABLE.read().unwrap();
            println!("{} {seen}", COUNTER.lock().unwrap());
        }
        "#,
    );
    assert_eq!(run.stdout, "42 8\n");
    let events = run.events();
    let roles_of = |name: &str| -> Vec<Role> {
        let is_lock = |e: &&Event| e.name.contains(name) && e.role != Role::None;
        let word = events
            .iter()
            .find(is_lock)
            .expect("its lock is in the trace")
            .addr;
        let of = events
            .iter()
            .filter(|e| e.addr == word && e.role != Role::None);
        of.map(|e| e.role).collect()
    };
    use Role::{Lock, ReadLock, ReadUnlock, Unlock, WriteLock, WriteUnlock};
    assert_eq!(
        roles_of("COUNTER"),
        [Lock, Unlock, Lock, Unlock, Lock, Unlock]
    );
    assert_eq!(
        roles_of("TABLE"),
        [WriteLock, WriteUnlock, ReadLock, ReadUnlock]
    );
    let data: Vec<u64> = events
        .iter()
        .filter(|e| e.kind == Kind::Write && e.name.contains("COUNTER") && e.size == 8)
        .map(|e| e.value)
        .collect();
    assert_eq!(data, [42], "the guarded write lies in the trace");
    let is_std = |file: &str| file.contains("library/std/src");
    assert!(
        events.iter().any(|e| is_std(&e.file)),
        "std's own accesses are there"
    );
}

#[test]
fn a_panic_is_reported_once() {
    let bench = Workbench::new();
    let run = bench.rust(
        "panics",
        r#"
        fn main() {
            let index = std::env::args().count() + 5;
            let caught = std::panic::catch_unwind(|| vec![1, 2, 3][index]);
            let again = std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new(1)));
            assert!(caught.is_err() && again.is_err());
        }
        "#,
    );
    assert_eq!(
        run.panics, 1,
        "an index out of bounds is a panic, a resumed payload is none"
    );
}

#[test]
fn separate_objects_archives_and_shared_libraries() {
    let bench = Workbench::new();
    let lib = bench.write(
        "lib.c",
        "int shared; int add(int x) { shared += x; return shared; }",
    );
    let plain = bench.write("plain.c", "int twice(int x) { return 2 * x; }");
    let main = bench.write(
        "main.c",
        "int add(int); int twice(int); int main(void) { return add(2) + twice(add(3)) - 12; }",
    );
    bench.tool(
        "cc",
        &[
            "-c",
            "-O2",
            "-ffunction-sections",
            &lib,
            "-o",
            &bench.path("lib.o"),
        ],
    );
    bench.run("cc", &["-c", &plain, "-o", &bench.path("plain.o")]);
    for (flags, archive) in [("rcs", "libparts.a"), ("rcsT", "libthin.a")] {
        let members = [bench.path("lib.o"), bench.path("plain.o")];
        bench.run(
            "ar",
            &[flags, &bench.path(archive), &members[0], &members[1]],
        );
    }
    let directory = format!("-L{}", bench.path(""));
    let shared = bench.path("libshared.so");
    bench.tool("cc", &["-shared", "-fPIC", &lib, "-o", &shared]);
    let lines: [&[&str]; 3] = [
        &[&main, &directory, "-lparts"],
        &[&main, &bench.path("libthin.a")],
        &[
            &main,
            &bench.path("plain.o"),
            &shared,
            &format!("-Wl,-rpath,{}", bench.path("")),
        ],
    ];
    for (number, line) in lines.into_iter().enumerate() {
        let program = bench.path(&format!("program{number}"));
        let mut args = line.to_vec();
        args.extend(["-o", &program]);
        bench.tool("cc", &args);
        let run = bench.execute(&program);
        assert_eq!(run.images, if number == 2 { 2 } else { 1 });
        let written: Vec<_> = run
            .accesses_with(&shared)
            .into_iter()
            .filter(|(kind, name, ..)| *kind == Kind::Write && name == "shared")
            .map(|(.., value)| value)
            .collect();
        assert_eq!(written, [2, 5], "program {number}");
        assert!(
            run.model
                .skipped
                .iter()
                .any(|s| s.object.contains("plain.o"))
        );
    }
}

#[test]
fn an_image_without_sites_announces_itself() {
    let bench = Workbench::new();
    let run = bench.c("nothing", "int main(void) { return 0; }");
    assert_eq!((run.images, run.model.site_count()), (1, 0));
}

#[test]
fn functions_are_named_without_their_file() {
    let bench = Workbench::new();
    let run = bench.c(
        "named",
        "volatile int x; static void set(int n) { x = n; } int main(void) { set(3); return 0; }",
    );
    let events = run.events();
    let write = events.iter().find(|e| e.kind == Kind::Write);
    assert_eq!(write.expect("x is written").functions, ["set", "main"]);
    let run = bench.cpp(
        "spaced",
        "namespace a { struct B { static void set(int n); }; volatile int x; \
         void B::set(int n) { x = n; } } int main() { a::B::set(3); }",
    );
    let events = run.events();
    let write = events.iter().find(|e| e.kind == Kind::Write);
    assert_eq!(
        write.expect("x is written").functions,
        ["a::B::set(int)", "main"]
    );
}

#[test]
fn assembly_is_linked_with_the_sources_beside_it() {
    let bench = Workbench::new();
    let assembly = bench.write(
        "seven.s",
        ".globl seven\n.type seven, %function\nseven:\n ret\n.section .note.GNU-stack,\"\"\n",
    );
    let main = bench.write(
        "main.c",
        "volatile int x; void seven(void); int main(void) { seven(); x = 7; return 0; }",
    );
    let program = bench.path("mixed");
    bench.tool("cc", &[&main, &assembly, "-o", &program]);
    let run = bench.execute(&program);
    assert_eq!(run.accesses(), [(Kind::Write, "x".to_owned(), 4, 7)]);
    let is_assembly = |skipped: &raddle_model::Skipped| skipped.object.contains("seven");
    assert!(run.model.skipped.iter().any(is_assembly));
}

#[test]
fn a_program_without_bitcode_is_linked_as_it_is() {
    let bench = Workbench::new();
    let source = bench.write("bare.c", "int main(void) { return 0; }");
    bench.run("cc", &["-c", &source, "-o", &bench.path("bare.o")]);
    let program = bench.path("bare");
    bench.tool("cc", &[&bench.path("bare.o"), "-o", &program]);
    let model = raddle_model::Model::read(format!("{program}.raddle").as_ref()).expect("a model");
    assert_eq!((model.function_count(), model.site_count()), (0, 0));
    bench.run(&program, &[]);
}

#[test]
fn every_level_of_optimisation_gives_a_working_program() {
    for level in ["0", "1", "2", "3"] {
        let bench = Workbench::with_level(level);
        let run = bench.cpp(
            "levels",
            r#"
            #include <atomic>
            #include <cstdio>
            #include <map>
            #include <mutex>
            #include <string>
            #include <thread>
            std::mutex m; std::map<int, std::string> table; std::atomic<double> total{0};
            int main() {
                std::thread threads[2];
                for (auto &t : threads) t = std::thread([] {
                    for (int i = 0; i < 20; i++) { std::lock_guard<std::mutex> l(m); table[i % 7] += "x"; total += 0.5; }
                });
                for (auto &t : threads) t.join();
                printf("%zu %zu %g\n", table.size(), table[0].size(), total.load());
            }
            "#,
        );
        assert_eq!(run.stdout, "7 6 20\n", "-O{level}");
    }
}

#[test]
fn cargo_packages_are_instrumented_and_their_build_scripts_are_not() {
    let bench = Workbench::new();
    for directory in ["package/src", "package/helper/src"] {
        std::fs::create_dir_all(bench.path(directory)).expect("a directory");
    }
    bench.write(
        "package/Cargo.toml",
        r#"
        [package]
        name = "package"
        version = "0.1.0"
        edition = "2021"
        [dependencies]
        helper = { path = "helper" }
        [workspace]
        "#,
    );
    bench.write(
        "package/helper/Cargo.toml",
        r#"
        [package]
        name = "helper"
        version = "0.1.0"
        edition = "2021"
        "#,
    );
    bench.write(
        "package/helper/src/lib.rs",
        "pub static TOTAL: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(3);",
    );
    bench.write(
        "package/build.rs",
        r#"fn main() {
            let me = std::fs::read(std::env::current_exe().unwrap()).unwrap();
            let needle = b"__raddle_slo";
            let hooked = me.windows(13).any(|w| &w[..12] == needle && w[12] == b'w');
            println!("cargo::rustc-env=BUILD_SCRIPT_HOOKED={hooked}");
        }"#,
    );
    bench.write(
        "package/src/main.rs",
        r#"fn main() {
            helper::TOTAL.fetch_add(4, std::sync::atomic::Ordering::SeqCst);
            println!("{}", env!("BUILD_SCRIPT_HOOKED"));
        }"#,
    );
    let target = bench.path("target");
    let manifest = bench.path("package/Cargo.toml");
    bench.tool(
        "cargo",
        &[
            "build",
            "--manifest-path",
            &manifest,
            "--target-dir",
            &target,
        ],
    );
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let run = bench.execute(&format!("{target}/{host}/debug/package"));
    assert_eq!(run.stdout, "false\n", "the build script runs without hooks");
    let updates: Vec<_> = run
        .events()
        .into_iter()
        .filter(|event| event.kind == Kind::Rmw && event.name.contains("TOTAL"))
        .map(|event| (event.value, event.extra))
        .collect();
    assert_eq!(updates, [(3, Some((7, 1)))]);
}
