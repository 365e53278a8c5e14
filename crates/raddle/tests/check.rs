//! `raddle check` on programs whose heads say what it has to find: bugs, from a run that passes, each with a clip that
//! replays every time; and nothing in the correct twin of each program. `common/head.rs` says what a head says.

mod common;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use common::head::{Finding, Head, Report, check, expect_first_run_passes, expect_twins, parse};
use common::{
    Said, exit, expectation, for_each, fresh_dir, program, programs, raddle, rederive, say,
};

/// Times that each clip is replayed.
const REPLAYS: u32 = 100;

/// Held by the test that runs programs, so that tests don't get into each other's way.
static RUNNING: Mutex<()> = Mutex::new(());

/// `RADDLE_TEST_REPLAYS`, or as many as usual.
fn replays() -> u32 {
    std::env::var("RADDLE_TEST_REPLAYS").map_or(REPLAYS, |text| {
        text.parse().expect("RADDLE_TEST_REPLAYS is a number")
    })
}

/// Checks all programs of a folder.
fn check_all(folder: &str) {
    let _alone = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let out = fresh_dir(&folder.replace('/', "-"));
    for_each(&programs(folder), |source| {
        let out = out.join(source.file_name().unwrap());
        expect_first_run_passes(source, &out)?;
        check(source, &out, replays())
    });
}

#[test]
fn bugs_are_predicted_from_a_run_that_passes() {
    check_all("check/bug");
}

#[test]
fn nothing_is_found_in_correct_programs() {
    check_all("check/ok");
}

#[test]
fn figures_of_the_paper_are_as_it_says() {
    check_all("check/pecan");
}

#[test]
fn what_run_finds_is_found_by_check() {
    let _alone = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let out = fresh_dir("check-fail");
    for_each(&programs("fail"), |source| {
        let expected = expectation(source, "expect").ok_or("no line `// expect: …`")?;
        let mut command = raddle(["check", "--format", "json", "--time", "30", "--out"]);
        let said = say(command.arg(&out).arg(source)).expect(exit::FOUND)?;
        let report = parse(&said)?;
        let is_it = |it: &Finding| {
            let is_named = |name: &str| name == it.kind || name == it.consequence;
            it.is_bug() && expected.split('|').any(is_named)
        };
        match report.findings.iter().any(is_it) {
            true => Ok(()),
            false => Err(format!("expected {expected}: {}", said.all())),
        }
    });
}

#[test]
fn nothing_is_found_in_their_corrected_twins() {
    let _alone = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let out = fresh_dir("check-pass");
    for_each(&programs("pass"), |source| {
        let mut command = raddle(["check", "--format", "json", "--time", "30", "--out"]);
        let said = say(command.arg(&out).arg(source));
        said.expect(exit::CLEAN).map(drop)
    });
}

#[test]
fn what_is_shown_does_not_change_what_is_found() {
    let _alone = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let out = fresh_dir("check-shown");
    let mut sources = programs("check/verdict");
    sources.push(program("fail/channel_order.rs"));
    sources.push(program("fail/lost_update.rs"));
    for_each(&sources, |source| {
        let name = source.file_name().unwrap().to_string_lossy();
        let report = |shown: &str| {
            let mut command = raddle(["check", "--format", "json", "--time", "60", "--out"]);
            command.arg(out.join(format!("{name}-{shown}")));
            let said = say(command.arg(format!("--{shown}")).arg(source));
            parse(&said).map(|it| (it, said.code))
        };
        let [bugs, all, everything] = ["all=false", "all", "unconfirmed"].map(report);
        let (bugs, all, everything) = (bugs?, all?, everything?);
        let of = |(report, code): &(Report, Option<i32>)| {
            let bugs = report.findings.iter().filter(|it| it.is_bug());
            let bugs: Vec<_> = bugs
                .map(|it| (it.headline.clone(), it.consequence.clone()))
                .collect();
            (bugs, report.unconfirmed, *code)
        };
        if of(&bugs) != of(&all) || of(&bugs) != of(&everything) {
            return Err(format!(
                "{:?} {:?} {:?}",
                of(&bugs),
                of(&all),
                of(&everything)
            ));
        }
        // Warnings are as true as bugs: a run did what they say.
        let confirmed = all.0.findings.iter().filter(|it| it.status == "confirmed");
        for finding in confirmed {
            rederive::check(finding).map_err(|error| format!("{finding}: {error}"))?;
        }
        let count = |(report, _): &(Report, Option<i32>)| report.findings.len();
        match count(&bugs) <= count(&all) && count(&all) <= count(&everything) {
            true => Ok(()),
            false => Err("more is shown by an option that shows less".to_owned()),
        }
    });
}

#[test]
fn what_may_be_meant_is_no_bug() {
    check_all("check/verdict");
}

/// What `raddle check` says of a program that is kept apart.
fn say_of(name: &str, out: &str, options: &[&str]) -> Said {
    let _alone = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = raddle(["check", "--format", "json", "--out"]);
    command.arg(fresh_dir(out)).arg(program(name));
    say(command.args(options))
}

#[test]
fn further_runs_show_what_the_first_does_not() {
    let name = "check/runs/rare_branch.c";
    let first = say_of(name, "first-run", &["--runs", "1", "--search", "0"]);
    assert_eq!(first.code, Some(exit::CLEAN), "{}", first.all());
    let more = say_of(name, "more-runs", &[]);
    let report = parse(&more).unwrap();
    let race = report.findings.iter().find(|it| it.kind == "data-race");
    assert!(race.is_some_and(Finding::is_bug), "{}", more.all());
}

#[test]
fn what_a_branch_can_do_is_found_by_its_schedule() {
    let said = say_of(
        "check/runs/directed_meeting.c",
        "directed",
        &["--search", "0"],
    );
    let report = parse(&said).unwrap();
    let failure = report.findings.iter().find(|it| it.kind == "assertion");
    assert!(failure.is_some_and(Finding::is_bug), "{}", said.all());
}

#[test]
fn many_runs_show_what_is_rare() {
    let name = "check/runs/rare_meeting.c";
    let few = say_of(name, "few-runs", &["--search", "0"]);
    assert_eq!(few.code, Some(exit::CLEAN), "{}", few.all());
    let many = say_of(name, "many-runs", &["--search", "500"]);
    let report = parse(&many).unwrap();
    let failure = report.findings.iter().find(|it| it.kind == "assertion");
    assert!(failure.is_some_and(Finding::is_bug), "{}", many.all());
}

#[test]
fn the_same_check_says_the_same_with_any_number_of_jobs() {
    for source in ["check/pecan/figure1.c", "check/bug/string_buffer.c"] {
        let told = |out: &str, jobs: &str| {
            let said = say_of(source, out, &["--all", "--jobs", jobs]);
            let here = fresh_dir(out).to_string_lossy().into_owned();
            said.stdout.replace(&here, "")
        };
        let (one, other) = (told("one-check", "1"), told("other-check", "1"));
        assert_eq!(one, other);
        assert_eq!(one, told("third-check", "3"));
        assert!(one.contains("\"confirmed\""), "{one}");
    }
}

#[test]
fn every_buggy_program_has_a_correct_twin() {
    assert!(programs("check/bug").len() >= 26);
    expect_twins("check/bug", "check/ok");
}

/// What is wrong with findings, each `kind line… -> consequence`, of a program with three labelled lines.
fn complaints(head: &str, findings: &[&str]) -> Vec<String> {
    let text = format!("{head}\n\nw(x); // @write\nr(x); // @read\nr(x); // @again\n");
    let head = Head::parse(&text).unwrap();
    let any_file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let findings = findings.iter().enumerate().map(|(number, text)| {
        let (found, consequence) = text.split_once(" -> ").unwrap();
        let mut words = found.split(' ');
        let kind = words.next().unwrap();
        let places: Vec<_> = words
            .map(|line| format!(r#"{{"file":"/home/x.c","line":{line},"column":1}}"#))
            .collect();
        format!(
            r#"{{"id":"F{number}","kind":"{kind}","headline":"x","status":"confirmed","severity":"bug",
                "proved_by":"x","consequence":"{consequence}","message":null,"locations":[{}],"interleaving":[],
                "instances":1,"input":null,"clip":"{any_file}","replay":"raddle replay x"}}"#,
            places.join(","),
        )
    });
    let findings: Vec<_> = findings.collect();
    let json = format!(
        r#"{{"version":1,"findings":[{}],"unconfirmed":0}}"#,
        findings.join(",")
    );
    let report = serde_json::from_str(&json).unwrap();
    head.complaints(&report, Path::new("x.c"))
}

#[test]
fn what_is_wrong_is_noticed() {
    let race = "//@ expect: data-race write read";
    let cases: [(&str, &[&str], &[&str]); 12] = [
        (race, &["data-race 4 3 -> none"], &[]),
        (race, &[], &["not found"]),
        (
            race,
            &["data-race 3 3 -> none"],
            &["not found", "not expected"],
        ),
        (
            race,
            &["deadlock 3 4 -> none"],
            &["not found", "not expected"],
        ),
        (
            race,
            &["data-race 3 4 -> none", "data-race 3 5 -> none"],
            &["not expected"],
        ),
        (
            "//@ expect: data-race write read",
            &["data-race 3 4 -> panic", "panic 9 -> panic"],
            &["not expected"],
        ),
        ("//@ none", &[], &[]),
        ("//@ none", &["deadlock 3 4 -> none"], &["not expected"]),
        (
            "//@ expect: double-free write",
            &["double-free 3 4 -> crash"],
            &[],
        ),
        (
            "//@ expect: crash|deadlock",
            &["deadlock 9 -> deadlock"],
            &[],
        ),
        (
            "//@ expect: deadlock",
            &["deadlock -> deadlock"],
            &["F0 says no place"],
        ),
        (
            "//@ expect: atomicity-violation write read read",
            &["atomicity-violation 3 4 -> none"],
            &["not found", "not"],
        ),
    ];
    for (head, findings, expected) in cases {
        let wrong = complaints(head, findings);
        let is_so = wrong.len() == expected.len()
            && wrong
                .iter()
                .zip(expected)
                .all(|(it, start)| it.starts_with(start));
        assert!(is_so, "{head}, {findings:?}: {wrong:?}");
    }
}

#[test]
fn consequences_are_held_against_the_head() {
    let findings = ["data-race 3 4 -> none", "data-race 3 5 -> panic"];
    for (consequence, is_fine) in [
        ("panic", true),
        ("crash", false),
        ("crash|panic", true),
        ("none", false),
    ] {
        let head = format!("//@ expect: data-race\n//@ consequence: {consequence}");
        let wrong = complaints(&head, &findings);
        assert_eq!(wrong.is_empty(), is_fine, "{consequence}: {wrong:?}");
    }
}

#[test]
fn what_is_left_unconfirmed_is_held_against_the_head() {
    assert!(complaints("//@ none\n//@ unconfirmed: 0", &[]).is_empty());
    let wrong = complaints("//@ none\n//@ unconfirmed: 1", &[]);
    assert_eq!(wrong, ["0 unconfirmed"]);
}

#[test]
fn heads_that_say_nothing_are_refused() {
    for head in [
        "",
        "//@ nothing",
        "//@ none\n//@ expect: deadlock",
        "//@ none\n//@ unconfirmed: few",
        "//@ expect: data-race a b",
    ] {
        assert!(Head::parse(head).is_err(), "{head:?}");
    }
}
