//! What else belongs to a request.

use std::any::Any;
use std::cell::Cell;

use http::HeaderMap;
use http::request::Parts;

/// What the transport and its layers know of a request, found by type: the head of the HTTP request
/// as [`http::request::Parts`], what layers of the web server have inserted into that, and what
/// layers of the SDK insert here.
///
/// # Examples
///
/// ```
/// use http::request::Parts;
/// use mcp_core::Extensions;
///
/// let (mut head, ()) = http::Request::new(()).into_parts();
/// head.extensions.insert("of a layer");
/// let mut extensions = Extensions::from(Box::new(head));
/// extensions.insert(7_u8);
/// assert_eq!(extensions.get(), Some(&"of a layer"));
/// assert_eq!(extensions.get(), Some(&7_u8));
/// assert!(extensions.get::<Parts>().is_some());
/// ```
// The head has a place of its own: it is in every request, and need not be moved or hashed.
#[derive(Clone, Debug, Default)]
pub struct Extensions {
    head: Head,
    own: http::Extensions,
}

/// The head of a request, which leaves the room of its headers to an answer.
#[derive(Clone, Debug, Default)]
struct Head(Option<Box<Parts>>);

/// Larger maps are not kept.
const MOST_SPARE: usize = 64;

thread_local! {
    static SPARE: Cell<Option<HeaderMap>> = const { Cell::new(None) };
}

/// An empty map for the headers of an answer: the one of a request that is over on this thread, if
/// there is one. The web server in turn keeps it for its next request, so that none of them costs
/// an allocation.
#[doc(hidden)]
pub fn spare_headers() -> HeaderMap {
    SPARE.take().unwrap_or_default()
}

impl Drop for Head {
    fn drop(&mut self) {
        let Some(head) = self.0.as_mut() else { return };
        let mut headers = std::mem::take(&mut head.headers);
        if headers.capacity() <= MOST_SPARE {
            headers.clear();
            // A thread that ends keeps nothing.
            let _ = SPARE.try_with(|spare| spare.set(Some(headers)));
        }
    }
}

impl Extensions {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of this type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.of_head().or_else(|| self.own.get()).or_else(|| {
            let head = self.head.0.as_ref()?;
            head.extensions.get()
        })
    }

    /// Inserts a value; returns the one of this type that was there, if it was inserted here.
    pub fn insert<T: Clone + Send + Sync + 'static>(&mut self, value: T) -> Option<T> {
        let mut value = Some(value);
        if let Some(head) = (&mut value as &mut dyn Any).downcast_mut::<Option<Parts>>() {
            return same(std::mem::replace(
                &mut self.head.0,
                head.take().map(Box::new),
            ));
        }
        self.own.insert(value?)
    }

    /// Takes the value of this type out.
    pub fn remove<T: Send + Sync + 'static>(&mut self) -> Option<T> {
        if self.of_head::<T>().is_some() {
            return same(self.head.0.take());
        }
        let own = self.own.remove();
        own.or_else(|| self.head.0.as_mut()?.extensions.remove())
    }

    fn of_head<T: 'static>(&self) -> Option<&T> {
        let head: &dyn Any = &**self.head.0.as_ref()?;
        head.downcast_ref()
    }
}

/// The head, if that is what a `T` is.
fn same<T: 'static>(head: Option<Box<Parts>>) -> Option<T> {
    let mut head = head.map(|head| *head);
    (&mut head as &mut dyn Any)
        .downcast_mut::<Option<T>>()?
        .take()
}

/// Of a request over HTTP.
impl From<Box<Parts>> for Extensions {
    fn from(head: Box<Parts>) -> Self {
        Self {
            head: Head(Some(head)),
            own: http::Extensions::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::request::Parts;
    use http::{HeaderValue, Request, header};

    use super::{Extensions, MOST_SPARE, spare_headers};

    fn head(path: &str) -> Parts {
        let request = Request::builder().uri(path).extension("of the head");
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn what_is_inserted_later_comes_first() {
        let mut extensions = Extensions::from(Box::new(head("/a")));
        assert_eq!(extensions.insert("here"), None);
        assert_eq!(extensions.get(), Some(&"here"));
        assert_eq!(extensions.insert("again"), Some("here"));
        assert_eq!(extensions.remove::<&str>(), Some("again"));
        assert_eq!(extensions.remove::<&str>(), Some("of the head"));
        assert_eq!(extensions.remove::<&str>(), None);
    }

    #[test]
    fn headers_leave_their_room_and_nothing_else() {
        let _ = spare_headers();
        assert_eq!(spare_headers().capacity(), 0);
        let mut with_secret = head("/a");
        let value = HeaderValue::from_static("secret");
        with_secret.headers.insert(header::AUTHORIZATION, value);
        drop(Extensions::from(Box::new(with_secret)));
        let spare = spare_headers();
        assert!(spare.is_empty() && spare.capacity() > 0);
        assert_eq!(spare_headers().capacity(), 0, "it is given once");

        let mut large = head("/b");
        large.headers.reserve(2 * MOST_SPARE);
        drop(Extensions::from(Box::new(large)));
        assert_eq!(spare_headers().capacity(), 0);

        let mut taken = Extensions::from(Box::new(head("/c")));
        taken.remove::<Parts>().unwrap();
        drop(taken);
        assert_eq!(spare_headers().capacity(), 0);
    }

    #[test]
    fn a_head_can_be_another_one() {
        let mut extensions = Extensions::new();
        assert!(extensions.get::<Parts>().is_none());
        assert!(extensions.insert(head("/a")).is_none());
        let before = extensions.insert(head("/b")).unwrap();
        assert_eq!(before.uri.path(), "/a");
        assert_eq!(extensions.get::<Parts>().unwrap().uri.path(), "/b");
        assert_eq!(extensions.get(), Some(&"of the head"));
        assert!(extensions.remove::<Parts>().is_some());
        assert!(extensions.get::<&str>().is_none());
    }
}
