//! Runs of the command.

use std::future::Future;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tokio::net::TcpListener;

use crate::shop::Shop;

/// The outcome of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    /// Parses standard output, which must be one JSON document.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the error of the last line of standard error.
    pub(crate) fn json_error(&self) -> Value {
        let line = self.err.lines().last().unwrap_or_default();
        let error: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {self:?}"));
        error["error"].clone()
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs `mcp` in an empty home folder with the words of `line` and `input` on standard input.
pub(crate) fn mcp_in(folder: &Path, words: &[&str], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp"))
        .args(words)
        .current_dir(folder)
        .env("HOME", folder.join("home"))
        .env("XDG_CONFIG_HOME", folder.join("home/.config"))
        .env("XDG_CACHE_HOME", folder.join("home/.cache"))
        .env("XDG_DATA_HOME", folder.join("home/.local/share"))
        .env("APPDATA", folder.join("home"))
        // Servers inherit it. A backtrace would fill the part of standard error that errors show.
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let written = child.stdin.take().unwrap().write_all(input.as_bytes());
    // A command that reads no input may have ended already.
    drop(written);
    child.wait_with_output().unwrap().into()
}

pub(crate) fn mcp(words: &[&str]) -> Run {
    mcp_in(folder("empty").as_path(), words, "")
}

/// Creates an empty folder for a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    if name != "empty" {
        drop(std::fs::remove_dir_all(&folder));
    }
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The shop as a program.
pub(crate) fn stdio_shop() -> String {
    example("stdio_shop")
}

/// An example program, which cargo builds with the tests of the package.
pub(crate) fn example(name: &str) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_mcp"));
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let path = bin.parent().unwrap().join("examples").join(name);
    assert!(
        path.is_file(),
        "build it with `cargo build -p omnimcp-cli --examples`"
    );
    path.to_str().unwrap().to_owned()
}

/// Runs a server on a thread of its own, which ends with the tests. Returns its origin.
pub(crate) fn on_thread<F, R>(serve: F) -> String
where
    F: FnOnce(TcpListener) -> R + Send + 'static,
    R: Future<Output = ()>,
{
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            sender.send(format!("http://{address}")).unwrap();
            serve(listener).await;
        });
    });
    receiver.recv().unwrap()
}

/// Starts the shop over HTTP. Returns the URL.
pub(crate) fn http_shop() -> String {
    let origin = on_thread(|listener| async { drop(mcp::serve_http(Shop, listener).await) });
    format!("{origin}/mcp")
}
