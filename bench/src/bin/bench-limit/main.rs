//! The limit: `bench-limit http PORT [--coalesce] [--sse]`, a server on bare hyper that does only what no
//! server can leave out. It reads the request in one pass into a borrowed struct, writes the answer
//! into one buffer, and knows three tools by name.
//!
//! With `--coalesce` a stream sends all events that are ready as one frame; without it, each event
//! is a frame of its own. With `--sse` the calls of a session are answered by events.
//!
//! `bench-limit stdio` does the same over a pipe.

#![allow(clippy::print_stderr, reason = "a command line tool")]

mod answers;
mod body;
mod pipe;

use std::convert::Infallible;
use std::process::ExitCode;
use std::sync::Arc;

use answers::Limit;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
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
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
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
                async move { Ok::<_, Infallible>(limit.answer(request).await) }
            });
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(async move {
                // A peer that goes away is its own business.
                let _ = connection.await;
            });
        }
    })
}
