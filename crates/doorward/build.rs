//! Links the binary statically on Linux with glibc, whatever way cargo is called.
//!
//! `-C target-feature=+crt-static` would do the same, but cargo then refuses to build the derive macros of the
//! dependencies unless a target is named, and the binary would lie elsewhere.

use std::env::var;
use std::error::Error;
use std::path::Path;
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let is_glibc = var("CARGO_CFG_TARGET_OS")? == "linux" && var("CARGO_CFG_TARGET_ENV")? == "gnu";
    let is_native = var("TARGET")? == var("HOST")?;
    if is_glibc && is_native && static_library("c").starts_with('/') {
        let out = var("OUT_DIR")?;
        // rustc asks for shared libraries by name; these linker scripts, found first, name the static ones.
        for library in ["c", "m", "rt", "pthread", "dl", "util"] {
            std::fs::write(
                Path::new(&out).join(format!("lib{library}.a")),
                format!("GROUP({})\n", static_library(library)),
            )?;
        }
        std::fs::write(Path::new(&out).join("libgcc_s.a"), "GROUP(-lgcc_eh -lgcc)\n")?;
        println!("cargo:rustc-link-arg-bin=doorward=-L{out}");
        println!("cargo:rustc-link-arg-bin=doorward=-static");
        println!("cargo:rustc-link-arg-bin=doorward=-no-pie");
    }
    Ok(())
}

/// Where the C compiler finds a static library; without that of C the binary stays dynamic.
fn static_library(name: &str) -> String {
    let answer = Command::new("cc").arg(format!("-print-file-name=lib{name}.a")).output();
    answer.map(|answer| String::from_utf8_lossy(&answer.stdout).trim().to_owned()).unwrap_or_default()
}
