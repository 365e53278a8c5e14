//! The search with a toy theory that uses everything a theory may do.
//!
//! The observed variables are in groups, of each of which at most `limit` are true: propagated, explained lazily, sometimes late,
//! so that conflicts may lie below the current level. Those without a value are proposed to be false.
//! And some sets of variables have odd parity: checked in whole assignments only, and repaired by
//! clauses, some over new variables.

use crate::budget::Budget;
use crate::lit::{Lit, Var};

use super::super::{Check, Conflict, Outcome, Search, Theory};
use super::{Anything, Random, forgetful_search, holds, model, satisfies};

/// Two of three variables are observed.
fn is_observed(index: usize) -> bool {
    !index.is_multiple_of(3)
}

struct Toy {
    observed: Vec<Var>,
    unobserved: Vec<Var>,
    groups: usize,
    limit: usize,
    odd: Vec<Vec<Var>>,
    random: Random,
    told: Vec<Lit>,
    levels: Vec<usize>,
    explained: usize,
    introduced: usize,
}

impl Toy {
    fn new(vars: &[Var], groups: usize, limit: usize, odd: Vec<Vec<Var>>, seed: u64) -> Self {
        let (observed, unobserved) = vars.iter().partition(|var| is_observed(var.index()));
        Self {
            observed,
            unobserved,
            groups,
            limit,
            odd,
            random: Random(seed),
            told: Vec::new(),
            levels: Vec::new(),
            explained: 0,
            introduced: 0,
        }
    }

    fn accepts(&self, assignment: u32) -> bool {
        let is_true = |var: &&Var| holds(var.is(true), assignment);
        let count = |group| {
            let in_group = self
                .observed
                .iter()
                .filter(|&&var| self.group(var) == group);
            in_group.filter(is_true).count()
        };
        (0..self.groups).all(|group| count(group) <= self.limit)
            && self
                .odd
                .iter()
                .all(|set| set.iter().filter(is_true).count() % 2 == 1)
    }

    fn group(&self, var: Var) -> usize {
        var.index() % self.groups
    }

    /// Rules out a parity that is even in the proposed assignment, sometimes in two steps.
    fn repair(&mut self, search: &mut Search) -> Check {
        let mut verdict = Check::Consistent;
        for set in &self.odd {
            let value = |var: &Var| search.value(var.is(true)) == Some(true);
            if set.iter().filter(|var| value(var)).count() % 2 == 1 {
                continue;
            }
            let mut clause: Vec<Lit> = set.iter().map(|var| var.is(!value(var))).collect();
            if self.random.chance(50) {
                let new = search.variable(false, self.random.chance(50));
                self.introduced += 1;
                let mut rest = clause.split_off(self.random.below(clause.len() + 1));
                rest.push(new.is(false));
                clause.push(new.is(true));
                search.clause(&rest);
            }
            search.clause(&clause);
            verdict = Check::Extended;
        }
        verdict
    }

    /// The first literals of a group that became true, up to a number.
    fn first_true(&self, group: usize, count: usize) -> Vec<Lit> {
        let told = self.told.iter().copied();
        told.filter(|lit| lit.is_positive() && self.group(lit.var()) == group)
            .take(count)
            .collect()
    }
}

impl Theory for Toy {
    fn push_level(&mut self) {
        self.levels.push(self.told.len());
    }

    fn pop_to(&mut self, level: usize) {
        assert!(level < self.levels.len());
        self.told.truncate(self.levels[level]);
        self.levels.truncate(level);
    }

    fn assign(&mut self, lit: Lit) {
        assert!(self.observed.contains(&lit.var()));
        assert!(self.told.iter().all(|told| told.var() != lit.var()));
        self.told.push(lit);
    }

    fn propagate(&mut self, search: &Search, implied: &mut Vec<Lit>) -> Result<(), Conflict> {
        for &lit in &self.told {
            assert_eq!(search.value(lit), Some(true));
        }
        if self.random.chance(40) {
            return Ok(());
        }
        for group in 0..self.groups {
            let mut first = self.first_true(group, self.limit + 1);
            if first.len() > self.limit && self.random.chance(50) {
                return Err(Conflict(first));
            }
            first.truncate(self.limit);
            if first.len() == self.limit {
                let others = self
                    .observed
                    .iter()
                    .filter(|&&var| self.group(var) == group && !first.contains(&var.is(true)));
                implied.extend(others.map(|var| var.is(false)));
            }
        }
        Ok(())
    }

    fn explain(&mut self, lit: Lit, reason: &mut Vec<Lit>) {
        assert!(!lit.is_positive());
        self.explained += 1;
        reason.extend(self.first_true(self.group(lit.var()), self.limit));
        assert_eq!(reason.len(), self.limit);
    }

    fn check(&mut self, search: &mut Search) -> Check {
        for var in &self.unobserved {
            assert!(search.value(var.is(true)).is_some());
        }
        for group in 0..self.groups {
            let excess = self.first_true(group, self.limit + 1);
            if excess.len() > self.limit {
                let clause: Vec<Lit> = excess.iter().map(|&lit| !lit).collect();
                search.clause(&clause);
                return Check::Extended;
            }
        }
        if self.random.chance(50) {
            return Check::Consistent;
        }
        self.repair(search)
    }

    fn proposes(&self, lit: Lit) -> bool {
        assert!(self.observed.contains(&lit.var()));
        !lit.is_positive()
    }

    fn rank(&self, _lit: Lit) -> u32 {
        0
    }

    fn confirm(&mut self, search: &mut Search) -> Check {
        self.repair(search)
    }
}

#[test]
fn answers_equal_brute_force() {
    let mut outcomes = [0; 3];
    let (mut explained, mut introduced) = (0, 0);
    for seed in 0..3000 {
        let mut random = Random(seed);
        let mut search = forgetful_search();
        let vars: Vec<Var> = (1..6 + random.below(6))
            .map(|index| search.variable(is_observed(index), random.chance(60)))
            .collect();
        let groups = 1 + random.below(3);
        let limit = random.below(vars.len() * 2 / 3 / groups + 1);
        let odd = (0..random.below(4))
            .map(|_| {
                let mut set = vars.clone();
                set.retain(|_| random.chance(40));
                set
            })
            .collect();
        let mut toy = Toy::new(&vars, groups, limit, odd, seed);
        let mut clauses = Vec::new();
        for _ in 0..5 {
            for _ in 0..random.below(vars.len()) {
                let size = 2 + random.below(3);
                clauses.push(random.clause(&vars, size));
                search.clause(&clauses[clauses.len() - 1]);
            }
            let size = random.below(4);
            let assumptions = random.clause(&vars, size);
            let budget = match random.below(4) {
                0 => Budget::unlimited().conflicts(random.below(4) as u64),
                _ => Budget::unlimited(),
            };
            let outcome = search.solve(&mut toy, &assumptions, budget);
            assert!(toy.levels.is_empty());
            outcomes[judge(&outcome, &search, &vars, &clauses, &assumptions, &toy)] += 1;
        }
        explained += toy.explained;
        introduced += toy.introduced;
    }
    assert!(outcomes.iter().all(|&count| count > 100), "{outcomes:?}");
    assert!(explained > 1000 && introduced > 1000);
}

/// Compares an outcome with brute force. Says which it is.
fn judge(
    outcome: &Outcome,
    search: &Search,
    vars: &[Var],
    clauses: &[Vec<Lit>],
    assumptions: &[Lit],
    toy: &Toy,
) -> usize {
    match outcome {
        Outcome::Satisfiable => {
            let model = model(search, vars);
            assert!(satisfies(model, clauses, assumptions) && toy.accepts(model));
            0
        }
        Outcome::Unsatisfiable(core) => {
            assert!(core.iter().all(|lit| assumptions.contains(lit)));
            for assignment in 0..1 << vars.len() {
                assert!(!(satisfies(assignment, clauses, core) && toy.accepts(assignment)));
            }
            1
        }
        Outcome::Unknown(_) => 2,
    }
}

/// At most `limit` of the literals are true, as clauses over new variables (a sequential counter).
fn count_in_clauses(search: &mut Search, lits: &[Lit], limit: usize) {
    let mut reached = vec![Lit::FALSE; limit + 1];
    for &lit in lits {
        let mut next = vec![Lit::TRUE; limit + 1];
        for place in 0..=limit {
            let below = if place == 0 {
                Lit::TRUE
            } else {
                reached[place - 1]
            };
            next[place] = search.variable(false, false).is(true);
            search.clause(&[!reached[place], next[place]]);
            search.clause(&[!lit, !below, next[place]]);
        }
        reached = next;
    }
    search.clause(&[!reached[limit]]);
}

#[test]
fn hard_instances_equal_an_encoding_in_clauses() {
    let mut outcomes = [0; 2];
    let (mut reductions, mut explanations) = (0, 0);
    for seed in 0..24 {
        let mut random = Random(seed);
        let (mut with_theory, mut with_clauses) = (forgetful_search(), Search::new());
        let vars: Vec<Var> = (1..=70)
            .map(|index| {
                with_clauses.variable(false, true);
                with_theory.variable(is_observed(index), true)
            })
            .collect();
        let observed: Vec<Lit> = vars
            .iter()
            .filter(|var| is_observed(var.index()))
            .map(|var| var.is(true))
            .collect();
        let clauses: Vec<Vec<Lit>> = (0..220).map(|_| random.clause(&vars, 3)).collect();
        for clause in &clauses {
            with_theory.clause(clause);
            with_clauses.clause(clause);
        }
        let groups = [1, 2, 4, 9][seed as usize / 2 % 4];
        let limit = [12, 6, 3, 1][seed as usize / 2 % 4] + seed as usize % 2;
        let mut toy = Toy::new(&vars, groups, limit, Vec::new(), seed);
        let members = |group| {
            observed
                .iter()
                .copied()
                .filter(move |lit| lit.var().index() % groups == group)
        };
        for group in 0..groups {
            let members: Vec<Lit> = members(group).collect();
            count_in_clauses(&mut with_clauses, &members, limit);
        }
        let outcome = with_theory.solve(&mut toy, &[], Budget::unlimited());
        assert_eq!(
            outcome,
            with_clauses.solve(&mut Anything, &[], Budget::unlimited())
        );
        let statistics = with_theory.statistics();
        reductions += statistics.reductions;
        explanations += statistics.explanations;
        if outcome == Outcome::Satisfiable {
            let is_true = |lit: &&Lit| with_theory.model(**lit);
            assert!(
                clauses
                    .iter()
                    .all(|clause| clause.iter().any(|lit| is_true(&lit)))
            );
            for group in 0..groups {
                assert!(members(group).filter(|lit| is_true(&lit)).count() <= limit);
            }
        }
        outcomes[usize::from(outcome == Outcome::Satisfiable)] += 1;
    }
    assert!(outcomes.iter().all(|&count| count > 0), "{outcomes:?}");
    assert!(
        reductions > 10 && explanations > 1000,
        "{reductions} {explanations}"
    );
}
