//! Tests of the crate's public interface and the macros.

#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of tests")]

mod advisories;
mod all_kinds;
mod arguments;
mod asking;
mod blanks;
mod blocks;
mod changes;
mod checks;
mod completions;
mod computed_lists;
mod custom_methods;
mod dropped_arguments;
mod extensions;
mod extractors;
mod forms;
mod functions;
mod kit;
mod layers;
mod listed;
mod lists;
mod masking;
mod output;
mod prompts;
mod request_log;
mod resources;
mod routers;
mod schemas;
mod server;
#[deny(
    missing_docs,
    unused,
    unused_qualifications,
    clippy::pedantic,
    clippy::nursery
)]
mod strict;
mod texts;
mod tool_names;
