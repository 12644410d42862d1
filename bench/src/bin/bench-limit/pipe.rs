//! The limit over a pipe: lines in, lines out, one write for all that has come in one read.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use bench::era::Era;

use crate::answers;

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
    let (mut waiting, mut answers) = (Vec::new(), Vec::new());
    let mut chunk = vec![0; READ];
    loop {
        let read = input.read(&mut chunk)?;
        let Some(new) = chunk.get(..read).filter(|new| !new.is_empty()) else {
            return Ok(());
        };
        waiting.extend_from_slice(new);
        let Some(end) = memchr::memrchr(b'\n', &waiting) else {
            continue;
        };
        for line in waiting
            .drain(..=end)
            .as_slice()
            .split(|byte| *byte == b'\n')
        {
            if let Some(answer) = answers::line(line, &mut era) {
                answers.extend_from_slice(&answer);
                answers.push(b'\n');
            }
        }
        output.write_all(&answers)?;
        output.flush()?;
        answers.clear();
    }
}
