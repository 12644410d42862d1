//! Rule: types and modules have the names that the specification uses, or that axum, hyper, tower
//! and tokio use for the same thing. The names in the table were used once and misled readers.

use syn::Item;

use crate::finding::Finding;
use crate::modules::{crates, definition};
use crate::sources::Sources;

/// Type names that nobody would search for, with the name to use instead.
const TYPES: [(&str, &str); 30] = [
    ("Book", "`ServerConfig`"),
    ("Catalogue", "`Registry`"),
    ("Live", "`SharedRegistry`"),
    ("Shelf", "`RouteList`"),
    ("Standing", "`RouteScope`"),
    ("Others", "one `match` over the calls"),
    ("MakeOthers", "one `match` over the calls"),
    ("AnyOthers", "one `match` over the calls"),
    ("Door", "`SessionAccess`"),
    ("Way", "`SessionLookup`"),
    ("Guest", "`ConnectionGuard`"),
    ("Signs", "`ConnectionStats`"),
    ("Told", "`ConnectionCommand`, or `Inner` of a subscription"),
    ("Begun", "a future, or a response that is ready"),
    ("Later", "a future, or a response that is ready"),
    ("Answered", "a future, or a response that is ready"),
    ("InPlace", "a future, or a response that is ready"),
    ("Manner", "`ResponseOptions`"),
    ("Leaving", "`OnDisconnect`"),
    ("Lent", "`ListenHooks`"),
    ("Recipient", "`ReplyTarget`"),
    ("Desk", "`StreamTask`"),
    ("Seat", "`SubscriptionPermit`"),
    ("Sight", "`VisibilityFilter`"),
    ("Audience", "`Subscriber`"),
    ("LastWords", "`StderrTail`"),
    ("Bewildered", "`UnexpectedResponse`"),
    ("Board", "`PendingInputs`"),
    ("Slot", "a derived reader, or `ReaderSlot`"),
    ("Piece", "a derived reader"),
];

/// Module names, likewise.
const MODULES: [(&str, &str); 4] = [
    ("peer", "`pending`"),
    ("front", "`modern`"),
    ("kept", "`replay`"),
    ("turns", "`futures_util::lock::Mutex`"),
];

/// Pairs of names for one thing: the first is not used in a crate that has the second.
const PAIRS: [(&str, &str); 1] = [("Refused", "Refusal")];

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for krate in crates(sources) {
        let mut types = Vec::new();
        for module in &krate.modules {
            for item in module.all_items() {
                let path = module.file.path.as_str();
                match item {
                    Item::Mod(it) => {
                        let name = it.ident.to_string();
                        let line = it.ident.span().start().line;
                        findings.extend(retired_module(&name).map(|instead| {
                            Finding::new(path, line, message("module", &name, instead))
                        }));
                    }
                    _ => types.extend(type_name(item).map(|(name, line)| (name, path, line))),
                }
            }
        }
        for (name, path, line) in &types {
            if let Some((_, instead)) = TYPES.iter().find(|(retired, _)| retired == name) {
                findings.push(Finding::new(path, *line, message("type", name, instead)));
            }
            let second = PAIRS.iter().find(|(first, second)| {
                first == name && types.iter().any(|(other, ..)| other == second)
            });
            if let Some((_, second)) = second {
                let instead = format!("`{second}`, which the crate has for the same thing");
                findings.push(Finding::new(path, *line, message("type", name, &instead)));
            }
        }
    }
    findings
}

/// The name and the line of a struct, enum, union, trait or type alias.
pub(crate) fn type_name(item: &Item) -> Option<(String, usize)> {
    let (kind, ident) = definition(item)?;
    let is_type = matches!(kind, "struct" | "enum" | "union" | "trait" | "type");
    is_type.then(|| (ident.to_string(), ident.span().start().line))
}

/// A module may not have a retired name of a type either, in its own spelling.
fn retired_module(name: &str) -> Option<&'static str> {
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|it| it.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    let as_type = words.collect::<String>();
    let modules = MODULES.iter().find(|(retired, _)| *retired == name);
    let types = TYPES.iter().find(|(retired, _)| *retired == as_type);
    modules.or(types).map(|(_, instead)| *instead)
}

fn message(kind: &str, name: &str, instead: &str) -> String {
    format!(
        "the {kind} name `{name}` is a picture, not a term that a reader can search for; use \
         {instead} or the term of the specification"
    )
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;
    use crate::tidy::samples::{lines_of, marked};

    const SAMPLE: &str = r"//! Sample.
pub struct Door; // BAD
enum Others<T> { A(T) } // BAD
trait LastWords {} // BAD
type Slot = u8; // BAD
mod door { // BAD
    struct Seat; // BAD
}
mod last_words {} // BAD
pub mod peer {} // BAD
struct Doorway(Door);
struct Refused;
enum Kind { Door, Seat }
fn desk(live: Door) -> u8 { struct Desk; 1 }
impl Open for Door { type Way = u8; }
mod peers {}
#[cfg(test)]
mod tests { struct Guest; }
";

    #[test]
    fn retired_names_are_findings() {
        let found = lines_of(check, "mcp-core/src/lib.rs", SAMPLE);
        assert_eq!(found, marked(SAMPLE));
    }

    #[test]
    fn second_name_for_one_thing_is_a_finding() {
        let sources = Sources::from_texts(&[
            ("mcp-core/src/lib.rs", "mod a;\npub struct Refusal;\n"),
            ("mcp-core/src/a.rs", "\npub struct Refused;\n"),
            ("mcp-server/src/lib.rs", "pub struct Refused;\n"),
        ]);
        let found: Vec<_> = check(&sources).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("mcp-core/src/a.rs:2: the type name `Refused`")
                && found[0].contains("use `Refusal`"),
            "{}",
            found[0]
        );
    }
}
