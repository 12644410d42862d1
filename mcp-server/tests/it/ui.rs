//! What the compiler says about the commonest mistakes.
//!
//! After a change: `TRYBUILD=overwrite cargo test -p mcp-server --test it ui`, then read each text as
//! somebody who sees it for the first time.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
