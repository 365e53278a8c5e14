//! Systematic search over schedules with a bounded number of preemptions.
//!
//! A run under [`StrategyKind::Dfs`](raddle_trace::wire::StrategyKind::Dfs) is a list of choices;
//! a schedule is found by following a prefix of choices and taking the first alternative from then
//! on, which means letting the running thread run. The [`Frontier`] holds one entry for each
//! alternative that no run has taken yet. A run adds only alternatives of choices *behind* its own
//! prefix, so every schedule is run exactly once. Entries with fewer preemptions are taken first
//! (iterative context bounding, Musuvathi and Qadeer, PLDI 2007), because most bugs need few;
//! among equals the deepest goes first, which keeps the frontier small.

use std::sync::Arc;

use raddle_trace::wire::Choice;

/// A schedule to run: what it shares with an earlier run, and the choice in which it differs.
#[derive(Clone, Debug)]
struct Branch {
    /// Choices of the run it branches off.
    choices: Arc<[u32]>,
    /// The choice that differs.
    at: usize,
    /// What is chosen there.
    chosen: u32,
}

/// The schedules still to be run, by their number of preemptions.
#[derive(Debug)]
pub struct Frontier {
    levels: Vec<Vec<Branch>>,
    /// Alternatives that were left out because they have too many preemptions.
    beyond: u64,
}

/// A prefix of choices that the next run has to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix(pub Vec<u32>);

impl Frontier {
    /// A frontier with nothing in it; the first run follows the empty prefix.
    pub fn new(preemptions: u32) -> Frontier {
        Frontier {
            levels: vec![Vec::new(); preemptions as usize + 1],
            beyond: 0,
        }
    }

    /// Adds what a run that followed `prefix` left untried.
    pub fn add(&mut self, prefix: &Prefix, choices: &[Choice]) {
        let taken: Arc<[u32]> = choices.iter().map(|it| it.chosen).collect();
        let mut preemptions = 0;
        for (at, choice) in choices.iter().enumerate() {
            if at >= prefix.0.len() {
                for chosen in (0..choice.alternatives).filter(|it| *it != choice.chosen) {
                    let level = preemptions + cost(choice, chosen);
                    let branch = Branch {
                        choices: Arc::clone(&taken),
                        at,
                        chosen,
                    };
                    match self.levels.get_mut(level) {
                        Some(level) => level.push(branch),
                        None => self.beyond += 1,
                    }
                }
            }
            preemptions += cost(choice, choice.chosen);
        }
    }

    /// The next schedule to run, or `None` when all have been run.
    pub fn take(&mut self) -> Option<Prefix> {
        let branch = self.levels.iter_mut().find_map(Vec::pop)?;
        let mut prefix = branch.choices[..branch.at].to_vec();
        prefix.push(branch.chosen);
        Some(Prefix(prefix))
    }

    /// Number of schedules known to be left.
    pub fn len(&self) -> usize {
        self.levels.iter().map(Vec::len).sum()
    }

    /// Whether no known schedule is left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether any schedule was left out because it has too many preemptions.
    pub fn is_bounded(&self) -> bool {
        self.beyond > 0
    }
}

/// Preemptions that choosing `chosen` costs: one, if the running thread could have gone on, or if a sleeper
/// wakes up though others could run.
fn cost(choice: &Choice, chosen: u32) -> usize {
    usize::from(chosen >= choice.free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Runs `threads` threads of `steps` steps each under a prefix, as the runtime does: the
    /// running thread is the first alternative while it has steps left.
    fn run(threads: usize, steps: usize, prefix: &Prefix) -> (Vec<Choice>, Vec<usize>) {
        let mut left = vec![steps; threads];
        let (mut choices, mut order, mut running) = (Vec::new(), Vec::new(), None);
        while left.iter().any(|it| *it > 0) {
            let current = running.filter(|it: &usize| left[*it] > 0);
            let others = (0..threads).filter(|it| left[*it] > 0 && Some(*it) != current);
            let enabled: Vec<usize> = current.into_iter().chain(others).collect();
            let chosen = prefix.0.get(choices.len()).copied().unwrap_or(0);
            choices.push(Choice {
                alternatives: enabled.len() as u32,
                chosen,
                free: match current {
                    Some(_) => 1,
                    None => enabled.len() as u32,
                },
                thread: enabled[chosen as usize] as u32,
            });
            running = Some(enabled[chosen as usize]);
            left[enabled[chosen as usize]] -= 1;
            order.push(enabled[chosen as usize]);
        }
        (choices, order)
    }

    fn explore(threads: usize, steps: usize, preemptions: u32) -> (Vec<Vec<usize>>, bool) {
        let mut frontier = Frontier::new(preemptions);
        let mut orders = Vec::new();
        let mut next = Some(Prefix(Vec::new()));
        while let Some(prefix) = next {
            let (choices, order) = run(threads, steps, &prefix);
            orders.push(order);
            frontier.add(&prefix, &choices);
            next = frontier.take();
        }
        (orders, frontier.is_bounded())
    }

    fn preemptions(order: &[usize]) -> usize {
        let cut = |at: &usize| order[*at] != order[at - 1] && order[*at..].contains(&order[at - 1]);
        (1..order.len()).filter(cut).count()
    }

    #[test]
    fn every_interleaving_is_run_exactly_once() {
        let (orders, bounded) = explore(2, 3, 10);
        assert_eq!(orders.len(), 20, "6 choose 3");
        assert_eq!(orders.iter().collect::<BTreeSet<_>>().len(), 20);
        assert!(!bounded);
        assert_eq!(explore(3, 2, 10).0.len(), 90, "6! / 2!^3");
    }

    #[test]
    fn the_bound_leaves_out_exactly_what_has_more_preemptions() {
        let all = explore(2, 3, 10).0;
        for bound in 0..4 {
            let within = all.iter().filter(|it| preemptions(it) <= bound).count();
            let (orders, bounded) = explore(2, 3, bound as u32);
            assert_eq!(orders.len(), within);
            assert_eq!(bounded, within < all.len());
        }
    }

    #[test]
    fn fewer_preemptions_come_first() {
        let (orders, _) = explore(3, 2, 3);
        let counts: Vec<_> = orders.iter().map(|it| preemptions(it)).collect();
        assert!(counts.is_sorted(), "{counts:?}");
    }
}
