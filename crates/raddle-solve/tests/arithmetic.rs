//! Bit-vector operations against native integers, at every width, through questions to the solver.

mod support;

use raddle_solve::Budget;
use support::bits::Word;
use support::check::check;
use support::evaluate::Valuation;
use support::facts::Facts;
use support::instance::{Bits, Formula, Instance, OPERATIONS, RELATIONS, Relation, Step};
use support::rng::Rng;
use support::run::Outcome;

/// Numbers at which operations tend to go wrong, and random ones.
fn interesting(rng: &mut Rng, width: u32) -> u64 {
    let all = u64::MAX >> (64 - width);
    let sign = 1 << (width - 1);
    let special = [
        0,
        1,
        all,
        sign,
        sign - 1,
        sign | 1,
        u64::from(width),
        u64::from(width) - 1,
    ];
    let value = match rng.below(3) {
        0 => *rng.pick(&special),
        1 => rng.next() >> rng.below(64),
        _ => rng.next(),
    };
    value & all
}

/// Every sort of term over two unknowns of one width.
fn terms(rng: &mut Rng, width: u32) -> Vec<Bits> {
    let both = || Box::new([Bits::Unknown(0), Bits::Unknown(1)]);
    let first = || Box::new(Bits::Unknown(0));
    let mut terms: Vec<Bits> = OPERATIONS
        .map(|operation| Bits::Binary(operation, both()))
        .into();
    let wider = width + rng.below((65 - width) as usize) as u32;
    let narrower = 1 + rng.below(width as usize) as u32;
    let low = rng.below((width - narrower + 1) as usize) as u32;
    let smaller = Box::new(Formula::Compare(*rng.pick(&RELATIONS), both()));
    terms.extend([
        Bits::Not(first()),
        Bits::Neg(first()),
        Bits::ZeroExtend(first(), wider),
        Bits::SignExtend(first(), wider),
        Bits::Truncate(first(), narrower),
        Bits::Extract {
            of: first(),
            low,
            width: narrower,
        },
        Bits::Chosen(smaller.clone(), both()),
        Bits::OfLit(smaller),
    ]);
    if width <= 32 {
        terms.push(Bits::Concat(both()));
    }
    terms
}

fn equal(term: Bits, word: Word) -> Formula {
    let constant = Bits::Constant {
        width: word.width,
        value: word.value,
    };
    Formula::Compare(Relation::Equal, Box::new([term, constant]))
}

/// A script that fixes two unknowns and asks of every term whether it can be what it is, and whether it
/// can be anything else.
fn script(rng: &mut Rng, width: u32) -> (Instance, Vec<bool>) {
    let values = [interesting(rng, width), interesting(rng, width)];
    let mut instance = Instance::default();
    for _ in 0..2 {
        let hint = interesting(rng, width);
        instance.say(Step::Unknown { width, hint });
    }
    let valuation = Valuation {
        unknowns: values.into(),
        ..Valuation::default()
    };
    let fixed = instance.clone();
    let facts = Facts::of(&fixed.steps);
    for (number, value) in values.into_iter().enumerate() {
        let word = Word::new(width, u128::from(value));
        instance.say(Step::Require(vec![equal(Bits::Unknown(number), word)]));
    }
    let mut expected = Vec::new();
    let mut ask = |formula: Formula, answer: bool| {
        instance.say(Step::Solve(vec![formula.clone()]));
        instance.say(Step::Solve(vec![formula.negated()]));
        expected.extend([answer, !answer]);
    };
    for term in terms(rng, width) {
        let word = valuation.bits(&facts, &term);
        ask(equal(term, word), true);
    }
    for relation in RELATIONS {
        let formula = Formula::Compare(relation, Box::new([Bits::Unknown(0), Bits::Unknown(1)]));
        let answer = valuation.formula(&facts, &formula);
        ask(formula, answer);
    }
    (instance, expected)
}

#[test]
fn operations_equal_native_arithmetic() {
    let mut rng = Rng::new(7);
    for width in 1..=64 {
        for _ in 0..if width <= 8 { 60 } else { 6 } {
            let (instance, expected) = script(&mut rng, width);
            // What can be true is evaluated; what cannot is known in advance.
            let outcomes = check(&instance, |_| Budget::unlimited(), |_, _| false);
            let outcomes = outcomes.unwrap_or_else(|what| panic!("{what}\n{instance}"));
            let satisfiable = |outcome: &Outcome| matches!(outcome, Outcome::Satisfiable(_));
            let answers: Vec<bool> = outcomes.iter().map(satisfiable).collect();
            let wrong = answers
                .iter()
                .zip(&expected)
                .position(|(answer, truth)| answer != truth);
            assert_eq!(
                wrong, None,
                "the question with this number is answered wrongly in\n{instance}"
            );
        }
    }
}
