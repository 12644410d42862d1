//! The stable side of `mcp dev`: calls wait, run, or get the reason why they cannot.

use std::borrow::Cow;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use mcp::client::Error;
use mcp::core::{Call, Channel as _, CloseReason, Exchange, Fault, Reply};
use mcp::gateway::{GatewayControl, GatewayServer};
use mcp::middleware::Next;
use mcp::prelude::*;
use mcp::stdio::ChildChannel;
use mcp::types::{CallToolResult, escape_line};
use mcp::{ClientBuilder, Over};
use parking_lot::Mutex;
use serde_json::json;
use tokio::time::{sleep, timeout};
use url::Url;

use super::address::{self, RETRY, printed_urls};
use super::callers::Callers;
use super::current::{Current, MAX_DRAIN, Running, does_not_run, end_of_program};
use super::plan::{Plan, Program};
use super::sources::Marks;
use crate::config;
use crate::output::{self, Output};

/// The server name in the gateway.
pub(super) const SERVER: &str = "server";

/// Time in which the end of a program is seen after a call to it has failed.
const END_DELAY: Duration = Duration::from_millis(200);

/// Refusals after which a program gets no other request: it has had a second to print a token.
const MAX_REFUSALS: usize = 20;

/// The text before a token that a program prints, and that `mcp dev` may send to it.
const TOKEN: &str = "Authorization: Bearer ";

/// The reason why an address gets no credentials, before the URL.
const UNKNOWN_ADDRESS: &str = "credentials go only to an address that this command knows: let the program serve the port in the \
    variable PORT, or the address in ADDRESS, or pass --url";

/// The header of a token.
const AUTHORIZATION: &str = "Authorization";

/// Number of held lines.
const MAX_HELD: usize = 64;

/// The lines of a program for the terminal. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Lines {
    /// The lines with URLs of this machine that the program prints during its start. `None`: no program starts.
    held: Arc<Mutex<Option<Vec<String>>>>,
}

impl Lines {
    /// Returns a line for the terminal. Empty: it is held.
    pub(super) fn show<'a>(&self, line: &'a str) -> Cow<'a, str> {
        if let Some(held) = &mut *self.held.lock()
            && held.len() < MAX_HELD
            && !printed_urls(line).is_empty()
        {
            held.push(line.to_owned());
            return "".into();
        }
        format!("  | {}", escape_line(line)).into()
    }
}

/// Calls between the clients and the program.
pub(super) struct Front {
    pub(super) plan: Plan,
    pub(super) current: Current,
    pub(super) marks: Arc<Marks>,
    pub(super) callers: Callers,
    pub(super) lines: Lines,
    /// True if the callers are those of a port.
    pub(super) is_http: bool,
    /// Lists of the last run are served.
    pub(super) has_lists: AtomicBool,
    pub(super) output: Output,
}

/// Holds lines with URLs of this machine. When this is dropped, prints them, but for those with the program's address.
struct StartLines<'a>(&'a Front);

impl<'a> StartLines<'a> {
    fn hold(front: &'a Front) -> Self {
        *front.lines.held.lock() = Some(Vec::new());
        Self(front)
    }
}

impl Drop for StartLines<'_> {
    fn drop(&mut self) {
        let Self(front) = self;
        let held = front.lines.held.lock().take();
        let address = front.current.running().and_then(|running| running.printed);
        for line in held.into_iter().flatten() {
            if address
                .as_ref()
                .is_none_or(|address| !printed_urls(&line).contains(address))
            {
                output::status(&front.lines.show(&line));
            }
        }
    }
}

impl Front {
    /// The program as a gateway server. All calls share one process: a second one might use the port or the
    /// files of the first.
    pub(super) fn server(self: &Arc<Self>) -> GatewayServer {
        let front = self.clone();
        let server = GatewayServer::new(SERVER, move |client| front.clone().connect(client));
        self.store_lists(server.one_session())
    }

    /// Stores the lists of the program, and serves those of the last run while the first build runs.
    fn store_lists(&self, server: GatewayServer) -> GatewayServer {
        let Some(folder) = config::lists_folder(&self.plan.folder) else {
            return server;
        };
        let server = server.connection_id(self.plan.id()).store_lists(&folder);
        let file = server.lists_file().map(ToOwned::to_owned);
        let has_lists = file.as_ref().is_some_and(|file| file.is_file());
        self.has_lists.store(has_lists, Ordering::Relaxed);
        config::keep_lists(&folder, &file.into_iter().collect());
        server
    }

    /// Answers a call.
    pub(super) async fn answer(self: Arc<Self>, exchange: Exchange, next: Next) -> Reply {
        let is_tool = match &exchange.call {
            Call::CallTool(_) => true,
            Call::ReadResource(_) | Call::GetPrompt(_) | Call::Complete(_) => false,
            Call::ListTools(_)
            | Call::ListPrompts(_)
            | Call::ListResources(_)
            | Call::ListResourceTemplates(_) => {
                if !self.has_lists.load(Ordering::Relaxed) {
                    self.current.listed().await;
                }
                return next.run(exchange).await;
            }
            _ => return next.run(exchange).await,
        };
        // A client that has saved a source calls at once.
        self.marks.pass().await;
        let _call = match self.current.enter().await {
            Ok(call) => call,
            Err(problem) => return refusal(is_tool, &problem),
        };
        // The program may have printed its token while the call waited.
        let head = exchange.extensions.parts();
        if head.is_some_and(|head| !self.callers.admit(&head.headers)) {
            return refusal(
                is_tool,
                "the server gets a token by now; pass it, and call again",
            );
        }
        let running = self.current.running();
        let reply = next.run(exchange).await;
        let delay = match &reply {
            Reply::Fault(_) => END_DELAY,
            // The gateway's own result for a program that it knows to have ended.
            Reply::Complete { body, .. } if body.is_tool_error() => Duration::ZERO,
            _ => return reply,
        };
        let Some(running) = running else {
            return reply;
        };
        match timeout(delay, running.process.closed()).await {
            Ok(CloseReason::Local) => {
                let seconds = MAX_DRAIN.as_secs();
                let text = format!(
                    "the source of the server has changed; the call did not end within {seconds} s and was stopped, \
                     and the server started again: call again"
                );
                refusal(is_tool, &text)
            }
            Ok(reason) => refusal(is_tool, &end_of_program(&reason)),
            Err(_) => reply,
        }
    }

    /// Starts the next program, after the calls that run. Returns true when it is listed.
    pub(super) async fn start(&self, program: Program, control: &GatewayControl) -> bool {
        self.current.set_next(program).await;
        let lines = StartLines::hold(self);
        let restarted = control.restart(SERVER).await;
        drop(lines);
        self.current
            .started(restarted.err().map(|error| error.to_string()))
    }

    /// Ends the former program, and starts the current one. The gateway's own attempts to start one that has ended
    /// fail: the next call starts it.
    async fn connect(self: Arc<Self>, client: ClientBuilder) -> Result<Client, Error> {
        let (number, program) = self.current.take_next();
        let Some(program) = program else {
            if number == 0 {
                // Called again after the first build.
                return pending().await;
            }
            return Err(Error::other("the program has ended"));
        };
        let connecting = async {
            if let Some(former) = self.current.set_running(None) {
                // Best effort: the process is killed in any case.
                let _ = tokio::join!(former.process.close(), former.client.close());
            }
            open(client, &program, &self).await
        };
        let connected = tokio::select! {
            connected = connecting => connected,
            // The process ends with its connection.
            () = self.current.replaced(number) => {
                return Err(Error::other("a newer program is ready"));
            }
        };
        match connected {
            Ok(running) => {
                self.current.set_running(Some(running.clone()));
                tokio::spawn(self.clone().watch(number, running.clone()));
                Ok(running.client)
            }
            Err(problem) => {
                self.ended(number, &does_not_run(&problem));
                Err(Error::other(problem))
            }
        }
    }

    /// Reports the end of a program.
    async fn watch(self: Arc<Self>, number: u64, running: Running) {
        let reason = running.process.closed().await;
        if reason != CloseReason::Local {
            self.ended(number, &end_of_program(&reason));
            // Over HTTP, the client does not see the end.
            let _ = running.client.close().await;
        }
    }

    fn ended(&self, number: u64, problem: &str) {
        if self.current.ended(number, problem) {
            self.output
                .event(problem, &json!({"event": "ended", "reason": problem}));
        }
    }
}

/// Starts a program and connects with it: on its standard streams, or over HTTP at the URL of the command line or at one
/// that the program prints on standard error, with the headers of the command line and a token that it prints there.
///
/// # Errors
///
/// Returns a description if the program cannot be reached in either way.
async fn open(client: ClientBuilder, program: &Program, front: &Front) -> Result<Running, String> {
    let port = program.port().map_err(|error| error.to_string())?;
    let plan = &front.plan;
    let is_taken = address::is_taken(plan.url.as_ref(), !plan.headers.is_empty(), port).await?;
    let command = program
        .command(plan, port)
        .map_err(|error| error.to_string())?;
    let process = ChildChannel::spawn(command).map_err(|error| Error::from(error).to_string())?;
    let mut problem = None;
    let over_http = async {
        let mut refusals = 0;
        let mut typed: Option<Url> = None;
        loop {
            let printed = process.stderr_tail();
            let urls = match &plan.url {
                Some(url) => vec![url.clone()],
                None => printed_urls(&printed),
            };
            for url in urls {
                let is_typed = plan.url.is_some();
                let is_asked = address::is_asked(&url, port);
                let token = printed_token(&printed, refusals);
                let has_credentials = !is_taken && (token.is_some() || !plan.headers.is_empty());
                // One address for the session: another program may listen at the other one later.
                let address = typed.as_ref().unwrap_or(&url);
                let found = address::find(address, is_typed, port, has_credentials).await;
                if let Err(Some(reason)) = found {
                    problem = Some(format!("{url}: {reason}"));
                    continue;
                }
                let address = found.ok();
                if is_typed && address.is_none() {
                    continue;
                }
                typed = address.clone().filter(|_| is_typed);
                let is_own = !is_taken && address.is_some();
                let token = token.filter(|_| is_own);
                let mut client = client.clone();
                if is_own {
                    if process.closed().now_or_never().is_some() {
                        // The other branch reports the end.
                        return pending().await;
                    }
                    client = with_credentials(client, token, &plan.headers);
                }
                let address = address.as_ref().unwrap_or(&url);
                match client.connect(address.as_str()).await {
                    Ok(client) => {
                        if token.is_some_and(|token| front.callers.add(token)) && front.is_http {
                            let text = "clients need the token that the program prints";
                            report_demand(&front.output, text, &[(AUTHORIZATION, "")]);
                        }
                        return Ok((client, url));
                    }
                    Err(error) if error.is_auth() && is_taken && (is_typed || is_asked) => {
                        return Err(format!(
                            "{url}: {error}; this is another program, which has listened before the start"
                        ));
                    }
                    Err(error) if error.is_auth() && !is_own => {
                        return Err(format!("{url}: {error}; {UNKNOWN_ADDRESS} {url}"));
                    }
                    Err(error) if error.is_auth() && refusals == MAX_REFUSALS => {
                        return Err(format!(
                            "{url}: {error}; pass a token as --header '{TOKEN}TOKEN', or let the program print \
                             `{TOKEN}TOKEN` on standard error"
                        ));
                    }
                    Err(error) => {
                        refusals += usize::from(error.is_auth());
                        problem = Some(format!("{url}: {error}"));
                    }
                }
            }
            sleep(RETRY).await;
        }
    };
    let connected = tokio::select! {
        connected = over_http => {
            let (client, url) = connected?;
            let printed = plan.url.is_none().then_some(url);
            return Ok(Running { client, process, printed });
        }
        connected = client.clone().connect(Over(process.clone())) => connected,
    };
    match connected {
        Ok(client) => Ok(Running {
            client,
            process,
            printed: None,
        }),
        Err(error) if error.is_timeout() => {
            let hint = problem.unwrap_or_else(|| {
                "does it serve standard streams, or print the URL that it serves on standard error? \
                 --url names another one"
                    .to_owned()
            });
            Err(format!("{error}; {hint}"))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn with_credentials(
    mut client: ClientBuilder,
    token: Option<&str>,
    headers: &[(String, String)],
) -> ClientBuilder {
    if let Some(token) = token {
        client = client.bearer_token(token);
    }
    headers.iter().fold(client, |client, (name, value)| {
        client.header(name.as_str(), value.as_str())
    })
}

/// Says which headers clients of the port need, without their values.
pub(super) fn report_demand<T>(output: &Output, text: &str, headers: &[(impl AsRef<str>, T)]) {
    let names: Vec<_> = headers.iter().map(|(name, _)| name.as_ref()).collect();
    output.event(
        &format!("{text}: --header '{}: …'", names.join(": …' --header '")),
        &json!({"event": "demands", "headers": names}),
    );
}

/// Finds a token in what a program has printed: the last one, or the first one after an odd number of refusals. Between the
/// program's own line and the connection, the program may log what a stranger has sent.
fn printed_token(text: &str, refusals: usize) -> Option<&str> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
    let found = text.split(TOKEN).skip(1).map(|rest| {
        let end = rest.find(|c| !is_token(c)).unwrap_or(rest.len());
        &rest[..end]
    });
    let mut found = found.filter(|token| !token.is_empty());
    if refusals.is_multiple_of(2) {
        found.last()
    } else {
        found.next()
    }
}

/// Answers a call that does not run: as an error that a model sees, where the protocol has one.
fn refusal(is_tool: bool, problem: &str) -> Reply {
    if is_tool {
        return CallToolResult::error(problem).into();
    }
    Fault::internal(problem.to_owned()).into()
}

#[cfg(test)]
mod tests {
    use super::printed_token;

    #[test]
    fn last_token_is_found_in_what_a_program_prints() {
        for (text, expected) in [
            ("try `Authorization: Bearer a.b-c=`, please", Some("a.b-c=")),
            (
                "Authorization: Bearer old\nAuthorization: Bearer new",
                Some("new"),
            ),
            ("usage: --header 'Authorization: Bearer <token>'", None),
            ("WWW-Authenticate: Bearer realm=\"a\"", None),
            ("authorization: none", None),
        ] {
            assert_eq!(printed_token(text, 0), expected, "{text}");
        }
        let text = "Authorization: Bearer own\nrequest: Authorization: Bearer other\n";
        let tokens = [0, 1, 2].map(|refusals| printed_token(text, refusals));
        assert_eq!(tokens, [Some("other"), Some("own"), Some("other")]);
    }
}
