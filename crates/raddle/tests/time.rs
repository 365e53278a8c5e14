//! `--time` bounds every phase of a check, and the report says which of them it ended.

mod common;

use std::time::{Duration, Instant};

use common::{exit, fresh_dir, raddle, root, say};

const TIME: Duration = Duration::from_secs(5);

/// A check ends within this share of its time besides,
const SHARE_MORE: u32 = 10;

/// and so much more, because other tests run beside it.
const SLACK: Duration = Duration::from_secs(2);

#[test]
fn a_check_ends_when_its_time_is_over() {
    let dir = fresh_dir("time");
    let binary = dir.join("scaling");
    let mut cc = raddle(["cc", "-O1", "-g", "-pthread", "-o"]);
    let built = say(cc.arg(&binary).arg(root().join("scripts/bench/scaling.c")));
    assert_eq!(built.code, Some(0), "{}", built.all());
    // While it records, while it reads, while it predicts or tries, and while it makes further runs.
    let unread = &["the time was over before the undisturbed run was looked through"][..];
    let cases = [
        ("100000000", unread),
        ("300000", unread),
        (
            "30000",
            &["for want of time", "the time for further ones was over"],
        ),
        (
            "4000",
            &["for want of time", "the time for further ones was over"],
        ),
    ];
    for (rounds, notes) in cases {
        let mut command = raddle(["check", "--quiet", "--timeout", "1000", "--time"]);
        command.arg(TIME.as_secs().to_string());
        command.arg("--out").arg(dir.join("out")).arg("--");
        let start = Instant::now();
        let said = say(command.arg(&binary).args(["4", "16", rounds, "8", "2"]));
        let took = start.elapsed();
        let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            took < TIME + TIME / SHARE_MORE + SLACK,
            "{rounds} rounds took {took:?}: {text}"
        );
        assert!(
            matches!(said.code, Some(exit::CLEAN | exit::FOUND)),
            "{}",
            said.all()
        );
        assert!(notes.iter().any(|it| text.contains(it)), "{}", said.all());
    }
}
