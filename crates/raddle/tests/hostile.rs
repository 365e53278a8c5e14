//! Programs that do what makes life inside somebody else's process hard: their own malloc, stacks, coroutines, signals,
//! children, priorities, limits. They check themselves, so a failure, a hang, a replay that is not the same or a bug that
//! `check` calls confirmed is a mistake of Raddle's.

mod common;

use common::{exit, expectation, for_each, fresh_dir, program, programs, raddle, run, say, seeds};

const STRATEGIES: u64 = 3;

/// Runs each program of a directory under `seeds` schedules of each strategy, and each run a second time.
fn repeats(dir: &str, seeds: u64) {
    let out = fresh_dir(&dir.replace('/', "-"));
    let runs = STRATEGIES * seeds;
    let summary = format!("{runs} runs, 0 failures, 0 data races, {runs} verified");
    let seeds = seeds.to_string();
    let mut options = vec!["--strategy", "random,pct,pos", "--runs", &seeds, "--verify"];
    // Five thousand threads take their time on a busy machine.
    options.extend(["--timeout", "120"]);
    for_each(&programs(dir), |program| {
        run(program, &out, &options)
            .expect(exit::CLEAN)?
            .expect_line(&summary)?;
        Ok(())
    });
}

#[test]
fn results_are_right_and_runs_repeat() {
    repeats("hostile", seeds(7));
}

#[test]
fn thousands_of_threads() {
    repeats("hostile/many", 1);
}

#[test]
fn checks_raise_no_alarm() {
    let out = fresh_dir("hostile-check");
    for_each(&programs("hostile"), |program| {
        let name = program.file_name().expect("a program has a name");
        let mut check = raddle(["check", "--quiet", "--time", "5", "--out"]);
        let said = say(check.arg(out.join(name)).arg(program));
        said.expect(exit::CLEAN).map(drop)
    });
}

/// A guide that holds the thread which has what another one sleeps for, where the runtime cannot see it, lets it go at
/// once. If it waited for the end of the second that guided runs have at least, time would run out before all was tried.
#[test]
fn guides_do_not_wait_for_what_they_hold_back() {
    let out = fresh_dir("hostile-guides");
    for_each(
        &["hostile/environment.c", "hostile/pipes.c"].map(program),
        |program| {
            let name = program.file_name().expect("a program has a name");
            let mut check = raddle(["check", "--quiet", "--time", "30", "--out"]);
            let said = say(check.arg(out.join(name)).arg(program)).expect(exit::CLEAN)?;
            match said.all().contains("for want of time") {
                true => Err(said.all()),
                false => Ok(()),
            }
        },
    );
}

/// Ends that leave the runtime no time: they are told as what they are, and repeat.
/// Whether a headline says `KIND: MESSAGE`, with or without a place.
fn is_told(headline: &str, wanted: &str) -> bool {
    let Some((kind, message)) = wanted.split_once(": ") else {
        return headline.starts_with(wanted);
    };
    headline.starts_with(kind) && headline.contains(&format!(": {message}"))
}

#[test]
fn fatal_ends_are_told() {
    let out = fresh_dir("hostile-fatal");
    for_each(&programs("hostile/fatal"), |program| {
        let name = program.file_name().expect("a program has a name");
        let said = run(program, &out.join(name), &[]).expect(exit::FOUND)?;
        let wanted = expectation(program, "failure").ok_or("it says no failure")?;
        match said.headline() {
            Some(told) if is_told(told, &wanted) => Ok(()),
            _ => Err(format!("no `{wanted}`: {}", said.all())),
        }
    });
}
