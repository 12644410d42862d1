//! `bench-calls KIND N` makes `N` calls without a socket, to count instructions.
//!
//! Kinds: `call`, `session`, `list` (of 103 tools) and `big` (1 MiB).
//! Each call is a complete HTTP request to the tower service of the endpoint, and its response.
//!
//! `protected` is `call` with an access token that the server has verified before.
//!
//! `telemetry` is `call` with the layer of telemetry, no subscriber and no metrics. `unsampled` adds a
//! subscriber with the layer of OpenTelemetry, whose sampler refuses each span; `metrics` adds metrics
//! instead. `traced` is `call` with metrics and sampled spans, which are thrown away when they end.
//!
//! The kinds `bearer` and `oauth` are calls of the client of the SDK to the same service: with a fixed
//! token, and with a token of an authorization server.

use bench::Failure;
use bench::era::Era;
use bench::login;
use bench::request::{never, open_session, parse, send};
use bench::scenario::Scenario;
use http_body_util::BodyExt as _;
use hyper::header::{AUTHORIZATION, HeaderValue};
use mcp::auth::{ResourceServer, StaticTokens};
use mcp::prelude::*;
use tower_service::Service;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, count] = &arguments[..] else {
        return Err(
            "usage: bench-calls call|session|list|big|protected|telemetry|unsampled|metrics|traced|bearer|oauth N"
                .into(),
        );
    };
    let count: usize = count.parse()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (scenario, era, server) = match kind.as_str() {
        "call" => (Scenario::Call, Era::Modern, bench::server(0)),
        "list" => (Scenario::List(1), Era::Modern, bench::server(100)),
        "session" => (Scenario::Call, Era::Session, bench::server(0)),
        "telemetry" => (Scenario::Call, Era::Modern, bench::traced::without_export()),
        "unsampled" => (Scenario::Call, Era::Modern, bench::traced::unsampled()),
        "metrics" => (Scenario::Call, Era::Modern, bench::traced::with_metrics()),
        "traced" => (Scenario::Call, Era::Modern, bench::traced::with_export()),
        "big" => (Scenario::Big, Era::Modern, bench::server(0)),
        "bearer" => return runtime.block_on(login::with_fixed_token(count)),
        "protected" => return runtime.block_on(run_protected(count)),
        "oauth" => return runtime.block_on(login::with_authorizer(count)),
        _ => return Err("expected a kind of calls; run without arguments for a list".into()),
    };
    runtime.block_on(run_calls(scenario, era, server, count))
}

async fn run_calls(
    scenario: Scenario,
    era: Era,
    server: Server,
    count: usize,
) -> Result<(), Failure> {
    let mut endpoint = StreamableHttp::new(server);
    let session = match era {
        Era::Session => Some(open_session(&mut endpoint).await?),
        _ => None,
    };
    let mut request = scenario.request(80, era, session.as_deref());
    let mut checker = scenario.checker(era);
    for _ in 0..count {
        let (bytes, id) = request.prepare();
        let response = send(&mut endpoint, bytes).await?;
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(never)?
            .to_bytes();
        if !checker.accepts(&body, id) {
            return Err(String::from_utf8_lossy(&body).into());
        }
    }
    Ok(())
}

/// Makes calls with a token as long as a JSON Web Token. It is looked up by its hash, like every token that
/// was verified before.
async fn run_protected(count: usize) -> Result<(), Failure> {
    let token = "mF_9.B5f-4.1JqM".repeat(50);
    let tokens = StaticTokens::new().token(&token, "ada", ["mcp:use"]);
    let auth = ResourceServer::new("http://127.0.0.1/mcp").static_tokens(tokens);
    let endpoint = StreamableHttp::new(bench::server(0));
    let mut endpoint = auth.build()?.protect(endpoint);
    let mut request = Scenario::Call.request(80, Era::Modern, None);
    let mut checker = Scenario::Call.checker(Era::Modern);
    let authorization = HeaderValue::try_from(format!("Bearer {token}"))?;
    for _ in 0..count {
        let (bytes, id) = request.prepare();
        let mut request = parse(bytes)?;
        let headers = request.headers_mut();
        headers.insert(AUTHORIZATION, authorization.clone());
        let response = endpoint.call(request).await.map_err(never)?;
        let body = response.into_body().collect().await.map_err(never)?;
        let body = body.to_bytes();
        if !checker.accepts(&body, id) {
            return Err(String::from_utf8_lossy(&body).into());
        }
    }
    Ok(())
}
