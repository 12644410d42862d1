//! The target `lines`.

#![cfg_attr(fuzzing, no_main)]

fuzz::program!("lines");
