//! Clips: what is printed is read back, and what is wrong is named where it is.

use crate::common;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use raddle_trace::clip::Clip;
use raddle_trace::ids::{SiteId, ThreadId, Tick};
use raddle_trace::schedule::{Moment, Switch};
use raddle_trace::wire::{self, SwitchReason};

const CLIP: &str = r#"raddle clip 1
program examples/bank.rs
build 5f1d09c2
arg --transfers
arg "two words"
env LANG C
stdin inline "two\nlines\xff"
cwd inherit
seed 7
clock-start-ns 1000000000
clock-ns-per-tick 10
time virtual
strategy pct depth 3
outcome signal 11
outcome-thread T2
outcome-tick 88
outcome-position src/bank.rs 14 9 bank::transfer
switches:
T1@1234 -> T2 preempted site 17
T2@88 -> T1 ended
"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_clip_comes_back(
        run in common::run(),
        shows in option::of(".{1,40}"),
        expected in option::of(common::outcome()),
        switches in vec(common::switch(), 0..8),
        at in option::of((0..9u32, 0..9u64)),
    ) {
        let shows_at = at.map(|(thread, tick)| Moment { thread: ThreadId(thread), tick: Tick(tick) });
        let clip = Clip { run, shows, shows_at, expected, switches };
        prop_assert_eq!(Clip::parse(&clip.print()), Ok(clip.clone()));
        let noted = clip.print_with(|_| Some("preempted before\nx.rs:1:2".to_owned()));
        prop_assert_eq!(Clip::parse(&noted), Ok(clip));
    }

    #[test]
    fn a_switch_survives_shared_memory(switch in common::switch()) {
        prop_assert_eq!(Switch::try_from(wire::Switch::from(switch)), Ok(switch));
    }

    #[test]
    fn a_damaged_clip_is_an_error_or_another_clip(at in 0..CLIP.len(), with: char) {
        let damaged: String =
            CLIP.char_indices().map(|(index, char)| if index == at { with } else { char }).collect();
        let _ = Clip::parse(&damaged);
    }
}

#[test]
fn a_clip_prints_as_it_was_written() {
    let clip = Clip::parse(CLIP).unwrap();
    assert_eq!(clip.print(), CLIP);
    assert_eq!(clip.switches[0].site, Some(SiteId(17)));
}

#[test]
fn a_switch_may_be_short_and_commented() {
    let text = "# mine\nraddle clip 1\n\nprogram a\nbuild b # here\nswitches:\n\nT1@5 -> T2 # x\n";
    let (from, tick, to) = (ThreadId(1), Tick(5), ThreadId(2));
    let switch = Switch {
        from,
        tick,
        to,
        reason: SwitchReason::Preempted,
        site: None,
    };
    assert_eq!(Clip::parse(text).unwrap().switches, [switch]);
}

/// Replaces one line of the clip and expects this message.
fn check(line: &str, with: &str, message: &str) {
    assert!(CLIP.contains(line));
    let text = CLIP.replacen(line, with, 1);
    assert_eq!(Clip::parse(&text).unwrap_err().to_string(), message);
}

#[test]
fn errors_name_line_and_column_and_what_was_expected() {
    check(
        "seed 7",
        "seed x",
        "line 9, column 6: expected a number, found `x`",
    );
    check(
        "seed 7",
        "seed",
        "line 9, column 5: expected a number, found the end of the line",
    );
    check(
        "seed 7",
        "seed 7 8",
        "line 9, column 8: expected the end of the line, found `8`",
    );
    check(
        "seed 7",
        "time real",
        "line 12, column 1: `time` was given before",
    );
    check(
        "seed 7",
        "sed 7",
        "line 9, column 1: expected a key such as `arg`, or `switches:`, found `sed`",
    );
    check(
        "build 5f1d09c2\n",
        "",
        "line 17, column 1: a line `build …` is missing before `switches:`",
    );
    check(
        "outcome signal 11\n",
        "",
        "line 14, column 1: `outcome …` must come before its parts",
    );
    check(
        "raddle clip 1",
        "raddle clip 9",
        "line 1, column 13: this clip has version 9 and this Raddle reads version 1; replay it \
         with the Raddle that wrote it",
    );
    check(
        "T2@88 -> T1",
        "T2@88 T1",
        "line 20, column 7: expected `->`, found `T1`",
    );
    check(
        "T2@88 -> T1 ended",
        "T2@88 -> T1 tired",
        "line 20, column 13: expected a reason such as `preempted` or `blocked`, or `site …`, \
         found `tired`",
    );
    check(
        "T2@88",
        "T2:88",
        "line 20, column 1: expected a switch such as `T1@1234 -> T2`, found `T2:88`",
    );
    check(
        "\"two words\"",
        "\"two words",
        "line 5, column 15: expected a closing quote, found the end of the line",
    );
    check(
        "switches:\n",
        "",
        "line 18, column 1: expected a key such as `arg`, or `switches:`, found `T1@1234`",
    );
}
