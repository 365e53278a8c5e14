//! Proofs on paper: the order behind each finding, and what the judge says when it is shown one again.

use std::path::Path;

use raddle_judge::{Witness, text};
use raddle_model::Model;
use raddle_report::{Finding, Location};

use super::{Error, Trace};
use crate::ground::Ground;

/// What the judge says about a file of witnesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// How many hold, up to the first that does not.
    pub accepted: usize,
    /// The first thing wrong, as a sentence that names the witness and its line; none if all hold.
    pub objection: Option<String>,
}

impl Trace {
    /// Judges a text of witnesses, which is named by its path in errors.
    ///
    /// # Errors
    /// If it is no such text, or the trace is none that the judge understands.
    pub fn judge(&self, model: Option<&Model>, file: &Path, text: &str) -> Result<Judged, Error> {
        let witnesses = text::read(text, self.events.len() as u64);
        let witnesses = witnesses.map_err(|source| Error::Witness {
            path: file.to_owned(),
            source,
        })?;
        let ground = Ground::new(&self.events, &self.trailer, model);
        let ground = ground.map_err(|why| self.wrong(why))?;
        let judge = ground.judge();
        for (accepted, it) in witnesses.iter().enumerate() {
            if let Err(objection) = judge.judge(&it.witness) {
                let (name, line) = (&it.name, it.line);
                return Ok(Judged {
                    accepted,
                    objection: Some(format!("line {line}: witness {name}: {objection}")),
                });
            }
        }
        Ok(Judged {
            accepted: witnesses.len(),
            objection: None,
        })
    }
}

/// The witnesses of findings that were made from accepted ones: for each the first that says the same.
pub(super) fn write(
    events: u64,
    findings: &[Finding],
    accepted: &[(Finding, Option<Witness>)],
) -> String {
    let mut text = text::HEAD.to_owned() + &text::events_line(events);
    for finding in findings {
        let is_same = |other: &Finding| {
            (
                &other.kind,
                &other.locations,
                &other.proved_by,
                &other.story,
            ) == (
                &finding.kind,
                &finding.locations,
                &finding.proved_by,
                &finding.story,
            )
        };
        let mut same = accepted.iter().filter(|it| is_same(&it.0));
        if let Some(witness) = same.find_map(|it| it.1.as_ref()) {
            let places = finding.locations.iter().map(place);
            let places: Vec<String> = places.collect();
            let comments = [
                format!("{} at {}", finding.kind.name(), places.join(", ")),
                format!("proved by {}", finding.proved_by),
            ];
            text::write(&mut text, &finding.id, &comments, witness);
        }
    }
    text
}

/// A place as a person would say it.
fn place(location: &Location) -> String {
    let position = &location.position;
    match position.file.is_empty() {
        true => position.function.clone(),
        false => position.to_string(),
    }
}
