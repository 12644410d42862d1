//! The limit over a pipe: one write with the responses to all requests of one read.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use bench::era::Era;

use crate::responses;

const READ: usize = 64 * 1024;

pub(crate) fn serve() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-limit: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> std::io::Result<()> {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut era = Era::Modern;
    let (mut unread, mut output_lines) = (Vec::new(), Vec::new());
    let mut chunk = vec![0; READ];
    loop {
        let read = input.read(&mut chunk)?;
        let Some(new) = chunk.get(..read).filter(|new| !new.is_empty()) else {
            return Ok(());
        };
        unread.extend_from_slice(new);
        let Some(end) = memchr::memrchr(b'\n', &unread) else {
            continue;
        };
        for line in unread.drain(..=end).as_slice().split(|byte| *byte == b'\n') {
            if let Some(response) = responses::respond_line(line, &mut era) {
                output_lines.extend_from_slice(&response);
                output_lines.push(b'\n');
            }
        }
        output.write_all(&output_lines)?;
        output.flush()?;
        output_lines.clear();
    }
}
