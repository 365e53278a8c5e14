//! Builds as projects have them: make, cmake, libtool and Cargo, and single command lines in every form that
//! configure scripts and makefiles use.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Said, cargo_raddle, exit, fresh_dir, raddle, root, say};

/// Shell functions of every script: `traced PROGRAM 2 1` wants two objects of a program traced and one not, `runs
/// PROGRAM` wants it to run under the scheduler.
const PRELUDE: &str = r#"
set -eu
CC="raddle cc"
CXX="raddle c++"
traced() {
    raddle doctor "$1" >doctor.txt || true
    grep -q ": $2 objects are traced, $3 are not" doctor.txt || { cat doctor.txt; exit 1; }
}
runs() {
    raddle run --quiet --runs 2 -- "$@" >run.txt 2>&1 || { cat run.txt; exit 1; }
}
"#;

/// A shell script in a directory, with `raddle` and this test's cache.
fn shell(dir: &Path, script: &str) -> Said {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let binary = Path::new(env!("CARGO_BIN_EXE_raddle"));
    let dirs = [binary.parent().unwrap().to_owned()];
    let dirs = dirs.into_iter().chain(std::env::split_paths(&path));
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    say(Command::new("sh")
        .arg("-c")
        .arg(format!("{PRELUDE}{script}"))
        .current_dir(dir)
        .env("PATH", std::env::join_paths(dirs).unwrap())
        .env("RADDLE_CACHE_DIR", cache)
        .env_remove("CARGO_TARGET_DIR"))
}

/// A copy of one of the projects.
fn project(name: &str, dir: &Path) -> PathBuf {
    let copy = dir.join(name);
    let source = root().join("tests/projects").join(name);
    let copied = Command::new("cp").arg("-r").arg(source).arg(&copy).status();
    assert!(copied.unwrap().success());
    copy
}

/// The projects' programs lose a count in one schedule of a few.
fn fails_under_some_schedule(dir: &Path, program: &str) {
    let args = ["run", "--quiet", "--runs", "100", "--", program];
    let said = say(raddle(args).current_dir(dir))
        .expect(exit::FOUND)
        .unwrap();
    assert_eq!(
        said.failure().as_deref(),
        Some("assertion"),
        "{}",
        said.all()
    );
}

#[test]
fn make_with_libraries_of_its_own() {
    let dir = project("make", &fresh_dir("builds-make"));
    let script = r#"
        make -s -j4 CC="$CC" CXX="$CXX"
        test -s counter.d && test -s throw.d
        traced program 3 1
        grep -q "step.o: it holds no bitcode" doctor.txt
        traced libstore.so 1 0
        raddle run --quiet --runs 1 --strategy rr -- ./program 2>note.txt
        grep -q "1 object of program cannot be traced" note.txt
        touch counter.h
        make -s CC="$CC" CXX="$CXX" -n | grep -q main.c
    "#;
    shell(&dir, script).expect(exit::CLEAN).unwrap();
    fails_under_some_schedule(&dir, "./program");
}

#[test]
fn cmake_by_the_environment_and_by_a_single_path() {
    let dir = fresh_dir("builds-cmake");
    project("make", &dir);
    let dir = project("cmake", &dir);
    let script = r#"
        mkdir one two
        (eval "$(raddle env)" && cd one && cmake .. >log && make -s -j2)
        traced one/program 3 1
        traced one/libstore.so 1 0
        raddle env -- sh -c 'cd two && CC= CXX= cmake .. -DCMAKE_C_COMPILER=raddle-cc \
            -DCMAKE_CXX_COMPILER=raddle-c++ -DCMAKE_BUILD_TYPE=Release >log && make -s'
        traced two/program 3 1
    "#;
    shell(&dir, script).expect(exit::CLEAN).unwrap();
    fails_under_some_schedule(&dir, "one/program");
}

#[test]
fn libtool_with_convenience_and_versioned_libraries() {
    let dir = fresh_dir("builds-libtool");
    project("make", &dir);
    let dir = project("libtool", &dir);
    let script = r#"
        mkdir build && cd build
        raddle env -- sh -c '../build.sh ../../make "$CC" "$CXX" "$PWD/../installed"'
        traced .libs/program 3 1
        traced ../installed/lib/libstore.so 1 0
        # Installing leaves the model behind; the cache still knows the modules.
        test ! -e ../installed/bin/program.raddle
        traced ../installed/bin/program 3 0
        if raddle run -- ./program 2>said.txt; then exit 1; fi
        grep -q "libtool --mode=execute" said.txt
    "#;
    shell(&dir, script).expect(exit::CLEAN).unwrap();
    fails_under_some_schedule(&dir, "installed/bin/program");
}

/// As libtool starts programs from their build directories; a replay needs the same path, so the clip has it.
#[test]
fn the_search_path_of_libraries_is_the_users() {
    let dir = project("make", &fresh_dir("builds-search-path"));
    let script = r#"
        make -s CC="$CC" CXX="$CXX"
        mkdir elsewhere && mv libstore.so.1 elsewhere
        if raddle run -- ./program 2>said.txt; then exit 1; fi
        grep -q "libstore.so.1: cannot open shared object file.*LD_LIBRARY_PATH" said.txt
        LD_LIBRARY_PATH=$PWD/elsewhere raddle run --quiet -- ./program >found.txt || test $? = 2
        clip=$(sed -n 's/.*raddle replay //p' found.txt | head -n 1)
        raddle replay --quiet "$clip" >replayed.txt || test $? = 2
        grep -q "same outcome" replayed.txt
    "#;
    shell(&dir, script).expect(exit::CLEAN).unwrap();
}

/// Configure scripts look a compiler up as one word, and take gcc if there is no such word.
#[test]
fn compilers_have_names_of_one_word() {
    let dir = fresh_dir("builds-one-word");
    let script = r#"
        command -v raddle-cc && command -v raddle-cxx
        echo 'int main(void) { return 0; }' >main.c && cp main.c main.cpp
        raddle-cc main.c -o prog && traced prog 1 0
        raddle-cxx main.cpp -o prog2 && traced prog2 1 0
        ln -s "$(command -v raddle)" raddle-c++
        ./raddle-c++ main.cpp -o prog3 && traced prog3 1 0
        eval "$(raddle env)"
        test "$CC" = "$(dirname "$(command -v raddle)")/raddle-cc"
        $CC main.c -o prog4 && traced prog4 1 0
    "#;
    shell(&dir, script).expect(exit::CLEAN).unwrap();
}

const COUNTER_H: &str = "int counter_add(int);\n";
const COUNTER_C: &str = "#include \"counter.h\"\nstatic int counter;\n\
    int counter_add(int amount) { counter += amount; return counter; }\n";
const MAIN_C: &str = "#include \"counter.h\"\n#include <stdio.h>\n\
    int main(void) { counter_add(3); puts(\"ran\"); return counter_add(0) != 3; }\n";

/// Command lines, each a script that has to succeed in a directory with `main.c` and `counter.c`.
const COMMANDS: &[(&str, &str)] = &[
    (
        "dependencies-while-linking",
        "$CC -MMD main.c counter.c -o prog && grep -q '^prog: counter.c' prog.d && traced prog 2 0
         $CC -MD counter.c main.c && grep -q '^main.o: main.c' main.d && grep -q '^counter.o:' counter.d && runs ./a.out",
    ),
    (
        "dependencies-by-name",
        "$CC -MMD -MF deps -MT target -c counter.c && grep -q '^target: counter.c counter.h' deps",
    ),
    (
        "nested-response-files",
        r#"echo '"counter.c" -DNAME=\"a\ b\"' >in.rsp; echo "main.c @in.rsp -o 'pr og'" >out.rsp
         $CC @out.rsp && traced 'pr og' 2 0 && runs './pr og'"#,
    ),
    (
        "standard-input",
        "cat main.c | $CC -x c - -x none counter.c -o prog && traced prog 2 0
         $CC -x c /dev/null -c -o empty.o && $CC -dM -E -x c /dev/null | grep -q __clang__",
    ),
    (
        "questions",
        "for it in --version -v -dumpmachine -print-search-dirs -print-file-name=libc.so '-E main.c' \
            '-S counter.c -o -' '-M main.c' '-### main.c' '-fsyntax-only main.c'; do
            $CC $it >ours 2>&1; clang $it >theirs 2>&1; cmp ours theirs || test \"$it\" = '-### main.c'
         done; test ! -e a.out",
    ),
    (
        "configure-probes",
        "echo 'int main(void) { return 3; }' >conftest.c
         $CC conftest.c && test ! -e a.out.raddle && { ./a.out || test $? = 3; }
         $CC -o conftest conftest.c && { ./conftest || test $? = 3; }
         echo 'int main(void) { return missing(); }' >conftest.c
         for it in '-c conftest.c -Werror' 'conftest.c -o c' 'main.c counter.c -lmissing' '-c none.c' '-nonsense' ''; do
            code=0; $CC $it >ours 2>&1 || code=$?; test $code = 1
         done
         grep -q 'no input files' ours
         $CC -Werror -Wl,-z,now -c counter.c 2>said && exit 1; grep -q 'unused' said",
    ),
    (
        "link-time-optimisation",
        "$CC -flto -O2 -c main.c && $CC -flto=thin -O2 -c counter.c && ar rcs libc1.a counter.o
         $CC -flto -fuse-linker-plugin main.o libc1.a -o prog && traced prog 2 0 && runs ./prog",
    ),
    (
        "archives",
        "$CC -c counter.c && ar rcs libcounter.a counter.o && ar rcsT libthin.a counter.o
         for it in libcounter.a libthin.a '-L. -lcounter' '-L. -l:libcounter.a' '-L . -l counter' \
            '-Wl,--whole-archive libcounter.a -Wl,--no-whole-archive' '-L. -Wl,--start-group,-lcounter,--end-group' \
            '-Xlinker --whole-archive -Xlinker libcounter.a -Xlinker --no-whole-archive' \
            '-Wl,-L,. -Wl,-Bstatic -lcounter -Wl,-Bdynamic' '-L. -Wl,-Bstatic -lcounter -lpthread'; do
            $CC main.c $it -o prog && traced prog 2 0 && ./prog >out && grep -q ran out
         done
         LIBRARY_PATH=. $CC main.c -lcounter -o prog && traced prog 2 0",
    ),
    (
        "linker-scripts-as-libraries",
        "mkdir lib && $CC -c counter.c -o lib/real.o && ar rcs lib/libreal.a lib/real.o
         echo '/* both */ INPUT(libreal.a)' >lib/libcounter.a && $CC main.c -Llib -lcounter -o prog && traced prog 2 0
         echo 'GROUP ( -lreal AS_NEEDED ( -lm ) )' >lib/libother.so
         $CC main.c -Llib -lother -o prog && traced prog 2 0 && runs ./prog",
    ),
    (
        "static-programs",
        "$CC -c counter.c && ar rcs libcounter.a counter.o && cp counter.c copy.c
         $CC -shared -fPIC copy.c -o libcounter.so
         for it in -static -static-pie --static; do
            $CC $it main.c -L. -lcounter -o prog 2>said && grep -q 'in spite of -static' said
            traced prog 2 0 && runs ./prog
         done
         clang -c main.c -o plain.o && clang -c counter.c -o plain2.o
         $CC -static plain.o plain2.o -o prog 2>said && test ! -s said && file=$(head -c 64 prog | wc -c) && ./prog",
    ),
    (
        "kinds-of-executables",
        "for it in -pie -no-pie '-fno-pie -no-pie' '-fPIE -pie' -rdynamic -s '-Wl,--gc-sections -ffunction-sections' \
            '-Wl,-z,relro,-z,now' -fuse-ld=gold -m64 --target=x86_64-linux-gnu; do
            $CC $it main.c counter.c -o prog && traced prog 2 0 && runs ./prog
         done",
    ),
    (
        "without-a-c-library",
        "echo 'void _start(void) { __asm__ volatile(\"mov $60,%eax; xor %edi,%edi; syscall\"); }' >start.c
         $CC -nostdlib -static start.c -o prog && ./prog && $CC -nostdlib -c start.c && $CC -nostdlib start.o -o prog && ./prog",
    ),
    (
        "shared-libraries",
        "echo 'V1 { global: counter_add; local: *; };' >map
         $CC -shared -fPIC counter.c -Wl,-soname -Wl,libcounter.so.1 -Wl,-z,defs -Wl,--version-script,map -o libcounter.so.1.0
         ln -s libcounter.so.1.0 libcounter.so.1 && ln -s libcounter.so.1 libcounter.so
         $CC main.c -L. -lcounter -Wl,-rpath,'$ORIGIN' -o prog && traced prog 1 0 && traced libcounter.so.1 1 0 && runs ./prog",
    ),
    (
        "partial-links",
        "$CC -c main.c counter.c && ld -r main.o counter.o -o all.o && $CC all.o -o prog && traced prog 1 0 && runs ./prog
         $CC -r -nostdlib main.o counter.c -o both.o && $CC both.o -o prog && traced prog 1 0
         clang -c counter.c -o plain.o && ld -r main.o plain.o -o mixed.o && $CC mixed.o -o prog
         clang main.o plain.o -o native && ./prog && ./native",
    ),
    (
        "objects-that-were-worked-on",
        "$CC -c main.c counter.c && strip -g main.o && ranlib main.o 2>ranlib.txt || true
         $CC main.o counter.o -o prog && traced prog 2 0
         objcopy --redefine-sym counter_add=renamed counter.o && $CC -Dcounter_add=renamed -c main.c
         $CC main.o counter.o -o prog && traced prog 1 1 && grep -q 'symbols were changed' doctor.txt && runs ./prog
         strip prog && mv prog moved && traced moved 1 0 && runs ./moved",
    ),
    (
        "objects-of-others",
        "gcc -c counter.c && gcc -c main.c && $CC -c counter.c -o ours.o && $CC main.o ours.o -o prog && traced prog 1 1
         grep -q 'main.o: it holds no bitcode' doctor.txt && runs ./prog",
    ),
    (
        "precompiled-headers",
        "$CC -x c-header counter.h -o counter.h.pch && test -s counter.h.pch && $CC counter.h && test -s counter.h.gch",
    ),
    (
        "an-output-that-is-nowhere",
        "$CC main.c counter.c -o /dev/null && test ! -e /dev/null.raddle",
    ),
];

#[test]
fn command_lines_in_every_form() {
    let base = fresh_dir("builds-commands");
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, script)) = COMMANDS.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let dir = base.join(name);
                    fs::create_dir(&dir).unwrap();
                    for (file, text) in [
                        ("counter.h", COUNTER_H),
                        ("counter.c", COUNTER_C),
                        ("main.c", MAIN_C),
                    ] {
                        fs::write(dir.join(file), text).unwrap();
                    }
                    if let Err(error) = shell(&dir, script).expect(exit::CLEAN) {
                        wrong.lock().unwrap().push(format!("{name}: {error}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn cargo(dir: &Path, args: &[&str]) -> Said {
    say(cargo_raddle(args)
        .current_dir(dir)
        .env_remove("CARGO_TARGET_DIR")
        .env("RUSTC_WRAPPER", dir.join("wrapper.sh")))
}

#[test]
fn a_cargo_workspace() {
    let dir = project("cargo", &fresh_dir("builds-cargo"));
    // Stands for sccache and the like: it has to be called for the instrumented crates.
    let wrapper = "#!/bin/sh\ncase \" $* \" in *linker-plugin-lto*--crate-name\\ app*|*--crate-name\\ app*linker-plugin-lto*) \
        touch \"$(dirname \"$0\")/wrapped\";; esac\nexec \"$@\"\n";
    let path = dir.join("wrapper.sh");
    fs::write(&path, wrapper).unwrap();
    let mode = Command::new("chmod").arg("+x").arg(&path).status();
    assert!(mode.unwrap().success());

    // The configuration's flags, a build script, a proc macro, C code, and which binary is the default.
    let said = cargo(&dir, &["run", "--quiet", "--runs", "100"]);
    let said = said.expect(exit::FOUND).unwrap();
    assert!(said.stdout.contains("lost in the engine"), "{}", said.all());
    assert!(dir.join("wrapped").exists(), "the wrapper was called");
    let clip = dir.join(said.clip().unwrap());
    let dump = say(raddle(["trace", "dump"]).arg(clip.with_extension("trace")));
    assert!(dump.stdout.contains("engine.c:4"), "{}", dump.all());

    let args = ["run", "--quiet", "--runs", "100", "-p", "app"];
    let said = cargo(&dir, &[&args[..], &["--release", "-F", "double"]].concat());
    let said = said.expect(exit::FOUND).unwrap();
    assert!(said.stdout.contains("right: 4"), "{}", said.all());
    let optimised =
        "Rust code built with the profile `release`: it was optimised before it was instrumented";
    for (profile, is_optimised) in [("debug", false), ("release", true)] {
        let built = format!("target/raddle/x86_64-unknown-linux-gnu/{profile}/app");
        let told = say(raddle(["doctor"]).arg(dir.join(built)));
        assert_eq!(
            told.stdout.contains(optimised),
            is_optimised,
            "{}",
            told.all()
        );
    }

    let said = cargo(&dir, &["run", "--target", "aarch64-apple-darwin"]);
    assert_ne!(said.code, Some(exit::CLEAN), "{}", said.all());
}

#[test]
fn tests_of_a_cargo_workspace() {
    let dir = project("cargo", &fresh_dir("builds-cargo-test"));
    fs::write(dir.join("wrapper.sh"), "#!/bin/sh\nexec \"$@\"\n").unwrap();
    let mode = Command::new("chmod")
        .arg("+x")
        .arg(dir.join("wrapper.sh"))
        .status();
    assert!(mode.unwrap().success());
    let said = cargo(&dir, &["test", "--quiet", "-p", "app"]);
    let said = said.expect(exit::FOUND).unwrap();
    for line in [
        "test app/app tests::careful",
        "test app/app tests::careless",
        "test app/app tests::panics",
        "test app/plain",
        "test app/whole counts",
        "test app/whole surroundings",
        "6 tests, 1 failed",
        "  app/app tests::careless",
        "bug[F1]: panic at app/src/lib.rs:29: assertion `left == right` failed",
    ] {
        assert!(
            said.stdout.lines().any(|it| it == line),
            "{line}: {}",
            said.all()
        );
    }
    assert!(!said.stdout.contains("tests::ignored"), "{}", said.all());
    assert!(
        said.stderr.contains("documentation tests are left out"),
        "{}",
        said.all()
    );
    assert!(!said.stdout.contains("panicked at"), "{}", said.all());
    let clip = said.stdout.split("raddle replay ").nth(1);
    let clip = clip.and_then(|it| it.lines().next());
    let clip = dir.join(clip.expect("a clip of the test that fails"));
    say(raddle(["replay"]).arg(clip).current_dir(&dir))
        .expect(exit::FOUND)
        .unwrap();

    let args = [
        "test", "--quiet", "--runs", "1", "-p", "app", "--lib", "--test", "whole",
    ];
    let said = cargo(
        &dir,
        &[&args[..], &["--", "c", "--skip", "careless"]].concat(),
    );
    let said = said.expect(exit::CLEAN).unwrap();
    assert_eq!(said.line("3 tests, 0 failed"), Some(""), "{}", said.all());
}
