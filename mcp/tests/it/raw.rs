//! A server made of sockets and bytes, so that it can misbehave.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What is written, piece by piece.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(String),
    /// The same bytes so many times.
    Times(usize, Arc<[u8]>),
    /// What a test sends meanwhile.
    Live(Arc<tokio::sync::Mutex<UnboundedReceiver<String>>>),
    /// Time for what was written to be answered.
    Pause,
    /// Nothing more, and the connection stays open.
    Silence,
    /// The end of the connection.
    Cut,
}

pub(crate) type Script = Vec<Piece>;

pub(crate) fn text(text: impl Into<String>) -> Piece {
    Piece::Text(text.into())
}

pub(crate) fn head(status: &str, kind: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n")
}

/// A whole answer; the connection ends with it.
pub(crate) fn answer(status: &str, kind: &str, body: &str) -> Script {
    vec![text(head(status, kind)), text(body), Piece::Cut]
}

pub(crate) fn json(body: &str) -> Script {
    answer("200 OK", "application/json", body)
}

pub(crate) fn events(pieces: impl IntoIterator<Item = Piece>) -> Script {
    let mut script = vec![text(head("200 OK", "text/event-stream"))];
    script.extend(pieces);
    script
}

/// A stream of events that a test goes on writing.
pub(crate) fn live() -> (UnboundedSender<String>, Piece) {
    let (texts, piece) = unbounded_channel();
    (texts, Piece::Live(Arc::new(tokio::sync::Mutex::new(piece))))
}

/// Answers requests by what `script` makes of their verb and body. To the verb belongs the path,
/// where it is not that of the endpoint.
pub(crate) struct Server {
    pub(crate) url: String,
    /// Verb and body of every request.
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

    /// How many requests have this verb, or this in their body.
    pub(crate) fn count(&self, part: &str) -> usize {
        let requests = self.requests.lock().unwrap();
        let has = |(verb, body): &&(String, String)| verb == part || body.contains(part);
        requests.iter().filter(has).count()
    }
}

async fn serve(
    mut stream: TcpStream,
    script: &(impl Fn(&str, &str) -> Script + Send + Sync),
    seen: &Mutex<Vec<(String, String)>>,
) {
    let Some((verb, body)) = request(&mut stream).await else {
        return;
    };
    let answer = script(&verb, &body);
    seen.lock().unwrap().push((verb, body));
    for piece in answer {
        let written = match piece {
            Piece::Text(text) => stream.write_all(text.as_bytes()).await,
            Piece::Times(times, bytes) => repeat(&mut stream, times, &bytes).await,
            Piece::Live(texts) => relay(&mut stream, &mut *texts.lock().await).await,
            Piece::Pause => {
                tokio::time::sleep(Duration::from_millis(200)).await;
                Ok(())
            }
            Piece::Silence => {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                return;
            }
            Piece::Cut => return,
        };
        if written.is_err() {
            return;
        }
    }
    // Until the client has enough.
    let _ = stream.read(&mut [0; 64]).await;
}

async fn repeat(stream: &mut TcpStream, times: usize, bytes: &[u8]) -> std::io::Result<()> {
    for _ in 0..times {
        stream.write_all(bytes).await?;
    }
    Ok(())
}

async fn relay(
    stream: &mut TcpStream,
    texts: &mut UnboundedReceiver<String>,
) -> std::io::Result<()> {
    while let Some(text) = texts.recv().await {
        stream.write_all(text.as_bytes()).await?;
    }
    Ok(())
}

async fn request(stream: &mut TcpStream) -> Option<(String, String)> {
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
            let verb = line.next().unwrap_or_default().to_uppercase();
            return Some(match line.next() {
                Some("/mcp") | None => (verb, body),
                Some(path) => (format!("{verb} {path}"), body),
            });
        }
    }
}
