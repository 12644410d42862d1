//! Compiler messages for mistakes.
//!
//! `TRYBUILD=overwrite cargo test -p omnimcp-client-macros --test it ui` writes the messages. Read each
//! change as a user who sees the message for the first time.

#[test]
fn mistakes_have_helpful_messages() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}
