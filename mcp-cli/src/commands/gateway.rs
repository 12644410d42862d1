//! `mcp gateway`.

mod source;
mod watch;

use mcp::auth::ResourceServer;
use mcp::gateway::OpenGateway;
use mcp::gateway::config::AuthorizationConfig;
use mcp::group::Health;

use self::source::{Loaded, Source, refused};
use super::serve::{self, Front};
use crate::cli::GatewayArgs;
use crate::failure::{Failure, FailureKind};

pub(super) async fn run(args: &GatewayArgs) -> Result<(), Failure> {
    serve::log_to_stderr(args.audit);
    let source = Source::new(args);
    let Loaded {
        gateway,
        http,
        authorization,
        content,
    } = source.load().await?;
    let opened = gateway.open().await.map_err(|error| refused(&error))?;
    for (server, health) in opened.group.health() {
        if let Health::Down(reason) = health {
            anstream::eprintln!("{server} is left out: {reason}");
        }
    }
    let watching = watch::follow(source, opened.control.clone(), content);
    let watching = tokio::spawn(watching);
    let served = match args.stdio {
        true => serve_stdio(opened).await,
        false => {
            let front = Front::new(&args.listen, http, authorization.as_ref().map(protection));
            serve::listen(opened, front).await
        }
    };
    watching.abort();
    served
}

async fn serve_stdio(opened: OpenGateway) -> Result<(), Failure> {
    let served = mcp::serve_stdio(opened.server).await;
    opened.group.close().await;
    served.map_err(|error| Failure::new(FailureKind::Unreachable, error.to_string()))
}

fn protection(config: &AuthorizationConfig) -> ResourceServer {
    let mut server = ResourceServer::new(&config.resource)
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
