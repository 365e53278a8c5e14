//! Instances whose answers are known: large enough for restarts, reductions and collections.

use crate::budget::Budget;
use crate::lit::{Lit, Var};

use super::super::{Outcome, Search};
use super::{Anything, Random, forgetful_search};

/// `holes + 1` pigeons, `holes` holes, and a literal for each pigeon being somewhere.
pub(super) fn pigeonhole(holes: usize) -> (Search, Vec<Lit>) {
    let mut search = Search::new();
    let mut is_in: Vec<Vec<Lit>> = Vec::new();
    for _ in 0..=holes {
        is_in.push(
            (0..holes)
                .map(|_| search.variable(false, false).is(true))
                .collect(),
        );
    }
    for pigeon in &is_in {
        search.clause(pigeon);
    }
    for hole in 0..holes {
        for (index, pigeon) in is_in.iter().enumerate() {
            for other in &is_in[..index] {
                search.clause(&[!pigeon[hole], !other[hole]]);
            }
        }
    }
    (search, is_in.concat())
}

#[test]
fn pigeons_do_not_fit() {
    let (mut search, _) = pigeonhole(7);
    let outcome = search.solve(&mut Anything, &[], Budget::unlimited());
    assert_eq!(outcome, Outcome::Unsatisfiable(Vec::new()));
    let statistics = search.statistics();
    assert!(statistics.restarts > 0 && statistics.reductions > 0);
}

/// A random 3-SAT instance that the assignment of all variables to `true` satisfies, unless `planted`
/// is false.
fn three_sat(seed: u64, count: usize, clauses: usize, planted: bool) -> (Search, Vec<Vec<Lit>>) {
    let mut random = Random(seed);
    let mut search = Search::new();
    let vars: Vec<Var> = (0..count).map(|_| search.variable(false, false)).collect();
    let mut all = Vec::new();
    while all.len() < clauses {
        let clause = random.clause(&vars, 3);
        if !planted || clause.iter().any(|lit| lit.is_positive()) {
            search.clause(&clause);
            all.push(clause);
        }
    }
    (search, all)
}

#[test]
fn large_random_instances_are_decided() {
    for seed in 0..4 {
        let (mut search, clauses) = three_sat(seed, 150, 630, true);
        let outcome = search.solve(&mut Anything, &[], Budget::unlimited());
        assert_eq!(outcome, Outcome::Satisfiable);
        for clause in &clauses {
            assert!(clause.iter().any(|&lit| search.model(lit)));
        }
        let (mut search, _) = three_sat(seed, 120, 720, false);
        let outcome = search.solve(&mut Anything, &[], Budget::unlimited());
        assert_eq!(outcome, Outcome::Unsatisfiable(Vec::new()));
    }
}

/// Parities with a common solution: implications are long here, so a wrong learnt clause shows.
#[test]
fn planted_parities_are_found() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let mut search = forgetful_search();
        let vars: Vec<Var> = (0..150).map(|_| search.variable(false, false)).collect();
        let planted: Vec<bool> = vars.iter().map(|_| random.chance(50)).collect();
        let holds = |lit: &Lit| planted[lit.var().index() - 1] == lit.is_positive();
        for _ in 0..145 {
            let lits = random.clause(&vars, 3);
            let even = lits.iter().filter(|lit| holds(lit)).count() % 2 == 0;
            for signs in 0_u32..8 {
                let clause: Vec<Lit> = (0..3)
                    .map(|at| lits[at].negated_if(signs >> at & 1 == 1))
                    .collect();
                // The clause rules out that the literals with a sign are true and the others false.
                if (signs.count_ones() % 2 == 1) == even {
                    search.clause(&clause);
                }
            }
        }
        let outcome = search.solve(&mut Anything, &[], Budget::unlimited());
        assert_eq!(outcome, Outcome::Satisfiable);
    }
}

#[test]
fn cores_of_switched_clauses_are_unsatisfiable() {
    for seed in 0..4 {
        let mut random = Random(seed);
        let mut search = Search::new();
        let vars: Vec<Var> = (0..60).map(|_| search.variable(false, false)).collect();
        let switches: Vec<Lit> = (0..400)
            .map(|_| search.variable(false, true).is(true))
            .collect();
        for &switch in &switches {
            let mut clause = random.clause(&vars, 3);
            clause.push(!switch);
            search.clause(&clause);
        }
        let budget = Budget::unlimited();
        let Outcome::Unsatisfiable(core) = search.solve(&mut Anything, &switches, budget) else {
            panic!("too many clauses to be satisfiable");
        };
        assert!(core.len() > 1 && core.len() < switches.len());
        let again = search.solve(&mut Anything, &core, budget);
        assert!(matches!(again, Outcome::Unsatisfiable(_)));
        assert_eq!(
            search.solve(&mut Anything, &[], budget),
            Outcome::Satisfiable
        );
    }
}

#[test]
fn the_same_query_takes_the_same_steps() {
    let run = || {
        let (mut search, _) = three_sat(9, 150, 640, false);
        let outcome = search.solve(&mut Anything, &[], Budget::unlimited());
        (outcome, search.statistics())
    };
    assert_eq!(run(), run());
}
