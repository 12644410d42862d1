//! Sessions that are opened and closed repeatedly: `initialize`, `notifications/initialized`, DELETE.

use std::io;
use std::time::Instant;

use crate::http::{close_session, connect, open_session};
use crate::outcome::Outcome;
use crate::response::ResponseReader;

pub(crate) async fn connection(port: u16, end: Instant, outcome: &mut Outcome) -> io::Result<()> {
    let mut stream = connect(port).await?;
    let mut responses = ResponseReader::default();
    while Instant::now() < end {
        let sent = Instant::now();
        let session = open_session(&mut stream, &mut responses, port).await?;
        close_session(&mut stream, &mut responses, port, &session).await?;
        outcome.record(sent, 0);
    }
    Ok(())
}
