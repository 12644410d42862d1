//! A watchdog for a process group: a shell in the same group that waits for the end of its standard
//! input, and then ends the group.
//!
//! This program holds the other end of that pipe. The operating system closes it when the program
//! ends, however it ends, so no server outlives the program. The reasons for a process, and against
//! `PR_SET_PDEATHSIG`, are in `docs/decisions/0060-watchdog-of-child-processes.md`.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Pid;

/// Ignores the signals that end the group politely. As a member of the group, the shell keeps the
/// group id from being reused, so that `kill 0` never reaches a foreign process.
const SCRIPT: &str =
    "trap '' HUP INT QUIT TERM; read -r line; kill -TERM 0; sleep \"$1\"; kill -KILL 0";

/// Longest time between SIGTERM and SIGKILL.
const MAX_GRACE: Duration = Duration::from_secs(24 * 3600);

/// Starts the watchdog of a group.
pub(super) fn spawn(group: Pid, term_timeout: Duration) -> io::Result<Child> {
    let grace = term_timeout.min(MAX_GRACE).as_secs_f64();
    Command::new("/bin/sh")
        .args(["-c", SCRIPT, "mcp-watchdog", &format!("{grace:.3}")])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(group.as_raw_nonzero().get())
        .spawn()
}
