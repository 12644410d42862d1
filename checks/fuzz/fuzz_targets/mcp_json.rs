//! The target `mcp_json`.

#![cfg_attr(fuzzing, no_main)]

fuzz::program!("mcp_json");
