//! Builds C code as the `cc` crate does: with the compiler that the environment names for the target.

use std::env;
use std::process::Command;

fn main() {
    let target = env::var("TARGET").unwrap().replace('-', "_");
    let compiler = env::var(format!("CC_{target}")).unwrap_or_else(|_| "cc".into());
    let out = env::var("OUT_DIR").unwrap();
    let run = |tool: &str, args: &[&str]| {
        assert!(Command::new(tool).args(args).status().unwrap().success());
    };
    let object = format!("{out}/engine.o");
    let archive = format!("{out}/libengine_c.a");
    run(&compiler, &["-O0", "-fPIC", "-ffunction-sections", "-c", "c/engine.c", "-o", &object]);
    run("ar", &["crs", &archive, &object]);
    println!("cargo::rustc-link-search=native={out}");
    println!("cargo::rustc-link-lib=static=engine_c");
    println!("cargo::rerun-if-changed=c/engine.c");
}
