//! An interleaving as a small table: a column a thread, time downwards.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use raddle_trace::ids::ThreadId;

use crate::finding::Moment;
use crate::text::{clean, cut, width, wrap};

/// A longer story is cut in its middle.
const MOMENTS: usize = 24;
/// With less room than this for a thread its column becomes hard to read.
const NARROWEST: usize = 18;
const INDENT: &str = "  ";
const RULE: Style = AnsiColor::BrightBlue.on_default();
const BOLD: Style = Style::new().bold();

/// A row: one moment, or what stands for those left out.
struct Row {
    thread: Option<ThreadId>,
    what: String,
}

/// The table, with a heading, in at most so many columns; empty if there is no story.
pub fn diagram(story: &[Moment], most: usize) -> String {
    if story.is_empty() {
        return String::new();
    }
    let files: BTreeSet<&str> = story
        .iter()
        .filter(|it| it.position.line != 0)
        .map(|it| it.position.file.as_str())
        .collect();
    let mut text = match files.first() {
        Some(file) if files.len() == 1 => {
            let name = file.rsplit('/').next().unwrap_or_default();
            format!(
                "{INDENT}{BOLD}interleaving{BOLD:#}, by line of {}:\n",
                clean(name)
            )
        }
        _ => format!("{INDENT}{BOLD}interleaving{BOLD:#}:\n"),
    };
    let rows = rows(story, files.len() > 1);
    let threads: BTreeSet<ThreadId> = story.iter().map(|it| it.thread).collect();
    let threads: Vec<ThreadId> = threads.into_iter().collect();
    let room = most.saturating_sub(INDENT.len());
    let gaps = 3 * (threads.len() - 1);
    let fair = room.saturating_sub(gaps) / threads.len();
    if threads.len() > 1 && fair < NARROWEST {
        list(&mut text, &rows, room);
    } else {
        table(&mut text, &rows, &threads, room, fair);
    }
    text
}

fn rows(story: &[Moment], with_file: bool) -> Vec<Row> {
    let row = |moment: &Moment| {
        let position = &moment.position;
        let mut what = clean(&moment.what).replace('\n', " ");
        if position.line != 0 && with_file {
            let name = position.file.rsplit('/').next().unwrap_or_default();
            what = format!("{}:{}: {what}", clean(name), position.line);
        } else if position.line != 0 {
            what = format!("{}: {what}", position.line);
        }
        Row {
            thread: Some(moment.thread),
            what,
        }
    };
    if story.len() <= MOMENTS {
        return story.iter().map(row).collect();
    }
    let (head, tail) = (MOMENTS / 2, story.len() - MOMENTS / 2);
    let left_out = Row {
        thread: None,
        what: format!("... {} more ...", tail - head),
    };
    let head = story[..head].iter().map(row);
    head.chain([left_out])
        .chain(story[tail..].iter().map(row))
        .collect()
}

/// Columns are as wide as they need to be; what one doesn't need, the others get.
fn table(text: &mut String, rows: &[Row], threads: &[ThreadId], room: usize, fair: usize) {
    let mut widths: Vec<usize> = threads
        .iter()
        .map(|thread| {
            let own = rows.iter().filter(|row| row.thread == Some(*thread));
            let widest = own.map(|row| width(&row.what)).max().unwrap_or(0);
            widest.max(thread.to_string().len())
        })
        .collect();
    let spare: usize = widths.iter().map(|it| fair.saturating_sub(*it)).sum();
    let wide = widths.iter().filter(|it| **it > fair).count().max(1);
    for width in &mut widths {
        *width = (*width).min(fair + spare / wide);
    }
    let line = |text: &mut String, cells: &[String], style: Style| {
        let mut parts = Vec::new();
        for (cell, room) in cells.iter().zip(&widths) {
            let pad = " ".repeat(room - width(cell).min(*room));
            parts.push(format!("{style}{cell}{style:#}{pad}"));
        }
        let line = parts.join(&format!(" {RULE}|{RULE:#} "));
        let _ = writeln!(text, "{INDENT}{}", line.trim_end());
    };
    let names: Vec<String> = threads.iter().map(ThreadId::to_string).collect();
    line(text, &names, BOLD);
    let rules: Vec<String> = widths.iter().map(|it| "-".repeat(*it)).collect();
    let _ = writeln!(text, "{INDENT}{RULE}{}{RULE:#}", rules.join("-+-"));
    for row in rows {
        let Some(thread) = row.thread else {
            let _ = writeln!(text, "{INDENT}{}", cut(&row.what, room));
            continue;
        };
        let column = threads.iter().position(|it| *it == thread).unwrap_or(0);
        for part in wrap(&row.what, widths[column]) {
            let mut cells = vec![String::new(); threads.len()];
            cells[column] = part;
            line(text, &cells, Style::new());
        }
    }
}

/// For too many threads: one below the other, with their names in front.
fn list(text: &mut String, rows: &[Row], room: usize) {
    let names = rows.iter().filter_map(|row| row.thread);
    let widest = names.map(|it| it.to_string().len()).max().unwrap_or(0);
    for row in rows {
        let mut name = row.thread.map(|it| it.to_string()).unwrap_or_default();
        for part in wrap(&row.what, room.saturating_sub(widest + 2).max(1)) {
            let _ = writeln!(text, "{INDENT}{BOLD}{name:widest$}{BOLD:#}  {part}");
            name.clear();
        }
    }
}
