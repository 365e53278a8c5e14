//! The headline with the source below it, accesses marked.

use std::collections::BTreeSet;
use std::ops::Range;

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet,
};
use raddle_trace::ids::ThreadId;

use crate::finding::{Finding, Location};
use crate::headline::{doing, file_from, headline};
use crate::kind::{Severity, Status};
use crate::source::{Source, Sources};
use crate::terminal::Options;
use crate::text::listed;

/// All that is marked at one place of a file.
struct Mark<'a> {
    line: u32,
    span: Range<usize>,
    locations: Vec<&'a Location>,
}

/// The title and, below it, a snippet for each file.
pub fn snippets(finding: &Finding, options: &Options, sources: &mut Sources) -> String {
    let level = match (finding.status, finding.severity) {
        (Status::Predicted, _) => Level::INFO,
        (_, Severity::Warning) => Level::WARNING,
        (_, Severity::Bug) => Level::ERROR,
    };
    let text = headline(finding, &options.directory);
    let title = level.with_name(label(finding)).primary_title(text);
    let mut group = Group::with_title(title.id(finding.id.clone()));
    let mut files: Vec<&str> = Vec::new();
    for location in &finding.locations {
        let file = location.position.file.as_str();
        if !file.is_empty() && !files.contains(&file) {
            files.push(file);
        }
    }
    let main = finding.locations.first().map(|it| it.thread);
    for file in files {
        let here = finding.locations.iter();
        let here: Vec<_> = here.filter(|it| it.position.file == file).collect();
        group = group.elements(elements(&here, main, options, sources.file(file)));
    }
    let renderer = Renderer::styled().term_width(options.width);
    format!("{}\n", renderer.render(&[group]))
}

/// What a finding is called before its headline.
pub fn label(finding: &Finding) -> &'static str {
    match (finding.status, finding.severity) {
        (Status::Confirmed, severity) => severity.name(),
        (Status::Predicted, Severity::Bug) => "predicted",
        (Status::Predicted, Severity::Warning) => "predicted warning",
    }
}

/// What is to be shown of one file: its text as far as it is there, bare positions for the rest.
fn elements<'a>(
    locations: &[&'a Location],
    main: Option<ThreadId>,
    options: &Options,
    source: Option<&Source>,
) -> Vec<Element<'a>> {
    let (shown, bare): (Vec<&Location>, Vec<&Location>) = locations
        .iter()
        .partition(|it| source.is_some_and(|source| source.has(it.position.line)));
    let mut elements = Vec::new();
    if let (Some(source), false) = (source, shown.is_empty()) {
        let path = file_from(&shown[0].position, &options.directory);
        for marks in side_by_side(marks(&shown, source), options.width) {
            let snippet = snippet(&marks, main, source);
            elements.push(Element::from(snippet.path(path.clone())));
        }
    }
    let mut places = BTreeSet::new();
    for location in bare {
        let position = &location.position;
        if places.insert((position.line, position.column)) {
            let mut origin = Origin::path(file_from(position, &options.directory));
            if position.line != 0 {
                origin = origin.line(position.line as usize);
            }
            if position.column != 0 {
                origin = origin.char_column(position.column as usize);
            }
            elements.push(Element::from(origin));
        }
    }
    elements
}

fn snippet<'a>(
    marks: &[Mark<'a>],
    main: Option<ThreadId>,
    source: &Source,
) -> Snippet<'a, Annotation<'a>> {
    let first = marks.iter().map(|it| it.line).min().unwrap_or(1);
    let last = marks.iter().map(|it| it.line).max().unwrap_or(first);
    let mut text = String::new();
    let mut starts = Vec::new();
    for line in first..=last {
        starts.push(text.len());
        text.push_str(&source.line(line));
        text.push('\n');
    }
    let annotations = marks.iter().map(|mark| {
        let start = starts[(mark.line - first) as usize];
        let is_main = mark.locations.iter().any(|it| Some(it.thread) == main);
        let kind = match is_main {
            true => AnnotationKind::Primary,
            false => AnnotationKind::Context,
        };
        let span = start + mark.span.start..start + mark.span.end;
        kind.span(span).label(described(&mark.locations))
    });
    let annotations: Vec<_> = annotations.collect();
    Snippet::source(text)
        .line_start(first as usize)
        .annotations(annotations)
}

/// Puts marks into as few snippets as have room for them: a long line can be cut at its ends only, so that what is
/// marked far to the left and far to the right does not go together.
fn side_by_side(marks: Vec<Mark<'_>>, width: usize) -> Vec<Vec<Mark<'_>>> {
    let mut snippets: Vec<Vec<Mark<'_>>> = Vec::new();
    for mark in marks {
        let fits = |it: &&mut Vec<Mark<'_>>| {
            it.iter().all(|other| {
                let start = mark.span.start.min(other.span.start);
                let end = mark.span.end.max(other.span.end);
                end - start <= width
            })
        };
        match snippets.iter_mut().find(fits) {
            Some(snippet) => snippet.push(mark),
            None => snippets.push(vec![mark]),
        }
    }
    snippets
}

fn marks<'a>(locations: &[&'a Location], source: &Source) -> Vec<Mark<'a>> {
    let mut marks: Vec<Mark<'a>> = Vec::new();
    for location in locations {
        let line = location.position.line;
        let span = source.mark(line, location.position.column);
        let same = marks
            .iter_mut()
            .find(|it| it.line == line && it.span == span);
        match same {
            Some(mark) => mark.locations.push(location),
            None => marks.push(Mark {
                line,
                span,
                locations: vec![location],
            }),
        }
    }
    marks
}

/// What happens at one place: "T1 writes `balance`, and so does T2; T3 reads `balance`".
fn described(locations: &[&Location]) -> String {
    let mut doings: Vec<(String, Vec<ThreadId>)> = Vec::new();
    for location in locations {
        let mut what = doing(location);
        // More than one note would make the line too long; the stacks below have them all.
        if let (Some(note), [_]) = (&location.note, locations) {
            let first = note.split("; ").next().unwrap_or_default();
            what = format!("{what}, {first}");
        }
        match doings.iter_mut().find(|it| it.0 == what) {
            Some((_, threads)) if threads.contains(&location.thread) => {}
            Some((_, threads)) => threads.push(location.thread),
            None => doings.push((what, vec![location.thread])),
        }
    }
    let doings = doings.iter().map(|(what, threads)| {
        let others: Vec<String> = threads[1..].iter().map(ThreadId::to_string).collect();
        let do_so = match others.len() {
            0 => String::new(),
            1 => format!(", and so does {}", others[0]),
            _ => format!(", and so do {}", listed(&others)),
        };
        format!("{} {what}{do_so}", threads[0])
    });
    doings.collect::<Vec<_>>().join("; ")
}
