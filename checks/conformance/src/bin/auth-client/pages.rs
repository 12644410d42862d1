//! The pages of a login, without a browser: follows redirects, and fills in and sends forms.

use std::collections::BTreeMap;
use std::error::Error;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderMap, Request};
use http_body_util::BodyExt as _;
use mcp::HttpClient;
use mcp::auth::AuthError;
use tower::ServiceExt as _;
use url::{Url, form_urlencoded};

/// Largest number of pages in a login.
const MAX_PAGES: usize = 30;

/// Opens `page` and logs in. Returns after the last page: the one without a form.
pub(crate) async fn log_in(page: String) -> Result<(), AuthError> {
    let failed = |error: Failure| AuthError::Redirect(format!("the login failed: {error}"));
    Browser::default().visit(&page).await.map_err(failed)
}

type Failure = Box<dyn Error + Send + Sync>;

/// The cookies of one user. All servers are at the same host.
#[derive(Default)]
struct Browser {
    cookies: BTreeMap<String, String>,
}

impl Browser {
    async fn visit(&mut self, page: &str) -> Result<(), Failure> {
        let http = HttpClient::new()?;
        let mut url = Url::parse(page)?;
        let mut form: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let request = match form.take() {
                Some(form) => Request::post(url.as_str())
                    .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                    .header(COOKIE, self.header())
                    .body(Bytes::from(form))?,
                None => Request::get(url.as_str())
                    .header(COOKIE, self.header())
                    .body(Bytes::new())?,
            };
            let response = http.clone().oneshot(request).await?;
            self.keep_cookies(response.headers());
            let status = response.status();
            if status.is_redirection() {
                let location = response.headers().get(LOCATION);
                let location = location.ok_or("a redirect has no location")?;
                url = url.join(location.to_str()?)?;
                continue;
            }
            let body = response.into_body().collect().await?.to_bytes();
            let html = String::from_utf8_lossy(&body);
            if !status.is_success() {
                return Err(format!("{} answers {status}: {html}", url.path()).into());
            }
            let Some(next) = Form::find(&html) else {
                return Ok(());
            };
            url = url.join(&next.action)?;
            form = Some(next.encode());
        }
        Err("the login has too many pages".into())
    }

    fn header(&self) -> String {
        let pairs = self.cookies.iter();
        let pairs: Vec<String> = pairs
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.join("; ")
    }

    fn keep_cookies(&mut self, headers: &HeaderMap) {
        for cookie in headers.get_all(SET_COOKIE) {
            let pair = cookie.to_str().ok().and_then(|text| text.split(';').next());
            match pair.and_then(|pair| pair.split_once('=')) {
                Some((name, "")) => {
                    self.cookies.remove(name);
                }
                Some((name, value)) => {
                    self.cookies.insert(name.to_owned(), value.to_owned());
                }
                None => {}
            }
        }
    }
}

/// A form of a page.
struct Form {
    action: String,
    fields: Vec<(String, String)>,
}

impl Form {
    /// Finds the first form. Empty fields get a value.
    fn find(html: &str) -> Option<Self> {
        let start = html.find("<form")?;
        let form = &html[start..];
        let form = &form[..form.find("</form>")?];
        let action = attribute(form, "action")?;
        let inputs = form.split("<input").skip(1);
        let fields = inputs.filter_map(|input| {
            let input = &input[..input.find('>')?];
            let value = attribute(input, "value").unwrap_or_else(|| "ada".to_owned());
            Some((attribute(input, "name")?, value))
        });
        Some(Self {
            action,
            fields: fields.collect(),
        })
    }

    fn encode(&self) -> String {
        form_urlencoded::Serializer::new(String::new())
            .extend_pairs(&self.fields)
            .finish()
    }
}

/// Returns the value of the first attribute with this name.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let pattern = format!(" {name}=\"");
    let rest = &tag[tag.find(&pattern)? + pattern.len()..];
    let value = &rest[..rest.find('"')?];
    Some(value.replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::Form;

    #[test]
    fn form_is_found_with_its_fields() {
        let html = r#"<p><form id="f" method="post" action="/a?b&amp;c">
            <input type="hidden" name="xsrf" value="1"/>
            <input required name="login" placeholder="x" ></form><input name="other">"#;
        let form = Form::find(html).unwrap();
        assert_eq!(form.action, "/a?b&c");
        assert_eq!(form.encode(), "xsrf=1&login=ada");
        assert!(Form::find("<p>done").is_none());
    }
}
