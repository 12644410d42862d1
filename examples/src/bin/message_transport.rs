//! Clients and servers over transports of messages: a pair of channels, and a websocket.
//!
//! `cargo run -p examples --bin message_transport channels|websocket`

#![allow(clippy::print_stdout, reason = "a command line program")]

use std::io;

use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use mcp::prelude::*;
use mcp::stdio::{MessageTransport, PipeChannel};
use mcp::{Over, StdioServer};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, mpsc};
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::{self, Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async, connect_async};

struct Kettle;

#[mcp::server]
impl Kettle {
    /// Brew tea.
    #[tool]
    async fn brew(&self, minutes: u32, progress: Progress) -> String {
        for minute in 1..=minutes {
            progress
                .report(minute.into(), minutes.into(), "it steeps")
                .await;
        }
        format!("tea after {minutes} minutes")
    }
}

/// One end of a pair of channels.
struct Channels {
    /// `None` after this end was closed.
    sender: Mutex<Option<mpsc::Sender<Bytes>>>,
    receiver: Mutex<mpsc::Receiver<Bytes>>,
}

impl Channels {
    fn pair() -> (Self, Self) {
        let (to_server, from_client) = mpsc::channel(16);
        let (to_client, from_server) = mpsc::channel(16);
        let end = |sender, receiver| Self {
            sender: Mutex::new(Some(sender)),
            receiver: Mutex::new(receiver),
        };
        (end(to_server, from_server), end(to_client, from_client))
    }
}

impl MessageTransport for Channels {
    type Error = io::Error;

    async fn send(&self, message: Bytes) -> io::Result<()> {
        let sender = self.sender.lock().await;
        let sender = sender.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        let sent = sender.send(message).await;
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    async fn receive(&self) -> io::Result<Option<Bytes>> {
        Ok(self.receiver.lock().await.recv().await)
    }

    async fn close(&self) -> io::Result<()> {
        self.sender.lock().await.take();
        Ok(())
    }
}

/// One end of a websocket. Each text message is a message of the protocol.
struct WebSocket<S> {
    writer: Mutex<SplitSink<WebSocketStream<S>, Message>>,
    reader: Mutex<SplitStream<WebSocketStream<S>>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> From<WebSocketStream<S>> for WebSocket<S> {
    fn from(stream: WebSocketStream<S>) -> Self {
        let (writer, reader) = stream.split();
        Self {
            writer: Mutex::new(writer),
            reader: Mutex::new(reader),
        }
    }
}

impl<S> MessageTransport for WebSocket<S>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Error = tungstenite::Error;

    async fn send(&self, message: Bytes) -> Result<(), Self::Error> {
        let text =
            Utf8Bytes::try_from(message).map_err(|_| tungstenite::Error::Utf8(String::new()))?;
        self.writer.lock().await.send(Message::Text(text)).await
    }

    async fn receive(&self) -> Result<Option<Bytes>, Self::Error> {
        let mut reader = self.reader.lock().await;
        while let Some(message) = reader.next().await {
            match message? {
                Message::Text(text) => return Ok(Some(text.into())),
                Message::Close(_) => break,
                // The library answers pings.
                _ => {}
            }
        }
        Ok(None)
    }

    async fn close(&self) -> Result<(), Self::Error> {
        self.writer.lock().await.close().await
    }
}

/// Refuses pages of other sites: every page in a browser can open a websocket to this machine.
#[expect(clippy::result_large_err, reason = "the type of the library")]
fn check_origin(request: &Request, response: Response) -> Result<Response, ErrorResponse> {
    match request.headers().get("origin") {
        None => Ok(response),
        Some(_) => {
            let mut refused = ErrorResponse::new(Some("no pages, please".to_owned()));
            *refused.status_mut() = http::StatusCode::FORBIDDEN;
            Err(refused)
        }
    }
}

/// Serves each connection on a task of its own.
async fn serve_websockets(listener: TcpListener) -> io::Result<()> {
    loop {
        let (stream, _): (TcpStream, _) = listener.accept().await?;
        tokio::spawn(async move {
            match accept_hdr_async(stream, check_origin).await {
                Ok(socket) => {
                    let server = StdioServer::new(Server::of(Kettle));
                    let served = server.run_over_messages(WebSocket::from(socket)).await;
                    served.unwrap_or_else(|error| println!("a connection is lost: {error}"));
                }
                Err(error) => println!("refused: {error}"),
            }
        });
    }
}

/// Calls the tool over a transport, in the newest revision that the mode permits.
async fn call(name: &str, transport: impl MessageTransport, mode: ConnectMode) -> mcp::Result<()> {
    let builder = Client::builder().mode(mode);
    let channel = PipeChannel::from_messages(transport);
    let client = builder.connect(Over(channel)).await?;
    let mut reports = 0;
    let tea = client
        .call("brew", json!({"minutes": 3}))
        .on_progress(|_| reports += 1)
        .await?
        .text();
    let version = client.protocol_version();
    println!("{version} over {name}: {tea}, {reports} reports");
    client.close().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let modes = [ConnectMode::Auto, ConnectMode::Legacy];
    if std::env::args().nth(1).as_deref() == Some("websocket") {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("ws://{}", listener.local_addr()?);
        tokio::spawn(serve_websockets(listener));
        for mode in modes {
            let (socket, _) = connect_async(&url).await.map_err(io::Error::other)?;
            call("a websocket", WebSocket::from(socket), mode).await?;
        }
    } else {
        for mode in modes {
            let (here, there) = Channels::pair();
            let server = StdioServer::new(Server::of(Kettle)).run_over_messages(there);
            let server = tokio::spawn(server);
            call("channels", here, mode).await?;
            server.await.map_err(io::Error::from)??;
        }
    }
    Ok(())
}
