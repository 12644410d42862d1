//! What is in the list, and what has changed in it.

use super::{changes, list};
use crate::tidy::source::Sources;

const LIB: &str = r#"
mod shelf;
pub mod prelude;
#[doc(hidden)]
pub mod inside;
pub use shelf::{Shelf, Full as Crowded};
#[cfg(feature = "client")]
pub mod far {
    pub const LIMIT: usize = 3;
}
pub async fn fetch<T: Send>(mut from: &'static str, _: (u8, T)) -> Result<Vec<T>, Full> where T: Copy {}
#[cfg(test)]
pub mod tests {}
"#;

const SHELF: &str = "
pub use std::vec::Vec as Inner;
#[derive(Debug)]
#[non_exhaustive]
pub struct Shelf<T> {
    /// How many.
    pub books: Vec<T>,
    secret: u8,
}
impl<T> Shelf<T> {
    pub const MAX: usize = 9;
    /// Adds one.
    pub fn add(mut self, book: T) -> Self { self }
    pub(crate) fn inner(&self) {}
    #[doc(hidden)]
    pub fn odd(&self) {}
    setters! { size, title }
}
impl<T> Clone for Shelf<T> { fn clone(&self) -> Self { loop {} } }
pub enum Full { Up, Down(u8), Side { by: u8 } }
pub trait Hold: Send + Sync { type Of: Copy; fn hold(&self) -> Self::Of; fn drop(&mut self) {} }
struct Private;
";

const LISTED: &str = r#"# mcp-core
Full::Down(u8)
Full::Side { by: u8 }
Full::Up
Shelf.books: Vec<T>
async fn fetch<T: Send>(from: &'static str, _: (u8, T)) -> Result<Vec<T>, Full> where T: Copy
const LIMIT: usize
const Shelf<T>::MAX: usize
enum Full
fn Hold::drop(&mut self) { … }
fn Hold::hold(&self) -> Self::Of
fn Shelf<T>::add(self, book: T) -> Self
in Shelf<T>: setters!(size, title)
mod far  [feature = "client"]
mod prelude
prelude: use crate::Shelf as _
struct Shelf<T> …
trait Hold: Send + Sync
type Hold::Of: Copy
use shelf::Full as Crowded
use shelf::Shelf
"#;

#[test]
fn every_public_name_has_a_line() {
    let sources = Sources::from_texts(&[
        ("mcp-core/src/lib.rs", LIB),
        ("mcp-core/src/shelf.rs", SHELF),
        ("mcp-core/src/prelude.rs", "pub use crate::{Shelf as _};"),
        ("mcp-core/src/inside.rs", "pub fn odd() {}"),
        ("mcp-core/src/inside/deep.rs", "pub fn odder() {}"),
        ("mcp-core/tests/it/main.rs", "pub fn test() {}"),
        ("xtask/src/lib.rs", "pub fn tool() {}"),
    ]);
    let text = list(&sources);
    assert!(text.contains(LISTED), "{text}");
    for absent in [
        "odd", "fn test", "fn tool", "inner", "Inner", "Private", "secret",
    ] {
        assert!(!text.contains(absent), "{absent} in {text}");
    }
}

#[test]
fn changes_are_told_with_their_library() {
    let kept = "# a\nfn one()\nfn two()\n\n# b\nfn one()\n";
    let now = "# a\nfn one()\nfn two(x: u8)\n\n# b\nfn one()\nfn three()\n";
    assert_eq!(
        changes(kept, now),
        ["- a: fn two()", "+ a: fn two(x: u8)", "+ b: fn three()"]
    );
    assert!(changes(now, now).is_empty());
}
