//! The upper limit of performance: `bench-limit http PORT [--coalesce] [--sse]`, a minimal server on
//! hyper. It parses a request in one pass into a borrowed struct, writes the response into one buffer,
//! and has three hard-coded tools.
//!
//! With `--coalesce`, a stream sends all ready events in one frame; by default, each event is one frame.
//! With `--sse`, calls of a session are answered with event streams.
//!
//! `bench-limit stdio` does the same over a pipe.

#![allow(clippy::print_stderr, reason = "a command line tool")]

mod body;
mod pipe;
mod responses;

use std::convert::Infallible;
use std::process::ExitCode;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use responses::Limit;
use tokio::net::TcpListener;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|argument| argument == flag);
    let port = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["stdio"] => return pipe::serve(),
        ["http", port, ..] => port.parse(),
        _ => "".parse(),
    };
    let Ok(port) = port else {
        eprintln!("usage: bench-limit http PORT [--coalesce] [--sse] | stdio");
        return ExitCode::from(2);
    };
    match serve(port, has("--coalesce"), has("--sse")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-limit: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(port: u16, coalesce: bool, sse: bool) -> std::io::Result<()> {
    let runtime = bench::runtime().enable_io().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        let limit = Arc::new(Limit::new(address.port(), coalesce, sse));
        eprintln!("listening on http://{address}{}", bench::PATH);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let limit = limit.clone();
            let service = service_fn(move |request| {
                let limit = limit.clone();
                async move { Ok::<_, Infallible>(limit.respond(request).await) }
            });
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(async move {
                // A client that disconnects is not an error.
                let _ = connection.await;
            });
        }
    })
}
