//! The inspector: a web page on this machine that shows one server.
//!
//! | module | responsibility |
//! |---|---|
//! | [`page`] | the files of the page |
//! | [`api`] | what the page requests |
//! | [`session`] | the client, and its connection to the server |
//! | [`requests`] | requests of the page as calls of the client |
//! | [`questions`] | questions of the server to the user of the page |
//! | [`tap`] | the messages in both directions |
//! | [`observed`] | an HTTP client whose exchanges are seen |
//! | [`exchanges`] | the exchanges, and the messages that they carry |
//! | [`rules`], [`http_rules`], [`tool_rules`], [`shapes`] | rules of the specification that a server violates |
//! | [`redact`] | HTTP heads without secrets |
//! | [`history`] | all that happened, for the page and for recordings |

mod api;
mod exchanges;
mod history;
mod http_rules;
mod observed;
mod page;
mod questions;
mod redact;
mod requests;
mod rules;
mod session;
mod shapes;
mod tap;
mod tool_rules;

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use tokio::net::TcpListener;

use crate::failure::Failure;
use crate::page_guard::Guard;
pub(crate) use observed::ObservedClient;
pub(crate) use session::Session;

/// An inspector that listens.
pub(crate) struct Inspector {
    listener: TcpListener,
    guard: Arc<Guard>,
    session: Arc<Session>,
}

impl Inspector {
    /// Listens at a port of this machine; 0 selects a free one.
    pub(crate) async fn bind(port: u16, session: Session) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::usage(format!("cannot listen at 127.0.0.1:{port}: {error}"))
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let listener = listener.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let guard = Guard::new(port);
        let guard = guard.map_err(|error| Failure::usage(format!("no random numbers: {error}")))?;
        Ok(Self {
            listener,
            guard: Arc::new(guard),
            session: Arc::new(session),
        })
    }

    /// Returns the URL with the token, which lets one browser in.
    pub(crate) fn url(&self) -> String {
        self.guard.url()
    }

    /// Connects to the server, and serves the page until the program ends.
    pub(crate) async fn run(self, protocol: &str) -> io::Result<()> {
        // The page shows why a connection has failed.
        let _ = self.session.connect(protocol).await;
        axum::serve(self.listener, api::router(self.session, self.guard)).await
    }
}
