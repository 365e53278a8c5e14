//! Finding and opening the library.

use std::ffi::{CStr, c_char, c_uint};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::ffi::Api;
use crate::error::Error;
use crate::settings::env;

/// The library in use.
pub(crate) struct Library {
    /// Its file.
    pub(crate) path: PathBuf,
    /// Major, minor, patch.
    pub(crate) version: (u32, u32, u32),
    api: Api,
    /// Keeps the functions mapped.
    _handle: libloading::Library,
}

static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();

/// Oldest version whose C interface has the 64-bit array functions of the table in `ffi.rs`.
const OLDEST_MAJOR: u32 = 17;

/// Opens LLVM, the first time it is asked.
pub(crate) fn open() -> Result<&'static Library, Error> {
    let opened = LIBRARY.get_or_init(|| {
        let mut tried = Vec::new();
        for path in candidates() {
            match load(&path) {
                Ok(library) => return Ok(library),
                Err(why) => tried.push(format!("{}: {why}", path.display())),
            }
        }
        Err(if tried.is_empty() {
            "none found".to_owned()
        } else {
            tried.join("; ")
        })
    });
    opened
        .as_ref()
        .map_err(|why| Error::NoLlvm { why: why.clone() })
}

/// The functions of the library in use.
///
/// # Panics
///
/// If [`open`] has not succeeded before; every module is made through it.
pub(super) fn api() -> &'static Api {
    match LIBRARY.get() {
        Some(Ok(library)) => &library.api,
        _ => unreachable!("LLVM is opened before any module is made"),
    }
}

fn load(path: &Path) -> Result<Library, String> {
    // SAFETY: LLVM's initialisers have no precondition.
    let handle = unsafe { libloading::Library::new(path) }.map_err(|error| error.to_string())?;
    let (mut major, mut minor, mut patch): (c_uint, c_uint, c_uint) = (0, 0, 0);
    type GetVersion = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint);
    // SAFETY: where it exists, `LLVMGetVersion` has this type and writes through the pointers.
    unsafe {
        let get_version = handle
            .get::<GetVersion>(b"LLVMGetVersion\0")
            .map_err(|_| "not an LLVM library of version 17 or newer".to_owned())?;
        get_version(&mut major, &mut minor, &mut patch);
    }
    if major < OLDEST_MAJOR {
        return Err(format!("version {major} is too old"));
    }
    let api = Api::load(&handle).map_err(|error| error.to_string())?;
    initialize_targets(&api);
    Ok(Library {
        path: path.to_owned(),
        version: (major, minor, patch),
        api,
        _handle: handle,
    })
}

fn initialize_targets(api: &Api) {
    let functions = [
        api.LLVMInitializeX86TargetInfo,
        api.LLVMInitializeX86Target,
        api.LLVMInitializeX86TargetMC,
        api.LLVMInitializeX86AsmPrinter,
        api.LLVMInitializeX86AsmParser,
        api.LLVMInitializeAArch64TargetInfo,
        api.LLVMInitializeAArch64Target,
        api.LLVMInitializeAArch64TargetMC,
        api.LLVMInitializeAArch64AsmPrinter,
        api.LLVMInitializeAArch64AsmParser,
    ];
    for function in functions.into_iter().flatten() {
        // SAFETY: these take nothing and register a target; they run once, before any other use.
        unsafe { function() }
    }
}

/// Libraries to try, best first.
fn candidates() -> Vec<PathBuf> {
    if let Some(path) = std::env::var_os(env::LLVM).filter(|path| !path.is_empty()) {
        return vec![PathBuf::from(path)];
    }
    let mut found = Vec::new();
    if let Some(sysroot) = rustc_sysroot() {
        found.extend(libraries_in(&sysroot.join("lib")));
    }
    for dir in [
        "/usr/lib64",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib",
    ] {
        found.extend(libraries_in(Path::new(dir)));
    }
    found
}

/// `rustc --print sysroot`.
pub(crate) fn rustc_sysroot() -> Option<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--print", "sysroot"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(text.trim()))
}

/// The LLVM libraries of a directory, newest name first. rustc's plain `libLLVM-<n>-rust-….so` is
/// a linker script, which the loader refuses; the real file is `libLLVM.so.<n>…`.
fn libraries_in(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("libLLVM.so") || name.starts_with("libLLVM-"))
        .filter(|name| name.contains(".so"))
        .collect();
    let version = |name: &str| {
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        digits[..end].parse::<u32>().unwrap_or(0)
    };
    names.sort_by_key(|name| {
        (
            std::cmp::Reverse(version(name)),
            !name.starts_with("libLLVM.so"),
            name.clone(),
        )
    });
    names.into_iter().map(|name| dir.join(name)).collect()
}

/// Takes over a message that LLVM allocated.
pub(super) fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: LLVM's messages are NUL-terminated and owned by the caller.
    let text = unsafe { CStr::from_ptr(message) }
        .to_string_lossy()
        .into_owned();
    super::llvm!(LLVMDisposeMessage(message));
    text
}

/// Copies a string that LLVM owns, of known length.
pub(super) fn copy_text(start: *const c_char, len: usize) -> String {
    if start.is_null() || len == 0 {
        return String::new();
    }
    // SAFETY: LLVM returned both, and the bytes live as long as their module.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Copies a NUL-terminated string that LLVM owns.
pub(super) fn copy_c_text(start: *const c_char) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: LLVM returned it, NUL-terminated, and it lives as long as its module.
    unsafe { CStr::from_ptr(start) }
        .to_string_lossy()
        .into_owned()
}
