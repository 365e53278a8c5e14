//! Damaged and hostile files: an error that says where, never a panic, a hang or a bomb.
//!
//! Every kind of file that a user may be handed, and the memory that a program shares with its launcher, is
//! damaged in as many ways as `FUZZ_INPUTS` says (default: some tens of thousands), the same ones each time:
//!
//! ```text
//! FUZZ_INPUTS=1000000 cargo test --release -p raddle-model --test fuzz
//! ```
//!
//! The memory asked for must not grow faster than the file, and the file must not be read over and over.
//! Inputs that found something are in `corpus/`, in a directory for each kind, and are tried first. A new
//! one is written to `FUZZ_FOUND`, if that names a directory.

mod blocks;
mod mutate;
mod seeds;
mod targets;

use std::alloc::System;
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use mutate::Random;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use targets::{Answer, Target};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Inputs of one run, if nobody says otherwise.
const INPUTS: u64 = 40_000;

/// Memory that reading may ask for in all, whatever the input: a block of the trace file unpacked, its tables,
/// and what is freed in between.
const BASE_BYTES: usize = 64 << 20;

/// And for each byte of the input: tables of a trace are packed at most 32-fold, and a table of empty texts takes
/// some thirty times its bytes in memory, what it outgrew included.
const BYTES_A_BYTE: usize = 1024;

/// Whole files of one kind.
struct Seeds {
    target: Target,
    whole: Vec<Vec<u8>>,
    /// Of models: their modules, which are damaged before they are put together.
    modules: Vec<Vec<u8>>,
}

impl Seeds {
    fn new(target: Target) -> Self {
        let modules = seeds::modules();
        let whole = match target {
            Target::Trace => seeds::traces(),
            Target::Clip => seeds::clips(),
            Target::Model => vec![seeds::model(&modules), seeds::model(&[])],
            Target::Std => seeds::stds(),
            Target::Inputs => seeds::inputs(),
            Target::Memory => seeds::memories(),
        };
        Self {
            target,
            whole,
            modules,
        }
    }

    fn damaged(&self, random: &mut Random) -> Vec<u8> {
        let mut input = random.pick(&self.whole).clone();
        match self.target {
            Target::Trace if !random.once_in(4) => {
                input = blocks::damage(random, &input, &self.whole);
                if random.once_in(8) {
                    input.truncate(random.below(input.len() + 1));
                }
            }
            Target::Model if !random.once_in(4) => {
                let mut modules = self.modules.clone();
                let at = random.below(modules.len());
                mutate::bytes(random, &mut modules[at], &self.modules);
                input = seeds::model(&modules);
            }
            Target::Clip | Target::Std => mutate::text(random, &mut input, &self.whole),
            _ => mutate::bytes(random, &mut input, &self.whole),
        }
        input
    }
}

/// Reads an input and holds the answer, and what it cost, against what may be.
fn check(target: Target, input: &[u8]) -> Result<Answer, String> {
    let region = Region::new(ALLOCATOR);
    let answer = catch_unwind(|| target.read(input));
    let asked = region.change().bytes_allocated;
    let answer = answer.map_err(|_| "it panics".to_owned())??;
    let most = BASE_BYTES + BYTES_A_BYTE * input.len();
    if asked > most {
        return Err(format!(
            "{asked} bytes of memory for {} of input",
            input.len()
        ));
    }
    Ok(answer)
}

fn keep(target: Target, input: &[u8], name: &str) {
    if let Some(directory) = std::env::var_os("FUZZ_FOUND") {
        let directory = Path::new(&directory).join(target.name());
        let kept =
            fs::create_dir_all(&directory).and_then(|()| fs::write(directory.join(name), input));
        kept.expect("FUZZ_FOUND names a directory that can be written to");
    }
}

#[test]
fn damaged_files_are_refused_and_do_no_harm() {
    let mut wrong = Vec::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    for target in Target::ALL {
        let Ok(entries) = fs::read_dir(corpus.join(target.name())) else {
            continue;
        };
        for entry in entries {
            let path = entry.expect("the corpus can be read").path();
            let input = fs::read(&path).expect("the corpus can be read");
            if let Err(what) = check(target, &input) {
                wrong.push(format!("{}: {what}", path.display()));
            }
        }
    }

    let inputs = std::env::var("FUZZ_INPUTS").ok();
    let inputs = inputs.map_or(INPUTS, |it| it.parse().expect("FUZZ_INPUTS is a number"));
    let shares = [30, 15, 15, 10, 10, 20];
    for (target, share) in Target::ALL.into_iter().zip(shares) {
        let seeds = Seeds::new(target);
        for whole in &seeds.whole {
            assert_eq!(
                check(target, whole),
                Ok(Answer::Read),
                "a whole {}",
                target.name()
            );
        }
        let (mut read, mut refused) = (0, 0);
        for number in 0..inputs * share / 100 {
            let input = seeds.damaged(&mut Random::new(number * 8 + target as u64));
            match check(target, &input) {
                Ok(Answer::Read) => read += 1,
                Ok(Answer::Refused) => refused += 1,
                Err(what) => {
                    keep(target, &input, &number.to_string());
                    wrong.push(format!("{} {number}: {what}", target.name()));
                    assert!(wrong.len() < 20, "{}", wrong.join("\n"));
                }
            }
        }
        println!("{:8} {read:8} read, {refused:8} refused", target.name());
        let some = inputs * share / 2000;
        assert!(refused > some, "damage is seen");
        assert!(read > some, "not all damage is at the door");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
