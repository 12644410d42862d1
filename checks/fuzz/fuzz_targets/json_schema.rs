//! The target `json_schema`.

#![cfg_attr(fuzzing, no_main)]

fuzz::program!("json_schema");
