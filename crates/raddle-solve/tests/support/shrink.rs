//! Makes a failing problem small.

use super::instance::{Formula, Instance, Kind, Step, When};

/// Takes steps, literals and conditions away as long as the problem still fails.
pub fn shrink(instance: &Instance, fails: impl Fn(&Instance) -> bool) -> Instance {
    let mut smallest = instance.clone();
    loop {
        let candidates = (0..smallest.steps.len())
            .rev()
            .flat_map(|step| smaller(&smallest, step));
        match candidates.into_iter().find(|candidate| fails(candidate)) {
            Some(better) => smallest = better,
            None => return smallest,
        }
    }
}

/// Problems with a little less in one step, the boldest first.
fn smaller(instance: &Instance, step: usize) -> Vec<Instance> {
    let mut found: Vec<Instance> = without(instance, step).into_iter().collect();
    let mut change = |step_instead: Step| {
        let mut changed = instance.clone();
        changed.steps[step] = step_instead;
        found.push(changed);
    };
    match &instance.steps[step] {
        Step::Require(formulas) => {
            for less in simpler_lists(formulas) {
                change(Step::Require(less));
            }
        }
        Step::Solve(formulas) => {
            for less in simpler_lists(formulas) {
                change(Step::Solve(less));
            }
        }
        Step::Hold(hold) if hold.when != When::Always => {
            let mut hold = hold.clone();
            hold.when = When::Always;
            change(Step::Hold(hold));
        }
        Step::Read(read) if read.when != When::Always => {
            let mut read = read.clone();
            read.when = When::Always;
            change(Step::Read(read));
        }
        Step::Sources { location, from } => {
            for index in 0..from.len() {
                let mut from = from.clone();
                from.remove(index);
                change(Step::Sources {
                    location: *location,
                    from,
                });
            }
        }
        Step::Write(write) if write.value.is_some() => {
            let mut write = write.clone();
            write.value = None;
            change(Step::Write(write));
        }
        _ => {}
    }
    found
}

/// The list with a formula less, or with one replaced by a part of it.
fn simpler_lists(formulas: &[Formula]) -> Vec<Vec<Formula>> {
    let mut found = Vec::new();
    for index in 0..formulas.len() {
        let mut less = formulas.to_vec();
        less.remove(index);
        found.push(less);
        for part in parts(&formulas[index]) {
            let mut less = formulas.to_vec();
            less[index] = part;
            found.push(less);
        }
    }
    found
}

fn parts(formula: &Formula) -> Vec<Formula> {
    match formula {
        Formula::And(parts) | Formula::Or(parts) => parts.clone(),
        Formula::Xor(parts) | Formula::Iff(parts) | Formula::Implies(parts) => parts.to_vec(),
        Formula::Ite(parts) => parts.to_vec(),
        Formula::Not(inner) => parts(inner).into_iter().map(Formula::negated).collect(),
        _ => Vec::new(),
    }
}

/// The problem without a step, if nothing needs what it makes.
fn without(instance: &Instance, step: usize) -> Option<Instance> {
    let mut rest = instance.clone();
    let removed = rest.steps.remove(step);
    let Some(kind) = removed.makes() else {
        return Some(rest);
    };
    let number = instance.steps[..step]
        .iter()
        .filter(|s| s.makes() == Some(kind))
        .count();
    let mut needed = false;
    for other in &mut rest.steps {
        other.ids(&mut |of: Kind, id: &mut usize| {
            if of == kind {
                needed |= *id == number;
                *id -= usize::from(*id > number);
            }
        });
    }
    (!needed).then_some(rest)
}
