//! The target `uri_template`.

#![cfg_attr(fuzzing, no_main)]

fuzz::program!("uri_template");
