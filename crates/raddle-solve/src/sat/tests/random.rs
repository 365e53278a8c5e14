//! Random clauses without a theory, queried again and again while clauses are added.

use crate::budget::{Budget, Exhausted};
use crate::lit::{Lit, Var};

use super::super::clauses::Kind;
use super::super::{Outcome, Search};
use super::{Anything, Random, forgetful_search, model, satisfies};

#[test]
fn answers_equal_brute_force() {
    let mut outcomes = [0; 2];
    for seed in 0..1500 {
        let mut random = Random(seed);
        let mut search = forgetful_search();
        let vars: Vec<Var> = (0..4 + random.below(8))
            .map(|_| search.variable(false, random.chance(50)))
            .collect();
        let mut clauses = Vec::new();
        for _ in 0..6 {
            for _ in 0..random.below(3 * vars.len()) {
                let size = 1 + random.below(4).max(random.below(4));
                clauses.push(random.clause(&vars, size));
                search.clause(&clauses[clauses.len() - 1]);
            }
            let size = random.below(5);
            let assumptions = random.clause(&vars, size);
            let satisfiable = query(&mut search, &vars, &clauses, &assumptions);
            outcomes[usize::from(satisfiable)] += 1;
        }
    }
    assert!(outcomes.iter().all(|&count| count > 1000), "{outcomes:?}");
}

/// Queries and compares with brute force. Says whether there is a model.
fn query(search: &mut Search, vars: &[Var], clauses: &[Vec<Lit>], assumptions: &[Lit]) -> bool {
    let all = 0..1 << vars.len();
    match search.solve(&mut Anything, assumptions, Budget::unlimited()) {
        Outcome::Satisfiable => {
            assert!(satisfies(model(search, vars), clauses, assumptions));
            true
        }
        Outcome::Unsatisfiable(core) => {
            assert!(core.iter().all(|lit| assumptions.contains(lit)));
            for assignment in all {
                assert!(!satisfies(assignment, clauses, &core));
            }
            false
        }
        Outcome::Unknown(limit) => panic!("there was no limit: {limit:?}"),
    }
}

#[test]
fn contradictory_assumptions_clash() {
    let mut search = Search::new();
    let vars: Vec<Var> = (0..3).map(|_| search.variable(false, true)).collect();
    let [a, b, c] = [0, 1, 2].map(|index: usize| vars[index].is(true));
    let solve = |search: &mut Search, assumptions: &[Lit]| {
        search.solve(&mut Anything, assumptions, Budget::unlimited())
    };
    let outcome = solve(&mut search, &[b, a, c, !a]);
    assert_eq!(outcome, Outcome::Unsatisfiable(vec![!a, a]));
    search.clause(&[!b]);
    assert_eq!(search.value(b), Some(false));
    let outcome = solve(&mut search, &[a, b]);
    assert_eq!(outcome, Outcome::Unsatisfiable(vec![b]));
    let outcome = solve(&mut search, &[a, Lit::FALSE]);
    assert_eq!(outcome, Outcome::Unsatisfiable(vec![Lit::FALSE]));
    let outcome = solve(&mut search, &[Lit::TRUE, !b, c, c]);
    assert_eq!(outcome, Outcome::Satisfiable);
    assert!(search.model(c) && !search.model(b) && search.model(Lit::TRUE));
}

#[test]
fn an_inconsistent_search_stays_so() {
    let mut search = Search::new();
    let var = search.variable(false, true);
    search.clause(&[var.is(true)]);
    search.clause(&[var.is(false), Lit::FALSE]);
    let unsatisfiable = Outcome::Unsatisfiable(Vec::new());
    assert_eq!(
        search.solve(&mut Anything, &[], Budget::unlimited()),
        unsatisfiable
    );
    let late = search.variable(false, false);
    search.clause(&[late.is(true)]);
    search.clause(&[]);
    assert_eq!(
        search.solve(&mut Anything, &[late.is(true)], Budget::unlimited()),
        unsatisfiable
    );
}

#[test]
fn phases_are_tried_first() {
    let mut search = Search::new();
    let vars: Vec<Var> = (0..40)
        .map(|index| search.variable(false, index % 3 == 0))
        .collect();
    for _ in 0..2 {
        let outcome = search.solve(&mut Anything, &[], Budget::unlimited().conflicts(0));
        assert_eq!(outcome, Outcome::Satisfiable);
        for (index, var) in vars.iter().enumerate() {
            assert_eq!(search.model(var.is(true)), index % 3 == 0);
        }
    }
    let late = search.variable(false, true);
    assert!(search.model(late.is(true)));
}

#[test]
fn a_spent_budget_ends_in_unknown_and_can_be_continued() {
    let (mut search, _) = super::families::pigeonhole(5);
    let mut queries = 0;
    loop {
        queries += 1;
        match search.solve(&mut Anything, &[], Budget::unlimited().conflicts(7)) {
            Outcome::Unknown(limit) => assert_eq!(limit, Exhausted::Conflicts),
            outcome => {
                assert_eq!(outcome, Outcome::Unsatisfiable(Vec::new()));
                break;
            }
        }
        assert!(queries < 10_000, "clauses must have been kept");
    }
    assert!(queries > 1);
    let (mut search, _) = super::families::pigeonhole(9);
    let soon = Budget::unlimited().time(std::time::Duration::from_millis(5));
    assert_eq!(
        search.solve(&mut Anything, &[], soon),
        Outcome::Unknown(Exhausted::Time)
    );
}

#[test]
fn learnt_clauses_follow_from_the_given_ones() {
    let mut learnt = 0;
    for seed in 0..30 {
        let mut random = Random(seed);
        let mut search = Search::new();
        let vars: Vec<Var> = (0..120)
            .map(|_| search.variable(false, random.chance(50)))
            .collect();
        let planted: Vec<bool> = vars.iter().map(|_| random.chance(50)).collect();
        let offset = vars[0].index();
        let holds = |lit: Lit| planted[lit.var().index() - offset] == lit.is_positive();
        // Equations of three variables, whose consequences are long chains, and some clauses.
        for _ in 0..90 {
            let lits = random.clause(&vars, 3);
            let odd = lits.iter().filter(|&&lit| holds(lit)).count() % 2 == 1;
            for signs in 0..8_u32 {
                if (signs.count_ones() % 2 == 0) == odd {
                    let signed = (0..)
                        .zip(&lits)
                        .map(|(at, &lit)| lit.negated_if(signs >> at & 1 == 1));
                    search.clause(&signed.collect::<Vec<Lit>>());
                }
            }
        }
        for _ in 0..60 {
            let clause = random.clause(&vars, 4);
            if clause.iter().any(|&lit| holds(lit)) {
                search.clause(&clause);
            }
        }
        // What holds in a model of the given clauses holds in all that was learnt from them.
        for _ in 0..40 {
            search.solve(&mut Anything, &[], Budget::unlimited().conflicts(50));
            for clause in search.clauses.iter() {
                if search.clauses.kind(clause) == Kind::Learnt {
                    learnt += 1;
                    assert!(search.clauses.lits(clause).any(holds), "seed {seed}");
                }
            }
            let assumption = random.clause(&vars, 1);
            search.solve(
                &mut Anything,
                &assumption,
                Budget::unlimited().conflicts(50),
            );
        }
    }
    assert!(learnt > 20_000, "{learnt}");
}
