//! A minimal parser of HTTP/1.1 responses with `Content-Length` or chunked bodies.

use std::io;

use memchr::memmem;
use tokio::io::{AsyncRead, AsyncReadExt as _};

const READ: usize = 64 * 1024;
const MAX_HEAD: usize = 16 * 1024;

/// A response.
#[derive(Debug)]
pub(crate) struct Response<'a> {
    pub(crate) status: u16,
    /// The value of `Mcp-Session-Id`.
    pub(crate) session: Option<String>,
    pub(crate) body: &'a [u8],
}

impl Response<'_> {
    /// Returns the error for an unexpected response.
    pub(crate) fn to_error(&self) -> io::Error {
        let start = &self.body[..self.body.len().min(200)];
        let text = String::from_utf8_lossy(start);
        let kind = match self.status {
            404 => io::ErrorKind::NotFound,
            500..=599 => io::ErrorKind::Other,
            _ => io::ErrorKind::InvalidData,
        };
        io::Error::new(kind, format!("unexpected response {}: {text}", self.status))
    }
}

/// Reader of the responses on one connection.
#[derive(Debug, Default)]
pub(crate) struct ResponseReader {
    buffer: Vec<u8>,
    /// Start of the next response in the buffer.
    start: usize,
    /// The body of the last chunked response, decoded.
    body: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Known(usize),
    Chunked,
}

impl ResponseReader {
    /// Reads one response.
    pub(crate) async fn next(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
    ) -> io::Result<Response<'_>> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let head_end = loop {
            match memmem::find(&self.buffer, b"\r\n\r\n") {
                Some(at) => break at,
                None if self.buffer.len() > MAX_HEAD => {
                    return Err(invalid("the response head is too long"));
                }
                None => self.read_more(stream).await?,
            }
        };
        let Head {
            status,
            length,
            session,
        } = parse_head(&self.buffer[..head_end])?;
        self.start = head_end + 4;
        match length {
            Length::Known(length) => {
                let from = self.start;
                self.start += length;
                while self.buffer.len() < self.start {
                    self.read_more(stream).await?;
                }
                Ok(Response {
                    status,
                    session,
                    body: &self.buffer[from..self.start],
                })
            }
            Length::Chunked => {
                self.read_chunks(stream).await?;
                Ok(Response {
                    status,
                    session,
                    body: &self.body,
                })
            }
        }
    }

    async fn read_chunks(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
        self.body.clear();
        loop {
            let size_end = loop {
                match memmem::find(&self.buffer[self.start..], b"\r\n") {
                    Some(at) => break self.start + at,
                    None => self.read_more(stream).await?,
                }
            };
            let size = std::str::from_utf8(&self.buffer[self.start..size_end]).unwrap_or_default();
            let size = usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16)
                .map_err(|_| invalid("invalid chunk size"))?;
            let data = size_end + 2;
            self.start = data + size + 2;
            while self.buffer.len() < self.start {
                self.read_more(stream).await?;
            }
            if !self.buffer[..self.start].ends_with(b"\r\n") {
                return Err(invalid("a chunk is longer than its declared size"));
            }
            if size == 0 {
                return Ok(());
            }
            self.body.extend_from_slice(&self.buffer[data..data + size]);
        }
    }

    async fn read_more(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
        self.buffer.reserve(READ);
        match stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

struct Head {
    status: u16,
    length: Length,
    session: Option<String>,
}

fn parse_head(head: &[u8]) -> io::Result<Head> {
    let head = std::str::from_utf8(head).map_err(|_| invalid("the response head is not UTF-8"))?;
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok());
    let status = status.ok_or_else(|| invalid("invalid status line"))?;
    let (mut length, mut session) = (None, None);
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            return Err(invalid("invalid header"));
        };
        if name.eq_ignore_ascii_case("content-length") {
            let value = value
                .trim()
                .parse()
                .map_err(|_| invalid("invalid Content-Length"))?;
            length = Some(Length::Known(value));
        } else if name.eq_ignore_ascii_case("transfer-encoding") && value.trim() == "chunked" {
            length = Some(Length::Chunked);
        } else if name.eq_ignore_ascii_case("mcp-session-id") {
            session = Some(value.trim().to_owned());
        }
    }
    // Responses with these statuses have no body and no Content-Length.
    let bodyless = matches!(status, 202 | 204).then_some(Length::Known(0));
    let length = length.or(bodyless);
    Ok(Head {
        status,
        length: length.ok_or_else(|| invalid("neither Content-Length nor chunked encoding"))?,
        session,
    })
}

/// Creates an error of kind `InvalidData`.
pub(crate) fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::ResponseReader;

    const TWO: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc\
        HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwiki\r\n2;x=y\r\nab\r\n0\r\n\r\n\
        HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

    #[test]
    fn split_responses_are_read() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        for size in 1..TWO.len() {
            runtime.block_on(async {
                let (mut client, mut server) = tokio::io::duplex(size);
                tokio::spawn(async move {
                    tokio::io::AsyncWriteExt::write_all(&mut server, TWO)
                        .await
                        .unwrap();
                });
                let mut responses = ResponseReader::default();
                for (status, body) in [(200, "abc"), (400, "wikiab"), (200, "")] {
                    let response = responses.next(&mut client).await.unwrap();
                    assert_eq!((response.status, response.body), (status, body.as_bytes()));
                }
                assert!(
                    responses.next(&mut client).await.is_err(),
                    "the stream has ended"
                );
            });
        }
    }

    #[test]
    fn invalid_http_is_error() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        for bytes in [
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n",
            "SSH-2.0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        ] {
            let mut stream = bytes.as_bytes();
            let mut responses = ResponseReader::default();
            assert!(
                runtime.block_on(responses.next(&mut stream)).is_err(),
                "{bytes}"
            );
        }
    }
}
