//! Whether the solver's answers to a script are right.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use raddle_solve::Budget;

use super::evaluate::Valuation;
use super::facts::Facts;
use super::instance::{Formula, Instance, Step};
use super::run::{Found, Outcome, Session};

/// Asks all questions of a script. A model is evaluated; of assumptions that are said to clash,
/// `satisfiable` is asked whether they do.
pub fn check(
    instance: &Instance,
    budget: impl Fn(usize) -> Budget,
    mut satisfiable: impl FnMut(&Facts<'_>, &[&Formula]) -> bool,
) -> Result<Vec<Outcome>, String> {
    let mut session = Session::default();
    let mut outcomes = Vec::new();
    for (index, step) in instance.steps.iter().enumerate() {
        session.say(step);
        let Step::Solve(assumptions) = step else {
            continue;
        };
        let steps = instance.prefix(index + 1);
        let facts = Facts::of(steps);
        let budget = budget(outcomes.len());
        let outcome = session.solve(&facts, assumptions, budget);
        let number = outcomes.len();
        let wrong = |what: String| Err(format!("question {number}: {what}"));
        match &outcome {
            Outcome::Satisfiable(found) => {
                if let Err(what) = check_model(steps, &facts, found, assumptions) {
                    return wrong(format!("the model is wrong: {what}"));
                }
            }
            Outcome::Unsatisfiable(core) => {
                // A core without a solution says the same of all assumptions.
                let clashing: Vec<&Formula> = core.iter().map(|&a| &assumptions[a]).collect();
                if satisfiable(&facts, &clashing) {
                    return wrong(format!("the assumptions {core:?} do not clash"));
                }
            }
            Outcome::Unknown(_) if budget == Budget::unlimited() => {
                return wrong("unknown, though there is no limit".into());
            }
            Outcome::Unknown(_) => {}
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Whether a model satisfies everything and agrees with itself.
pub fn check_model(
    steps: &[Step],
    facts: &Facts<'_>,
    found: &Found,
    assumptions: &[Formula],
) -> Result<(), String> {
    let valuation = &found.valuation;
    valuation.satisfies(facts)?;
    for (place, &event) in found.order.iter().enumerate() {
        if valuation.position[event] != place {
            return Err(format!(
                "e{event} is at place {place} of the order, but its position differs"
            ));
        }
    }
    for (number, (told, true_source)) in found
        .sources
        .iter()
        .zip(valuation.sources(facts))
        .enumerate()
    {
        let read = facts.reads[number];
        if *told != true_source && valuation.counts(facts, &read.when, read.event) {
            return Err(format!(
                "r{number} is said to read {told:?}, but reads {true_source:?}"
            ));
        }
    }
    if let Some(formula) = assumptions.iter().find(|f| !valuation.formula(facts, f)) {
        return Err(format!("this assumption does not hold: {formula:?}"));
    }
    check_truths(steps, facts, found, valuation)
}

/// Whether the model's own view of formulas and terms is what they evaluate to.
fn check_truths(
    steps: &[Step],
    facts: &Facts<'_>,
    found: &Found,
    valuation: &Valuation,
) -> Result<(), String> {
    let mut truths = found.truths.iter();
    let mut values = found.values.iter();
    for step in steps {
        match step {
            Step::Require(formulas) | Step::Solve(formulas) => {
                for formula in formulas {
                    let told = truths.next().expect("every formula has a truth");
                    if *told != valuation.formula(facts, formula) {
                        return Err(format!("said to be {told}, but is not: {formula:?}"));
                    }
                }
            }
            Step::Location(Some(bits)) => check_value(facts, valuation, bits, values.next())?,
            Step::Write(write) => {
                if let Some(bits) = &write.value {
                    check_value(facts, valuation, bits, values.next())?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_value(
    facts: &Facts<'_>,
    valuation: &Valuation,
    bits: &super::instance::Bits,
    told: Option<&u64>,
) -> Result<(), String> {
    let value = valuation.bits(facts, bits).value;
    match told {
        Some(&told) if told == value => Ok(()),
        _ => Err(format!("said to be {told:?}, but is {value}: {bits:?}")),
    }
}

thread_local! {
    /// Whether a panic of this thread is expected and need not be printed.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a judgement; a panic in it is a wrong answer with the panic's text.
pub fn caught<T>(judgement: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !CATCHING.get() {
                usual(panic);
            }
        }));
    });
    CATCHING.set(true);
    let result = catch_unwind(AssertUnwindSafe(judgement));
    CATCHING.set(false);
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", text.unwrap_or("without a message")))
    })
}
