//! Patterns: the language, what the search finds, and the schedules made of it.

use std::time::{Duration, Instant};

use raddle_judge::{Judge, Listing, ReadRule, Recording, Witness};
use raddle_predict::clocks::Clocks;
use raddle_predict::goal::Goal;
use raddle_predict::hybrid;
use raddle_predict::patterns::{
    Basis, Limits, Match, Matches, Pattern, Shape, Stretch, Units, builtin, schedule, search,
    tighten,
};
use raddle_predict::sync_preserving::SyncPreserving;
use raddle_predict::view::{CallId, Pos, Source, View};
use raddle_trace::event::Event;
use raddle_trace::ids::{EventIndex, SiteId, ThreadId};

use crate::text::trace;

/// A trace with everything made of it.
struct Case {
    events: Vec<Event>,
    view: View,
    order: Clocks,
}

impl Case {
    fn new(text: &str) -> Self {
        Self::with_marked(text, &[])
    }

    fn with_marked(text: &str, marked: &[u32]) -> Self {
        let events = trace(text);
        let functions = marked.iter().map(|&site| SiteId(site));
        let view = View::with_marked(&events, functions).unwrap();
        let order = Clocks::must_order(&view, |_| true);
        Self {
            events,
            view,
            order,
        }
    }

    fn search(&self, patterns: &[Pattern]) -> Matches {
        let units = Units::new(&self.view);
        let found = search(&self.view, &self.order, patterns, &units, Limits::default());
        assert!(found.cut.is_empty());
        found
    }

    /// Matches as `r-w-r 2 8 5 Lock`, one a line.
    fn lines(&self, patterns: &[Pattern]) -> Vec<String> {
        let found = self.search(patterns).matches;
        let mut lines: Vec<String> = found.iter().map(|it| self.line(it, patterns)).collect();
        lines.sort();
        lines
    }

    fn line(&self, found: &Match, patterns: &[Pattern]) -> String {
        let sites = found
            .first
            .events
            .iter()
            .map(|&pos| self.site(pos).to_string());
        let sites: Vec<String> = sites.collect();
        let basis = found
            .basis
            .map_or(String::new(), |basis| format!(" {basis:?}"));
        let atomic = if found.all_atomic { " atomic" } else { "" };
        let guarded = if found.guarded && found.basis == Some(Basis::Lock) {
            " guarded"
        } else {
            ""
        };
        let name = &patterns[found.pattern].name;
        format!("{name} {}{basis}{atomic}{guarded}", sites.join(" "))
    }

    fn site(&self, pos: Pos) -> u64 {
        match self.view.source(pos) {
            Source::Site(site) => site.0.into(),
            Source::Code(pc) => pc.0,
        }
    }

    /// The event of an instruction.
    fn pos(&self, site: u64) -> Pos {
        let mut all = self.view.positions();
        all.find(|&pos| self.site(pos) == site).unwrap()
    }

    /// A schedule, by the instructions of its events.
    fn schedule(&self, sites: &[u64], shape: Shape) -> Option<Vec<u64>> {
        let events: Vec<Pos> = sites.iter().map(|&site| self.pos(site)).collect();
        let order = schedule(&self.view, &self.order, &events, shape)?;
        let sites = order
            .iter()
            .map(|&index| self.site(self.view.position(index).unwrap()));
        Some(sites.collect())
    }

    /// Lets the judge look at the schedule of a match.
    fn judge(&self, found: &Match, patterns: &[Pattern]) -> Result<(), String> {
        let pattern = &patterns[found.pattern];
        let shape = pattern.shape();
        let order = schedule(&self.view, &self.order, &found.first.events, shape);
        let mut order: Vec<EventIndex> = order.ok_or("no schedule")?;
        if shape == Shape::Adjacent {
            order.truncate(order.len() - 2);
        }
        let recording = Recording::new(&self.events, None, None).unwrap();
        let witness = Witness {
            order,
            listing: Listing::Some,
            rule: ReadRule::SameValue,
            claim: found.first.claim(&self.view, pattern),
        };
        let verdict = Judge::new(&recording).judge(&witness);
        verdict.map(drop).map_err(|objection| objection.to_string())
    }
}

/// All matches, each of which the judge accepts.
fn check(text: &str, expected: &[&str]) {
    check_case(&Case::new(text), &builtin::unserialisable(), expected);
}

fn check_case(case: &Case, patterns: &[Pattern], expected: &[&str]) {
    assert_eq!(case.lines(patterns), expected);
    for found in case.search(patterns).matches {
        if let Err(objection) = case.judge(&found, patterns) {
            panic!("{}: {objection}", case.line(&found, patterns));
        }
    }
}

const FIGURE_1: &str = "T1: fork(T2)@1
                        T2: r(x)@5
                        T1: w(x)@2 r(y)@3
                        T2: r(x)@6 w(y)@7";

#[test]
fn figure_1_races() {
    let case = Case::new(FIGURE_1);
    let expected = ["r-w 3 7", "r-w 5 2", "w-r 2 6"];
    check_case(&case, &builtin::data_races(), &expected);
    let paper = case.schedule(&[7, 3], Shape::Adjacent);
    assert_eq!(paper.unwrap(), [1, 5, 2, 6, 7, 3]);
}

#[test]
fn figure_2_examples() {
    let parse = |threads, variables, regions, access| {
        Pattern::parse("p", None, threads, variables, regions, access).unwrap()
    };
    let race = parse("t1-t2", "s1-s1", "u1-u2", "r-w");
    let atomicity = parse("t1-t2-t1", "s1-s1-s1", "u1-u2-u1", "r-w-r");
    let set = parse("t1-t2-t2-t1", "s1-s1-s2-s2", "u1-u2-u2-u1", "w-r-r-w");
    let is_built_in = |pattern: &Pattern, all: &[Pattern]| {
        all.iter().any(|known| known.steps() == pattern.steps())
    };
    assert!(is_built_in(&race, &builtin::data_races()));
    assert!(is_built_in(&atomicity, &builtin::atomicity_violations()));
    assert!(is_built_in(&set, &builtin::eleven()));
}

/// Two lock regions of a call, and a write of another thread under the same lock.
const FIGURE_3: &str = "T1: call(90)@20 acq(l)@1 r(x)@2 rel(l)@3 acq(l)@4 r(x)@5 rel(l)@6 ret(90)
                        T2: acq(l)@7 w(x)@8 rel(l)@9";

#[test]
fn figure_3_finds_the_position_before_the_second_lock() {
    check(FIGURE_3, &["r-w-r 2 8 5 Suspected"]);
    let case = Case::with_marked(FIGURE_3, &[20]);
    check_case(&case, &builtin::unserialisable(), &["r-w-r 2 8 5 Marked"]);
    let found = case.schedule(&[2, 8, 5], Shape::InOrder).unwrap();
    assert_eq!(found, [1, 2, 3, 7, 8, 9, 4, 5]);
}

#[test]
fn figure_4_moves_what_depends() {
    let case = Case::new(
        "T1: r(a)@1 w(x)@2 r(b)@3
         T2: w(a)@4 w(x)@5 w(b)@6",
    );
    let found = case.schedule(&[2, 5], Shape::Adjacent).unwrap();
    assert_eq!(found, [1, 4, 2, 5]);
}

#[test]
fn figure_5_moves_the_outermost_lock() {
    let races = builtin::data_races();
    let false_warning = Case::new(
        "T1: acq(l)@1 post(s,1)@2 w(x)@3 rel(l)@4
         T2: take(s,0)@5 acq(l)@6 rel(l)@7 w(x)@8",
    );
    assert_eq!(false_warning.lines(&races), ["w-w 3 8"]);
    assert_eq!(false_warning.schedule(&[3, 8], Shape::Adjacent), None);
    let real = Case::new(
        "T1: acq(l)@1 aw(y)@2 w(x)@3 rel(l)@4
         T2: aw(y)@5 acq(l)@6 rel(l)@7 w(x)@8",
    );
    check_case(&real, &races, &["w-w 3 8"]);
    let found = real.schedule(&[3, 8], Shape::Adjacent).unwrap();
    assert_eq!(found, [5, 6, 7, 1, 2, 3, 8]);
}

#[test]
fn a_region_is_broken_by_an_access_without_its_lock() {
    check(
        "T1: acq(l) r(x)@1 w(x)@2 rel(l)
         T2: w(x)@3",
        &["r-w-w 1 3 2 Lock"],
    );
    check(
        "T1: acq(l) r(x)@1 w(x)@2 rel(l)
         T2: acq(l) w(x)@3 rel(l)",
        &[],
    );
}

#[test]
fn an_event_between_two_others_in_the_trace_is_found_as_well() {
    check(
        "T1: acq(l) w(x)@1
         T2: r(x)@2
         T1: w(x)@3 rel(l)",
        &["w-r-w 1 2 3 Lock"],
    );
}

#[test]
fn an_event_before_both_is_moved_between_them() {
    check(
        "T1: w(x)@9 fork(T2) fork(T3)
         T3: acq(m) w(x)@2 rel(m)
         T2: acq(l) r(x)@1 r(x)@3 rel(l)",
        &["r-w-r 1 2 3 Lock"],
    );
}

#[test]
fn must_order_keeps_events_out() {
    check(
        "T1: w(x)@9 fork(T2)
         T2: begin(T1) acq(l) r(x)@1 r(x)@2 rel(l) end
         T1: join(T2) w(x)@3",
        &[],
    );
}

#[test]
fn check_then_act_is_suspected() {
    let withdraw = "call(90) acq(l) r(x)@1 rel(l) acq(l) w(x)@2 rel(l) ret(90)";
    check(
        &format!("T1: {withdraw}\nT2: {withdraw}"),
        &["r-w-w 1 2 2 Suspected"],
    );
    // Without a call around them two regions are nothing to each other.
    check(
        "T1: acq(l) r(x)@1 rel(l) acq(l) w(x)@2 rel(l)
         T2: acq(l) r(x)@1 rel(l) acq(l) w(x)@2 rel(l)",
        &[],
    );
}

#[test]
fn the_innermost_call_around_two_regions_is_the_unit() {
    let case = Case::new(
        "T1: call(90) call(80) call(70) acq(l) ret(70) r(x)@1 rel(l) acq(l) w(x)@2 rel(l) ret(80) ret(90)
         T2: acq(l) w(x)@3 rel(l)",
    );
    let units = Units::with(&case.view, &[Basis::Suspected]);
    let bounds: Vec<_> = units.iter().map(|unit| unit.region.bounds()).collect();
    assert_eq!(bounds, [(EventIndex(1), EventIndex(10))]);
}

#[test]
fn a_call_that_was_left_without_a_return_has_no_exit() {
    let case = Case::new(
        "T1: call(90) call(80) acq(l) rel(l) acq(l) rel(l) ret(90) acq(l) rel(l)
         T2: acq(l) rel(l)",
    );
    let calls = case.view.calls().iter();
    let calls: Vec<_> = calls.map(|it| (it.enter.0, it.exit, it.end.0)).collect();
    let (outer, inner) = ((0, Some(EventIndex(6)), 7), (1, None, 6));
    assert_eq!(calls, [outer, inner]);
    assert_eq!(case.view.calls()[1].parent, Some(CallId(0)));
}

#[test]
fn who_waits_gives_up_atomicity() {
    check(
        "T1: call(90) acq(l) r(x)@1 rel(l) ask(s)
         T2: acq(l) w(x)@2 rel(l) post(s,1)
         T1: take(s,0) acq(l) r(x)@3 rel(l) ret(90)",
        &[],
    );
}

#[test]
fn acting_upon_what_was_seen_before_waiting_is_suspected() {
    check(
        "T1: fork(T2) fork(T3) call(90) acq(l) r(x)@1 rel(l) wait(c,l)
         T2: acq(l) w(x)@2 notify(c) rel(l)
         T1: wake(c,T2) acq(l) r(x)@4 rel(l) ret(90)
         T3: acq(l) w(x)@3 rel(l)",
        &["r-w-r 1 2 4 Suspected", "r-w-r 1 3 4 Suspected"],
    );
    // Another lock is not what was waited for.
    check(
        "T1: fork(T2) call(90) acq(l) r(x)@1 rel(l) acq(k) rel(k) wait(c,k)
         T2: acq(l) acq(m) w(x)@2 rel(m) rel(l) acq(k) notify(c) rel(k)
         T1: wake(c,T2) acq(k) rel(k) acq(m) r(x)@4 rel(m) ret(90)",
        &[],
    );
}

#[test]
fn a_schedule_wakes_nobody_who_was_not_notified() {
    let schedule = |others: &str| {
        let mut case = Case::new(&format!(
            "T1: fork(T2) fork(T3) acq(l) rel(l) wait(c,l)
             T2: w(x)@3 acq(l) notify(c)@4 rel(l)
             T1: wake(c,T2)@6
             T3: acq(l) {others} rel(l)
             T1: acq(l) r(x)@1 r(x)@2 rel(l)"
        ));
        case.order = Clocks::must_order(&case.view, |edge| edge.kind.is_certain());
        case.schedule(&[1, 3, 2], Shape::InOrder)
    };
    assert_eq!(schedule(""), None);
    let found = schedule("notify(c)@5").unwrap();
    let place = |site| found.iter().position(|it| *it == site).unwrap();
    assert!(place(5) < place(6) && !found.contains(&4));
}

#[test]
fn a_torn_pair_is_suspected() {
    check(
        "T1: w(a) w(b) fork(T2) call(90) acq(l) w(a)@1 rel(l) acq(l) w(b)@2 rel(l) ret(90)
         T2: acq(l) r(a)@3 r(b)@4 rel(l)",
        &["w1-r1'-r2'-w2 1 3 4 2 Suspected"],
    );
    check(
        "T1: w(a) w(b) fork(T2) call(90) acq(l) w(a)@1 rel(l) acq(l) w(b)@2 rel(l) ret(90)
         T2: acq(l) r(b)@4 r(a)@3 rel(l)",
        &["w1-r2'-r1'-w2 1 4 3 2 Suspected"],
    );
}

#[test]
fn a_pair_may_be_torn_between_two_locks() {
    let pair = |a: &str, b: &str| format!("acq(l) {a} rel(l) acq(m) {b} rel(m)");
    let (update, look) = (pair("w(a)@1", "w(b)@2"), pair("r(a)@3", "r(b)@4"));
    check(
        &format!(
            "T1: w(a) w(b) fork(T2) call(90) {update} ret(90)
             T2: call(90) {look} ret(90)"
        ),
        &[
            "r1-w1'-w2'-r2 3 1 2 4 Suspected",
            "w1-r1'-r2'-w2 1 3 4 2 Suspected",
        ],
    );
}

#[test]
fn one_match_stands_for_an_order_of_regions() {
    let case = Case::new(
        "T1: w(n) w(b) fork(T2) call(90) acq(l) r(n)@1 rel(l) acq(l) r(n)@2 w(n)@3 r(b)@4 rel(l) ret(90)
         T2: acq(l) r(n)@5 w(n)@6 w(b)@7 rel(l)",
    );
    let patterns = builtin::unserialisable();
    let units = Units::new(&case.view);
    let found = search(
        &case.view,
        &case.order,
        &patterns,
        &units,
        Limits::default(),
    );
    let lines = found.matches.iter().map(|it| case.line(it, &patterns));
    assert_eq!(lines.collect::<Vec<_>>(), ["r-w-r 1 6 2 Suspected"]);
    let limits = Limits {
        alike: true,
        ..Limits::default()
    };
    let all = search(&case.view, &case.order, &patterns, &units, limits);
    assert_eq!(all.matches.len() as u64, 1 + found.cut.siblings);
    assert!(all.matches.len() > 2);
}

#[test]
fn what_a_match_does_not_need_is_left_out() {
    let case = Case::new(
        "T1: acq(l)@10 w(n)@1 rel(l)@11 fork(T2)@12
         T2: acq(l)@20 r(n)@5 rel(l)@21
         T1: acq(l)@13 w(n)@2 rel(l)@14 w(y)@3 acq(l)@15 w(n)@4 rel(l)@16
         T2: acq(l)@22 r(n)@6 rel(l)@23 r(y)@7",
    );
    let goal = Goal::in_order(&[5, 2, 6].map(|site| case.pos(site)));
    let all = case.view.positions().map(|pos| case.view.event_index(pos));
    let order = tighten(&case.view, all.collect(), &goal);
    let sites = order
        .iter()
        .map(|&index| case.site(case.view.position(index).unwrap()));
    let expected = [10, 1, 11, 12, 20, 5, 21, 13, 2, 14, 22, 6];
    assert_eq!(sites.collect::<Vec<_>>(), expected);
}

#[test]
fn two_units_that_write_one_variable_each_are_skewed() {
    check(
        "T1: w(a) w(b) fork(T2) acq(l) r(a)@1 w(b)@2 rel(l)
         T2: acq(m) r(b)@3 w(a)@4 rel(m)",
        &[
            "r1-r2'-w1'-w2 1 3 4 2 Lock",
            "r1-r2'-w1'-w2 3 1 2 4 Lock",
            "r1-r2'-w2-w1' 1 3 2 4 Lock",
            "r1-r2'-w2-w1' 3 1 4 2 Lock",
        ],
    );
}

#[test]
fn an_inner_lock_may_be_taken_after_the_other_region() {
    check(
        "T1: w(a) w(b) fork(T2) acq(l) w(a)@1 w(b)@2 rel(l)
         T2: acq(m) r(b)@3 acq(l) r(a)@4 rel(l) rel(m)",
        &["r1-w2'-w1'-r2 3 1 2 4 Lock", "w1-r2'-w2-r1' 1 3 2 4 Lock"],
    );
}

#[test]
fn counts_and_flags_are_told_apart() {
    check(
        "T1: acq(l) rmw(n)@1 rmw(n)@2 rel(l)
         T2: rmw(n)@3",
        &["r-w-r 1 3 2 Lock atomic guarded"],
    );
}

#[test]
fn an_inner_lock_that_guards_is_told_apart() {
    check(
        "T1: acq(l) acq(m) w(x)@1 rel(m) acq(m) r(x)@2 rel(m) rel(l)
         T2: acq(m) w(x)@3 rel(m)",
        &["w-w-r 1 3 2 Lock guarded"],
    );
}

#[test]
fn atomic_and_guarded_conflicts_together_are_no_race() {
    let case = Case::new(
        "T1: acq(l) rmw(n)@1 acq(m) w(x)@2 rel(m) rel(l)
         T2: acq(k) acq(m) r(x)@3 rel(m) ar(n)@4 rel(k)",
    );
    let found = case.search(&builtin::unserialisable()).matches;
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|it| it.guarded && !it.all_atomic));
}

#[test]
fn words_of_locks_are_no_variables() {
    check(
        "T1: acq(m) lock(l) unlock(l) lock(l) unlock(l) rel(m)
         T2: lock(l) unlock(l)",
        &[],
    );
}

#[test]
fn hand_over_hand_is_not_one_unit() {
    check(
        "T1: acq(l) r(a)@1 acq(m) r(b)@2 rel(l) acq(n) r(c)@3 rel(m) rel(n)
         T2: acq(l) w(a)@4 acq(m) w(b)@5 rel(l) acq(n) w(c)@6 rel(m) rel(n)",
        &[],
    );
}

#[test]
fn a_lock_that_is_handed_over_makes_nothing_atomic() {
    // T2 gives back what T1 took.
    check(
        "T1: lock(l) r(x)@1
         T2: w(x)@2 unlock(l)
         T1: r(x)@3",
        &[],
    );
    // T1 does not get what it seems to hold: T2 has it, and hands it back.
    check(
        "T1: lock(l) r(x)@1 refused(l)
         T2: w(x)@2
         T1: r(x)@3 unlock(l)",
        &[],
    );
    check(
        "T1: lock(l) r(x)@1
         T2: refused(l) w(x)@2
         T1: r(x)@3 unlock(l)",
        &["r-w-r 1 2 3 Lock"],
    );
}

#[test]
fn a_users_pattern_of_three_threads() {
    let pattern = Pattern::parse(
        "stale",
        Some("e1-e2-e3"),
        "owner-thief-reader",
        "slot-slot-slot",
        "u1-u2-u3",
        "w-w-r",
    )
    .unwrap();
    let case = Case::new(
        "T1: fork(T2) fork(T3) w(x)@1
         T3: r(x)@3
         T2: w(x)@2",
    );
    let patterns = [pattern];
    check_case(&case, &patterns, &["stale 1 2 3", "stale 2 1 3"]);
    let goals = case.search(&patterns).matches[0].goals(&patterns);
    let in_order = [1, 2, 3].map(|site| case.pos(site));
    assert_eq!(goals, [Goal::in_order(&in_order)]);
}

#[test]
fn a_users_pattern_with_two_regions_of_a_thread() {
    let pattern = Pattern::parse("p", None, "t1-t2-t1", "s-s-s", "u1-u2-u3", "w-w-r").unwrap();
    let case = Case::new(
        "T1: acq(l) w(x)@1 rel(l) acq(l) r(x)@2 rel(l)
         T2: acq(l) w(x)@3 rel(l)",
    );
    check_case(&case, &[pattern], &["p 1 3 2"]);
}

#[test]
fn siblings_are_limited_and_counted() {
    let case = Case::new(
        "T1: acq(l) w(a)@1 w(b)@2 w(a)@3 w(b)@4 rel(l)
         T2: r(a)@5 r(b)@6",
    );
    let patterns = builtin::unserialisable();
    let limits = Limits {
        siblings: 1,
        ..Limits::default()
    };
    let units = Units::new(&case.view);
    let found = search(&case.view, &case.order, &patterns, &units, limits);
    assert_eq!(found.matches.len(), 1);
    assert_eq!(found.cut.siblings, 1);
}

#[test]
fn a_search_without_time_ends_and_says_so() {
    let all = |access: &str| -> String { (0..100).map(|v| format!(" {access}(v{v})")).collect() };
    let case = Case::new(&format!(
        "T1: acq(l) w(a)@1 w(a)@3 rel(l){}
         T2: r(a)@5{}",
        all("w"),
        all("r")
    ));
    let cells = case.view.cells().len() as u64;
    let patterns = builtin::unserialisable();
    assert_eq!(case.search(&patterns).matches.len(), 1);
    let limits = Limits {
        until: Instant::now().checked_sub(Duration::from_millis(1)),
        ..Limits::default()
    };
    let units = Units::new(&case.view);
    let found = search(&case.view, &case.order, &patterns, &units, limits);
    assert!(found.matches.is_empty() && found.cut.is_late);
    let limits = hybrid::Limits {
        until: limits.until,
        ..hybrid::Limits::default()
    };
    let found = hybrid::candidates(&case.view, &case.order, limits);
    assert!(!found.pairs.is_empty() && (1..cells).contains(&found.cut_cells));
    let races = SyncPreserving::new(&case.view).races_until(limits.until);
    assert_eq!((races.races.len(), races.cut_cells as u64), (0, cells));
}

#[test]
fn units_can_be_taken_away() {
    let case = Case::with_marked(FIGURE_3, &[20]);
    let mut units = Units::new(&case.view);
    units.retain(|unit| unit.function != Some(SiteId(20)));
    let patterns = builtin::unserialisable();
    let found = search(
        &case.view,
        &case.order,
        &patterns,
        &units,
        Limits::default(),
    );
    assert!(found.matches.is_empty());
}

#[test]
fn stretches_of_threads_can_be_marked() {
    let case = Case::new("T1: r(x)@1 w(y)@2 r(x)@3\nT2: w(x)@4");
    let patterns = builtin::unserialisable();
    let found = |first, last| {
        let mut units = Units::new(&case.view);
        let stretch = Stretch {
            thread: ThreadId(1),
            first: EventIndex(first),
            last: EventIndex(last),
        };
        units.mark(&case.view, &[stretch]);
        let limits = Limits::default();
        let found = search(&case.view, &case.order, &patterns, &units, limits);
        let found = found.matches.iter();
        found.map(|it| case.line(it, &patterns)).collect::<Vec<_>>()
    };
    assert_eq!(found(0, 2), ["r-w-r 1 4 3 Marked"]);
    assert!(found(0, 1).is_empty());
    assert!(case.search(&patterns).matches.is_empty());
}

#[test]
fn instances_are_counted_and_one_is_shown() {
    let region = "acq(l) r(x)@1 w(x)@2 rel(l)";
    let case = Case::new(&format!(
        "T1: {region} {region} {region}\nT2: w(x)@3 w(x)@3"
    ));
    let found = case.search(&builtin::unserialisable()).matches;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].instances, 6);
    // The first round that is followed by another acquisition, and the last one.
    let others: Vec<_> = found[0].others.iter().map(|it| &it.events).collect();
    assert_eq!(
        others,
        [&[Pos(5), Pos(12), Pos(6)], &[Pos(9), Pos(13), Pos(10)]]
    );
}
