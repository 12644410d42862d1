//! Sessions that are opened and ended at once: `initialize`, `notifications/initialized`, DELETE.

use std::io;
use std::time::Instant;

use bench::era::session_headers;
use tokio::io::AsyncWriteExt as _;

use crate::Outcome;
use crate::answer::{Answers, invalid};
use crate::http::{connect, open_session};

pub(crate) async fn connection(port: u16, end: Instant, outcome: &mut Outcome) -> io::Result<()> {
    let mut stream = connect(port).await?;
    let mut answers = Answers::default();
    while Instant::now() < end {
        let sent = Instant::now();
        let session = open_session(&mut stream, &mut answers, port).await?;
        let headers = session_headers(&session);
        let request = format!(
            "DELETE {} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}\r\n",
            bench::PATH
        );
        stream.write_all(request.as_bytes()).await?;
        match answers.next(&mut stream).await?.status {
            200 | 202 | 204 => outcome.right(sent, 0),
            status => return Err(invalid(&format!("DELETE was answered by {status}"))),
        }
    }
    Ok(())
}
