//! What a run is surrounded by: the clock, the environment, random numbers, the oracle, the debugger; and that the same
//! seed gives the same bytes.

mod common;

use std::fs;
use std::path::Path;

use common::{Said, exit, fresh_dir, program, programs, raddle, raddle_after, root, run, say};

/// Writes a C program into a directory of its own and runs it with these options.
fn run_c(name: &str, text: &str, options: &[&str]) -> Said {
    let dir = fresh_dir(name);
    let source = dir.join("program.c");
    fs::write(&source, text).unwrap();
    run(&source, &dir.join("out"), options)
}

fn expect(said: Said, code: i32) -> Said {
    said.expect(code).unwrap_or_else(|error| panic!("{error}"))
}

const WAITS_FOR_AN_HOUR: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static void *sleeper(void *arg) { sleep(3600); return arg; }
int main(void) {
    pthread_t thread;
    time_t before = time(NULL);
    pthread_create(&thread, NULL, sleeper, NULL);
    pthread_join(thread, NULL);
    assert(time(NULL) - before >= 3600);
    return 0;
}
"#;

#[test]
fn sleeps_cost_nothing_and_move_the_clock() {
    let said = run_c(
        "hour",
        WAITS_FOR_AN_HOUR,
        &["--runs", "3", "--timeout", "10"],
    );
    expect(said, exit::CLEAN);
}

const POLLS: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
atomic_int ready;
volatile long polls, works;
void *prepares(void *arg) {
    for (int i = 0; i < 1500000; i++)
        works++;
    ready = 1;
    return arg;
}
int main(void) {
    pthread_t helper;
    pthread_create(&helper, 0, prepares, 0);
    while (!ready)
        MEANWHILE;
    pthread_join(helper, 0);
    return 0;
}
"#;

/// Who waits by polling, whether it does something meanwhile or not, is no hang: it gives way long before the time is
/// over.
#[test]
fn nobody_is_starved_by_who_polls() {
    let options = ["--strategy", "pct", "--runs", "6", "--timeout", "2"];
    for (name, meanwhile) in [("polls", "polls++"), ("spins", "")] {
        let text = POLLS.replace("MEANWHILE", meanwhile);
        expect(run_c(name, &text, &options), exit::CLEAN);
    }
}

const WAITS_WHERE_NOBODY_DID: &str = r#"
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int flag, started;
__attribute__((noinline)) int get(int *place) { return *(volatile int *)place; }
void *sets(void *arg) {
    pthread_mutex_lock(&lock);
    started = 1;
    pthread_mutex_unlock(&lock);
    *(volatile int *)&flag = 1;
    return arg;
}
void *waits(void *arg) {
    pthread_mutex_lock(&lock);
    int is_late = started;
    pthread_mutex_unlock(&lock);
    if (!is_late)
        while (!get(&flag))
            ;
    return arg;
}
int main(void) {
    pthread_t a, b;
    int own = 1;
    get(&own);
    pthread_create(&a, 0, sets, 0);
    pthread_create(&b, 0, waits, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// In the profiling run the site at which a thread may wait is a private one.
#[test]
fn nobody_is_starved_where_nothing_interfered_before() {
    let options = [
        "--strategy",
        "random,pct,pos,surw",
        "--runs",
        "10",
        "--timeout",
        "3",
        "--no-races",
    ];
    let said = run_c("private-before", WAITS_WHERE_NOBODY_DID, &options);
    expect(said, exit::CLEAN);
}

const TIMES_OUT_IF_STARVED: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
atomic_int over;
volatile long polls;
void *works(void *arg) {
    while (!over)
        polls++;
    return arg;
}
long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, works, 0);
    for (int i = 0; i < 100; i++) {
        struct timespec pause = {.tv_nsec = 20000000};
        long before = now();
        nanosleep(&pause, 0);
        assert(now() - before < 2000);
    }
    over = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#;

/// A thread that could run does so within a time that every timeout allows for, however long the run is.
#[test]
fn nobody_is_late_by_seconds() {
    let options = [
        "--strategy",
        "rr,random,pct,pos,surw",
        "--runs",
        "3",
        "--timeout",
        "60",
        "--no-races",
    ];
    let said = run_c("late", TIMES_OUT_IF_STARVED, &options);
    expect(said, exit::CLEAN);
}

const YIELDS_AND_WORKS: &str = r#"
#include <pthread.h>
#include <sched.h>
volatile long turns;
void *yields(void *arg) {
    for (int i = 0; i < 20000; i++) {
        sched_yield();
        for (int j = 0; j < 40; j++)
            turns++;
    }
    return arg;
}
int main(void) {
    pthread_t other;
    pthread_create(&other, 0, yields, 0);
    pthread_join(other, 0);
    return 0;
}
"#;

/// A thread that keeps the turn where a chunk of events ends still writes no further than to its end.
#[test]
fn a_chunk_may_end_where_a_thread_yields() {
    let options = ["--strategy", "random,pct,pos", "--runs", "2", "--verify"];
    let said = expect(run_c("yields", YIELDS_AND_WORKS, &options), exit::CLEAN);
    assert!(
        said.line("6 runs, 0 failures, 0 data races, 6 verified")
            .is_some()
    );
}

const KNOWS_THE_YEAR: &str = r#"
#include <time.h>
int main(void) { return time(NULL) > 1700000000 ? 0 : 5; }
"#;

#[test]
fn real_time_is_the_machines() {
    let options = ["--runs", "1", "--expect-exit", "0"];
    let said = run_c("virtual-year", KNOWS_THE_YEAR, &options);
    assert_eq!(expect(said, exit::FOUND).failure().as_deref(), Some("exit"));
    let said = run_c("real-year", KNOWS_THE_YEAR, &["--runs", "1", "--real-time"]);
    expect(said, exit::CLEAN);
}

const ASKS_AROUND: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
int main(void) {
    unsigned char bytes[8];
    char text[64] = "";
    if (getenv("RADDLE_UNPINNED")) return 3;
    if (!getenv("GIVEN") || strcmp(getenv("GIVEN"), "yes")) return 4;
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return 5;
    if (!fgets(text, sizeof text, stdin) || strcmp(text, "a line\n")) return 6;
    for (int i = 0; i < 8; i++) printf("%02x", bytes[i]);
    printf(" %d\n", getpid());
    return 7;
}
"#;

#[test]
fn environment_input_and_random_numbers_are_pinned() {
    let dir = fresh_dir("pinned");
    let (source, input) = (dir.join("program.c"), dir.join("input"));
    fs::write(&source, ASKS_AROUND).unwrap();
    fs::write(&input, "a line\n").unwrap();
    let outputs: Vec<String> = ["1", "1", "2"]
        .iter()
        .map(|seed| {
            let mut command = raddle(["run", "--strategy", "rr", "--runs", "1", "--seed", seed]);
            command.args(["--expect-exit", "0", "--env", "GIVEN=yes", "--stdin"]);
            command.arg(&input);
            command.arg("--out").arg(dir.join("out")).arg(&source);
            let said = expect(say(command.env("RADDLE_UNPINNED", "1")), exit::FOUND);
            assert!(said.stdout.contains("exit status 7"), "{}", said.all());
            let mut lines = said.stdout.lines().map(str::trim_start);
            // Snippets of source have such lines, too, and come first.
            let printed = lines.rfind(|it| it.starts_with("| "));
            printed.expect("what the program printed").to_owned()
        })
        .collect();
    assert_eq!(outputs[0], outputs[1]);
    assert_ne!(outputs[0], outputs[2]);
}

#[test]
fn an_oracle_has_the_last_word() {
    let source = program("pass/race.c");
    let dir = fresh_dir("oracle");
    let content = [
        "--runs",
        "2",
        "--oracle",
        "test \"$RADDLE_EXIT_STATUS\" = 0",
    ];
    expect(run(&source, &dir.join("out"), &content), exit::CLEAN);
    let strict = [
        "--runs",
        "2",
        "--oracle",
        "test \"$RADDLE_EXIT_STATUS\" = 9",
    ];
    let said = expect(run(&source, &dir.join("out"), &strict), exit::FOUND);
    assert_eq!(said.failure().as_deref(), Some("exit"));
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let source = program("fail/lost_update.rs");
    let found: Vec<(Vec<u8>, Vec<u8>)> = (0..2)
        .map(|_| {
            let dir = fresh_dir("same");
            let said = expect(
                run(&source, &dir.join("out"), &["--strategy", "surw"]),
                exit::FOUND,
            );
            let clip = said.clip().expect("a clip");
            let trace = clip.with_extension("trace");
            let read =
                |path: &Path| fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            (read(&clip), read(&trace))
        })
        .collect();
    assert!(found[0].0 == found[1].0, "the clips differ");
    assert!(found[0].1 == found[1].1, "the traces differ");
}

#[test]
fn every_strategy_finds_a_lost_update() {
    let dir = fresh_dir("strategies");
    for strategy in ["random", "pct", "pos", "surw", "dfs"] {
        let options = ["--strategy", strategy, "--runs", "200"];
        let said = expect(
            run(&program("fail/race.c"), &dir.join("out"), &options),
            exit::FOUND,
        );
        assert_eq!(said.failure().as_deref(), Some("assertion"), "{strategy}");
    }
}

/// Programs that wait for what the scheduler does not know. Their runs need not repeat, but they are no deadlocks.
#[test]
fn waiting_for_the_outside_is_no_deadlock() {
    let out = fresh_dir("outside").join("out");
    for source in programs("outside") {
        let options = ["--strategy", "random,pct,pos", "--runs", "10"];
        let said = run(&source, &out, &options);
        assert!(said.line("30 runs, 0 failures").is_some(), "{}", said.all());
    }
}

#[test]
fn events_have_stacks_on_demand() {
    let out = fresh_dir("stacks").join("out");
    let said = expect(
        run(&root().join("examples/queue.c"), &out, &[]),
        exit::FOUND,
    );
    let trace = said.clip().expect("a clip").with_extension("trace");
    let said = expect(
        say(raddle(["trace", "dump", "--stacks"]).arg(trace)),
        exit::CLEAN,
    );
    let lines: Vec<&str> = said.stdout.lines().collect();
    let nested = |pair: &[&str]| pair[0].ends_with("(put)") && pair[1].ends_with("(producer)");
    assert!(lines.windows(2).any(nested), "{}", said.stdout);
}

const ALLOCATES: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void *adds(void *arg) {
    for (int i = 0; i < 20; i++) {
        int *block = malloc(100);
        *block = i;
        pthread_mutex_lock(&lock);
        total += *block;
        pthread_mutex_unlock(&lock);
        free(block);
    }
    return arg;
}
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, adds, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return total != 570;
}
"#;

/// A limit of the address space, as containers and build machines set it, is never taken for a bug of the program: there is
/// room for the runtime, or it says that there is none.
#[test]
fn a_limited_address_space_is_no_bug() {
    let dir = fresh_dir("limited");
    let (source, binary) = (dir.join("program.c"), dir.join("program"));
    fs::write(&source, ALLOCATES).unwrap();
    let mut build = raddle(["cc", "-pthread", "-o"]);
    expect(say(build.arg(&binary).arg(&source)), exit::CLEAN);
    let check = |limit: &str| {
        let mut command = raddle_after(&format!("ulimit -v {limit}"), ["check", "--runs", "2"]);
        say(command
            .arg("--out")
            .arg(dir.join("out"))
            .arg("--")
            .arg(&binary))
    };
    for megabytes in [16384, 4096, 1024, 512, 256] {
        let limit = (megabytes << 10).to_string();
        let said = expect(check(&limit), exit::CLEAN);
        assert!(!said.stderr.contains("address space"), "{}", said.all());
    }
    let said = expect(check(&(90 << 10).to_string()), exit::USAGE);
    assert!(said.stderr.contains("ulimit -v"), "{}", said.all());
}

/// Memory that the program could have had without the runtime.
#[test]
fn a_heap_that_a_limit_cuts_short_is_no_bug() {
    const NEEDS_MORE: &str = r#"
#include <stdlib.h>
#include <string.h>
int main(void) {
    for (int i = 0; i < 5; i++)
        memset(malloc(100 << 20), i, 100 << 20);
    return 0;
}
"#;
    let dir = fresh_dir("limited-heap");
    let (source, binary) = (dir.join("program.c"), dir.join("program"));
    fs::write(&source, NEEDS_MORE).unwrap();
    let mut build = raddle(["cc", "-pthread", "-o"]);
    expect(say(build.arg(&binary).arg(&source)), exit::CLEAN);
    for command in ["check", "run"] {
        let mut command = raddle_after("ulimit -v 1048576", [command, "--runs", "1", "--out"]);
        let said = say(command.arg(dir.join("out")).arg("--").arg(&binary));
        let said = expect(said, exit::USAGE);
        assert!(said.stderr.contains("ulimit -v"), "{}", said.all());
    }
}

/// What the kernel tells a program behind the runtime's back differs from run to run.
const DOES_NOT_REPEAT: &str = r#"
#include <pthread.h>
#include <time.h>
static struct timespec now;
static long seen;
static void look(void) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(228), "D"(1), "S"(&now) : "rcx", "r11", "memory");
    seen = now.tv_nsec;
}
static int shared;
static void *adds(void *arg) {
    look();
    shared++;
    look();
    return arg;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, adds, 0);
    pthread_create(&b, 0, adds, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// The same, with nothing that could be found.
const QUIETLY_DOES_NOT_REPEAT: &str = r#"
#include <pthread.h>
#include <time.h>
static struct timespec now[2];
static long seen[2];
static int shared;
static void *adds(void *arg) {
    long result, me = arg != 0;
    __asm__ volatile("syscall" : "=a"(result) : "a"(228), "D"(1), "S"(&now[me]) : "rcx", "r11", "memory");
    seen[me] = now[me].tv_nsec;
    __atomic_fetch_add(&shared, 1, __ATOMIC_SEQ_CST);
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, adds, 0);
    pthread_create(&b, 0, adds, &b);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// Fails the first time that it runs.
const FAILS_ONCE: &str = r#"
#include <assert.h>
#include <fcntl.h>
int main(int argc, char **argv) {
    long result;
    __asm__ volatile("syscall" : "=a"(result)
                     : "a"(2), "D"(argv[1]), "S"(O_CREAT | O_EXCL | O_WRONLY), "d"(0600)
                     : "rcx", "r11", "memory");
    assert(argc == 2 && result < 0);
    return 0;
}
"#;

/// A program that does not repeat is never one in which nothing was found.
#[test]
fn what_does_not_repeat_is_said() {
    let dir = fresh_dir("unsteady");
    let call = |name: &str, text: &str, command: &str, rest: &[&Path]| {
        let source = dir.join(name);
        fs::write(&source, text).unwrap();
        let mut command = raddle([command, "--runs", "3", "--out"]);
        let said = say(command.arg(dir.join("out")).arg(&source).args(rest));
        let said = expect(said, exit::DIFFERS);
        assert!(said.all().contains("repeat"), "{}", said.all());
    };
    for command in ["check", "run"] {
        call("clock.c", DOES_NOT_REPEAT, command, &[]);
        call("quiet.c", QUIETLY_DOES_NOT_REPEAT, command, &[]);
        let file = dir.join(command);
        call("once.c", FAILS_ONCE, command, &[Path::new("--"), &file]);
    }
}

/// All runs of a search go well, with any strategy; so would one more that is not the same as the first.
#[test]
fn a_search_that_finds_nothing_ends_with_a_replay() {
    let dir = fresh_dir("compared");
    let source = dir.join("quiet.c");
    fs::write(&source, QUIETLY_DOES_NOT_REPEAT).unwrap();
    for strategy in ["pos", "rr", "dfs", "pct,surw"] {
        let mut command = raddle(["run", "--quiet", "--runs", "40", "--strategy", strategy]);
        let said = say(command.arg("--out").arg(dir.join("out")).arg(&source));
        let said = expect(said, exit::DIFFERS);
        assert!(said.all().contains("run 1 (seed 1)"), "{}", said.all());
        let mut command = raddle(["run", "--quiet", "--runs", "1", "--strategy", strategy]);
        let said = say(command.arg("--out").arg(dir.join("out")).arg(&source));
        expect(said, exit::CLEAN);
    }
}

#[test]
fn dumps_are_filtered_by_thread_place_and_address() {
    let out = fresh_dir("dump").join("out");
    let said = expect(run(&program("fail/race.c"), &out, &[]), exit::FOUND);
    let trace = said.clip().expect("a clip").with_extension("trace");
    let dump = |options: &[&str]| -> Vec<String> {
        let said = say(raddle(["trace", "dump"]).args(options).arg(&trace));
        let lines = expect(said, exit::CLEAN).stdout;
        lines.lines().map(str::to_owned).collect()
    };
    let moment = |line: &String| line.split_whitespace().nth(1).unwrap().to_owned();
    let all = dump(&[]);
    let of_file = dump(&["--file", "race.c", "--thread", "T1"]);
    assert!(!of_file.is_empty() && of_file.len() < all.len());
    for line in &of_file {
        assert!(moment(line).starts_with("T1@"), "{line}");
        assert!(line.contains("race.c:"), "{line}");
    }
    let access = of_file.iter().find(|it| it.contains(" write ")).unwrap();
    let words: Vec<&str> = access.split_whitespace().collect();
    let (address, _) = words[3].split_once(':').unwrap();
    let (_, place) = access.rsplit_once("race.c:").unwrap();
    let (line, _) = place.split_once(':').unwrap();
    let at = dump(&["--address", address]);
    assert!(at.contains(access) && at.iter().all(|it| it.contains(address)));
    let of_line = dump(&["--file", &format!("race.c:{line}")]);
    assert!(of_line.contains(access) && of_line.len() < all.len());
    let last = dump(&["--last", "2"]);
    for thread in ["T0@", "T1@"] {
        let of = |lines: &[String]| -> Vec<String> {
            let of_thread = lines.iter().filter(|it| moment(it).starts_with(thread));
            of_thread.cloned().collect()
        };
        let events = of(&all);
        assert_eq!(of(&last), events[events.len() - 2..], "{thread}");
    }
}

/// Says of each of its runs that it was made.
const COUNTS_ITS_RUNS: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static int x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *adds(void *arg) {
    pthread_mutex_lock(&lock);
    x++;
    pthread_mutex_unlock(&lock);
    return arg;
}
int main(int count, char **words) {
    int file = open(words[1], O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (write(file, "x", 1) != 1) return count;
    close(file);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, adds, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
"#;

#[test]
fn as_many_runs_are_made_as_were_asked_for() {
    for (strategy, runs) in [("pos", 5), ("pct,surw", 10), ("dfs", 5), ("rr", 5)] {
        let log = fresh_dir("runs-made").join("log");
        let log = log.to_str().unwrap();
        let options = ["--runs", "5", "--strategy", strategy, "--", log];
        let said = expect(run_c("counts-runs", COUNTS_ITS_RUNS, &options), exit::CLEAN);
        let line = format!("{runs} runs, 0 failures");
        assert!(said.line(&line).is_some(), "{}", said.all());
        assert_eq!(fs::metadata(log).unwrap().len(), runs, "{strategy}");
    }
}

/// The first failing run has more switches than it needs.
#[test]
fn clips_of_failing_runs_are_short() {
    let dir = fresh_dir("short-clip");
    let switches = |options: &[&str]| {
        let mut command = raddle(["run", "--quiet", "--no-races", "--strategy", "random"]);
        command.arg("--out").arg(dir.join("out")).args(options);
        let said = say(command.arg(program("fail/lost_update.rs")));
        let clip = expect(said, exit::FOUND).clip().expect("a clip");
        let clip = fs::read_to_string(clip).unwrap();
        let (_, switches) = clip.split_once("switches:\n").unwrap();
        switches.lines().count()
    };
    assert!(switches(&[]) < switches(&["--as-is"]));
}
