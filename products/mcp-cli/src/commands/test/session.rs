//! The connection, which is opened again after a crash, and the call outcomes.

use std::time::{Duration, Instant};

use mcp::client::Error;
use mcp::core::Fault;
use mcp::types::{ElicitResult, ProtocolVersion, Tool, codes};
use mcp::{CallToolResult, Client, ConnectMode};
use serde_json::{Map, Value};

use crate::cli::TestArgs;
use crate::failure::{Failure, FailureKind};
use crate::output::Output;
use crate::target::{self, Server};

/// Least time limit of the requests that open a connection: ten programs start slowly at the same time.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);
/// Time limit of a call that reports progress, as a multiple of the others.
const PROGRESS_FACTOR: u32 = 5;
/// Number of times that a server is started again.
const MAX_REOPENED: usize = 20;

/// The outcome of a call.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The tool's result, which can be an error.
    Result(Box<CallToolResult>),
    /// The server refuses the parameters by a JSON-RPC error.
    Refused(String),
    /// Another JSON-RPC error.
    Failed(String),
    /// The tool needs a capability that this client does not have.
    Unable,
    /// No response in time.
    Hung,
    /// The connection ended.
    Crashed(String),
    /// The response cannot be used.
    Malformed(String),
}

/// A connection to the tested server.
pub(super) struct TestSession<'a> {
    server: Server,
    args: &'a TestArgs,
    output: Output,
    /// Time limit of a request.
    limit: Duration,
    pub(super) client: Client,
    reopened: usize,
}

impl<'a> TestSession<'a> {
    pub(super) async fn open(
        server: Server,
        args: &'a TestArgs,
        output: &Output,
    ) -> Result<Self, Failure> {
        Ok(Self {
            client: connect(server.clone(), args, output, None).await?,
            limit: target::time_limit(args.target.timeout)?,
            server,
            args,
            output: *output,
            reopened: 0,
        })
    }

    /// Opens a further connection.
    pub(super) async fn further(&self) -> Result<Client, Failure> {
        connect(self.server.clone(), self.args, &self.output, None).await
    }

    /// Opens a further connection with a revision of its own.
    pub(super) async fn with_revision(&self, version: ProtocolVersion) -> Result<Client, Failure> {
        let mode = ConnectMode::Pin(version);
        connect(self.server.clone(), self.args, &self.output, Some(mode)).await
    }

    /// Returns the value of `--protocol`.
    pub(super) fn protocol(&self) -> &str {
        &self.args.target.protocol
    }

    /// Ends the connection and opens another one.
    pub(super) async fn reopen(&mut self) -> Result<(), Failure> {
        self.reopened += 1;
        if self.reopened > MAX_REOPENED {
            let message =
                format!("the server crashed or hung {MAX_REOPENED} times; the rest was not tested");
            return Err(Failure::new(FailureKind::Findings, message));
        }
        target::close(&self.client).await;
        self.client = self.further().await?;
        Ok(())
    }

    pub(super) async fn close(&self) {
        target::close(&self.client).await;
    }

    /// Returns whether a command on this machine is the server.
    pub(super) fn is_command(&self) -> bool {
        matches!(self.server, Server::Command(_))
    }

    pub(super) fn seed(&self) -> u64 {
        self.args.seed
    }

    pub(super) async fn tools(&self) -> Result<Vec<Tool>, Failure> {
        match self.client.capabilities().await?.tools {
            Some(_) => Ok(self.client.list_tools().await?),
            None => Ok(Vec::new()),
        }
    }

    /// Calls a tool, and opens the connection again when the server did not survive it. Returns the time, too.
    pub(super) async fn call(
        &mut self,
        tool: &str,
        args: &Map<String, Value>,
    ) -> Result<(Outcome, Duration), Failure> {
        let start = Instant::now();
        let called = call(&self.client, tool, args, self.limit).await;
        let took = start.elapsed();
        let outcome = match called {
            Ok(result) => Outcome::Result(Box::new(result)),
            Err(error) => outcome(&error),
        };
        if matches!(outcome, Outcome::Hung | Outcome::Crashed(_)) {
            self.reopen().await?;
        }
        Ok((outcome, took))
    }

    /// Returns why the server does not answer a ping, and opens the connection again if it does not.
    pub(super) async fn ping(&mut self) -> Result<Option<String>, Failure> {
        let problem = match tokio::time::timeout(self.limit, self.client.ping()).await {
            Ok(Ok(())) => return Ok(None),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer to a ping within {:?}", self.limit),
        };
        self.reopen().await?;
        Ok(Some(problem))
    }
}

/// Calls a tool once. A tool that reports progress has more time.
pub(super) async fn call(
    client: &Client,
    tool: &str,
    args: &Map<String, Value>,
    limit: Duration,
) -> Result<CallToolResult, Error> {
    let call = client.call(tool, args).timeout(limit).on_progress(drop);
    let call = call.max_total_timeout(limit * PROGRESS_FACTOR);
    call.idempotent(false).await
}

/// Connects with the revision of `mode`, by default that of `--protocol`.
async fn connect(
    server: Server,
    args: &TestArgs,
    output: &Output,
    mode: Option<ConnectMode>,
) -> Result<Client, Failure> {
    let limit = target::time_limit(args.target.timeout)?;
    let mut builder = target::builder(&args.target, output)?;
    if let Some(mode) = mode {
        builder = builder.mode(mode);
    }
    // Nobody is asked while calls run.
    let builder = builder
        .timeout(limit.max(CONNECT_LIMIT))
        .on_elicit(async |_| ElicitResult::decline())
        .on_elicit_url(async |_| ElicitResult::decline());
    let connected =
        tokio::time::timeout(2 * limit.max(CONNECT_LIMIT), builder.connect(server)).await;
    let timeout = |_| {
        Failure::new(
            FailureKind::Unreachable,
            "the server does not start in time",
        )
    };
    let connected = connected.map_err(timeout)?;
    connected.map_err(|error| Failure::connect(&error))
}

fn outcome(error: &Error) -> Outcome {
    match error.fault() {
        Some(fault @ (Fault::NoSuchItem { .. } | Fault::BadParams { .. })) => {
            // An error's data can name the argument, too.
            Outcome::Refused(format!("{fault:?}"))
        }
        Some(Fault::Protocol(refused)) if refused.code == codes::INVALID_PARAMS => {
            Outcome::Refused(format!("{refused:?}"))
        }
        Some(Fault::MissingCapability { .. } | Fault::UrlElicitationRequired { .. }) => {
            Outcome::Unable
        }
        Some(fault) => Outcome::Failed(fault.to_string()),
        None if error.is_timeout() => Outcome::Hung,
        None if error.is_closed() => Outcome::Crashed(error.to_string()),
        None => Outcome::Malformed(error.to_string()),
    }
}
