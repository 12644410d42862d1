//! Resources and URI templates with typed variables, and a client that reads them.
//!
//! `cargo run -p examples --bin resources`

#![allow(clippy::print_stdout, reason = "example output")]

use mcp::prelude::*;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Books with their pages.
struct Library {
    books: Vec<(&'static str, &'static [&'static str])>,
}

/// A small library.
#[mcp::server]
impl Library {
    /// All books.
    #[resource("library://catalog", cache = "5m public")]
    fn catalog(&self) -> Json<Vec<&'static str>> {
        Json(self.books.iter().map(|(title, _)| *title).collect())
    }

    /// A picture of the building.
    #[resource("library://picture", mime_type = "image/gif")]
    fn picture(&self) -> Vec<u8> {
        b"GIF89a".to_vec()
    }

    /// A book by its number.
    #[resource("library://books/{number}")]
    fn book(&self, number: usize) -> Option<Json<Value>> {
        let (title, pages) = self.books.get(number)?;
        Some(Json(json!({"title": title, "pages": pages.len()})))
    }

    /// A page of a book.
    #[resource("library://books/{number}/{page}", mime_type = "text/plain")]
    fn page(&self, number: usize, page: usize) -> Result<&'static str, NotFound> {
        let (_, pages) = self.books.get(number).ok_or(NotFound)?;
        pages.get(page).copied().ok_or(NotFound)
    }

    /// A file in `notes/`. URIs with `..` or an absolute path do not match.
    #[resource("library://notes/{+path}", mime_type = "text/markdown")]
    async fn note(&self, path: String) -> Result<String, ResourceError> {
        match std::fs::read_to_string(std::path::Path::new("notes").join(&path)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(NotFound.into()),
            read => Ok(read?),
        }
    }

    #[completion(template = "library://books/{number}", argument = "number")]
    fn numbers(&self, prefix: &str) -> Vec<String> {
        let numbers = (0..self.books.len()).map(|number| number.to_string());
        numbers
            .filter(|number| number.starts_with(prefix))
            .collect()
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let books: Vec<(_, &[_])> = vec![
        ("Alice", &["Down the rabbit hole", "The pool of tears"]),
        ("Emma", &["Handsome, clever, and rich"]),
    ];
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(mcp::serve_http(Library { books }, listener));

    let client = Client::connect(&url).await?;
    for resource in client.list_resources().await? {
        println!("resource {}", resource.uri);
    }
    for template in client.list_resource_templates().await? {
        println!("template {}", template.uri_template);
    }
    for uri in [
        "library://catalog",
        "library://picture",
        "library://books/0",
        "library://books/0/1",
        "library://books/7",
        "library://books/first",
        "library://notes/../Cargo.toml",
    ] {
        match client.read_resource(uri).await {
            Ok(result) => println!("{uri}: {}", json!(result.contents)),
            Err(error) => println!("{uri}: {error}"),
        }
    }
    Ok(())
}
