//! `mcp dev`.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `plan` | the command, its folder, and the program that cargo builds for it |
//! | `address` | the address of a program over HTTP |
//! | `build` | builds by cargo, and their errors |
//! | `callers` | the credentials that callers need |
//! | `current` | what runs: the program, its process, and whether it is that of the sources |
//! | `sources` | changes of source files |
//! | `front` | the server for clients: a call waits for the build, runs, or fails with the build's errors |

mod address;
mod build;
mod callers;
mod current;
mod front;
mod plan;
mod sources;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use mcp::gateway::{ConnectedGateway, Gateway, GatewayControl};
use mcp::group::{EntryOAuth, Naming};
use mcp::http::Serve;
use mcp::middleware::from_fn;
use serde_json::json;
use tokio_util::task::AbortOnDropHandle;

use self::build::Build;
use self::callers::Callers;
use self::current::Current;
use self::front::{Front, Lines};
use self::plan::{Plan, Program};
use self::sources::Sources;
use super::{gateway, serve};
use crate::cli::DevArgs;
use crate::failure::Failure;
use crate::inspect::{Inspector, Session};
use crate::output::Output;
use crate::remote::Remote;
use crate::target::Server;
use crate::{log, page_guard, questions};

pub(super) async fn run(args: &DevArgs, output: &Output) -> Result<(), Failure> {
    let lines = Lines::default();
    let shown = lines.clone();
    log::start_dev(output.json, move |line| {
        shown.show(line).into_owned().into()
    });
    let plan = Plan::new(args)?;
    let current = Current::default();
    let sources = Sources::watch(&plan.sources, current.clone(), *output)?;
    let is_http = args.http || args.listen.listen.is_some() || !args.listen.allow_host.is_empty();
    let callers = Callers::new(&plan.headers, &page_guard::random()?);
    if is_http && !plan.headers.is_empty() {
        front::report_demand(output, "clients need the same --header", &plan.headers);
    }
    let front = Arc::new(Front {
        plan,
        current,
        marks: sources.marks.clone(),
        callers: callers.clone(),
        lines,
        is_http,
        has_lists: AtomicBool::new(false),
        output: *output,
    });
    let gateway = Gateway::new(&*front.plan.name, "dev")
        .naming(Naming::PlainUnlessTaken)
        .server(front.server())
        // Clients connect while the first build runs.
        .start_limit(Duration::ZERO);
    let mut opened = gateway.connect().await.map_err(Failure::usage)?;
    let answering = front.clone();
    opened.server = opened.server.layer(from_fn(move |exchange, next| {
        answering.clone().answer(exchange, next)
    }));
    let developer = Developer {
        front,
        control: opened.control.clone(),
        output: *output,
    };
    let _following = AbortOnDropHandle::new(tokio::spawn(developer.follow(sources)));
    let _inspector = if args.inspect {
        Some(inspect(&opened, &callers, !args.no_open, output).await?)
    } else {
        None
    };
    if is_http {
        let protect = |serve: Serve| serve.authorize(callers.endpoint(false));
        return serve::listen(opened, &args.listen, None, protect, output).await;
    }
    if std::io::stdin().is_terminal() {
        output.note("waiting for a client on standard input; pass --http to serve HTTP");
    }
    tokio::select! {
        served = gateway::serve_stdio(opened) => served,
        // Returning drops the runtime, which ends a running build.
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}

/// Opens the inspector on an endpoint of its own, which demands a token that only the inspector has, until the handle is
/// dropped.
async fn inspect(
    opened: &ConnectedGateway,
    callers: &Callers,
    opens_browser: bool,
    output: &Output,
) -> Result<AbortOnDropHandle<()>, Failure> {
    let (listener, port) = page_guard::listen(0).await?;
    let url = format!("http://127.0.0.1:{port}/mcp");
    let headers = [callers.inspector()];
    let remote = Remote::new(&url, &headers, EntryOAuth::default(), None, None)?;
    let server = Server::Http(remote.into());
    let session = Session::new(url, server, None, None);
    let inspector = Inspector::bind(0, session).await?;
    let url = inspector.url();
    output.event(
        &format!("inspector: {url}"),
        &json!({"event": "inspector", "url": url}),
    );
    if opens_browser && !questions::open_browser(url).await {
        output.note("no browser could be started; open the URL yourself");
    }
    let endpoint = Serve::new(opened.server.clone()).authorize(callers.endpoint(true));
    Ok(AbortOnDropHandle::new(tokio::spawn(async move {
        let _ = tokio::join!(endpoint.run(listener), inspector.run("auto"));
    })))
}

/// Builds and starts the program after each change.
struct Developer {
    front: Arc<Front>,
    control: GatewayControl,
    output: Output,
}

impl Developer {
    async fn follow(self, mut sources: Sources) {
        // A build script may write sources: the build after an interrupted one runs to its end.
        let mut is_interruptible = true;
        loop {
            let build = tokio::select! {
                build = self.build() => build,
                () = sources.changed(), if is_interruptible => {
                    is_interruptible = false;
                    continue;
                }
            };
            is_interruptible = true;
            for folder in build.iter().flat_map(|build| &build.packages) {
                // The folder may have been deleted; then there is nothing to watch.
                let _ = sources.add(folder);
            }
            tokio::select! {
                () = self.run(build) => {}
                // A program that hangs at its start is given up.
                () = sources.changed() => {}
            }
        }
    }

    /// Starts the built program, and restarts it when a call arrives after it has ended. Does not return.
    async fn run(&self, build: Option<Build>) {
        self.apply(build).await;
        loop {
            if let Some(program) = self.front.current.wanted().await {
                self.start(program).await;
            }
        }
    }

    /// Builds the program. Returns `None` if the command needs no build.
    async fn build(&self) -> Option<Build> {
        self.front.current.build_begins();
        let cargo = self.front.plan.cargo.as_ref()?;
        self.output.step("building", &json!({"event": "building"}));
        Some(build::run(cargo, &self.front.plan.folder, &self.output).await)
    }

    async fn apply(&self, build: Option<Build>) {
        match build {
            None => self.replace(self.front.plan.program()).await,
            Some(build) if build.succeeded => {
                self.replace(self.front.plan.built(&build.executables))
                    .await;
            }
            Some(build) => {
                self.front.current.build_failed(build.problem());
                self.output.event(
                    "the build has failed; calls get its errors until the next change",
                    &json!({"event": "broken", "errors": build.errors()}),
                );
            }
        }
    }

    /// Starts a program, unless it is the one that runs.
    async fn replace(&self, program: Program) {
        if self.front.current.continues_with(&program) {
            self.output.step(
                "unchanged: the program is the one that runs",
                &json!({"event": "unchanged"}),
            );
            return;
        }
        self.start(program).await;
    }

    async fn start(&self, program: Program) {
        let begin = Instant::now();
        if self.front.start(program, &self.control).await {
            self.report_ready(begin.elapsed()).await;
        }
    }

    async fn report_ready(&self, time: Duration) {
        let Ok(status) = self.control.status().await else {
            return;
        };
        let milliseconds = time.as_millis();
        for server in status.servers {
            let tools = server.tools.len();
            self.output.step(
                &format!("ready after {milliseconds} ms, with {tools} tools"),
                &json!({"event": "ready", "milliseconds": milliseconds, "tools": server.tools}),
            );
        }
    }
}
