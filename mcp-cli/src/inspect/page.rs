//! The files of the page, embedded in the program.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

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
    "main.js",
    "backend.js",
    "dom.js",
    "forms.js",
    "contents.js",
    "palette.js",
    "catalogue.js",
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
const STYLE: &str = r#"<link rel="stylesheet" href="/page/style.css">"#;

/// Returns the page with its style sheet inside: the first paint waits for no second request, which takes half of its
/// time on a busy machine.
pub(super) fn index(nonce: &str) -> String {
    let text = |wanted| FILES.iter().find(|(name, _)| *name == wanted);
    let text = |wanted| text(wanted).map_or("", |(_, text)| *text);
    let style = format!("<style nonce=\"{nonce}\">\n{}</style>", text("style.css"));
    text("index.html").replace(STYLE, &style)
}

/// Returns a file of the page.
pub(super) fn file(name: &str) -> Response {
    let Some((name, text)) = FILES.iter().find(|(known, _)| *known == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let kind = match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        _ => "text/html; charset=utf-8",
    };
    ([(header::CONTENT_TYPE, kind)], *text).into_response()
}

#[cfg(test)]
mod tests {
    use super::{FILES, STYLE, index};

    #[test]
    fn page_has_its_style_inside() {
        let page = index("abc");
        assert!(page.contains("<style nonce=\"abc\">\n:root {"));
        assert!(!page.contains(STYLE));
    }

    /// Modules that the page does not preload are loaded one after the other.
    #[test]
    fn every_module_is_preloaded() {
        let (_, page) = FILES
            .iter()
            .find(|(name, _)| *name == "index.html")
            .unwrap();
        for (name, _) in FILES.iter().filter(|(name, _)| name.ends_with(".js")) {
            assert!(page.contains(&format!("\"/page/{name}\"")), "{name}");
        }
    }
}
