//! Rule: the subject of a commit has at most 72 characters, so that `git log --oneline` shows it
//! whole.

use crate::Result;
use crate::process;
use crate::workspace::Workspace;

const SUBJECT_LENGTH: usize = 72;

/// Checks the commits after `base`, and prints those that break the rule. Returns true if none does.
pub(crate) fn run(workspace: &Workspace, base: &str) -> Result<bool> {
    let mut git = std::process::Command::new("git");
    git.current_dir(workspace.root());
    git.args(["log", "--no-merges", "--format=%h %s"]);
    let log = process::capture(git.arg(format!("{base}..HEAD")))?;
    let long = long_subjects(&log);
    for line in &long {
        println!("{line}");
    }
    let count = log.lines().count();
    println!("tidy: {} long subjects in {count} commits", long.len());
    Ok(long.is_empty())
}

/// Lines of the log, `HASH SUBJECT`, that are too long, with the remedy.
fn long_subjects(log: &str) -> Vec<String> {
    let commits = log.lines().filter_map(|line| line.split_once(' '));
    let lengths = commits.map(|(hash, subject)| (hash, subject, subject.chars().count()));
    let long = lengths.filter(|(.., length)| *length > SUBJECT_LENGTH);
    long.map(|(hash, subject, length)| {
        format!(
            "commit {hash}: the subject has {length} characters, the limit is {SUBJECT_LENGTH}; \
             shorten it with `git rebase -i` and move the rest to the body: {subject}"
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::long_subjects;

    #[test]
    fn subjects_over_72_characters_are_findings() {
        let fits = "ä".repeat(72);
        let long = "b".repeat(73);
        let found = long_subjects(&format!("aaa1 {fits}\nbbb2 {long}\nccc3 short\n"));
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("commit bbb2: the subject has 73 characters"),
            "{}",
            found[0]
        );
    }
}
