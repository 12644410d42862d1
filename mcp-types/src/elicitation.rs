//! Elicitation: a server's requests to its client's user.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation>

mod request;
mod result;
mod schema;

pub use request::{ElicitFormParams, ElicitParams, ElicitUrlParams, ElicitationComplete};
pub use result::{ElicitAction, ElicitResult};
pub use schema::{
    BooleanSchema, Choice, Choices, EnumSchema, FormError, FormSchema, MultiSelectSchema,
    NumberSchema, PrimitiveSchema, StringFormat, StringSchema,
};

#[cfg(test)]
mod tests;
