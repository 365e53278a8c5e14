//! Branches that depend on the schedule are found, and no others: `tests/programs/branches`, whose lines say which.

mod common;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use common::{exit, for_each, fresh_dir, model_of, programs, run};
use raddle_judge::{ReadRule, Recording, Sitting, Witness};
use raddle_model::{InstructionId, Model, ModuleId};
use raddle_predict::branches::{Branches, Place};
use raddle_predict::maximal::Leeway;
use raddle_predict::predictor::{Options, Relaxation, Run};
use raddle_trace::event::Event;
use raddle_trace::file::TraceReader;

/// Lines of a program that are marked as sensitive.
fn marked(source: &Path) -> BTreeSet<u32> {
    let text = std::fs::read_to_string(source).unwrap();
    let lines = (1..).zip(text.lines());
    let sensitive = lines.filter(|(_, line)| line.ends_with("// sensitive"));
    sensitive.map(|(number, _)| number).collect()
}

/// The line of a branch, if it is in a file of this name.
fn line(model: &Model, (module, function, instruction): &Place, file: &str) -> Option<u32> {
    let module = model.module(ModuleId(*module))?;
    let function = module
        .functions
        .iter()
        .find(|it| it.linkage_name == *function && !it.blocks.is_empty())?;
    let instruction = function.instruction(InstructionId(instruction.0))?;
    let mut frames = module.frames(instruction.position?);
    let own = frames.find(|it| it.file.ends_with(file))?;
    Some(own.line)
}

fn check(source: &Path, dir: &Path) -> Result<(), String> {
    let trace = dir.join("trace");
    let args = ["--strategy", "rr", "--runs", "1", "--trace"];
    let args = [&args[..], &[trace.to_str().unwrap()]].concat();
    let said = run(source, dir, &args);
    if said.code != Some(exit::CLEAN) {
        return Err(said.all());
    }
    let mut reader = TraceReader::open(&trace).map_err(|error| error.to_string())?;
    let tables = reader.trailer().cloned().ok_or("no tables")?;
    let events: Result<Vec<Event>, _> = reader.by_ref().collect();
    let events = events.map_err(|error| error.to_string())?;
    let model = Model::read(&model_of(dir)).map_err(|error| error.to_string())?;
    let recording = Recording::new(&events, Some(&tables), Some(&model)).unwrap();
    let sitting = RefCell::new(Sitting::new(&recording));
    let accepts =
        |start: usize, witness: &Witness| sitting.borrow_mut().judge(start, witness).is_ok();
    let leeway = Leeway::new(&model, &tables).into();
    let run = Run {
        events: &events,
        rule: ReadRule::SameValue,
        hidden: &recording.hidden_orders(),
        atomic: &[],
        is_own: &|_| true,
        relaxation: Some(Relaxation {
            leeway: &leeway,
            accepts: &accepts,
        }),
    };
    let file = source.file_name().unwrap().to_str().unwrap();
    let is_own = |place: &Place, _| line(&model, place, file).is_some();
    let branches = Branches::new(run, &model, &tables).unwrap();
    let found = branches.sensitive(&Options::default(), &is_own);
    let branches = found.branches.iter();
    let lines: BTreeSet<u32> = branches
        .filter_map(|it| line(&model, &it.place, file))
        .collect();
    let expected = marked(source);
    if found.given_up > 0 || lines != expected {
        let given_up = found.given_up;
        return Err(format!(
            "{expected:?} are sensitive, and {lines:?} were found, {given_up} given up"
        ));
    }
    Ok(())
}

#[test]
fn those_that_depend_on_the_schedule_are_found() {
    let out = fresh_dir("branches");
    for_each(&programs("branches"), |path| {
        let file = path.file_name().unwrap().to_str().unwrap();
        check(path, &out.join(file))
    });
}
