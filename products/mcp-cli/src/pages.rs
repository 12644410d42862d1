//! The pages below `docs/cli`, which are generated from the command definitions.

use std::path::Path;

use clap::CommandFactory as _;

use crate::cli::Cli;

/// Largest number of lines in a help: a usual terminal screen.
const MAX_LINES: usize = 52;
/// Longest line of a help in characters.
const MAX_WIDTH: usize = 110;

/// Returns the help of a command as a page.
fn page(command: &mut clap::Command) -> String {
    // `--help` prints the same: no command has a longer text.
    let help = command.render_help().to_string();
    let lines: Vec<_> = help.lines().map(str::trim_end).collect();
    let name = command.get_bin_name().unwrap_or("mcp").to_owned();
    let help = lines.join("\n");
    format!("# `{name}`\n\n```text\n{}\n```\n", help.trim_end())
}

#[test]
fn pages_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli");
    let mut cli = Cli::command();
    cli.build();
    let mut pages = vec![("mcp".to_owned(), page(&mut cli))];
    for command in cli
        .get_subcommands_mut()
        .filter(|command| !command.is_hide_set())
    {
        let name = command.get_name().to_owned();
        let mut text = page(command);
        for nested in command.get_subcommands_mut() {
            text.push('\n');
            text.push_str(&page(nested).replacen("# ", "## ", 1));
        }
        pages.push((name, text));
    }
    for (name, page) in pages {
        let path = folder.join(format!("{name}.md"));
        if std::env::var_os("UPDATE_PAGES").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &page).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        let advice = "run `UPDATE_PAGES=1 cargo test -p omnimcp-cli pages`";
        assert!(stored == page, "{name}.md is out of date; {advice}");
    }
}

fn assert_fits(command: &mut clap::Command) {
    let help = command.render_help().to_string();
    let name = command.get_bin_name().unwrap_or("mcp");
    let lines = help.lines().count();
    assert!(lines <= MAX_LINES, "{name}: {lines} lines");
    let wide = help.lines().find(|line| line.chars().count() > MAX_WIDTH);
    assert_eq!(wide, None, "{name}");
    assert!(help.contains("Example"), "{name} has no example");
    command.get_subcommands_mut().for_each(assert_fits);
}

#[test]
fn help_fits_a_screen_and_has_an_example() {
    let mut cli = Cli::command();
    cli.build();
    assert_fits(&mut cli);
}
