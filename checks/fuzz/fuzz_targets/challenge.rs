//! The target `challenge`.

#![cfg_attr(fuzzing, no_main)]

fuzz::program!("challenge");
