//! Random programs: the same steps on terms and on values.

use super::reference;
use super::*;

/// How a value is made from those before it, which are named by their places.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Input(u32),
    Constant(u32, u64),
    Flag(usize, bool),
    Chosen(usize, bool, usize, usize),
    Not(usize),
    Neg(usize),
    Binary(Operation, usize, usize),
    ZeroExtend(usize, u32),
    SignExtend(usize, u32),
    Extract(usize, u32, u32),
    Concat(usize, usize),
}

/// Steps that use values of the right widths.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) widths: Vec<u32>,
    /// How many literals it chooses by.
    pub(super) flags: usize,
}

impl Program {
    pub(super) fn random(random: &mut Random, inputs: &[u32], flags: usize, length: usize) -> Self {
        let mut program = Self {
            flags,
            ..Self::default()
        };
        for &width in inputs {
            program.push(Step::Input(width), width);
        }
        for _ in 0..length {
            program.grow(random);
        }
        program
    }

    fn push(&mut self, step: Step, width: u32) {
        self.steps.push(step);
        self.widths.push(width);
    }

    fn grow(&mut self, random: &mut Random) {
        let a = random.below(self.steps.len());
        let width = self.widths[a];
        let alike: Vec<usize> = (0..self.steps.len())
            .filter(|&other| self.widths[other] == width)
            .collect();
        let b = alike[random.below(alike.len())];
        match random.below(16) {
            0 => self.push(Step::Constant(width, random.value(width)), width),
            1 if self.flags > 0 => {
                let flag = Step::Flag(random.below(self.flags), random.below(2) == 0);
                self.push(flag, 1);
            }
            2 | 3 if self.flags > 0 => {
                let flag = random.below(self.flags);
                self.push(Step::Chosen(flag, random.below(2) == 0, a, b), width);
            }
            4 => self.push(Step::Not(a), width),
            5 => self.push(Step::Neg(a), width),
            6 => {
                let wider = width + random.below(65 - width as usize) as u32;
                self.push(Step::ZeroExtend(a, wider), wider);
            }
            7 => {
                let wider = width + random.below(65 - width as usize) as u32;
                self.push(Step::SignExtend(a, wider), wider);
            }
            8 | 9 => {
                let narrower = 1 + random.below(width as usize) as u32;
                let from = random.below((width - narrower) as usize + 1) as u32;
                self.push(Step::Extract(a, from, narrower), narrower);
            }
            10 => {
                let c = random.below(self.steps.len());
                let sum = width + self.widths[c];
                if sum <= 64 {
                    self.push(Step::Concat(a, c), sum);
                }
            }
            _ => {
                let operation = OPERATIONS[random.below(OPERATIONS.len())];
                self.push(Step::Binary(operation, a, b), width);
            }
        }
    }

    /// The value of each step.
    pub(super) fn run(&self, inputs: &[u64], flags: &[bool]) -> Vec<u64> {
        let mut inputs = inputs.iter();
        let mut values: Vec<u64> = Vec::new();
        for (step, &width) in self.steps.iter().zip(&self.widths) {
            let value = match *step {
                Step::Input(_) => *inputs.next().expect("a value for each input"),
                Step::Constant(_, value) => value,
                Step::Flag(flag, sign) => u64::from(flags[flag] == sign),
                Step::Chosen(flag, sign, a, b) => values[if flags[flag] == sign { a } else { b }],
                Step::Not(a) => reference::ones(width) - values[a],
                Step::Neg(a) => reference::wrap(width, -i128::from(values[a])),
                Step::Binary(operation, a, b) => {
                    reference::binary(operation, width, values[a], values[b])
                }
                Step::ZeroExtend(a, _) => values[a],
                Step::SignExtend(a, _) => {
                    reference::wrap(width, reference::signed(self.widths[a], values[a]))
                }
                Step::Extract(a, from, _) => reference::wrap(width, i128::from(values[a]) >> from),
                Step::Concat(a, b) => {
                    let high = u128::from(values[a]) << self.widths[b];
                    (high + u128::from(values[b])) as u64
                }
            };
            values.push(value);
        }
        values
    }

    /// The term of each step.
    pub(super) fn terms(&self, terms: &mut Terms, hints: &[u64], flags: &[Lit]) -> Vec<Term> {
        let mut hints = hints.iter();
        let mut made: Vec<Term> = Vec::new();
        for step in &self.steps {
            let term = match *step {
                Step::Input(width) => {
                    terms.unknown(width, *hints.next().expect("a hint for each input"))
                }
                Step::Constant(width, value) => terms.constant(width, value),
                Step::Flag(flag, sign) => terms.of_lit(flags[flag].negated_if(!sign)),
                Step::Chosen(flag, sign, a, b) => {
                    terms.chosen(flags[flag].negated_if(!sign), made[a], made[b])
                }
                Step::Not(a) => terms.not(made[a]),
                Step::Neg(a) => terms.neg(made[a]),
                Step::Binary(operation, a, b) => terms.binary(operation, made[a], made[b]),
                Step::ZeroExtend(a, width) => terms.zero_extend(made[a], width),
                Step::SignExtend(a, width) => terms.sign_extend(made[a], width),
                Step::Extract(a, from, width) => terms.extract(made[a], from, width),
                Step::Concat(a, b) => terms.concat(made[a], made[b]),
            };
            made.push(term);
        }
        made
    }
}

/// Widths of a program's inputs, such that some are alike.
fn input_widths(random: &mut Random) -> Vec<u32> {
    let largest = [6, 20, 64][random.below(3)];
    let width = 1 + random.below(largest) as u32;
    let other = 1 + random.below(12) as u32;
    vec![width, width, other, 1]
}

#[test]
fn terms_mean_what_their_steps_mean() {
    let mut random = Random(5);
    for _ in 0..3000 {
        let widths = input_widths(&mut random);
        let program = Program::random(&mut random, &widths, 2, 40);
        let inputs: Vec<u64> = widths.iter().map(|&width| random.value(width)).collect();
        let flags = [random.below(2) == 0, random.below(2) == 0];
        let mut bench = Bench::new();
        let lits = [(); 2].map(|()| bench.sink.fresh(false));
        let terms = program.terms(&mut bench.terms, &inputs, &lits);
        let expected = program.run(&inputs, &flags);
        let holds = |lit: Lit| {
            let flag = lits.iter().position(|l| l.var() == lit.var());
            flags[flag.expect("nothing is blasted")] == lit.is_positive()
        };
        for (step, (&term, &value)) in terms.iter().zip(&expected).enumerate() {
            assert_eq!(term.width(), program.widths[step]);
            assert_eq!(
                bench.evaluate(term, holds),
                value,
                "step {step} of {program:?}"
            );
        }
    }
}

#[test]
fn blasted_terms_mean_what_their_steps_mean() {
    let mut random = Random(6);
    for _ in 0..80 {
        let widths = input_widths(&mut random);
        let program = Program::random(&mut random, &widths, 2, 25);
        let mut bench = Bench::new();
        let lits = [(); 2].map(|()| bench.sink.fresh(false));
        let hints = vec![0; widths.len()];
        let terms = program.terms(&mut bench.terms, &hints, &lits);
        let bits: Vec<Vec<Lit>> = terms.iter().map(|&term| bench.blast(term)).collect();
        let mut naive = Naive::new(&bench.sink);
        for _ in 0..4 {
            let inputs: Vec<u64> = widths.iter().map(|&width| random.value(width)).collect();
            let flags = [random.below(2) == 0, random.below(2) == 0];
            let height = naive.height();
            let mut assumptions: Vec<Lit> = bits
                .iter()
                .zip(&inputs)
                .flat_map(|(bits, &value)| fixed(bits, value))
                .collect();
            assumptions.extend(
                lits.iter()
                    .zip(flags)
                    .map(|(lit, flag)| lit.negated_if(!flag)),
            );
            assert!(naive.assume(&assumptions));
            for (step, value) in program.run(&inputs, &flags).into_iter().enumerate() {
                assert_eq!(
                    propagated(&naive, &bits[step]),
                    Some(value),
                    "step {step} of {program:?} on {inputs:?}, {flags:?}"
                );
            }
            naive.undo(height);
        }
    }
}

/// A model may know more of an unknown than its bits: a read has the value of what it takes.
#[test]
fn values_that_stand_in_for_unknowns() {
    let mut bench = Bench::new();
    let [x, y] = [3, 4].map(|hint| bench.terms.unknown(8, hint));
    let sum = bench.terms.binary(Operation::Add, x, y);
    let value = evaluate(
        sum,
        &bench.terms,
        &bench.blaster,
        |_| unreachable!(),
        |term| (term == x).then_some(50),
    );
    assert_eq!(value, 54);
}

/// Gates take their phases from the hints, so the hinted values need no search.
#[test]
fn phases_are_the_hinted_values() {
    let mut random = Random(7);
    for _ in 0..100 {
        let widths = input_widths(&mut random);
        let program = Program::random(&mut random, &widths, 2, 25);
        let hints: Vec<u64> = widths.iter().map(|&width| random.value(width)).collect();
        let mut bench = Bench::new();
        let flags = [true, false];
        let lits = flags.map(|flag| bench.sink.fresh(flag));
        let terms = program.terms(&mut bench.terms, &hints, &lits);
        let expected = program.run(&hints, &flags);
        for (&term, &value) in terms.iter().zip(&expected) {
            let bits = bench.blast(term);
            let hinted = bits.iter().rev().fold(0, |value, &bit| {
                value << 1 | u64::from(bench.sink.phase(bit))
            });
            assert_eq!(hinted, value, "{program:?}");
        }
    }
}

#[test]
fn the_same_steps_give_the_same_clauses() {
    let mut random = Random(8);
    let program = Program::random(&mut random, &[16, 16, 5, 1], 2, 60);
    let build = || {
        let mut bench = Bench::new();
        let lits = [(); 2].map(|()| bench.sink.fresh(false));
        for term in program.terms(&mut bench.terms, &[1, 2, 3, 0], &lits) {
            bench.blast(term);
        }
        bench.sink
    };
    assert_eq!(build(), build());
}
