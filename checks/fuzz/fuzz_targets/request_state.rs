//! The target `request_state`.

#![cfg_attr(fuzzing, no_main)]

fuzz::program!("request_state");
