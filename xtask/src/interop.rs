//! `cargo xtask interop`: our client with the servers of other SDKs, and the clients of other SDKs
//! with our server.
//!
//! | module | responsibility |
//! |---|---|
//! | [`cases`] | running the programs of the cases, and counting the results |
//! | [`peers`] | installing the other SDKs, and the scripts that use them |
//! | [`pipes`] | the cases over pipes |
//! | [`http`] | the cases over HTTP, feature by feature |

mod cases;
mod http;
mod peers;
mod pipes;

use std::fs;

use cases::Summary;
use peers::Peers;

use crate::Result;
use crate::flags::Flags;
use crate::process;
use crate::workspace::Workspace;

/// Our server and our clients.
const PROGRAMS: [&str; 3] = [http::SERVER, http::CLIENT, pipes::CLIENT];

/// Runs the command. Returns true if at least one case ran and none failed.
pub(crate) fn run(workspace: &Workspace, flags: Flags) -> Result<bool> {
    flags.finish()?;
    build(workspace)?;
    let summary = run_cases(workspace)?;
    Ok(summary.has_no_failure() && summary.has_run())
}

/// Installs the peers and runs every case. Our programs must be built.
pub(crate) fn run_cases(workspace: &Workspace) -> Result<Summary> {
    let home = workspace.target().join("interop");
    let out = home.join("out");
    fs::create_dir_all(&out)?;
    let peers = Peers::install(workspace, &home)?;
    let (servers, mut list) = http::cases(workspace, &peers, &out)?;
    list.extend(pipes::cases(workspace, &peers));
    let summary = cases::run_all(list, &out);
    drop(servers);
    println!("details in {}", out.display());
    println!("{summary}");
    Ok(summary)
}

fn build(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--package", "conformance", "--package", "examples"]);
    for program in PROGRAMS {
        cargo.args(["--bin", program]);
    }
    process::run(&mut cargo)
}
