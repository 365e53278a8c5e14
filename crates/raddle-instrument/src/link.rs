//! The link step: a linker driver's command line in, an instrumented program out.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use raddle_model::{Model, OPTIMISED, Skipped};
use raddle_trace::wire::{MODULE_MAGIC, SITES_SECTION, WIRE_VERSION};

use crate::command::{expand_responses, run};
use crate::error::Error;
use crate::link_args::{LinkLine, Reader, What};
use crate::settings::{OptLevel, Settings};
use crate::{model_path, pass, units};

/// Links as `driver` would with `args`, instrumented. Returns the driver's exit code.
pub(crate) fn link(driver: &OsStr, args: &[OsString], settings: &Settings) -> Result<i32, Error> {
    let args = expand_responses(args)?;
    let mut line = LinkLine::parse(&args)?;
    if line.passes_through {
        return run(driver, &args);
    }
    let dir = tempfile::Builder::new().prefix("raddle-link-").tempdir();
    let dir = dir.map_err(Error::io(std::env::temp_dir()))?;
    let replaced = units::replace(&line.inputs(), dir.path(), settings)?;
    let is_traced = !replaced.modules.is_empty();
    if line.is_static && is_traced {
        line.make_dynamic();
        eprintln!(
            "raddle: warning: {} is linked dynamically in spite of -static, because Raddle's runtime has to stand before the C library; archives of the project's own are linked into it all the same",
            line.output.display()
        );
    }
    let mut linked = line.render(&replaced.files, dir.path())?;
    if is_traced {
        let image = dir.path().join("raddle-image.o");
        let object = pass::compile_text(&image_text(), "the image object")?;
        std::fs::write(&image, object).map_err(Error::io(&image))?;
        linked.push(image.into());
        add_runtime(&mut linked, &settings.runtime)?;
    }
    let code = run(driver, &linked)?;
    if code == 0 && line.names_output && !is_device(&line.output) {
        let model = model_path(&line.output);
        let blobs = replaced.modules.iter().map(Vec::as_slice);
        let mut skipped = replaced.skipped;
        skipped.extend(optimised(settings));
        let bytes = Model::join(blobs, &skipped);
        std::fs::write(&model, bytes).map_err(Error::io(&model))?;
    }
    Ok(code)
}

/// What was optimised before it was instrumented, in terms of how that was asked for.
fn optimised(settings: &Settings) -> Option<Skipped> {
    let what = match &settings.rust_profile {
        Some(profile) => format!("Rust code built with the profile `{profile}`"),
        None if settings.opt > OptLevel::Source => {
            format!("code built with -O {}", settings.opt.name())
        }
        None => return None,
    };
    Some(Skipped {
        object: what.as_str().into(),
        reason: OPTIMISED.into(),
    })
}

/// Whether an output is nowhere, such as `/dev/null`: there is no place for a model beside it.
fn is_device(output: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(output).is_ok_and(|it| it.file_type().is_char_device())
}

/// The runtime comes before every other library, so that its interposed functions win.
fn add_runtime(args: &mut Vec<OsString>, runtime: &Path) -> Result<(), Error> {
    let runtime = runtime.canonicalize().map_err(Error::io(runtime))?;
    let dir = runtime.parent().unwrap_or(Path::new("/"));
    args.insert(0, runtime.clone().into());
    // Through -Xlinker, because -Wl would split a path at its commas.
    for part in [OsStr::new("-rpath"), dir.as_os_str()] {
        args.push("-Xlinker".into());
        args.push(part.to_owned());
    }
    Ok(())
}

/// A constructor that tells the runtime where the image's sites are. It runs before the program's
/// own constructors: 101 is the first priority that is not reserved. The object has an empty module
/// of its own among the sites, so that an image announces itself even if nothing in it can be seen,
/// or the linker has dropped every site along with the code that used it.
fn image_text() -> String {
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    format!(
        r#"target triple = "{triple}"
@__raddle_no_sites = internal constant {{ i32, i32, i64 }} {{ i32 {MODULE_MAGIC}, i32 0, i64 0 }}, section "{SITES_SECTION}", align 8
@llvm.used = appending global [1 x ptr] [ptr @__raddle_no_sites], section "llvm.metadata"
@__start_{SITES_SECTION} = external hidden constant i8
@__stop_{SITES_SECTION} = external hidden constant i8
declare void @__raddle_image(ptr, ptr, i32)
define internal void @__raddle_announce() {{
  call void @__raddle_image(ptr @__start_{SITES_SECTION}, ptr @__stop_{SITES_SECTION}, i32 {WIRE_VERSION})
  ret void
}}
@llvm.global_ctors = appending global [1 x {{ i32, ptr, ptr }}] [{{ i32, ptr, ptr }} {{ i32 101, ptr @__raddle_announce, ptr null }}]
"#
    )
}

impl LinkLine {
    /// The files to look into, each once, in order.
    fn inputs(&self) -> Vec<PathBuf> {
        let mut inputs: Vec<PathBuf> = Vec::new();
        for item in &self.items {
            for path in item.files() {
                if !inputs.iter().any(|known| known == path) {
                    inputs.push(path.to_owned());
                }
            }
        }
        inputs
    }

    /// The command line with replaced files; scripts that name some are written to `dir`.
    fn render(
        &self,
        files: &HashMap<PathBuf, PathBuf>,
        dir: &Path,
    ) -> Result<Vec<OsString>, Error> {
        let replace = |path: &Path| files.get(path).map_or(path, PathBuf::as_path).into();
        let mut rendered = Vec::new();
        for (number, item) in self.items.iter().enumerate() {
            let words: Vec<OsString> = match &item.what {
                What::Word(word) => vec![word.clone()],
                What::File(path) => vec![replace(path)],
                What::Archive { word, path } => match files.contains_key(path) {
                    true => vec![replace(path)],
                    false => vec![word.clone()],
                },
                What::Script(script) => match script.text(files) {
                    Some(text) => {
                        let path = dir.join(format!("script-{number}"));
                        std::fs::write(&path, text).map_err(Error::io(&path))?;
                        vec![path.into()]
                    }
                    None => vec![script.word().to_owned()],
                },
                What::Shared(word) => {
                    let switch = |word: &str| ["-Xlinker".into(), word.into()];
                    rendered.extend(switch("-Bdynamic"));
                    rendered.push(word.clone());
                    rendered.extend(switch("-Bstatic"));
                    continue;
                }
            };
            for word in words {
                // Not as `-Wl,`, which would split a path at its commas.
                if item.reader == Reader::Linker {
                    rendered.push("-Xlinker".into());
                }
                rendered.push(word);
            }
        }
        Ok(rendered)
    }
}
