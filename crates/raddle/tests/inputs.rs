//! What a run is told by the outside is recorded: replays need neither client nor network nor files.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Said, exit, fresh_dir, program, raddle, raddle_after, run, say, seeds};

fn expect(said: Said, code: i32) -> Said {
    said.expect(code).unwrap_or_else(|error| panic!("{error}"))
}

/// A client of the servers under test, in Python: `lines` lines on each of `connections` connections at once.
fn client(dir: &Path) -> PathBuf {
    let path = dir.join("client.py");
    let text = r#"
import socket, sys, threading
port, connections, lines = (int(word) for word in sys.argv[1:4])
failed = []
def talk(name):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as s:
        for line in range(lines):
            sent = b"c%d l%d\n" % (name, line)
            s.sendall(sent)
            got = b""
            while not got.endswith(b"\n"):
                more = s.recv(100)
                if not more: failed.append(name); return
                got += more
            if not got.endswith(sent): failed.append(name)
threads = [threading.Thread(target=talk, args=(name,)) for name in range(connections)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.exit(1 if failed else 0)
"#;
    fs::write(&path, text).unwrap();
    path
}

/// A port that nobody listens on.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Runs a server under some seeds with a client, and replays every run at once: in a replay there is no client.
fn serve(name: &str, options: &[&str]) -> Said {
    let dir = fresh_dir(&format!("inputs-{}", name.replace(['.', '/'], "-")));
    let port = free_port().to_string();
    let client = format!("python3 {} {port} 3 2", client(&dir).display());
    let mut command = raddle(["run", "--verify", "--quiet", "--client", &client]);
    command
        .args(["--runs", &seeds(5).to_string(), "--timeout", "30", "--out"])
        .arg(dir.join("out"))
        .args(options)
        .arg(program(&format!("inputs/{name}")))
        .args(["--", &port]);
    say(&mut command)
}

#[test]
fn servers_replay_without_their_clients() {
    for name in ["echo_threads.c", "echo_epoll.c", "echo_poll.c", "echo.rs"] {
        let said = expect(serve(name, &[]), exit::CLEAN);
        let runs = seeds(5);
        let line = format!("{runs} runs, 0 failures, 0 data races, {runs} verified");
        assert!(said.stdout.contains(&line), "{name}: {}", said.all());
    }
}

#[test]
fn a_client_that_fails_is_a_failing_run_and_its_clip_replays_without_network() {
    let dir = fresh_dir("inputs-failing-client");
    let port = free_port().to_string();
    let client = format!("python3 {} {port} 1 1 && exit 3", client(&dir).display());
    let mut command = raddle([
        "run", "--quiet", "--runs", "1", "--client", &client, "--out",
    ]);
    command
        .arg(dir.join("out"))
        .arg(program("inputs/echo_threads.c"))
        .args(["--", &port]);
    let said = expect(say(&mut command), exit::FOUND);
    let clip = said.clip().expect("a clip was kept");
    assert!(
        said.stdout.contains("ended with status 3"),
        "{}",
        said.all()
    );
    let tool = env!("CARGO_BIN_EXE_raddle");
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    let mut replay = Command::new("unshare");
    replay
        .args(["-rn", tool, "replay", "--times", "3"])
        .arg(&clip)
        .env("RADDLE_CACHE_DIR", cache);
    let said = expect(say(&mut replay), exit::FOUND);
    assert!(said.stdout.contains("same outcome, same"), "{}", said.all());
    assert!(said.stdout.contains("served 1 lines"), "{}", said.all());
}

/// Makes a run of a program that fails, changes the world around it, and replays its clip.
fn fail_and_replay(name: &str, dir: &Path, arguments: &[&str], change: impl Fn()) -> Said {
    let mut command = raddle(["run", "--quiet", "--runs", "1"]);
    command
        .args(["--expect-exit", "0", "--out"])
        .arg(dir.join("out"))
        .arg(program(&format!("inputs/{name}")))
        .arg("--")
        .args(arguments);
    let said = expect(say(&mut command), exit::FOUND);
    let clip = said.clip().expect("a clip was kept");
    change();
    let said = expect(
        say(raddle(["replay", "--times", "3"]).arg(&clip)),
        exit::FOUND,
    );
    assert!(said.stdout.contains("same outcome, same"), "{}", said.all());
    said
}

#[test]
fn files_directories_and_the_system_are_asked_once() {
    for name in ["reader.c", "reader.cpp", "reader.rs"] {
        let dir = fresh_dir(&format!("inputs-{}", name.replace('.', "-")));
        let data = dir.join("data");
        fs::create_dir(&data).unwrap();
        fs::write(data.join("one"), "first line\nsecond line\n").unwrap();
        fs::write(data.join("two"), vec![b'x'; 100_000]).unwrap();
        let said = fail_and_replay(name, &dir, &[data.to_str().unwrap()], || {
            fs::remove_dir_all(&data).unwrap();
        });
        for expected in ["first line", "entry one", "entry two", "100000 bytes"] {
            assert!(said.stdout.contains(expected), "{name}: {}", said.all());
        }
    }
}

/// `nohup` and scripts ignore signals, and limits differ between shells: neither is to be seen in a replay.
#[test]
fn what_is_inherited_does_not_matter() {
    let dir = fresh_dir("inputs-inherited");
    let ran = run(
        &program("inputs/inherited.c"),
        &dir.join("out"),
        &["--runs", "1", "--expect-exit", "0"],
    );
    let clip = ran.clip().unwrap_or_else(|| panic!("{}", ran.all()));
    let mut command = raddle_after(r#"trap "" HUP INT; ulimit -n 333"#, ["replay"]);
    let said = expect(say(command.arg(clip)), exit::FOUND);
    assert!(
        said.stdout.contains("SIGHUP is not ignored"),
        "{}",
        said.all()
    );
    assert!(said.stdout.contains("same outcome, same"), "{}", said.all());
}

#[test]
fn what_is_seldom_asked_is_asked_once() {
    let dir = fresh_dir("inputs-seldom");
    let (data, link) = (dir.join("data"), dir.join("link"));
    fs::create_dir(&data).unwrap();
    std::os::unix::fs::symlink("somewhere", &link).unwrap();
    let arguments = [data.to_str().unwrap(), link.to_str().unwrap()];
    let said = fail_and_replay("seldom.c", &dir, &arguments, || {
        fs::remove_dir(&data).unwrap();
        fs::remove_file(&link).unwrap();
    });
    for expected in [
        "children 1000000 and 1000001 ended with 3 and 4",
        ".txt holds temporary",
        "a link to somewhere on ",
        "objects 2000000, 2000001, 2000002",
    ] {
        assert!(said.stdout.contains(expected), "{}", said.all());
    }
}

/// Makes a directory with some files, and a run of `lists.c` that fails there.
fn listed(dir: &Path, change: impl Fn(&Path)) -> Said {
    let data = dir.join("data");
    fs::create_dir(&data).unwrap();
    for (name, text) in [("one", "first line\n"), ("two", ""), ("three", "x")] {
        fs::write(data.join(name), text).unwrap();
    }
    fail_and_replay("lists.c", dir, &[data.to_str().unwrap()], || change(&data))
}

#[test]
fn what_libc_makes_of_several_calls_is_asked_once() {
    let dir = fresh_dir("inputs-lists");
    let said = listed(&dir, |data| fs::remove_dir_all(data).unwrap());
    for expected in [
        "entry one",
        "entry three",
        "entry two",
        "glob /three",
        "glob /two",
        "stdin says first line",
        "processors",
    ] {
        assert!(said.stdout.contains(expected), "{}", said.all());
    }
}

/// Where the entries of a log begin.
fn entries(log: &[u8]) -> Vec<usize> {
    const HEAD: usize = 24;
    let next = |at: &usize| {
        let len = log.get(*at..*at + 4)?.try_into().ok()?;
        Some(*at + ENTRY + u32::from_ne_bytes(len) as usize)
    };
    let starts = std::iter::successors(Some(HEAD), next);
    starts.take_while(|at| *at < log.len()).collect()
}

/// Bytes of an entry before its data.
const ENTRY: usize = 40;

/// A log that was tampered with is refused with a place, or replayed to an end that is told: it is read inside the
/// program, where nobody would hear of a crash.
#[test]
fn hostile_logs_are_refused_or_told_apart() {
    let dir = fresh_dir("inputs-hostile");
    listed(&dir, |_| ());
    let clip = dir.join("out/clips/lists-1.clip");
    let log = clip.with_extension("inputs");
    let whole = fs::read(&log).unwrap();
    let starts = entries(&whole);
    let replay = |bytes: &[u8]| {
        fs::write(&log, bytes).unwrap();
        let mut command = raddle(["replay", "--timeout", "3"]);
        say(command.arg(&clip))
    };

    let refused = [
        whole[..whole.len() - 1].to_vec(),
        changed(&whole, starts[1] + 4, &[0xff; 4]),
        changed(&whole, starts[2] + 16, &[0xff; 2]),
        changed(&whole, starts[3], &[0xff; 4]),
        changed(&whole, starts[0] + ENTRY, &[0xff; 4]),
    ];
    for bytes in &refused {
        let said = expect(replay(bytes), exit::USAGE);
        assert!(said.stderr.contains("at byte "), "{}", said.all());
    }

    let results = starts.iter().map(|at| at + 32);
    let contents = starts.iter().map(|at| at + ENTRY + 4);
    let places = results.chain(contents).filter(|at| at + 8 <= whole.len());
    for (number, at) in places.enumerate().filter(|it| it.0 % 5 == 0) {
        let byte = [0x7f, 0xff, 0x00][number % 3];
        let said = replay(&changed(&whole, at, &[byte; 8]));
        let told = matches!(said.code, Some(exit::FOUND | exit::USAGE | exit::DIFFERS));
        assert!(told, "byte {at}: {:?} {}", said.code, said.all());
        assert!(
            !said.all().contains("panicked"),
            "byte {at}: {}",
            said.all()
        );
    }
}

fn changed(whole: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut copy = whole.to_vec();
    copy[at..at + bytes.len()].copy_from_slice(bytes);
    copy
}

#[test]
fn helpers_and_timers_are_heard_once() {
    let dir = fresh_dir("inputs-helpers");
    let state = dir.join("state");
    fs::write(&state, "before\n").unwrap();
    let said = fail_and_replay("helpers.c", &dir, &[state.to_str().unwrap()], || {
        fs::write(&state, "after\n").unwrap();
    });
    assert!(said.stdout.contains("helper says before"), "{}", said.all());
    assert!(said.stdout.contains("alarms"), "{}", said.all());
}

#[test]
fn a_race_in_a_server_is_confirmed_and_replays_without_the_client() {
    let dir = fresh_dir("inputs-check");
    let port = free_port().to_string();
    let client = format!("python3 {} {port} 2 1", client(&dir).display());
    let mut check = raddle(["check", "--time", "30", "--client", &client, "--out"]);
    check
        .arg(dir.join("out"))
        .arg(program("inputs/racy_server.c"))
        .args(["--", &port]);
    let said = expect(say(&mut check), exit::FOUND);
    let clip = said
        .stdout
        .lines()
        .find_map(|it| it.split("raddle replay ").nth(1));
    let clip = clip.unwrap_or_else(|| panic!("no clip in {}", said.all()));
    let said = say(&mut raddle(["replay", "--times", "2", clip]));
    assert!(said.stdout.contains("same outcome, same"), "{}", said.all());

    fs::remove_file(Path::new(clip).with_extension("inputs")).unwrap();
    let said = expect(say(&mut raddle(["replay", clip])), exit::USAGE);
    assert!(said.stderr.contains("put it back"), "{}", said.all());
}

#[test]
fn what_is_not_recorded_is_named() {
    let dir = fresh_dir("inputs-uncovered");
    let mut run = raddle(["run", "--quiet", "--runs", "1", "--strategy", "rr", "--out"]);
    run.arg(dir.join("out")).arg(program("inputs/uncovered.c"));
    let said = expect(say(&mut run), exit::CLEAN);
    let warning = "called `nftw`, whose outcome is not recorded";
    assert!(said.stderr.contains(warning), "{}", said.all());
}

#[test]
fn commands_around_a_run_are_run_and_bounded() {
    let dir = fresh_dir("inputs-around");
    let log = dir.join("log");
    let port = free_port().to_string();
    let note = |what: &str| format!("echo {what} >> {}", log.display());
    let client = format!(
        "python3 {} {port} 1 1 && {}",
        client(&dir).display(),
        note("client")
    );
    let mut command = raddle([
        "run",
        "--quiet",
        "--verify",
        "--runs",
        "2",
        "--strategy",
        "rr",
    ]);
    command
        .args(["--setup", &note("setup"), "--client", &client])
        .args([
            "--teardown",
            &note("teardown"),
            "--ready",
            &format!("tcp:{port}"),
        ])
        .args(["--signal", "INT", "--out"])
        .arg(dir.join("out"))
        .arg(program("inputs/echo_poll.c"))
        .args(["--", &port]);
    expect(say(&mut command), exit::CLEAN);
    let log = fs::read_to_string(log).unwrap();
    assert_eq!(log, "setup\nclient\nteardown\n".repeat(2));

    let mut command = raddle(["run", "--quiet", "--runs", "1", "--setup", "sleep 60"]);
    command
        .args(["--client-timeout", "0.2", "--out"])
        .arg(dir.join("out"))
        .arg(program("inputs/echo_poll.c"));
    let said = expect(say(&mut command), exit::USAGE);
    assert!(
        said.stderr.contains("took longer than 0.2 s"),
        "{}",
        said.all()
    );
}
