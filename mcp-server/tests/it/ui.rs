//! Compiler messages for common mistakes.
//!
//! `TRYBUILD=overwrite cargo test -p omnimcp-server --test it ui` writes the messages. Read each change as a
//! user who sees the message for the first time.

#[test]
fn common_mistakes_have_helpful_messages() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
