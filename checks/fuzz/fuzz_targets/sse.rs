//! The target `sse`.

#![cfg_attr(fuzzing, no_main)]

fuzz::program!("sse");
