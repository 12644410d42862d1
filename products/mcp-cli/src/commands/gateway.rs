//! `mcp gateway`.

mod source;
mod watch;

use std::time::Duration;

use mcp::auth::ResourceServer;
use mcp::gateway::ConnectedGateway;
use mcp::gateway::config::AuthorizationConfig;
use mcp::http::Serve;

use tokio_util::task::AbortOnDropHandle;

use self::source::{Loaded, Source};
use super::serve;
use crate::admin::AdminPage;
use crate::cli::GatewayArgs;
use crate::failure::{Failure, FailureKind, usage};
use crate::log;
use crate::output::{self, Output};

pub(super) async fn run(args: &GatewayArgs, output: &Output) -> Result<(), Failure> {
    log::start(args.audit.as_deref())?;
    let source = Source::new(args);
    let Loaded {
        gateway,
        config,
        content,
    } = source.load().await?;
    let is_protected = config
        .as_ref()
        .is_some_and(|config| config.authorization.is_some());
    if args.stdio && is_protected {
        return Err(usage!(
            "{}: the table `authorization` needs HTTP: a program that starts the gateway with --stdio sends no access token; \
             remove one of them",
            args.file.display()
        ));
    }
    // Hosts give up on a gateway that answers late. The log names servers that start slowly or fail.
    let opened = gateway.start_limit(Duration::ZERO).connect().await;
    let opened = opened.map_err(Failure::usage)?;
    let watching = watch::follow(source, opened.control.clone(), content, config.clone());
    let _watching = AbortOnDropHandle::new(tokio::spawn(watching));
    let config = config.as_ref();
    let admin = config.and_then(|config| config.admin);
    let port = args.admin_port.or(admin.map(|admin| admin.port));
    let _page = match port {
        Some(port) => Some(serve_page(port, &opened).await?),
        None => None,
    };
    if args.stdio {
        serve_stdio(opened).await
    } else {
        let http = config.and_then(|config| config.http.clone());
        let authorization = config.and_then(|config| config.authorization.as_ref());
        let protect = |serve: Serve| match authorization {
            Some(authorization) => serve.authorize(protection(authorization)),
            None => serve,
        };
        serve::listen(opened, &args.listen, http, protect, output).await
    }
}

/// Serves the admin page until the handle is dropped.
async fn serve_page(
    port: u16,
    opened: &ConnectedGateway,
) -> Result<AbortOnDropHandle<()>, Failure> {
    let page = AdminPage::bind(port, opened.control.clone()).await?;
    output::status(&format!("admin page: {}", page.url()));
    Ok(AbortOnDropHandle::new(tokio::spawn(page.run())))
}

pub(super) async fn serve_stdio(opened: ConnectedGateway) -> Result<(), Failure> {
    let served = mcp::serve_stdio(opened.server).await;
    opened.group.close().await;
    served.map_err(|error| Failure::new(FailureKind::Unreachable, error))
}

fn protection(config: &AuthorizationConfig) -> ResourceServer {
    // For servers with `token_exchange`. A token goes nowhere else.
    let mut server = ResourceServer::new(&config.resource)
        .keep_access_token()
        .scopes(&config.scopes)
        .required_scopes(&config.required_scopes);
    for issuer in &config.issuers {
        server = server.issuer(issuer);
    }
    for audience in &config.audiences {
        server = server.audience(audience);
    }
    server
}
