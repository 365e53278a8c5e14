//! Witnesses as text: what is written is read again, and what is no witness is an error with its line.

use raddle_judge::text::{self, HEAD};
use raddle_judge::{Claim, Listing, ReadRule, Region, Witness};
use raddle_trace::ids::{EventIndex, ThreadId};

const EVENTS: u64 = 1000;

fn event(index: u64) -> EventIndex {
    EventIndex(index)
}

fn claims() -> Vec<Claim> {
    let [a, b, c] = [event(3), event(999), event(0)];
    let regions = vec![
        Region::Lock {
            acquire: a,
            release: event(7),
        },
        Region::Call { enter: c, exit: b },
        Region::Marked { first: a, last: a },
    ];
    vec![
        Claim::Feasible,
        Claim::Race { a, b },
        Claim::Unserialisable {
            events: vec![a, b, c],
            regions,
        },
        Claim::Unserialisable {
            events: vec![a, b, c],
            regions: Vec::new(),
        },
        Claim::Sequence { events: vec![c, b] },
        Claim::Deadlock {
            cycle: vec![a, b, c],
        },
        Claim::BranchFlip {
            thread: ThreadId(4),
            branch: 77,
        },
        Claim::UseAfterFree { free: a, access: b },
        Claim::DoubleFree {
            first: a,
            second: b,
        },
        Claim::NullDereference { read: a, access: b },
        Claim::UninitialisedRead { read: c },
    ]
}

#[test]
fn every_witness_comes_back() {
    let orders: [Vec<u64>; 4] = [
        Vec::new(),
        vec![5],
        (0..900).collect(),
        (0..EVENTS).map(|it| it * 7 % EVENTS).collect(),
    ];
    let rules = [ReadRule::SameWrite, ReadRule::SameValue, ReadRule::Relaxed];
    let listings = [Listing::Every, Listing::Some];
    let mut witnesses = Vec::new();
    for (number, claim) in claims().into_iter().enumerate() {
        for (order, rule) in orders.iter().zip(rules.iter().cycle().skip(number)) {
            witnesses.push(Witness {
                order: order.iter().copied().map(EventIndex).collect(),
                listing: listings[number % 2],
                rule: *rule,
                claim: claim.clone(),
            });
        }
    }
    let mut file = HEAD.to_owned() + &text::events_line(EVENTS);
    for (number, witness) in witnesses.iter().enumerate() {
        let comments = ["a line\nof a user's: end".to_owned()];
        text::write(&mut file, &format!("R{number}"), &comments, witness);
    }
    assert!(file.lines().all(|line| line.len() <= 120), "{file}");
    let read = text::read(&file, EVENTS).unwrap();
    let names: Vec<_> = read.iter().map(|it| it.name.clone()).collect();
    let expected: Vec<_> = (0..witnesses.len()).map(|it| format!("R{it}")).collect();
    assert_eq!(names, expected);
    for (read, written) in read.iter().zip(&witnesses) {
        assert_eq!(&read.witness, written);
        let line = file.lines().nth(read.line - 1);
        assert_eq!(line, Some(&*format!("witness {}", read.name)));
    }
}

#[test]
fn consecutive_events_are_one_word() {
    let witness = Witness {
        order: [0, 1, 2, 9, 4, 5].map(EventIndex).to_vec(),
        listing: Listing::Every,
        rule: ReadRule::SameWrite,
        claim: Claim::Feasible,
    };
    let mut file = String::new();
    text::write(&mut file, "R1", &[], &witness);
    assert!(file.contains("\norder 0-2 9 4-5\nend\n"), "{file}");
}

#[test]
fn mistakes_are_named_with_their_lines() {
    let lines = [
        "claim race 1 2",
        "reads same-write",
        "lists every",
        "order 0-1",
    ];
    let whole =
        |lines: &[&str]| format!("raddle-witness 1\nwitness R1\n{}\nend\n", lines.join("\n"));
    assert!(text::read(&whole(&lines), EVENTS).is_ok());
    for (at, line, error) in [
        (0, "claim race 1", "line 3: `race 1` is no claim"),
        (
            0,
            "claim race 1 1000",
            "line 3: event 1000 is not in the trace of 1000 events",
        ),
        (0, "claim race 1 -2", "line 3: `-2` is no event"),
        (
            0,
            "claim race 1 2 in lock:1-2",
            "line 3: the claim `race` has no regions",
        ),
        (
            0,
            "claim unserialisable 1 2 in door:1-2",
            "line 3: `door` is no kind of region",
        ),
        (
            1,
            "reads tea-leaves",
            "line 4: `tea-leaves` is none of same-write, same-value, relaxed",
        ),
        (
            1,
            "claim race 1 2",
            "line 4: a second `claim` for one witness",
        ),
        (2, "lists most", "line 5: `most` is none of every, some"),
        (2, "", "line 7: witness R1 has no line `lists`"),
        (3, "order 5-4", "line 6: `5-4` ends before it begins"),
        (
            3,
            "order 0-999 0-999",
            "line 6: the order has more events than the trace",
        ),
        (
            3,
            "order 0-18446744073709551615",
            "line 6: event 18446744073709551615 is not in the trace of 1000 events",
        ),
        (3, "disorder", "line 6: `disorder` is no word of a witness"),
        (3, "witness R2", "line 6: `witness` comes before `end`"),
    ] {
        let mut changed = lines;
        changed[at] = line;
        let found = text::read(&whole(&changed), EVENTS).unwrap_err();
        assert_eq!(found.to_string(), error);
    }
    let found = text::read("raddle-witness 1\norder 1\n", EVENTS).unwrap_err();
    assert_eq!(found.to_string(), "line 2: `order` comes before `witness`");
    let found = text::read("raddle-witness 1\nevents 7\n", EVENTS).unwrap_err();
    assert!(
        found
            .to_string()
            .contains("of 7 events, and this one has 1000")
    );
    let found = text::read("", EVENTS).unwrap_err();
    assert_eq!(found.line, 1);
}
