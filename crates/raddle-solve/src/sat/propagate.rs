//! Propagation: what follows from the assignment, by clauses and by the theory.

use crate::budget::{Exhausted, Spending};
use crate::lit::Lit;

use super::Search;
use super::clauses::ClauseRef;
use super::theory::{Conflict, Theory};
use super::trail::Reason;
use super::watch::Watch;

/// The clause that is false, if it is one of the arena; its literals are in [`Search::conflict`].
pub(super) type Falsified = Option<ClauseRef>;

/// Propagation found a conflict.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clash(pub(super) Falsified);

/// How many theory rounds go by between two looks at the clock.
const ROUNDS_PER_LOOK: u64 = 16;

impl Search {
    /// Propagates clauses and theory until both are at rest.
    pub(super) fn propagate<T: Theory>(
        &mut self,
        theory: &mut T,
        spending: &Spending,
    ) -> Result<Result<(), Clash>, Exhausted> {
        loop {
            if let Err(clash) = self.propagate_clauses() {
                return Ok(Err(clash));
            }
            self.statistics.theory_rounds += 1;
            if self
                .statistics
                .theory_rounds
                .is_multiple_of(ROUNDS_PER_LOOK)
            {
                spending.look()?;
            }
            match self.propagate_theory(theory) {
                Err(clash) => return Ok(Err(clash)),
                Ok(0) => return Ok(Ok(())),
                Ok(_) => {}
            }
        }
    }

    /// Tells the theory what is new, and assigns what it concludes. Says how many literals were new.
    fn propagate_theory<T: Theory>(&mut self, theory: &mut T) -> Result<usize, Clash> {
        while self.trail.told < self.trail.len() {
            let lit = self.trail.at(self.trail.told);
            self.trail.told += 1;
            if self.observed[lit.var().index()] {
                theory.assign(lit);
            }
        }
        let mut implied = std::mem::take(&mut self.implied);
        implied.clear();
        let before = self.trail.len();
        let outcome = match theory.propagate(self, &mut implied) {
            Err(Conflict(lits)) => {
                debug_assert!(lits.iter().all(|&lit| self.trail.value(lit) > 0));
                self.conflict.clear();
                self.conflict.extend(lits.iter().map(|&lit| !lit));
                Err(Clash(None))
            }
            Ok(()) => self.assign_implied(theory, &implied),
        };
        self.implied = implied;
        self.statistics.theory_propagations += (self.trail.len() - before) as u64;
        if outcome.is_err() {
            self.statistics.theory_conflicts += 1;
        }
        outcome.map(|()| self.trail.len() - before)
    }

    fn assign_implied<T: Theory>(&mut self, theory: &mut T, implied: &[Lit]) -> Result<(), Clash> {
        for &lit in implied {
            match self.trail.value(lit) {
                0 => self.trail.assign(lit, Reason::Theory),
                1 => {}
                _ => {
                    let mut explanation = std::mem::take(&mut self.explanation);
                    explanation.clear();
                    theory.explain(lit, &mut explanation);
                    self.statistics.explanations += 1;
                    debug_assert!(explanation.iter().all(|&lit| self.trail.value(lit) > 0));
                    self.conflict.clear();
                    self.conflict.push(lit);
                    self.conflict.extend(explanation.iter().map(|&lit| !lit));
                    self.explanation = explanation;
                    return Err(Clash(None));
                }
            }
        }
        Ok(())
    }

    /// Unit propagation.
    pub(super) fn propagate_clauses(&mut self) -> Result<(), Clash> {
        let before = self.trail.propagated;
        let mut outcome = Ok(());
        while outcome.is_ok() && self.trail.propagated < self.trail.len() {
            let lit = self.trail.at(self.trail.propagated);
            self.trail.propagated += 1;
            outcome = self.propagate_literal(!lit);
        }
        self.statistics.propagations += (self.trail.propagated - before) as u64;
        outcome
    }

    /// Restores the watch invariant for the clauses that watch `falsified`.
    fn propagate_literal(&mut self, falsified: Lit) -> Result<(), Clash> {
        let mut list = self.watches.take(falsified);
        let mut ticks = 1 + list.len() as u64 / 8;
        let (mut next, mut kept) = (0, 0);
        let mut outcome = Ok(());
        while next < list.len() {
            let watch = list[next];
            next += 1;
            let value = self.trail.value(watch.blocker);
            if value > 0 {
                list[kept] = watch;
                kept += 1;
                continue;
            }
            if watch.is_binary() {
                list[kept] = watch;
                kept += 1;
                if value == 0 {
                    self.trail.assign(watch.blocker, Reason::Binary(falsified));
                    continue;
                }
                self.conflict.clear();
                self.conflict.extend([watch.blocker, falsified]);
                outcome = Err(Clash(None));
                break;
            }
            ticks += 1;
            let clause = watch.clause();
            let codes = self.clauses.codes_mut(clause);
            let falsified_code = falsified.code() as u32;
            let other_code = codes[0] ^ codes[1] ^ falsified_code;
            let other = Lit::from_code(other_code as usize);
            let other_value = self.trail.value(other);
            if other_value > 0 {
                list[kept] = Watch::long(other, clause);
                kept += 1;
                continue;
            }
            let values = self.trail.values();
            let replacement = codes.iter().enumerate().skip(2).find_map(|(index, &code)| {
                let value = values[code as usize];
                (value >= 0).then_some((index, code, value))
            });
            if let Some((index, code, value)) = replacement {
                let lit = Lit::from_code(code as usize);
                if value > 0 {
                    list[kept] = Watch::long(lit, clause);
                    kept += 1;
                } else {
                    codes[0] = other_code;
                    codes[1] = code;
                    codes[index] = falsified_code;
                    self.watches.push(lit, Watch::long(other, clause));
                }
                continue;
            }
            list[kept] = watch;
            kept += 1;
            if other_value == 0 {
                codes[0] = other_code;
                codes[1] = falsified_code;
                self.trail.assign(other, Reason::Clause(clause));
                continue;
            }
            self.conflict.clear();
            self.conflict.extend(self.clauses.lits(clause));
            outcome = Err(Clash(Some(clause)));
            break;
        }
        if next < list.len() {
            list.copy_within(next.., kept);
            kept += list.len() - next;
        }
        list.truncate(kept);
        self.watches.put_back(falsified, list);
        self.statistics.ticks += ticks;
        outcome
    }
}
