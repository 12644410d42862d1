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
