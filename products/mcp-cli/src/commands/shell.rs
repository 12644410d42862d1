//! `mcp completions` and `mcp man`, and the candidates that completion scripts call.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::config;
use crate::failure::{Failure, usage};
use crate::name_cache::{Names, is_safe};
use crate::output::Output;

/// The first line of the function in generated scripts.
const FUNCTION: &str = "_mcp() {\n";
/// Words that only `mcp` knows are completed first. Readline replaces the text after the last word
/// break (`:` and `=` are some), so that the text before it is removed from the candidates.
const BASH: &str = r#"_mcp() {
    local line="${COMP_LINE:0:COMP_POINT}" found candidate word before
    local -a given
    read -ra given <<< "${line}"
    [[ "${line}" == *[[:space:]] ]] && given+=("")
    found="$("${given[0]}" candidates -- "${given[@]:1}" 2>/dev/null)"
    if [[ -n "${found}" ]]; then
        word="${given[${#given[@]}-1]}"
        before="${word%"$2"}"
        [[ "$2" == "=" ]] && before="${word}"
        COMPREPLY=()
        while IFS= read -r candidate; do
            COMPREPLY+=("${candidate#"${before}"}")
        done <<< "${found}"
        [[ "${found}" == *= ]] && compopt -o nospace 2>/dev/null
        return 0
    fi
"#;
const ZSH: &str = r#"_mcp() {
    local -a found
    found=(${(f)"$("${(Q)words[1]}" candidates -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
    if (( $#found )); then
        compadd -S '' -- ${(M)found:#*=}
        compadd -- ${found:#*=}
        return 0
    fi
"#;

/// Files are completed only where `mcp` knows no word. The quotes keep an empty last word.
const FISH: &str = r#"
function __fish_mcp_candidates
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    command $words[1] candidates -- $words[2..-1] "$current" 2>/dev/null
end
complete -c mcp -n 'test -n "$(__fish_mcp_candidates)"' -f -a '(__fish_mcp_candidates)'
"#;

pub(super) fn completions(shell: Shell, output: &Output) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mcp", &mut script);
    let script = String::from_utf8_lossy(&script);
    let script = match shell {
        Shell::Bash => script.replacen(FUNCTION, BASH, 1),
        Shell::Zsh => script.replacen(FUNCTION, ZSH, 1),
        Shell::Fish => format!("{script}{FISH}"),
        _ => script.into_owned(),
    };
    output.raw(script.as_bytes());
}

pub(super) fn manual(output: &Output) -> Result<(), Failure> {
    let mut page = Vec::new();
    let written = clap_mangen::Man::new(Cli::command()).render(&mut page);
    written.map_err(|error| usage!("the manual page cannot be written: {error}"))?;
    output.raw(&page);
    Ok(())
}

/// Prints the candidates for the last of `words`, one per line. `words` are the words after the
/// program's name. Prints nothing where the generated script completes by itself.
pub(super) fn candidates(words: &[String], output: &Output) {
    let Some((current, before)) = words.split_last() else {
        return;
    };
    let Some((command, positional)) = split(before) else {
        return;
    };
    let known = match positional.as_slice() {
        // After the first word, zsh's own script does not complete flags.
        _ if current.starts_with("--") => flags(&command),
        [] => targets(),
        [target, rest @ ..] => names(&command, &Names::read(target), rest, current),
    };
    let mut lines = String::new();
    for candidate in known
        .iter()
        .filter(|name| name.starts_with(current.as_str()))
    {
        lines.push_str(candidate);
        lines.push('\n');
    }
    output.raw(lines.as_bytes());
}

/// Returns the command and its positional words. `None` if `words` are for another command, end with a
/// flag that needs a value, or contain `--`.
fn split(words: &[String]) -> Option<(String, Vec<String>)> {
    let cli = Cli::command();
    let mut command: Option<&clap::Command> = None;
    let mut positional = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            return None;
        }
        if word.starts_with('-') && word.len() > 1 {
            if takes_value(command.unwrap_or(&cli), word) {
                words.next()?;
            }
            continue;
        }
        match command {
            None => command = Some(cli.find_subcommand(word)?),
            Some(_) => positional.push(word.clone()),
        }
    }
    Some((command?.get_name().to_owned(), positional))
}

fn takes_value(command: &clap::Command, flag: &str) -> bool {
    let named = |argument: &&clap::Arg| {
        let short = argument.get_short().map(|letter| format!("-{letter}"));
        let long = argument.get_long().map(|argument| format!("--{argument}"));
        short.as_deref() == Some(flag) || long.as_deref() == Some(flag)
    };
    let found = command.get_arguments().find(named);
    found.is_some_and(|argument| argument.get_action().takes_values())
}

/// Returns the long flags of a command.
fn flags(command: &str) -> Vec<String> {
    let mut cli = Cli::command();
    cli.build();
    let command = cli.find_subcommand(command);
    let all = command.into_iter().flat_map(clap::Command::get_arguments);
    let long = all.filter_map(clap::Arg::get_long);
    long.map(|name| format!("--{name}")).collect()
}

/// The server names.
fn targets() -> Vec<String> {
    let files = config::read_all(None).into_iter();
    let servers = files.filter_map(|file| file.servers.ok()).flatten();
    servers
        .map(|server| server.name)
        .filter(|name| is_safe(name))
        .collect()
}

fn names(command: &str, names: &Names, rest: &[String], current: &str) -> Vec<String> {
    match (command, rest) {
        ("call", []) => names.tools.keys().cloned().collect(),
        ("call", [tool, given @ ..]) => {
            let Some(arguments) = names.tools.get(tool) else {
                return Vec::new();
            };
            if let Some((key, _)) = current.split_once('=') {
                let values = arguments.get(key).into_iter().flatten();
                return values.map(|value| format!("{key}={value}")).collect();
            }
            missing(arguments.keys(), given)
        }
        ("prompt" | "complete", []) => names.prompts.keys().cloned().collect(),
        ("prompt" | "complete", [prompt, given @ ..]) => {
            let arguments = names.prompts.get(prompt);
            missing(arguments.into_iter().flatten(), given)
        }
        ("read", []) | ("listen", _) => names.resources.clone(),
        _ => Vec::new(),
    }
}

/// The arguments that are not given yet.
fn missing<'a>(all: impl Iterator<Item = &'a String>, given: &[String]) -> Vec<String> {
    let is_given = |key: &str| {
        let mut keys = given.iter().filter_map(|word| word.split_once('='));
        keys.any(|(it, _)| it.trim_end_matches(':') == key)
    };
    all.filter(|key| !is_given(key))
        .map(|key| format!("{key}="))
        .collect()
}
