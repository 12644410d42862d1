//! The target `arguments`.

#![cfg_attr(fuzzing, no_main)]

fuzz::program!("arguments");
