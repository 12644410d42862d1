//! The target `headers`.

#![cfg_attr(fuzzing, no_main)]

fuzz::program!("headers");
