//! A server for many clients on a Unix socket, and a client: `unix_socket serve PATH`,
//! `unix_socket call PATH NAME`. Other byte streams work in the same way.

#![allow(clippy::print_stdout, reason = "a command line program")]

#[cfg(unix)]
mod unix {
    use std::io::{Error, ErrorKind};
    use std::sync::Arc;

    use mcp::core::Transport;
    use mcp::prelude::*;
    use mcp::{Io, StdioServer};
    use serde_json::json;
    use tokio::net::{UnixListener, UnixStream};

    struct Greeter;

    #[mcp::server]
    impl Greeter {
        /// Greet a user.
        #[tool]
        fn greet(&self, name: String) -> String {
            format!("Hello, {name}!")
        }
    }

    async fn serve(path: &str) -> mcp::Result<()> {
        let server = Arc::new(Server::of(Greeter));
        server.check()?;
        let listener = UnixListener::bind(path)?;
        println!("listening");
        loop {
            let (stream, _) = listener.accept().await?;
            let (reader, writer) = stream.into_split();
            // Telemetry then says `unix` rather than `pipe`.
            let server = StdioServer::new(server.clone()).transport(Transport::Unix);
            tokio::spawn(server.run_over(reader, writer));
        }
    }

    async fn call(path: &str, name: &str) -> mcp::Result<()> {
        let (reader, writer) = UnixStream::connect(path).await?.into_split();
        let client = Client::connect(Io(reader, writer)).await?;
        println!(
            "{}",
            client.call("greet", json!({ "name": name })).await?.text()
        );
        Ok(())
    }

    pub(crate) async fn run() -> mcp::Result<()> {
        let given: Vec<String> = std::env::args().skip(1).collect();
        match given.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["serve", path] => serve(path).await,
            ["call", path, name] => call(path, name).await,
            _ => Err(Error::new(
                ErrorKind::InvalidInput,
                "usage: unix_socket serve PATH | call PATH NAME",
            )
            .into()),
        }
    }
}

#[cfg(unix)]
#[tokio::main]
async fn main() -> mcp::Result<()> {
    unix::run().await
}

#[cfg(not(unix))]
fn main() {
    println!("this platform does not support Unix sockets");
}
