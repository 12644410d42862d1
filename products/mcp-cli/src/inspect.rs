//! The inspector: a web page on this machine that shows one server.
//!
//! | module | responsibility |
//! |---|---|
//! | [`page`] | the files of the page |
//! | [`api`] | what the page requests |
//! | [`session`] | the client, and its connection to the server |
//! | [`requests`] | turns requests of the page into `Client` calls |
//! | [`tasks`], [`skills`] | calls that run as tasks, and skills |
//! | [`views`], [`sandbox`] | views of MCP Apps, and the other origin in which they run |
//! | [`login`] | the login at the server, and its steps |
//! | [`questions`] | the server's questions to the user |
//! | [`tap`] | the messages in both directions |
//! | [`observed`] | an HTTP client whose exchanges are seen |
//! | [`exchanges`] | the exchanges, and the messages that they carry |
//! | [`rules`], [`http_rules`], [`tool_rules`], [`violations`] | rules of the specification that a server violates |
//! | [`schemas`] | checks messages against their revision's schema |
//! | [`pending`] | requests that wait for their response |
//! | [`redact`] | HTTP heads without secrets |
//! | [`history`] | all that happened, for the page and for recordings |

mod api;
mod exchanges;
mod history;
mod http_rules;
mod login;
mod observed;
mod page;
mod pending;
mod questions;
mod redact;
mod requests;
mod rules;
mod sandbox;
mod schemas;
mod session;
mod skills;
mod tap;
mod tasks;
mod tool_rules;
mod views;
mod violations;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::serve::ListenerExt as _;
use tokio::net::{TcpListener, TcpStream};

use crate::failure::Failure;
use crate::page_guard::{self, Guard};
use sandbox::Ports;
pub(crate) use session::{Against, Session};

/// An inspector that listens.
pub(crate) struct Inspector {
    listener: TcpListener,
    /// Listens at the origin of views.
    sandbox: TcpListener,
    ports: Ports,
    guard: Arc<Guard>,
    session: Arc<Session>,
}

impl Inspector {
    /// Listens at a port of this machine; 0 selects a free one.
    pub(crate) async fn bind(port: u16, mut session: Session) -> Result<Self, Failure> {
        let (listener, port) = page_guard::listen(port).await?;
        let (sandbox, sandbox_port) = page_guard::listen(0).await?;
        session.sandbox = sandbox_port;
        let ports = Ports {
            page: port,
            sandbox: sandbox_port,
        };
        let guard = Guard::new(port, Some(sandbox_port))?;
        Ok(Self {
            listener,
            sandbox,
            ports,
            guard: Arc::new(guard.with_opener_check()),
            session: Arc::new(session),
        })
    }

    /// Returns the URL with the token, which lets one browser in.
    pub(crate) fn url(&self) -> String {
        self.guard.url()
    }

    /// Connects to the server, and serves the page until the program ends.
    pub(crate) async fn run(self, protocol: &str) -> io::Result<()> {
        let session = self.session.clone();
        let views = sandbox::router(self.session.clone(), self.ports);
        let page = api::router(self.session, self.guard);
        // The page opens at once. It shows the connection's messages, and why it has failed.
        let connect = async {
            let _ = session.connect(protocol).await;
            Ok(())
        };
        tokio::try_join!(
            connect,
            axum::serve(
                self.listener.tap_io(without_delay),
                page.into_make_service_with_connect_info::<SocketAddr>()
            )
            .into_future(),
            axum::serve(self.sandbox.tap_io(without_delay), views).into_future(),
        )?;
        Ok(())
    }
}

/// Sends small responses and events at once: with Nagle's algorithm they wait for an acknowledgement of the browser.
fn without_delay(stream: &mut TcpStream) {
    // It is a matter of speed only.
    let _ = stream.set_nodelay(true);
}
