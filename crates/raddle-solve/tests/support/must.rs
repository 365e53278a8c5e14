//! Which events come before which in every order: the closure of the fixed edges.

use super::facts::Facts;

/// For each event, the set of the events that must come before it.
#[derive(Debug)]
pub struct Must {
    before: Vec<Vec<u64>>,
}

impl Must {
    /// Closes the fixed order; nothing is known if it has a cycle.
    pub fn of(facts: &Facts<'_>) -> Self {
        let count = facts.events.len();
        let mut successors = vec![Vec::new(); count];
        let mut waiting_for = vec![0; count];
        for &(a, b) in &facts.edges {
            successors[a].push(b);
            waiting_for[b] += 1;
        }
        let mut before = vec![vec![0_u64; count.div_ceil(64)]; count];
        let mut ready: Vec<usize> = (0..count).filter(|&e| waiting_for[e] == 0).collect();
        let mut done = 0;
        while let Some(event) = ready.pop() {
            done += 1;
            let mut row = std::mem::take(&mut before[event]);
            row[event / 64] |= 1 << (event % 64);
            for &next in &successors[event] {
                for (word, more) in before[next].iter_mut().zip(&row) {
                    *word |= more;
                }
                waiting_for[next] -= 1;
                if waiting_for[next] == 0 {
                    ready.push(next);
                }
            }
            row[event / 64] &= !(1 << (event % 64));
            before[event] = row;
        }
        if done < count {
            before = vec![vec![0; count.div_ceil(64)]; count];
        }
        Self { before }
    }

    /// Whether `a` comes before `b` in every order.
    pub fn before(&self, a: usize, b: usize) -> bool {
        self.before[b][a / 64] >> (a % 64) & 1 == 1
    }
}
