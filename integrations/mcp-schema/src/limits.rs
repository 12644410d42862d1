//! The limits for schemas of others: for reading them, and the smaller ones of what is made from them.
//!
//! A schema that exceeds a limit for reading is refused as a whole, with the place and the limit. A walk that runs out of
//! steps ends with an error as well; it never returns a part.

/// Reading: bytes of a schema as JSON, 256 KiB.
pub const BYTES: usize = 256 << 10;
/// Reading: subschemas, with the targets of references.
pub const NODES: usize = 4096;
/// Reading: levels of subschemas. The JSON parser reads no more levels than this.
pub const DEPTH: usize = 128;
/// Reading: references that lead from one to the next, without another schema in between.
pub const REFERENCES: usize = 64;
/// Reading: names in a list of types. The list has no more different ones.
pub const TYPES: usize = 32;
/// Reading: bytes of locations, 2 MiB: those of subschemas, and those that references lead to. A long name stands in the location of
/// each subschema below it, and validators write them all.
pub const LOCATIONS: usize = 2 << 20;
/// Characters of a location in an error. Longer ones are cut: a name can be as long as the schema.
pub const LOCATION: usize = 1024;

/// Walks: visits of subschemas. References can lead to a subschema on more paths than there is memory.
pub const STEPS: usize = 10_000;
/// Walks: subschemas on a path, which bounds the stack.
pub const NESTED: usize = 128;
/// Walks: this many bytes of keywords, such as the values of an `enum`, count as one more visit.
pub const BYTES_PER_STEP: usize = 256;

/// Walks through a value and its schema: visits of a subschema with a value. One takes 0.2 µs where references lead to it, so that a
/// walk occupies its thread for half a second at most.
pub const VALUE_STEPS: usize = 2_000_000;
/// Walks through a value and its schema: subschemas in a row that apply to the same value.
pub const HOPS: usize = 16;

/// Samples in the test kit: levels of a value. It is part of a message, whose levels are limited.
pub const SAMPLE_DEPTH: usize = 32;

/// Writing: bytes of components that stand in place of their references, in one schema that a gateway makes from OpenAPI, 64 KiB.
/// Further references lead to `$defs`.
pub const IN_PLACE: usize = 64 << 10;
/// Writing: levels of schemas around the deepest reference that its component replaces, in a gateway's OpenAPI tool.
pub const IN_PLACE_DEPTH: usize = 32;
/// Writing: bytes of the `$defs` in one schema of a gateway's OpenAPI tool, 192 KiB. References to further components accept every
/// value.
pub const DEFINITIONS: usize = 192 << 10;
