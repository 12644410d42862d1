//! Sampling requests of servers.

use crate::desk::http_desk;
use crate::kit::mcp;

#[cfg(unix)]
#[test]
fn sampling_is_answered_by_the_command() {
    let url = http_desk();
    // In a session the tool has failed.
    for (protocol, code) in [("auto", 5), ("legacy", 6)] {
        let command = "grep -o 'release notes' | tr a-z A-Z";
        let words = ["call", &url, "notes", "--protocol", protocol];
        let run = mcp(&[&words[..], &["--sample-with", command]].concat());
        assert_eq!((run.code, &*run.out), (0, "RELEASE NOTES\n"), "{run:?}");
        let run = mcp(&[&words[..], &["--sample-with", "exit 3"]].concat());
        assert_eq!((run.code, &*run.out), (code, ""), "{run:?}");
        assert!(run.err.contains("exit status: 3"), "{run:?}");
    }
}

#[test]
fn sampling_without_a_command_is_not_offered() {
    let run = mcp(&["call", &http_desk(), "notes"]);
    assert_eq!((run.code, &*run.out), (5, ""), "{run:?}");
    assert!(run.err.contains("`sampling`"), "{run:?}");
    let cure = "; pass `--sample-with COMMAND`";
    assert!(
        run.err.contains(cure) && !run.err.contains("on_sample"),
        "{run:?}"
    );
    // In a session the tool has failed.
    let run = mcp(&["call", &http_desk(), "notes", "--protocol", "legacy"]);
    assert_eq!(run.code, 6, "{run:?}");
    let text = format!("{}{}", run.out, run.err);
    assert!(
        text.contains("`sampling` (it asks the language model)"),
        "{run:?}"
    );
}
