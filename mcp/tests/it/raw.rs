//! A raw TCP server that follows a script, so that it can misbehave.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{Mutex as AsyncMutex, Notify};

/// A step of a response.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(String),
    /// Bytes, written this many times.
    Repeat(usize, Arc<[u8]>),
    /// Strings that a test sends through a channel.
    Channel(Arc<AsyncMutex<Receiver<String>>>),
    /// A wait for a notification of the test.
    Wait(Arc<Notify>),
    /// No further bytes on an open connection.
    Silence,
    /// The end of the connection.
    Close,
}

pub(crate) type Script = Vec<Piece>;

pub(crate) fn text(text: impl Into<String>) -> Piece {
    Piece::Text(text.into())
}

pub(crate) fn head(status: &str, content_type: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\nconnection: close\r\n\r\n")
}

/// A complete response that closes the connection.
pub(crate) fn response(status: &str, content_type: &str, body: &str) -> Script {
    vec![text(head(status, content_type)), text(body), Piece::Close]
}

pub(crate) fn json(body: &str) -> Script {
    response("200 OK", "application/json", body)
}

pub(crate) fn events(pieces: impl IntoIterator<Item = Piece>) -> Script {
    let mut script = vec![text(head("200 OK", "text/event-stream"))];
    script.extend(pieces);
    script
}

/// A sender, and the step that writes what is sent.
pub(crate) fn live() -> (Sender<String>, Piece) {
    let (sender, receiver) = channel(16);
    (sender, Piece::Channel(Arc::new(AsyncMutex::new(receiver))))
}

/// A server that answers each request with the script for its HTTP method and body. If the path is
/// not that of the endpoint, it is appended to the method, as in `POST /messages`.
pub(crate) struct Server {
    pub(crate) url: String,
    /// Method and body of every request.
    pub(crate) requests: Arc<Mutex<Vec<(String, String)>>>,
}

impl Server {
    pub(crate) async fn start(
        script: impl Fn(&str, &str) -> Script + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (script, seen) = (Arc::new(script), Arc::clone(&requests));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
                tokio::spawn(async move { serve(stream, &*script, &seen).await });
            }
        });
        Self { url, requests }
    }

    /// Returns the number of requests with this method, or with `part` in their body.
    pub(crate) fn count(&self, part: &str) -> usize {
        let requests = self.requests.lock().unwrap();
        let has = |(method, body): &&(String, String)| method == part || body.contains(part);
        requests.iter().filter(has).count()
    }
}

async fn serve(
    mut stream: TcpStream,
    script: &(impl Fn(&str, &str) -> Script + Send + Sync),
    seen: &Mutex<Vec<(String, String)>>,
) {
    let Some((method, body)) = read_request(&mut stream).await else {
        return;
    };
    let pieces = script(&method, &body);
    seen.lock().unwrap().push((method, body));
    for piece in pieces {
        let written = match piece {
            Piece::Text(text) => stream.write_all(text.as_bytes()).await,
            Piece::Repeat(times, bytes) => repeat(&mut stream, times, &bytes).await,
            Piece::Channel(strings) => relay(&mut stream, &mut *strings.lock().await).await,
            Piece::Wait(notify) => {
                notify.notified().await;
                Ok(())
            }
            Piece::Silence => std::future::pending().await,
            Piece::Close => return,
        };
        if written.is_err() {
            return;
        }
    }
    // Keep the connection open until the client closes it.
    let _ = stream.read(&mut [0; 64]).await;
}

async fn repeat(stream: &mut TcpStream, times: usize, bytes: &[u8]) -> std::io::Result<()> {
    for _ in 0..times {
        stream.write_all(bytes).await?;
    }
    Ok(())
}

async fn relay(stream: &mut TcpStream, strings: &mut Receiver<String>) -> std::io::Result<()> {
    while let Some(text) = strings.recv().await {
        stream.write_all(text.as_bytes()).await?;
    }
    Ok(())
}

/// Reads one request and returns its method, with the path unless it is `/mcp`, and its body.
async fn read_request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut text = Vec::new();
    loop {
        if stream.read_buf(&mut text).await.ok()? == 0 {
            return None;
        }
        let Some(end) = text.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&text[..end]).to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().unwrap());
        if text.len() == end + 4 + length {
            let body = String::from_utf8_lossy(&text[end + 4..]).into_owned();
            let mut line = head.split(' ');
            let method = line.next().unwrap_or_default().to_uppercase();
            return Some(match line.next() {
                Some("/mcp") | None => (method, body),
                Some(path) => (format!("{method} {path}"), body),
            });
        }
    }
}
