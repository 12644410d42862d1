//! `mcp replay`: a recorded session as a server, or as the check of a server.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `recording` | the file and its dialogues |
//! | `player` | answers of the recorded server |
//! | `compare` | differences between a recorded and an actual response |
//! | `check` | the recorded client's requests, sent to a server |

mod check;
mod compare;
mod player;
pub(super) mod recording;

use std::pin::pin;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;

use self::player::Player;
use self::recording::Turn;
use super::lines;
use crate::cli::ReplayArgs;
use crate::failure::{Failure, usage};
use crate::output::Output;

pub(super) async fn run(args: &ReplayArgs, output: &Output) -> Result<(), Failure> {
    let turns = recording::read(&args.file)?;
    if args.against {
        return check::run(turns, args, output).await;
    }
    if !args.target.words.is_empty() || !args.target.command.is_empty() {
        let cure = "pass --against to compare the recording with a server";
        return Err(Failure::usage(cure));
    }
    serve(turns).await
}

/// Answers a client on standard streams until it closes them.
async fn serve(turns: Vec<Turn>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| usage!("the client is gone: {error}");
    let dialogues = turns.into_iter().filter_map(Turn::into_request);
    let mut player = Player::new(dialogues.collect());
    let mut input = pin!(lines::input());
    let mut answers = pin!(lines::output());
    while let Some(line) = input.next().await {
        let line = line.map_err(failed)?;
        let Ok(message) = serde_json::from_slice::<Value>(&line) else {
            continue;
        };
        for message in recording::split(message) {
            for answer in player.receive(&message) {
                let answer = Bytes::from(answer.to_string());
                answers.send(answer).await.map_err(failed)?;
            }
        }
    }
    Ok(())
}
