//! The target `toolset`.

#![cfg_attr(fuzzing, no_main)]

fuzz::program!("toolset");
