//! How a group of patterns is searched for: what each thread contributes, and in which order it is joined.

use super::language::{Pattern, PatternKind, Shape, Step};
use super::tuples::Wanted;

/// Patterns with the same threads, variables and regions.
pub(super) struct Group {
    pub(super) patterns: Vec<Accesses>,
    pub(super) steps: Vec<Step>,
    pub(super) parts: Vec<Part>,
    /// For consecutive steps of a thread with others in between: the two.
    pub(super) interrupted: Vec<(usize, usize)>,
    pub(super) shape: Shape,
    pub(super) kind: PatternKind,
}

/// What one thread contributes.
pub(super) struct Part {
    /// Which steps.
    pub(super) steps: Vec<usize>,
    /// By region of the thread, in order.
    pub(super) regions: Vec<Wanted>,
    /// Places in `steps` of up to two variables that earlier parts bind.
    pub(super) bound: Vec<usize>,
    /// Its steps that come between two of an earlier part, and those of earlier parts that come between two of its own.
    pub(super) intrusions: Vec<Intrusion>,
}

/// A step that comes between two consecutive steps of another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Intrusion {
    /// The part of the other thread, and the place in it of the later one of the two.
    pub(super) around: (usize, usize),
    /// The step's part, and its place in that.
    pub(super) step: (usize, usize),
}

/// A pattern by its accesses alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accesses {
    /// Which pattern.
    pub(super) pattern: usize,
    /// The steps that read, a bit each.
    pub(super) reads: u8,
    /// The steps that write.
    pub(super) writes: u8,
}

impl Accesses {
    fn new(pattern: usize, steps: &[Step]) -> Self {
        let bits = |write: bool| {
            let steps = steps.iter().enumerate();
            let own = steps.filter(|(_, step)| step.access.is_write() == write);
            own.fold(0, |bits, (at, _)| bits | 1 << at)
        };
        Self {
            pattern,
            reads: bits(false),
            writes: bits(true),
        }
    }
}

/// Patterns of one kind that differ in reads and writes alone are one group; a user's pattern is one by
/// itself.
pub(super) fn groups(patterns: &[Pattern]) -> Vec<Group> {
    let structure = |pattern: &Pattern| -> Vec<(u8, u8, u8)> {
        let steps = pattern.steps().iter();
        steps
            .map(|it| (it.thread, it.variable, it.region))
            .collect()
    };
    let mut groups: Vec<Group> = Vec::new();
    for (number, pattern) in patterns.iter().enumerate() {
        let alike = groups.iter_mut().find(|group| {
            let other = &patterns[group.patterns[0].pattern];
            pattern.kind != PatternKind::User
                && other.kind == pattern.kind
                && structure(other) == structure(pattern)
        });
        match alike {
            Some(group) => group.patterns.push(Accesses::new(number, pattern.steps())),
            None => groups.push(Group::new(number, pattern)),
        }
    }
    groups
}

impl Group {
    fn new(number: usize, pattern: &Pattern) -> Self {
        let steps = pattern.steps().to_vec();
        let mut interrupted = Vec::new();
        for (later, step) in steps.iter().enumerate() {
            let earlier = steps[..later]
                .iter()
                .rposition(|it| it.thread == step.thread);
            interrupted.extend(earlier.filter(|it| it + 1 < later).map(|it| (it, later)));
        }
        let mut group = Self {
            patterns: vec![Accesses::new(number, &steps)],
            parts: Vec::new(),
            interrupted,
            shape: pattern.shape(),
            kind: pattern.kind,
            steps,
        };
        group.parts = group.order_parts();
        group.list_intrusions();
        group
    }

    /// Lists each intrusion with the later of its two parts.
    fn list_intrusions(&mut self) {
        let places = |step: usize| {
            let mut parts = self.parts.iter().enumerate();
            parts.find_map(|(part, it)| Some((part, it.steps.iter().position(|at| *at == step)?)))
        };
        let mut intrusions = Vec::new();
        for &(first, last) in &self.interrupted {
            for between in first + 1..last {
                if let (Some(around), Some(step)) = (places(last), places(between)) {
                    intrusions.push(Intrusion { around, step });
                }
            }
        }
        for it in intrusions {
            self.parts[it.around.0.max(it.step.0)].intrusions.push(it);
        }
    }

    /// Whether accesses match a pattern of the group as far as its steps are `known`, a bit each.
    pub(super) fn has_pattern(&self, known: u8, reads: u8, writes: u8) -> bool {
        let mut patterns = self.patterns.iter();
        patterns.any(|it| it.reads & known & !reads == 0 && it.writes & known & !writes == 0)
    }

    /// Parts with several steps in a region first, since they are fewer; then those that have variables
    /// in common with earlier ones.
    fn order_parts(&self) -> Vec<Part> {
        let threads = self.steps.iter().map(|step| step.thread).max().unwrap_or(0);
        let mut left: Vec<Vec<usize>> = (0..=threads)
            .map(|thread| {
                let own = |at: &usize| self.steps[*at].thread == thread;
                (0..self.steps.len()).filter(own).collect()
            })
            .collect();
        let mut bound: Vec<u8> = Vec::new();
        let mut parts = Vec::new();
        while !left.is_empty() {
            let variable = |at: &usize| self.steps[*at].variable;
            let known = |steps: &[usize]| {
                steps
                    .iter()
                    .filter(|at| bound.contains(&variable(at)))
                    .count()
            };
            let best = (0..left.len())
                .max_by_key(|&at| (known(&left[at]) > 0, left[at].len(), std::cmp::Reverse(at)));
            let Some(best) = best else {
                break;
            };
            let steps = left.remove(best);
            let mut keys: Vec<usize> = Vec::new();
            for place in 0..steps.len() {
                let variable = variable(&steps[place]);
                let is_new = keys
                    .iter()
                    .all(|&key| self.steps[steps[key]].variable != variable);
                if bound.contains(&variable) && is_new && keys.len() < 2 {
                    keys.push(place);
                }
            }
            bound.extend(steps.iter().map(variable));
            parts.push(Part {
                regions: self.regions(&steps),
                bound: keys,
                steps,
                intrusions: Vec::new(),
            });
        }
        parts
    }

    fn regions(&self, own: &[usize]) -> Vec<Wanted> {
        let by_region = own.chunk_by(|a, b| self.steps[*a].region == self.steps[*b].region);
        by_region.map(|steps| self.wanted(steps)).collect()
    }

    fn wanted(&self, own: &[usize]) -> Wanted {
        let thread = self.steps[own[0]].thread;
        let (start, end) = (own[0], own[own.len() - 1]);
        let variable = |at: usize| self.steps[at].variable;
        let number = |at: usize| {
            let first = own
                .iter()
                .position(|&other| variable(other) == variable(at));
            first.unwrap_or(0) as u8
        };
        let is_exposed = |at: usize| {
            let mut between = start + 1..end;
            between.any(|it| self.steps[it].thread != thread && variable(it) == variable(at))
        };
        let intrudes = |at: usize| {
            let around = |&(first, last): &(usize, usize)| {
                let region = self.steps[first].region;
                let touches = |step: &Step| step.region == region && step.variable == variable(at);
                let of_one_region = self.steps[last].region == region;
                first < at && at < last && of_one_region && self.steps.iter().any(touches)
            };
            self.interrupted.iter().any(around)
        };
        Wanted {
            variables: own.iter().map(|&at| number(at)).collect(),
            exposed: own.iter().map(|&at| is_exposed(at)).collect(),
            intrudes: own.iter().map(|&at| intrudes(at)).collect(),
        }
    }
}
