//! `mcp inspect`.

use std::io;

use super::interrupt;
use crate::cli::InspectArgs;
use crate::config;
use crate::failure::{Failure, usage};
use crate::inspect::{Against, Inspector, Session};
use crate::output::Output;
use crate::questions;
use crate::target::{self, Server};

pub(super) async fn run(args: &InspectArgs, output: &Output) -> Result<(), Failure> {
    target::mode(&args.protocol)?;
    let server = target::resolve_only(&args.server, output).await?;
    let name = match &server {
        Server::Http(remote) => config::public_url(&remote.url),
        Server::Command(_) => args.server.first_word(),
    };
    let against = match &args.against {
        Some(file) => Some(Against {
            file: file.display().to_string(),
            snapshot: super::diff::read(file)?,
        }),
        None => None,
    };
    let session = Session::new(name, server, against, args.sample_with.clone());
    let inspector = Inspector::bind(args.port, session).await?;
    let url = inspector.url();
    // The URL is the result, also for programs.
    output.line(&url);
    if !args.no_open && !questions::open_browser(url).await {
        output.note("no browser could be started; open the URL yourself");
    }
    let failed = |error: io::Error| usage!("the inspector failed: {error}");
    tokio::select! {
        served = inspector.run(&args.protocol) => served.map_err(failed),
        () = interrupt::first(*output) => Ok(()),
    }
}
