//! What is done with a damaged file, kind by kind, and what must hold of the answer.

use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};

use raddle_model::{Model, Outline};
use raddle_trace::clip::Clip;
use raddle_trace::decode::{SlotDecoder, slots};
use raddle_trace::dump::Dumper;
use raddle_trace::event::{Event, EventKind};
use raddle_trace::file::{ReadError, TraceReader};
use raddle_trace::inputs::{self, InputsError};
use raddle_trace::sites::SiteTable;
use raddle_trace::stack::Stacks;
use raddle_trace::stats::Stats;
use raddle_trace::std_format::{StdExport, StdImport};
use raddle_trace::used::Used;
use raddle_trace::wire::Image;

/// A kind of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A trace file.
    Trace,
    /// A clip.
    Clip,
    /// A program model.
    Model,
    /// STD text.
    Std,
    /// A log of a run's inputs.
    Inputs,
    /// The copied site records and the chunks of a program, as the launcher finds them in shared memory.
    Memory,
}

/// What came of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was read to its end.
    Read,
    /// It was refused.
    Refused,
}

impl Target {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Trace,
        Self::Clip,
        Self::Model,
        Self::Std,
        Self::Inputs,
        Self::Memory,
    ];

    /// Its name, and that of its directory in the corpus.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Clip => "clip",
            Self::Model => "model",
            Self::Std => "std",
            Self::Inputs => "inputs",
            Self::Memory => "memory",
        }
    }

    /// Reads an input. `Err` says what should not be.
    pub fn read(self, input: &[u8]) -> Result<Answer, String> {
        match self {
            Self::Trace => trace(input),
            Self::Clip => clip(input),
            Self::Model => model(input),
            Self::Std => std(input),
            Self::Inputs => inputs(input),
            Self::Memory => memory(input),
        }
    }
}

/// An error has to say where.
fn refused(message: &str, places: &[&str]) -> Result<Answer, String> {
    let says_where = places.iter().any(|place| {
        message.match_indices(place).any(|(at, _)| {
            let behind = message[at + place.len()..].trim_start();
            behind.starts_with(|it: char| it.is_ascii_digit())
        })
    });
    if says_where {
        Ok(Answer::Refused)
    } else {
        Err(format!("an error that does not say where: {message}"))
    }
}

/// Counts what a reader asks of a file.
struct Meter<'a> {
    file: Cursor<&'a [u8]>,
    bytes: u64,
    calls: u64,
}

impl Read for &mut Meter<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.calls += 1;
        let len = self.file.read(buffer)?;
        self.bytes += len as u64;
        Ok(len)
    }
}

impl Seek for &mut Meter<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.calls += 1;
        self.file.seek(to)
    }
}

fn trace(input: &[u8]) -> Result<Answer, String> {
    let mut meter = Meter {
        file: Cursor::new(input),
        bytes: 0,
        calls: 0,
    };
    let answer = read_trace(TraceReader::new(&mut meter));
    // The header, the scan for the end, the tables, the events: each block a few times at most.
    let most = 4 * input.len() as u64 + 256;
    if meter.bytes > most || meter.calls > most {
        let Meter { bytes, calls, .. } = meter;
        return Err(format!(
            "{bytes} bytes read in {calls} calls of a file of {}",
            input.len()
        ));
    }
    answer
}

fn read_trace<R: Read + Seek>(opened: Result<TraceReader<R>, ReadError>) -> Result<Answer, String> {
    let mut reader = match opened {
        Ok(reader) => reader,
        Err(ReadError::NotATrace | ReadError::Version { .. }) => return Ok(Answer::Refused),
        Err(error) => return refused(&error.to_string(), &["byte"]),
    };
    let trailer = reader.trailer().cloned();
    let names = trailer.as_ref().and_then(|it| it.names.as_ref());
    let mut views = Views {
        dumper: Dumper::new(trailer.clone()),
        stacks: Stacks::default(),
        used: Used::default(),
        export: StdExport::new(names),
        stats: Stats::default(),
        touched: 0,
        seen: 0,
    };
    for event in reader.by_ref() {
        match event {
            Ok(event) => views.show(&event).map_err(|error| error.to_string())?,
            Err(error) => return refused(&error.to_string(), &["byte"]),
        }
    }
    let written = views.stats.write(reader.event_bytes(), &mut io::sink());
    written.map_err(|error| error.to_string())?;
    Ok(Answer::Read)
}

/// What looks at the events of a trace. What they cost grows with the events and with the memory that the
/// events say was touched, so they are shown a bounded part of both.
struct Views<'a> {
    dumper: Dumper,
    stacks: Stacks,
    used: Used,
    export: StdExport<'a>,
    stats: Stats,
    touched: u64,
    seen: u64,
}

impl Views<'_> {
    fn show(&mut self, event: &Event) -> io::Result<()> {
        self.seen += 1;
        if self.seen > 4096 {
            return Ok(());
        }
        self.stacks.observe(event);
        self.used.observe(event);
        self.dumper.write(event, &mut io::sink())?;
        let len = event.footprint().map_or(0, |it| it.len);
        let freed = match event.kind {
            EventKind::Action { action, .. } => action.footprint().map_or(0, |it| it.len),
            _ => 0,
        };
        self.touched = self.touched.saturating_add(len).saturating_add(freed);
        if self.touched < 1 << 16 {
            self.export.write(event, &mut io::sink())?;
            self.stats.observe(event);
        }
        Ok(())
    }
}

fn clip(input: &[u8]) -> Result<Answer, String> {
    let Ok(text) = std::str::from_utf8(input) else {
        return Ok(Answer::Refused);
    };
    match Clip::parse(text) {
        Ok(clip) if Clip::parse(&clip.print()).as_ref() == Ok(&clip) => Ok(Answer::Read),
        Ok(_) => Err("a clip that is another one after printing".to_owned()),
        Err(error) => refused(&error.to_string(), &["line"]),
    }
}

fn model(input: &[u8]) -> Result<Answer, String> {
    // An outline does not read the code, so that damage there does not matter to it.
    let outline = Outline::from_bytes(input);
    let outline = outline.inspect(|it| _ = it.positions().count());
    let model = match (Model::from_bytes(input), outline) {
        (Ok(_), Err(error)) => return Err(format!("the outline of a model is refused: {error}")),
        (model, _) => model,
    };
    let model = match model {
        Ok(model) => model,
        Err(raddle_model::ModelError::NotAModel | raddle_model::ModelError::Version { .. }) => {
            return Ok(Answer::Refused);
        }
        Err(error) => return refused(&error.to_string(), &["byte"]),
    };
    for module in model.modules() {
        for index in 0..module.sites.len() as u32 {
            let Some(site) = module.site(index) else {
                return Err(format!("site {index} of a module is missing"));
            };
            let _ = (site.function(), site.container(), site.line(), site.name());
            let _ = site.frames().count();
        }
    }
    Ok(Answer::Read)
}

fn std(input: &[u8]) -> Result<Answer, String> {
    let mut import = StdImport::new(BufReader::new(input));
    let mut events = Vec::new();
    for event in import.by_ref() {
        match event {
            Ok(event) => events.push(event),
            Err(error) => return refused(&error.to_string(), &["line"]),
        }
    }
    let names = import.into_names();
    let mut export = StdExport::new(Some(&names));
    let mut text = Vec::new();
    let written = events
        .iter()
        .try_for_each(|event| export.write(event, &mut text));
    written
        .and_then(|()| export.finish(&mut text))
        .map_err(|error| error.to_string())?;
    // Blank lines are passed over.
    let lines = input.split_inclusive(|byte| *byte == b'\n');
    let told = lines.filter(|line| !line.iter().all(u8::is_ascii_whitespace));
    if text == told.collect::<Vec<_>>().concat() {
        Ok(Answer::Read)
    } else {
        Err("text that is another one after importing and exporting it".to_owned())
    }
}

fn inputs(input: &[u8]) -> Result<Answer, String> {
    let mut meter = Meter {
        file: Cursor::new(input),
        bytes: 0,
        calls: 0,
    };
    let answer = inputs::check(&mut meter);
    let most = input.len() as u64 + 64;
    if meter.bytes > most || meter.calls > most {
        let Meter { bytes, calls, .. } = meter;
        return Err(format!("{bytes} bytes read in {calls} calls"));
    }
    match answer {
        Ok(()) => Ok(Answer::Read),
        Err(InputsError::NotALog) => Ok(Answer::Refused),
        Err(error) => refused(&error.to_string(), &["byte"]),
    }
}

/// The input: the number of images, the images, the length of the site records, the records, the slots.
fn memory(input: &[u8]) -> Result<Answer, String> {
    let mut rest = input;
    let mut number = || {
        let (number, behind) = rest.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
        rest = behind;
        u64::from_le_bytes(*number)
    };
    let count = number() % 65;
    let images: Vec<Image> = (0..count)
        .map(|_| Image {
            start: number(),
            len: number(),
            offset: number(),
        })
        .collect();
    let len = number();
    let (sites, stream) = rest.split_at(usize::try_from(len).unwrap_or(0).min(rest.len()));
    let table = match SiteTable::new(sites, &images) {
        Ok(table) => table,
        Err(error) => return refused(&error.to_string(), &["byte"]),
    };
    let mut decoder = SlotDecoder::new();
    let mut events = Vec::new();
    let decoded = decoder.decode(&table, slots(stream), &mut events);
    let mut used = Used::default();
    events.iter().for_each(|event| used.observe(event));
    let _ = (used.sites.iter().count(), decoder.finish());
    match decoded {
        Ok(()) => Ok(Answer::Read),
        Err(error) => refused(&error.to_string(), &["slot"]),
    }
}
