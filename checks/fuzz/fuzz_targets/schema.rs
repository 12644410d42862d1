//! The target `schema`.

#![cfg_attr(fuzzing, no_main)]

fuzz::program!("schema");
