//! How runs are made: forked from one start or started one by one, several at the same time or one after another. Nothing
//! of that may show in what a run does, and nothing may be left when it is over.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::{Said, exit, fresh_dir, processes_of, program, raddle, run, say};
use raddle_run::launch::{Detail, Plan, Record, RunResult, launch};
use raddle_run::parallel::launch_all;
use raddle_run::program::Program;
use raddle_trace::outcome::Ending;
use raddle_trace::wire::StrategyKind;

fn expect(said: Said, code: i32) -> Said {
    said.expect(code).unwrap_or_else(|error| panic!("{error}"))
}

/// Builds a C program into a directory of its own.
fn build_c(name: &str, text: &str) -> Program {
    let dir = fresh_dir(name);
    let source = dir.join("program.c");
    fs::write(&source, text).unwrap();
    let binary = dir.join("program");
    let mut cc = raddle(["cc", "-O1", "-pthread", "-o"]);
    expect(say(cc.arg(&binary).arg(&source)), exit::CLEAN);
    Program::new(&binary, vec!["an argument".into()]).unwrap()
}

fn plan() -> Plan {
    Plan::new(StrategyKind::RoundRobin, 7)
}

fn ending(result: &RunResult) -> Option<Ending> {
    result.failure.as_ref().map(|it| it.outcome.ending)
}

fn printed(result: &RunResult) -> String {
    String::from_utf8_lossy(&result.stdout).into_owned()
}

/// Prints whatever a program can see of the way in which it was started.
const LOOKS_AROUND: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
extern char **environ;
static __attribute__((noinline)) unsigned long leftovers(void) {
    volatile unsigned char below[4096];
    unsigned long hash = 5381;
    for (unsigned i = 0; i < sizeof below; i++) hash = hash * 33 + below[i];
    return hash;
}
static void *thread(void *arg) { int here; printf("thread %p %d\n", (void *)&here, gettid()); return arg; }
int main(int argc, char **argv) {
    unsigned long hash = leftovers();
    char cwd[4096];
    pthread_t other;
    printf("stack %p leftovers %lx heap %p code %p libc %p\n", (void *)&argc, hash, malloc(10), (void *)main, (void *)printf);
    printf("%s %s in %s\n", argv[0], argv[1], getcwd(cwd, sizeof cwd));
    for (char **entry = environ; *entry; entry++) printf("%p %s\n", (void *)*entry, *entry);
    printf("ids %d %d\n", getpid(), getppid());
    for (int fd = 0; fd < 1000; fd++) {
        struct stat stat;
        if (fstat(fd, &stat) == 0) printf("fd %d mode %o at %ld\n", fd, stat.st_mode, (long)lseek(fd, 0, SEEK_CUR));
    }
    sigset_t set;
    sigprocmask(SIG_SETMASK, NULL, &set);
    for (int signal = 1; signal < 65; signal++) {
        struct sigaction action;
        if (signal == 32 || signal == 33 || sigaction(signal, NULL, &action)) continue;
        printf("%d:%d%d ", signal, sigismember(&set, signal), action.sa_handler == SIG_DFL);
    }
    for (int limit = 0; limit < 16; limit++) {
        struct rlimit both;
        getrlimit(limit, &both);
        printf("%d:%lu-%lu ", limit, both.rlim_cur, both.rlim_max);
    }
    int death = -1;
    prctl(PR_GET_PDEATHSIG, &death);
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    printf("\numask %o personality %x death %d dumpable %d cpus %d nice %d\n", umask(0), personality(0xffffffff), death,
           prctl(PR_GET_DUMPABLE), CPU_COUNT(&cpus), getpriority(PRIO_PROCESS, 0));
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    return 0;
}
"#;

#[test]
fn a_program_cannot_tell_how_it_was_started() {
    let program = build_c("started", LOOKS_AROUND);
    let dir = fresh_dir("started-traces");
    let mut fresh = program.clone();
    fresh.forks = false;
    let runs: Vec<(String, Vec<u8>)> = [&program, &program, &program, &fresh]
        .iter()
        .enumerate()
        .map(|(number, program)| {
            let path = dir.join(format!("{number}.trace"));
            let mut plan = plan();
            plan.record = Some(Record {
                path: path.clone(),
                detail: Detail::Positions,
            });
            let result = launch(program, &plan).unwrap();
            assert_eq!(ending(&result), None, "{}", printed(&result));
            (printed(&result), fs::read(path).unwrap())
        })
        .collect();
    assert!(runs[0].0.contains("thread"), "{}", runs[0].0);
    for (number, run) in runs.iter().enumerate() {
        assert_eq!(run.0, runs[0].0, "what run {number} saw");
        assert!(run.1 == runs[0].1, "the trace of run {number}");
    }
}

#[test]
fn clips_and_traces_are_the_same_forked_or_fresh() {
    for name in ["fail/race.c", "fail/lost_update.rs", "fail/vector_push.cpp"] {
        let found = |options: &[&str]| {
            let out = fresh_dir("ways").join("out");
            let said = expect(run(&program(name), &out, options), exit::FOUND);
            let clip = said.clip().expect("a clip");
            let times = say(raddle(["replay", "--quiet", "--times", "3"]).arg(&clip));
            assert!(
                times.stdout.contains("3 of 3: same outcome, same"),
                "{}",
                times.all()
            );
            let trace = fs::read(clip.with_extension("trace")).unwrap();
            (said.stdout, fs::read(&clip).unwrap(), trace)
        };
        let forked = found(&["--runs", "200"]);
        let fresh = found(&["--runs", "200", "--fresh"]);
        assert!(forked == fresh, "{name}: {} and {}", forked.0, fresh.0);
    }
}

#[test]
fn several_jobs_find_what_one_finds() {
    for options in [
        &[
            "--strategy",
            "random,pct,pos,surw",
            "--runs",
            "30",
            "--keep-going",
        ][..],
        &["--strategy", "pos", "--runs", "100", "--verify"],
        &[
            "--strategy",
            "random,dfs",
            "--runs",
            "20",
            "--keep-going",
            "--verify",
        ],
    ] {
        let found: Vec<_> = ["1", "2", "5"]
            .iter()
            .map(|jobs| {
                let dir = fresh_dir("jobs");
                let trace = dir.join("last.trace");
                let mut options = options.to_vec();
                options.extend(["--jobs", jobs, "--trace", trace.to_str().unwrap()]);
                let said = run(
                    &program("fail/check_then_act.c"),
                    &dir.join("out"),
                    &options,
                );
                let said = expect(said, exit::FOUND);
                let clip = said.clip().expect("a clip");
                (
                    said.stdout,
                    fs::read(clip).unwrap(),
                    fs::read(trace).unwrap(),
                )
            })
            .collect();
        assert!(found[1] == found[0], "{} and {}", found[0].0, found[1].0);
        assert!(found[2] == found[0], "{} and {}", found[0].0, found[2].0);
    }
}

#[test]
fn runs_are_counted_once() {
    let out = fresh_dir("counts").join("out");
    let count = |name: &str, options: &[&str]| {
        let said = run(&program(name), &out, options);
        let line = said.stdout.lines().last().unwrap_or_default().to_owned();
        (line, said)
    };
    let all = ["--strategy", "pos,dfs", "--runs", "2", "--verify"];
    let (line, said) = count("pass/race.c", &all);
    assert_eq!(
        line,
        "4 runs, 0 failures, 0 data races, 4 verified",
        "{}",
        said.all()
    );
    let dir = fresh_dir("always");
    let always = dir.join("always.c");
    fs::write(&always, "#include <stdlib.h>\nint main(void) { abort(); }").unwrap();
    let said = run(&always, &out, &["--runs", "3", "--keep-going"]);
    assert!(
        said.stdout.ends_with("3 runs, 3 failures, 0 data races\n"),
        "{}",
        said.all()
    );
    assert!(said.stdout.contains("instances:   3\n"), "{}", said.all());
    let said = run(&always, &out, &["--runs", "3"]);
    assert!(
        said.stdout.ends_with("1 runs, 1 failures, 0 data races\n"),
        "{}",
        said.all()
    );
}

const SPEAKS_EARLY: &str = r#"
#include <pthread.h>
#include <unistd.h>
static void *idle(void *arg) { for (;;) pause(); return arg; }
__attribute__((constructor)) static void early(void) {
    pthread_t thread;
    if (QUIET == 0) write(1, "early\n", 6);
    else pthread_create(&thread, 0, idle, 0);
}
"#;

#[test]
fn what_libraries_do_before_us_is_done_in_every_run() {
    for quiet in ["0", "1"] {
        let mut program = build_c(
            "early",
            "#include <stdio.h>\nint main(void) { puts(\"late\"); return 0; }",
        );
        let dir = program.binary.parent().unwrap().to_owned();
        let (source, library) = (dir.join("early.c"), dir.join("early.so"));
        fs::write(&source, SPEAKS_EARLY).unwrap();
        let mut cc = Command::new("cc");
        cc.args([
            "-shared",
            "-fPIC",
            "-pthread",
            &format!("-DQUIET={quiet}"),
            "-o",
        ]);
        assert!(cc.arg(&library).arg(&source).status().unwrap().success());
        program.env.push(("LD_PRELOAD".into(), library.into()));
        let expected = if quiet == "0" {
            "early\nlate\n"
        } else {
            "late\n"
        };
        for _ in 0..3 {
            assert_eq!(printed(&launch(&program, &plan()).unwrap()), expected);
        }
    }
}

/// What a run does is the first argument.
const ENDS_ODDLY: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char how[16] = "";
    if (read(0, how, sizeof how - 1) <= 0) return 9;
    if (!strcmp(how, "crash")) raise(SIGSEGV);
    if (!strcmp(how, "hang")) {
        if (fork() == 0) for (;;) pause();
        for (;;) pause();
    }
    if (!strcmp(how, "leave")) {
        if (fork() == 0) for (;;) pause();
    }
    return argc > 5;
}
"#;

#[test]
fn forked_runs_end_like_any_other_and_leave_nobody() {
    let mut program = build_c("oddly", ENDS_ODDLY);
    program.timeout = Duration::from_secs(2);
    for (how, expected) in [
        ("crash", Some(Ending::Signal(11))),
        ("leave", None),
        ("hang", Some(Ending::Hang)),
        ("crash", Some(Ending::Signal(11))),
        ("nothing", None),
    ] {
        program.stdin = raddle_trace::run::Stdin::Inline(how.into());
        for _ in 0..2 {
            assert_eq!(
                ending(&launch(&program, &plan()).unwrap()),
                expected,
                "{how}"
            );
        }
        assert!(
            eventually(|| processes_of(&program.binary).len() == 1),
            "{how}: somebody besides the server"
        );
    }
    let servers = processes_of(&program.binary);
    let status = Command::new("kill")
        .arg("-9")
        .arg(servers[0].to_string())
        .status();
    assert!(status.unwrap().success());
    for _ in 0..2 {
        assert_eq!(
            ending(&launch(&program, &plan()).unwrap()),
            None,
            "without its server"
        );
    }
    let binary = program.binary.clone();
    drop(program);
    assert!(gone(&binary), "{:?}", processes_of(&binary));
}

#[test]
fn many_plans_are_run_in_their_order() {
    let program = build_c(
        "plans",
        "#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf(\"%d\", getpid()); return 0; }",
    );
    let plans: Vec<_> = (0..40)
        .map(|seed| Plan::new(StrategyKind::RoundRobin, seed))
        .collect();
    let outputs = |jobs| -> Vec<String> {
        let results = launch_all(&program, &plans, NonZeroUsize::new(jobs).unwrap());
        results
            .iter()
            .map(|it| printed(it.as_ref().unwrap()))
            .collect()
    };
    let alone = outputs(1);
    assert_eq!(alone.iter().collect::<BTreeSet<_>>().len(), plans.len());
    assert_eq!(outputs(3), alone);
}

#[test]
fn an_interrupted_search_tells_what_it_found_and_leaves_nobody() {
    let dir = fresh_dir("interrupted");
    let binary = dir.join("program");
    let mut cc = raddle(["cc", "-O1", "-pthread", "-o"]);
    expect(
        say(cc.arg(&binary).arg(program("fail/race.c"))),
        exit::CLEAN,
    );
    for signal in ["-INT", "-TERM"] {
        let options = ["run", "--runs", "1000000", "--keep-going", "--jobs", "2"];
        let until = || thread::sleep(Duration::from_secs(3));
        let said = interrupt(&options, &dir.join("out"), &binary, signal, until);
        assert_eq!(said.failure().as_deref(), Some("assertion"));
        assert!(
            said.stdout.trim_end().ends_with("failures, 1 data races"),
            "{}",
            said.all()
        );
    }
}

/// Races on four variables, in runs that take their time.
const RACES_SLOWLY: &str = r#"
#include <pthread.h>
#include <unistd.h>
int a, b, c, d;
void *adds(void *arg) { a++; b++; c++; d++; return arg; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, adds, 0);
    adds(0);
    pthread_join(t, 0);
    usleep(400000);
    return 0;
}
"#;

#[test]
fn an_interrupted_check_tells_what_it_found_and_leaves_nobody() {
    let binary = build_c("interrupted-check", RACES_SLOWLY).binary;
    let out = binary.with_file_name("out");
    let found = || out.join("clips").read_dir().is_ok_and(|it| it.count() > 1);
    let until = || {
        let start = Instant::now();
        while !found() && start.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(10));
        }
        thread::sleep(Duration::from_secs(2));
    };
    let said = interrupt(&["check", "--real-time"], &out, &binary, "-INT", until);
    assert!(said.stdout.contains("data race"), "{}", said.all());
    assert!(said.stdout.contains("interrupted"), "{}", said.all());
}

/// Sends a signal to a command that looks for bugs of a program, at a time. It finds one all the same, and nothing of the
/// program is left.
fn interrupt(
    options: &[&str],
    out: &Path,
    binary: &Path,
    signal: &str,
    until: impl FnOnce(),
) -> Said {
    let mut command = raddle(options);
    command.arg("--out").arg(out).arg(binary);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    until();
    let kill = Command::new("kill")
        .arg(signal)
        .arg(child.id().to_string())
        .status();
    assert!(kill.unwrap().success());
    let said = Said::from(child.wait_with_output().unwrap());
    assert!(gone(binary), "{:?}", processes_of(binary));
    expect(said, exit::FOUND)
}

/// Whether no process executes a file any more, or soon will not.
fn gone(binary: &Path) -> bool {
    eventually(|| processes_of(binary).is_empty())
}

/// Whether something is so within a moment. A process that was killed takes some time to go.
fn eventually(is_so: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !is_so() {
        if start.elapsed() > Duration::from_secs(5) {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
    true
}
