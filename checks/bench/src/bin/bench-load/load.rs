//! The command line.

use std::time::Duration;

use bench::era::Era;
use bench::scenario::Scenario;

/// The parsed command line.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) port: u16,
    pub(crate) work: Work,
    pub(crate) era: Era,
    pub(crate) connections: usize,
    pub(crate) time: Duration,
    /// Number of requests after which a connection ends.
    pub(crate) requests: usize,
    pub(crate) token: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Repeats one scenario over HTTP.
    Http(Scenario),
    /// Opens and closes sessions.
    Cycle,
    /// Opens sessions and keeps them open.
    Sessions { count: usize, streams: bool },
    /// Mixes all kinds of client behavior at random.
    Soak { seed: u64, store_fails: bool },
    /// Calls tools over the standard streams of a child process.
    Pipe {
        outstanding: usize,
        command: Vec<String>,
    },
}

pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Load, String> {
    let first = args.next().ok_or("PORT is missing")?;
    let (port, mut work) = match first.as_str() {
        "pipe" => (
            0,
            Work::Pipe {
                outstanding: 1,
                command: Vec::new(),
            },
        ),
        port => (number(Some(port.to_owned()), "PORT")?, work(args.next())?),
    };
    let (mut era, mut connections, mut seconds) = (Era::Modern, 1, 1.0);
    let (mut requests, mut token) = (usize::MAX, None);
    while let Some(flag) = args.next() {
        match (flag.as_str(), &mut work) {
            ("--connections", _) => connections = number(args.next(), &flag)?,
            ("--seconds", _) => seconds = number(args.next(), &flag)?,
            ("--requests", Work::Http(_)) => requests = number(args.next(), &flag)?,
            ("--token", Work::Http(_)) => token = args.next(),
            ("--era", _) => era = args.next().ok_or("--era needs a value")?.parse()?,
            ("--tools", Work::Http(Scenario::List(minimum))) => {
                *minimum = number(args.next(), &flag)?
            }
            ("--count", Work::Sessions { count, .. }) => *count = number(args.next(), &flag)?,
            ("--store-fails", Work::Soak { store_fails, .. }) => *store_fails = true,
            ("--seed", Work::Soak { seed, .. }) => *seed = number(args.next(), &flag)?,
            ("--streams", Work::Sessions { streams, .. }) => *streams = true,
            ("--outstanding", Work::Pipe { outstanding, .. }) => {
                *outstanding = number(args.next(), &flag)?;
            }
            ("--", Work::Pipe { command, .. }) => command.extend(args.by_ref()),
            _ => return Err(format!("unknown argument {flag}")),
        }
    }
    let time = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    Ok(Load {
        port,
        work,
        era,
        connections,
        time,
        requests,
        token,
    })
}

fn work(name: Option<String>) -> Result<Work, String> {
    let name = name.ok_or("SCENARIO is missing")?;
    Ok(match name.as_str() {
        "cycle" => Work::Cycle,
        "soak" => Work::Soak {
            seed: 1,
            store_fails: false,
        },
        "sessions" => Work::Sessions {
            count: 1000,
            streams: false,
        },
        scenario => Work::Http(scenario.parse()?),
    })
}

fn number<T: std::str::FromStr>(text: Option<String>, name: &str) -> Result<T, String> {
    let text = text.ok_or_else(|| format!("{name} needs a value"))?;
    text.parse()
        .map_err(|_| format!("{name}: {text} is not a valid number"))
}
