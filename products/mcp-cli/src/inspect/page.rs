//! The files of the page, embedded in the program.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};

use crate::page_guard;

macro_rules! files {
    ($($name:literal,)*) => {
        /// The files by name.
        const FILES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("page/", $name))),)*
        ];
    };
}

files! {
    "index.html",
    "style.css",
    "start.js",
    "main.js",
    "backend.js",
    "json.js",
    "dom.js",
    "forms.js",
    "contents.js",
    "palette.js",
    "catalog.js",
    "server.js",
    "tools.js",
    "prompts.js",
    "resources.js",
    "questions.js",
    "apps.js",
    "skills.js",
    "tasks.js",
    "changes.js",
    "login.js",
    "logs.js",
    "protocol.js",
    "message.js",
    "copies.js",
}

/// The reference to the style sheet in the page.
const STYLE: &str = r#"<link rel="stylesheet" href="page/style.css">"#;

/// Returns the page with its style sheet inside: a second request would delay the first paint. Its only script loads the
/// other scripts after the first paint.
pub(super) fn index(nonce: &str) -> String {
    let style = format!("<style nonce=\"{nonce}\">\n{}</style>", text("style.css"));
    text("index.html").replace(STYLE, &style)
}

/// Returns the text of a file, which is empty if there is no such file.
fn text(wanted: &str) -> &'static str {
    let file = FILES.iter().find(|(name, _)| *name == wanted);
    file.map_or("", |(_, text)| *text)
}

/// Returns a file of the page.
pub(super) fn file(name: &str) -> Response {
    match FILES.iter().find(|(known, _)| *known == name) {
        Some((name, text)) => page_guard::file(name, *text),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::{FILES, STYLE, index, text};

    #[test]
    fn page_has_its_style_inside() {
        let page = index("abc");
        assert!(page.contains("<style nonce=\"abc\">\n:root {"));
        assert!(!page.contains(STYLE));
    }

    /// A script or style sheet in the page would delay its first paint.
    #[test]
    fn page_refers_to_its_first_script_only() {
        let page = text("index.html");
        let references = page.matches("\"page/").count();
        assert_eq!(references, 2, "the style sheet and the script");
        assert!(page.contains(r#"<script type="module" src="page/start.js"></script>"#));
        assert!(!text("start.js").contains("\nimport "));
    }

    /// Modules that are not preloaded are loaded one after the other.
    #[test]
    fn every_module_is_preloaded() {
        let start = text("start.js");
        let modules = FILES.iter().filter(|(name, _)| name.ends_with(".js"));
        for (name, _) in modules.filter(|(name, _)| *name != "start.js") {
            assert!(start.contains(&format!("\"{name}\"")), "{name}");
        }
    }

    /// The links are in the page before `main.js` is loaded, which shows the views.
    #[test]
    fn page_has_a_link_to_every_view() {
        let (_, views) = text("main.js").split_once("const VIEWS = {").unwrap();
        let (views, _) = views.split_once('}').unwrap();
        let links = text("index.html").split("<a href=\"#").skip(1);
        let links: Vec<&str> = links.map(|link| link.split('"').next().unwrap()).collect();
        assert_eq!(links.join(", "), views.trim());
        for view in links {
            let link = format!("<a href=\"#{view}\" data-view=\"{view}\">");
            assert!(text("index.html").contains(&link), "{view}");
        }
    }
}
