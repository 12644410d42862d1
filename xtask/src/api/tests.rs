//! The lines of the list, and the changes between two lists.

use super::changes;
use super::surface::list;
use crate::sources::Sources;

const FACADE: &str = r#"
pub mod prelude;
pub use mcp_core as core;
#[cfg(feature = "client")]
pub use mcp_core::{Queue, far};
pub use mcp_core::{list, made};
#[doc(hidden)]
pub use mcp_core::Full;
"#;

const LIB: &str = r#"
mod queue;
mod list { pub fn list() {} #[macro_export] macro_rules! made { () => {} } }
mod made { pub struct Inner; }
pub use list::list;
#[doc(hidden)]
pub mod inside;
pub use queue::{Queue, Full as Crowded, Hold, Made};
pub use serde::Serialize;
#[cfg(feature = "client")]
pub mod far {
    pub const LIMIT: usize = 3;
    pub const LEAST: usize = 1;
    pub const NAME: &str = "x";
}
pub async fn fetch<T: Send>(mut from: &'static str, _: (u8, T)) -> Result<Vec<T>, Full> where T: Copy {}
#[cfg(test)]
pub mod tests {}
impl Queue<u8> { #[cfg(unix)] pub fn bytes(&self) {} }
"#;

const QUEUE: &str = "
pub use std::vec::Vec as Inner;
#[derive(Debug)]
#[non_exhaustive]
pub struct Queue<T> {
    /// The entries.
    pub entries: Vec<T>,
    secret: u8,
}
impl<T> Queue<T> {
    pub const MAX: usize = 9;
    pub const fn new() -> Self { todo() }
    pub fn first<U: a::B>(&self) -> U { todo() }
    pub fn last<U: a::B>(&self) -> U { todo() }
    /// Adds one.
    pub fn add(mut self, entry: T) -> Self { self }
    pub(crate) fn inner(&self) {}
    #[doc(hidden)]
    pub fn odd(&self) {}
    setters! { size, title }
}
impl<T> Clone for Queue<T> { fn clone(&self) -> Self { loop {} } }
pub enum Full { Up, Down(u8), Side { by: u8 } }
pub trait Hold: Send + Sync { type Of: Copy; type Any; fn hold(&self) -> Self::Of; fn drop(&mut self) {} }
text_enum! { /// Made by a macro.
    pub enum Made { One = \"one\", Two = \"two\" } }
struct Private;
#[macro_export]
macro_rules! queue { () => {} }
";

const LISTED: &str = r#"# mcp
const Queue<T>::MAX: usize  [feature = "client"]
const far::NAME: &str  [feature = "client"]
const far::{LEAST, LIMIT}: usize  [feature = "client"]
const fn Queue<T>::new() -> Self  [feature = "client"]
fn Queue<T>::add(self, entry: T) -> Self  [feature = "client"]
fn Queue<T>::{first, last}<U: a::B>(&self) -> U  [feature = "client"]
fn Queue<u8>::bytes(&self)  [unix]  [feature = "client"]
fn list()
in Queue<T>: setters!(size, title)  [feature = "client"]
macro made!
struct Queue<T> { entries: Vec<T>, .. } …  [feature = "client"]
use in crate: mcp_core as core
use in prelude: Hold as _, Queue

# mcp-core
async fn fetch<T: Send>(from: &'static str, _: (u8, T)) -> Result<Vec<T>, Full> where T: Copy
enum Crowded { Up, Down(u8), Side { by: u8 } }
enum Made { One, Two }
fn Hold::drop(&mut self) { … }
fn Hold::hold(&self) -> Self::Of
macro queue!
trait Hold: Send + Sync { type Of: Copy; type Any }
use in crate: serde::Serialize

"#;

#[test]
fn list_has_a_line_for_every_public_item() {
    let sources = Sources::from_texts(&[
        ("mcp/src/lib.rs", FACADE),
        (
            "mcp/src/prelude.rs",
            "pub use crate::Queue; pub use mcp_core::Hold as _;",
        ),
        ("mcp-core/src/lib.rs", LIB),
        ("mcp-core/src/queue.rs", QUEUE),
        ("mcp-core/src/inside.rs", "pub fn odd() {}"),
        ("mcp-core/src/unused.rs", "pub fn odd() {}"),
        ("mcp-core/tests/it/main.rs", "pub fn test() {}"),
        ("xtask/src/lib.rs", "pub fn tool() {}"),
    ]);
    assert_eq!(list(&sources), LISTED);
}

#[test]
fn changes_name_the_library() {
    let stored = "# a\nfn one()\nfn two()\n\n# b\nfn one()\n";
    let now = "# a\nfn one()\nfn two(x: u8)\n\n# b\nfn one()\nfn three()\n";
    assert_eq!(
        changes(stored, now),
        ["- a: fn two()", "+ a: fn two(x: u8)", "+ b: fn three()"]
    );
    assert!(changes(now, now).is_empty());
}
