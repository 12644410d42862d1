//! `mcp completions` and `mcp man`.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::output::Output;

pub(super) fn completions(shell: Shell, output: &Output) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mcp", &mut script);
    output.raw(&script);
}

pub(super) fn manual(output: &Output) -> Result<(), Failure> {
    let mut page = Vec::new();
    let written = clap_mangen::Man::new(Cli::command()).render(&mut page);
    written
        .map_err(|error| Failure::usage(format!("the manual page cannot be written: {error}")))?;
    output.raw(&page);
    Ok(())
}
