//! `mcp pin`.

use mcp::toolset::{HeldItem, PinFile};
use serde_json::{Value, json};

use crate::cli::PinArgs;
use crate::failure::{Failure, usage};
use crate::name_cache::is_safe;
use crate::output::Output;

pub(super) fn run(args: &PinArgs, output: &Output) -> Result<(), Failure> {
    if !args.file.exists() {
        let file = args.file.display();
        return Err(usage!(
            "there is no file {file}; `mcp gateway --pin` writes it"
        ));
    }
    let pins = PinFile::open(&args.file).map_err(Failure::usage)?;
    let held = pins.held();
    check_digests(&args.approve, &held)?;
    let (approved, rest): (Vec<_>, Vec<_>) = held
        .into_iter()
        .partition(|held| args.approve.iter().any(|wanted| names(wanted, held)));
    for held in &approved {
        if !pins.approve(held).map_err(Failure::usage)? {
            let name = name(held);
            return Err(usage!(
                "{name} has changed in the meantime; run the command again"
            ));
        }
    }
    if output.json {
        let names: Vec<_> = approved.iter().map(name).collect();
        let rest = rest.iter().map(document).collect::<Result<Vec<_>, _>>()?;
        output.document(&json!({"approved": names, "held": rest}));
        return Ok(());
    }
    for held in &approved {
        output.line(&format!("approved {}", name(held)));
    }
    for held in rest.iter().filter(|_| args.approve.is_empty()) {
        print(held, output);
    }
    if rest.is_empty() {
        output.note("nothing is held");
    } else {
        let (count, file) = (rest.len(), args.file.display());
        output.note(&format!(
            "{count} held; `mcp pin {file} NAME@DIGEST`, or the digest alone, approves one as it is shown"
        ));
    }
    Ok(())
}

/// Checks that each argument is the name and the digest of an item that is held.
///
/// # Errors
///
/// Returns a [`Failure`] that says what is held now.
fn check_digests(approve: &[String], held: &[HeldItem]) -> Result<(), Failure> {
    for wanted in approve {
        if held.iter().any(|held| names(wanted, held)) {
            continue;
        }
        let Some((item, _)) = wanted.rsplit_once('@') else {
            return Err(usage!(
                "{wanted:?} has no digest; `mcp pin FILE` shows each of them as NAME@DIGEST, which approves what it shows"
            ));
        };
        if held.iter().any(|held| name(held) == item) {
            return Err(usage!(
                "{item} has changed since it was shown; run the command without names again"
            ));
        }
        return Err(Failure::usage("nothing that is held has such a name"));
    }
    Ok(())
}

/// Returns the name and the digest of the definition that is shown.
fn shown(held: &HeldItem) -> String {
    format!("{}@{}", name(held), held.subject.fingerprint())
}

/// Returns true for NAME@DIGEST, and for the digest, which is that of the server and the name, too.
fn names(wanted: &str, held: &HeldItem) -> bool {
    wanted == shown(held) || wanted == held.subject.fingerprint()
}

fn name(held: &HeldItem) -> String {
    format!("{}__{}", held.subject.owner, held.subject.name)
}

fn document(held: &HeldItem) -> Result<Value, Failure> {
    let diff = held.diff().map_err(Failure::usage)?;
    let differences = diff.differences().iter();
    let differences =
        differences.map(|difference| json!({"path": difference.path, "reason": difference.reason}));
    Ok(json!({
        "name": name(held),
        "kind": held.subject.kind,
        "digest": held.subject.fingerprint(),
        "differences": differences.collect::<Vec<_>>(),
        "approved": held.approved,
        "definition": held.subject.definition,
    }))
}

/// Prints the differences, and the lines of the definition that differ.
fn print(held: &HeldItem, output: &Output) {
    let shown = shown(held);
    // The user pastes it into a shell.
    if is_safe(&shown) {
        output.heading(&shown);
    } else {
        output.heading(&held.subject.fingerprint());
        output.line(&format!("its name is {:?}", name(held)));
    }
    match &held.approved {
        Some(_) => match held.diff() {
            Ok(diff) => diff.differences().iter().for_each(|difference| {
                output.line(&format!("{}: {}", difference.path, difference.reason));
            }),
            Err(error) => output.line(&error.to_string()),
        },
        None => output.line(&format!("a new {}", held.subject.kind)),
    }
    let lines = |item: &Value| {
        let json = serde_json::to_string_pretty(item).unwrap_or_default();
        json.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let old = held.approved.as_ref().map(lines).unwrap_or_default();
    let new = lines(&held.subject.definition);
    let (old, new) = changed(&old, &new);
    old.iter()
        .for_each(|line| output.line(&format!("- {line}")));
    new.iter()
        .for_each(|line| output.line(&format!("+ {line}")));
}

/// Returns what is between the common first and last lines.
fn changed<'a>(old: &'a [String], new: &'a [String]) -> (&'a [String], &'a [String]) {
    let pairs = old.iter().zip(new);
    let first = pairs.take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[first..], &new[first..]);
    let pairs = old.iter().rev().zip(new.iter().rev());
    let last = pairs.take_while(|(old, new)| old == new).count();
    (&old[..old.len() - last], &new[..new.len() - last])
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn common_first_and_last_lines_are_left_out() {
        let lines = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        for (old, new, expected_old, expected_new) in [
            ("a b c", "a x c", "b", "x"),
            ("a c", "a b c", "", "b"),
            ("a a", "a", "a", ""),
            ("a", "a", "", ""),
        ] {
            let (old, new) = (lines(old), lines(new));
            let (old, new) = changed(&old, &new);
            assert_eq!(
                (old.join(" "), new.join(" ")),
                (expected_old.to_owned(), expected_new.to_owned())
            );
        }
    }
}
