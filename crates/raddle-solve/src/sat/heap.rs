//! Which variable to decide next: the one most involved in recent conflicts.
//!
//! Exponential VSIDS as in MiniSat: every variable has a score, a conflict adds an increment to those
//! it involved, and the increment grows with each conflict, so that old conflicts fade. A binary heap
//! keeps the variable with the highest score on top, the oldest among equals. Assigned variables leave
//! the heap when they come to the top, and come back when they lose their value.

use crate::lit::Var;

/// The scores and the heap.
#[derive(Debug)]
pub(super) struct Heap {
    scores: Vec<f64>,
    increment: f64,
    heap: Vec<u32>,
    /// By variable: its index in the heap, or [`ABSENT`].
    places: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;
/// Scores beyond this are scaled down.
const LARGE: f64 = 1e150;

impl Default for Heap {
    fn default() -> Self {
        Self {
            scores: Vec::new(),
            increment: 1.0,
            heap: Vec::new(),
            places: Vec::new(),
        }
    }
}

impl Heap {
    /// Adds one more variable, with score zero; into the heap only if it is to be decided from there.
    pub(super) fn grow(&mut self, decided: bool) {
        let var = Var::new(self.scores.len());
        self.scores.push(0.0);
        self.places.push(ABSENT);
        if decided {
            self.insert(var);
        }
    }

    /// The variable on top.
    pub(super) fn top(&self) -> Option<Var> {
        self.heap.first().map(|&var| Var::new(var as usize))
    }

    /// Takes the variable on top away.
    pub(super) fn pop(&mut self) -> Option<Var> {
        let top = self.top()?;
        let last = self.heap.pop()?;
        self.places[top.index()] = ABSENT;
        if last as usize != top.index() {
            self.heap[0] = last;
            self.places[last as usize] = 0;
            self.sift_down(0);
        }
        Some(top)
    }

    /// Puts a variable back, if it is not there.
    #[inline]
    pub(super) fn insert(&mut self, var: Var) {
        if self.places[var.index()] != ABSENT {
            return;
        }
        let place = self.heap.len();
        self.heap.push(var.index() as u32);
        self.places[var.index()] = place as u32;
        self.sift_up(place);
    }

    /// Adds the increment to a variable's score.
    pub(super) fn bump(&mut self, var: Var) {
        let score = &mut self.scores[var.index()];
        *score += self.increment;
        if *score > LARGE {
            self.rescale();
        }
        let place = self.places[var.index()];
        if place != ABSENT {
            self.sift_up(place as usize);
        }
    }

    /// Lets old conflicts fade: scores count `factor`, less than one, of what they did.
    pub(super) fn decay(&mut self, factor: f64) {
        self.increment /= factor;
        if self.increment > LARGE {
            self.rescale();
        }
    }

    /// Whether `a` is to be decided before `b`.
    pub(super) fn is_before(&self, a: Var, b: Var) -> bool {
        self.precedes(a.index() as u32, b.index() as u32)
    }

    #[inline]
    fn precedes(&self, a: u32, b: u32) -> bool {
        let (score_a, score_b) = (self.scores[a as usize], self.scores[b as usize]);
        score_a > score_b || score_a == score_b && a < b
    }

    fn rescale(&mut self) {
        for score in &mut self.scores {
            *score /= LARGE;
        }
        self.increment /= LARGE;
        // Tiny scores may have become equal, and then the older variable comes first.
        for place in (0..self.heap.len() / 2).rev() {
            self.sift_down(place);
        }
    }

    #[inline]
    fn sift_up(&mut self, mut place: usize) {
        let var = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            let above = self.heap[parent];
            if !self.precedes(var, above) {
                break;
            }
            self.heap[place] = above;
            self.places[above as usize] = place as u32;
            place = parent;
        }
        self.heap[place] = var;
        self.places[var as usize] = place as u32;
    }

    fn sift_down(&mut self, mut place: usize) {
        let var = self.heap[place];
        loop {
            let left = 2 * place + 1;
            if left >= self.heap.len() {
                break;
            }
            let right = left + 1;
            let child =
                if right < self.heap.len() && self.precedes(self.heap[right], self.heap[left]) {
                    right
                } else {
                    left
                };
            let below = self.heap[child];
            if !self.precedes(below, var) {
                break;
            }
            self.heap[place] = below;
            self.places[below as usize] = place as u32;
            place = child;
        }
        self.heap[place] = var;
        self.places[var as usize] = place as u32;
    }
}
