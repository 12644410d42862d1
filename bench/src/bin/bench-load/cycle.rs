//! Sessions that are opened and ended at once: `initialize`, `notifications/initialized`, DELETE.

use std::io;
use std::time::Instant;

use crate::Outcome;
use crate::answer::Answers;
use crate::http::{connect, end_session, open_session};

pub(crate) async fn connection(port: u16, end: Instant, outcome: &mut Outcome) -> io::Result<()> {
    let mut stream = connect(port).await?;
    let mut answers = Answers::default();
    while Instant::now() < end {
        let sent = Instant::now();
        let session = open_session(&mut stream, &mut answers, port).await?;
        end_session(&mut stream, &mut answers, port, &session).await?;
        outcome.right(sent, 0);
    }
    Ok(())
}
