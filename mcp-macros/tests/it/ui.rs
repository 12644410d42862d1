//! Compiler messages for common mistakes.
//!
//! `TRYBUILD=overwrite cargo test -p omnimcp-macros --test it ui` writes the messages. Read each change as a
//! user who sees the message for the first time.
//!
//! All cases fail, so that the dependencies are checked and not compiled a second time.

#[test]
fn common_mistakes_have_helpful_messages() {
    trybuild::TestCases::new().compile_fail("tests/ui/*/*.rs");
}
