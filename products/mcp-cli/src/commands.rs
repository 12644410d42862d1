//! The commands: one module each.

mod call;
mod complete;
mod contents;
mod dev;
mod diff;
mod doctor;
mod gateway;
mod generate;
mod info;
mod inspect;
mod install;
mod interrupt;
mod lines;
mod list;
mod listen;
mod login;
mod new;
mod pack;
mod pin;
mod ping;
mod prompt;
mod proxy;
mod read;
mod record;
mod replay;
mod results;
mod serve;
mod servers;
mod shell;
mod skills;
mod snapshot;
mod support;
mod tasks;
mod test;

use crate::cli::{Cli, Command};
use crate::failure::Failure;
use crate::output::Output;

pub(crate) async fn run(cli: &Cli, output: &Output) -> Result<(), Failure> {
    match &cli.command {
        Command::List(args) => list::run(args, output).await,
        Command::Call(args) => call::run(args, output).await,
        Command::Read(args) => read::run(args, output).await,
        Command::Prompt(args) => prompt::run(args, output).await,
        Command::Complete(args) => complete::run(args, output).await,
        Command::Listen(args) => listen::run(args, output).await,
        Command::Tasks(command) => tasks::run(command, output).await,
        Command::Skills(command) => skills::run(command, output).await,
        Command::Ping(args) => ping::run(args, output).await,
        Command::Info(args) => info::run(args, output).await,
        Command::Inspect(args) => inspect::run(args, output).await,
        Command::Snapshot(args) => snapshot::run(args, output).await,
        Command::Diff(args) => diff::run(args, output).await,
        Command::Gen(command) => generate::run(command, output).await,
        Command::Record(args) => record::run(args, output).await,
        Command::Replay(args) => replay::run(args, output).await,
        Command::Doctor(args) => doctor::run(args, output).await,
        Command::Test(args) => test::run(args, output).await,
        Command::New(args) => new::run(args, output),
        Command::Dev(args) => dev::run(args, output).await,
        Command::Install(args) => install::install(args, output).await,
        Command::Uninstall(args) => install::uninstall(args, output).await,
        Command::Pack(args) => pack::run(args, output).await,
        Command::Servers { config } => {
            servers::run(config.as_deref(), output);
            Ok(())
        }
        Command::Proxy(args) => proxy::run(args, output).await,
        Command::Serve(args) => serve::run(args, output).await,
        Command::Gateway(args) => gateway::run(args, output).await,
        Command::Pin(args) => pin::run(args, output),
        Command::Login(args) => login::login(args, output).await,
        Command::Logout(args) => login::logout(args, output).await,
        Command::Whoami(args) => login::whoami(args, output).await,
        Command::Completions { shell } => {
            shell::completions(*shell, output);
            Ok(())
        }
        Command::Candidates { words } => {
            shell::candidates(words, output);
            Ok(())
        }
        Command::Man => shell::manual(output),
    }
}
