//! The launcher against a program that plays the runtime's part itself.

use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use raddle_run::Error;
use raddle_run::environment::{EnvPolicy, resolve};
use raddle_run::launch::{Cut, Detail, Plan, Record, RunResult, launch};
use raddle_run::program::Program;
use raddle_run::ring::{CHUNK_SLOTS, RING_CHUNKS};
use raddle_trace::event::EventKind;
use raddle_trace::file::TraceReader;
use raddle_trace::outcome::Ending;
use raddle_trace::run::Stdin;
use raddle_trace::wire::{self, Control, StrategyKind};

/// Compiles the program once for each test, beside whatever the test writes.
fn fake(dir: &Path, args: &[&str]) -> Program {
    let define = |name: &str, value: usize| format!("-D{name}={value}UL");
    let binary = dir.join("fake");
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fake/program.c");
    let status = Command::new("cc")
        .arg("-o")
        .arg(&binary)
        .arg(source)
        .args([
            define("MODULE_MAGIC", wire::MODULE_MAGIC as usize),
            define("FILE_SIZE_UP_TO_RING", size_of::<Control>()),
            define("STARTED", offset_of!(Control, started)),
            define("THREAD_COUNT", offset_of!(Control, thread_count)),
            define("SITES", offset_of!(Control, sites)),
            define("SITES_LEN", offset_of!(Control, sites_len)),
            define("IMAGES", offset_of!(Control, images)),
            define("IMAGE_COUNT", offset_of!(Control, image_count)),
            define("RING", offset_of!(Control, ring)),
            define("CHUNK_SLOTS", offset_of!(Control, chunk_slots)),
            define("CURRENT_CHUNK", offset_of!(Control, current_chunk)),
            define("TICKS", offset_of!(Control, ticks)),
            define("SLACK", wire::SLACK_SLOTS),
        ])
        .status()
        .unwrap();
    assert!(status.success());
    let args = args.iter().map(|it| it.into()).collect();
    let mut program = Program::new(&binary, args).unwrap();
    // The real runtime would take part otherwise; and the program plays no server.
    program.runtime = "libc.so.6".into();
    program.forks = false;
    program
}

fn run(args: &[&str]) -> Result<RunResult, Error> {
    let dir = tempfile::tempdir().unwrap();
    let program = fake(dir.path(), args);
    launch(&program, &Plan::new(StrategyKind::RoundRobin, 1))
}

fn ending(result: &RunResult) -> Option<Ending> {
    result.failure.as_ref().map(|it| it.outcome.ending)
}

fn recorded(dir: &Path, args: &[&str]) -> (RunResult, PathBuf) {
    let mut plan = Plan::new(StrategyKind::RoundRobin, 1);
    let path = dir.join("run.trace");
    plan.record = Some(Record {
        path: path.clone(),
        detail: Detail::Positions,
    });
    (launch(&fake(dir, args), &plan).unwrap(), path)
}

#[test]
fn every_event_arrives_in_order_though_the_ring_is_full_again_and_again() {
    let dir = tempfile::tempdir().unwrap();
    let count = CHUNK_SLOTS * (RING_CHUNKS * 2 + 1) + 7;
    let (result, path) = recorded(dir.path(), &["events", &count.to_string()]);
    assert_eq!(ending(&result), None, "{:?}", result.status);
    assert_eq!(result.events, Some(count));
    for (index, event) in (0..).zip(TraceReader::open(&path).unwrap()) {
        match event.unwrap().kind {
            EventKind::Write(access) => assert_eq!(access.value, index),
            other => panic!("event {index} is {other:?}"),
        }
    }
}

#[test]
fn without_a_trace_nothing_is_kept_of_the_events() {
    let result = run(&["events", "5"]).unwrap();
    assert_eq!((ending(&result), result.events), (None, None));
    assert_eq!(result.head.ticks, 5);
}

#[test]
fn a_crash_is_placed_at_the_last_event() {
    let dir = tempfile::tempdir().unwrap();
    let (result, path) = recorded(dir.path(), &["crash"]);
    assert_eq!(ending(&result), Some(Ending::Signal(11)));
    let outcome = result.failure.unwrap().outcome;
    assert_eq!(outcome.tick.map(|it| it.0), Some(2));
    let reader = TraceReader::open(&path).unwrap();
    assert_eq!(reader.trailer().unwrap().outcome, Some(outcome));
    assert_eq!(reader.count(), 3);
}

#[test]
fn an_exit_status_and_the_oracle_are_failures() {
    assert_eq!(ending(&run(&["exit", "3"]).unwrap()), Some(Ending::Exit(3)));
    let dir = tempfile::tempdir().unwrap();
    let mut program = fake(dir.path(), &["exit", "0"]);
    let plan = Plan::new(StrategyKind::RoundRobin, 1);
    assert_eq!(ending(&launch(&program, &plan).unwrap()), None);
    program.oracle = Some("test $RADDLE_EXIT_STATUS = 0 && exit 7".into());
    let result = launch(&program, &plan).unwrap();
    assert_eq!(ending(&result), Some(Ending::Oracle(7)));
}

#[test]
fn a_hanging_program_is_ended_with_all_its_children() {
    let dir = tempfile::tempdir().unwrap();
    let mut program = fake(dir.path(), &["hang"]);
    program.timeout = Duration::from_millis(300);
    let result = launch(&program, &Plan::new(StrategyKind::RoundRobin, 1)).unwrap();
    assert_eq!(ending(&result), Some(Ending::Hang));
    let output = String::from_utf8(result.stdout).unwrap();
    let child: u32 = output
        .trim()
        .strip_prefix("child ")
        .unwrap()
        .parse()
        .unwrap();
    let gone = || match std::fs::read_to_string(format!("/proc/{child}/stat")) {
        Err(_) => true,
        Ok(stat) => stat.contains(") Z "),
    };
    let ended = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        gone()
    });
    assert!(ended, "the child outlived the run");
}

#[test]
fn endless_output_ends_the_run() {
    let result = run(&["flood"]).unwrap();
    assert_eq!(result.cut, Some(Cut::Output));
    assert_eq!(ending(&result), Some(Ending::Hang));
}

#[test]
fn nothing_instrumented_is_an_error_that_says_why() {
    for (args, word) in [(["ignore"], "not loaded"), (["bare"], "no object")] {
        match run(&args) {
            Err(error @ Error::NotInstrumented { .. }) => {
                assert!(error.to_string().contains(word), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_program_sees_its_input_its_environment_and_two_descriptors() {
    let dir = tempfile::tempdir().unwrap();
    let mut program = fake(dir.path(), &["echo"]);
    program.stdin = Stdin::Inline(b"hello".to_vec());
    program.env = resolve(&EnvPolicy {
        keep: false,
        set: vec![("EXTRA".into(), "yes".into())],
    });
    let result = launch(&program, &Plan::new(StrategyKind::RoundRobin, 1)).unwrap();
    assert_eq!(result.stdout, b"hello");
    let stderr = String::from_utf8(result.stderr).unwrap();
    assert_eq!(stderr, "UTC yes\nfd 200\nfd 201\n");
}
