//! The target `parse`.

#![cfg_attr(fuzzing, no_main)]

fuzz::program!("parse");
