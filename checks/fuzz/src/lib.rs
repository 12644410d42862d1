//! Fuzz targets: functions that get arbitrary bytes and panic if a parser misbehaves.
//!
//! | use | command |
//! |---|---|
//! | some generated inputs, in every test run | `cargo test -p fuzz` |
//! | generated inputs for a time per target (`ci` does this) | `FUZZ_SECONDS=8 cargo test -p fuzz -- --nocapture` |
//! | guided by coverage, with a nightly compiler | `cargo +nightly fuzz run sse` |
//! | one input from a file, such as a crash that was found | `cargo run -p fuzz --bin sse -- FILE` |
//!
//! Each target is one function, which all of these call. `tests/it/main.rs` makes inputs from the
//! target's examples and fragments.

mod arguments;
mod challenge;
mod headers;
mod input;
mod lines;
mod mcp_json;
mod parse;
mod request_state;
pub mod schema;
mod server;
mod sse;
mod target;
mod uri_template;

use std::path::Path;

pub use target::Target;

/// All targets.
pub const TARGETS: [Target; 10] = [
    arguments::TARGET,
    challenge::TARGET,
    headers::TARGET,
    lines::TARGET,
    mcp_json::TARGET,
    parse::TARGET,
    request_state::TARGET,
    schema::TARGET,
    sse::TARGET,
    uri_template::TARGET,
];

/// Returns the target with a name.
///
/// # Panics
///
/// Panics if there is no such target.
#[must_use]
pub fn target(name: &str) -> Target {
    let found = TARGETS.into_iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("no target {name}"))
}

/// Runs a target with the content of the files in the arguments of this program.
///
/// # Panics
///
/// Panics if a file cannot be read, and if the target panics.
pub fn run_files(name: &str) {
    let target = target(name);
    for file in std::env::args_os().skip(1) {
        let file = Path::new(&file);
        let bytes = std::fs::read(file);
        let bytes = bytes.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        (target.run)(&bytes);
    }
}

/// Defines the program of a target: for cargo-fuzz, and otherwise one that reads files.
#[macro_export]
macro_rules! program {
    ($name:literal) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            ($crate::target($name).run)(bytes);
        });

        #[cfg(not(fuzzing))]
        fn main() {
            $crate::run_files($name);
        }
    };
}
