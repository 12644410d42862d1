//! Completions in real shells on a pseudo-terminal.

use std::path::Path;
use std::process::Command;

use rexpect::session::{PtySession, spawn_command};
use serde_json::json;

use crate::kit::{folder, http_shop, mcp_in};

/// Time limit of each expectation in milliseconds.
const LIMIT: u64 = 20_000;

/// Starts a shell in `home` with the completions of `mcp`. `None` if the shell is not installed.
fn start(shell: &str, flags: &[&str], setup: &str, home: &Path) -> Option<PtySession> {
    if Command::new(shell).arg("--version").output().is_err() {
        eprintln!("skipped: {shell} is not installed");
        return None;
    }
    let script = mcp_in(home, &["completions", shell], "");
    std::fs::write(home.join("script"), script.out).unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_mcp")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new(shell);
    command.args(flags).current_dir(home);
    command.env("PATH", format!("{}:{path}", bin.display()));
    command.env("HOME", home.join("home")).env("TERM", "dumb");
    command.env("XDG_CACHE_HOME", home.join("home/.cache"));
    command.env("XDG_CONFIG_HOME", home.join("home/.config"));
    let mut session = spawn_command(command, Some(LIMIT)).unwrap();
    session.send_line(setup).unwrap();
    session.send_line("echo rea''dy").unwrap();
    session.exp_string("ready\r\n").unwrap();
    Some(session)
}

/// Types lines with tabs, and expects the output of the completed commands.
fn type_lines(mut session: PtySession, url: &str) {
    for (line, output) in [
        (format!("mcp call {url} ad\ta\t1 b\t2"), "3"),
        ("mcp call shop ad\ta\t1 b\t4 --yes".to_owned(), "5"),
        ("mcp call sh\tad\ta\t1 b\t5 --yes".to_owned(), "6"),
        (format!("mcp read {url} disks://al\t"), "A, B"),
        (
            format!("mcp prompt {url} rev\tlan\trust"),
            "Review this rust code.",
        ),
        (format!("mcp ping\t{url} --qu\t && echo po''ng"), "pong"),
    ] {
        session.send_line(&line).unwrap();
        // A progress bar before the output is erased by an escape sequence.
        let found = session.exp_regex(&format!("(?:[\r\n]|\x1b\\[K){output}\r\n"));
        assert!(found.is_ok(), "{line:?}: {found:?}");
    }
    session.send_line("exit").unwrap();
}

/// Creates a folder with a named server, and lists the servers once.
fn prepare(name: &str) -> (std::path::PathBuf, String) {
    let (home, url) = (folder(name), http_shop());
    let config = json!({"mcpServers": {"shop": {"url": url}}});
    std::fs::write(home.join("mcp.json"), config.to_string()).unwrap();
    assert_eq!(mcp_in(&home, &["list", &url], "").code, 0);
    assert_eq!(mcp_in(&home, &["list", "shop", "--yes"], "").code, 0);
    (home, url)
}

#[test]
fn bash_completes_tools_and_arguments() {
    let (home, url) = prepare("completions-bash");
    let flags = ["--norc", "--noprofile", "-i"];
    if let Some(session) = start("bash", &flags, "source ./script", &home) {
        type_lines(session, &url);
    }
}

#[test]
fn zsh_completes_tools_and_arguments() {
    let (home, url) = prepare("completions-zsh");
    let setup = "autoload -U compinit; compinit -u -D; source ./script";
    if let Some(session) = start("zsh", &["-f", "-i"], setup, &home) {
        type_lines(session, &url);
    }
}

/// fish prints the candidates of a line without a terminal.
#[test]
fn fish_completes_tools_and_arguments() {
    let (home, url) = prepare("completions-fish");
    if Command::new("fish").arg("--version").output().is_err() {
        eprintln!("skipped: fish is not installed");
        return;
    }
    let script = mcp_in(&home, &["completions", "fish"], "");
    std::fs::write(home.join("script"), script.out).unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_mcp")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    for (line, expected) in [
        (format!("mcp call {url} a"), "add\n"),
        ("mcp call shop add ".to_owned(), "a=\nb=\n"),
        ("mcp call shop add a=1 b".to_owned(), "b=\n"),
        (format!("mcp read {url} disks://al"), "disks://all\n"),
        (format!("mcp prompt {url} "), "review\n"),
    ] {
        let mut fish = Command::new("fish");
        let complete = format!("source script; complete -C '{line}'");
        fish.args(["--no-config", "-c", &complete]);
        fish.current_dir(&home).env("HOME", home.join("home"));
        fish.env("PATH", format!("{}:{path}", bin.display()));
        fish.env("XDG_CACHE_HOME", home.join("home/.cache"));
        fish.env("XDG_CONFIG_HOME", home.join("home/.config"));
        let output = fish.output().unwrap();
        let found = String::from_utf8(output.stdout).unwrap();
        assert_eq!(found, expected, "{line:?}: {:?}", output.stderr);
    }
    // Where `mcp` knows no words, files are completed.
    let fish = Command::new("fish")
        .args([
            "--no-config",
            "-c",
            "source script; complete -C 'mcp gateway mcp.'",
        ])
        .current_dir(&home)
        .env("HOME", home.join("home"))
        .env("PATH", format!("{}:{path}", bin.display()))
        .output();
    assert_eq!(fish.unwrap().stdout, b"mcp.json\n");
}

#[test]
fn candidates_follow_the_words() {
    let (home, url) = prepare("completions-candidates");
    for (words, expected) in [
        (&["call", "sh"][..], "shop\n"),
        (&["call", &url, "a"], "add\n"),
        (&["call", "--timeout", "3", &url, "add", ""], "a=\nb=\n"),
        (&["call", &url, "add", "a=1", "--json", ""], "b=\n"),
        (&["call", &url, "nothing", ""], ""),
        (&["call", "https://unknown.example/mcp", ""], ""),
        (&["call", &url, "--arg"], "--args-json\n"),
        (&["call", &url, "--", "a"], ""),
        (&["read", &url, "disks://c"], "disks://cover\n"),
        (&["prompt", &url, "review", ""], "language=\n"),
        (&["nothing", ""], ""),
        (&[""], ""),
    ] {
        let run = mcp_in(&home, &[&["candidates", "--"], words].concat(), "");
        assert_eq!((run.code, &*run.out), (0, expected), "{words:?}: {run:?}");
    }
}
