//! The options of the command line.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

/// Any error.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Options with values.
pub(crate) struct Options(Vec<String>);

impl Options {
    pub(crate) fn new(arguments: impl Iterator<Item = String>) -> Self {
        Self(arguments.collect())
    }

    /// Returns the number after `name`.
    pub(crate) fn number(&self, name: &str, default: f64) -> Result<f64, Failure> {
        let mut rest = self.0.iter().skip_while(|argument| *argument != name);
        match rest.nth(1) {
            Some(text) => text
                .parse()
                .map_err(|error| format!("{name} {text}: {error}").into()),
            None => Ok(default),
        }
    }

    /// Returns the seconds after `name`.
    pub(crate) fn seconds(&self, name: &str, default: f64) -> Result<Duration, Failure> {
        let seconds = self.number(name, default)?;
        Duration::try_from_secs_f64(seconds).map_err(|error| format!("{name}: {error}").into())
    }
}

/// The program of the nodes, in the folder of this program.
pub(crate) fn server() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe()?;
    Ok(own.with_file_name(format!("everything-server{}", std::env::consts::EXE_SUFFIX)))
}
