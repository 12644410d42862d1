//! Method table: kind, sender, revisions and required capability of each method.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/schema>, `docs/spec/revisions.md` §1.

pub(crate) mod table;

use std::fmt;

use crate::version::ProtocolVersion::{self, V2024_11_05, V2025_06_18, V2025_11_25, V2026_07_28};

/// Kind of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MethodKind {
    /// The message has an id and expects a response.
    Request,
    /// The message is never answered.
    Notification,
}

/// Side that may send a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sender {
    /// Only the client.
    Client,
    /// Only the server.
    Server,
    /// Both sides.
    Both,
}

/// The method table's row.
#[derive(Debug)]
#[non_exhaustive]
pub struct MethodSpec {
    method: Method,
    name: &'static str,
    /// Request or notification.
    pub kind: MethodKind,
    /// Side that may send the method in the legacy era, or in the only era that defines it.
    pub sender: Sender,
    /// First revision that defines the method.
    since: ProtocolVersion,
    /// Last revision that defines the method.
    until: ProtocolVersion,
    /// Parameter that modern HTTP clients mirror in the header `Mcp-Name`.
    pub name_param: Option<&'static str>,
    /// `true` if complete results carry `ttlMs` and `cacheScope` in the modern era.
    pub cacheable: bool,
    /// `true` if a modern result may request input.
    pub may_require_input: bool,
    /// `true` for methods of official extensions and experimental tasks (2025-11-25), which a
    /// server without them does not have.
    pub of_extension: bool,
}

impl MethodSpec {
    /// Returns `true` if `version` defines the method.
    pub const fn exists_in(&self, version: ProtocolVersion) -> bool {
        version.within(self.since, self.until)
    }

    const fn row(method: Method, name: &'static str, kind: MethodKind, sender: Sender) -> Self {
        Self {
            method,
            name,
            kind,
            sender,
            since: V2024_11_05,
            until: ProtocolVersion::LATEST,
            name_param: None,
            cacheable: false,
            may_require_input: false,
            of_extension: false,
        }
    }

    const fn since(mut self, version: ProtocolVersion) -> Self {
        self.since = version;
        self
    }

    const fn until(mut self, version: ProtocolVersion) -> Self {
        self.until = version;
        self
    }

    const fn legacy(self) -> Self {
        self.until(ProtocolVersion::LATEST_LEGACY)
    }

    const fn named(mut self, param: &'static str) -> Self {
        self.name_param = Some(param);
        self
    }

    const fn cacheable(mut self) -> Self {
        self.cacheable = true;
        self
    }

    const fn may_require_input(mut self) -> Self {
        self.may_require_input = true;
        self
    }

    const fn of_extension(mut self) -> Self {
        self.of_extension = true;
        self
    }
}

/// Defines the enum and its table from the rows.
macro_rules! methods {
    ($($sender:ident {
        $($(#[$doc:meta])* $method:ident($params:ty) = $name:literal, $kind:ident $(. $fact:ident($($value:expr),*))*;)*
    })*) => {
        /// Method of the protocol or an official extension.
        ///
        /// # Examples
        ///
        /// ```
        /// use mcp::types::Method;
        ///
        /// let method = Method::from_name("tools/call").unwrap();
        /// assert_eq!(method, Method::CallTool);
        /// assert_eq!(method.spec().name_param, Some("name"));
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Method {
            $($($(#[$doc])* $method,)*)*
        }

        impl Method {
            /// All methods.
            pub const ALL: &'static [Self] = &[$($(Self::$method,)*)*];
        }

        /// Rows in the enum's order.
        static TABLE: &[MethodSpec] = &[
            $($(MethodSpec::row(Method::$method, $name, MethodKind::$kind, Sender::$sender)$(.$fact($($value),*))*,)*)*
        ];
    };
}

table::method_table!(methods);

impl Method {
    /// Returns the table's row.
    pub const fn spec(self) -> &'static MethodSpec {
        &TABLE[self as usize]
    }

    /// Returns the name of the method in messages.
    pub const fn as_str(self) -> &'static str {
        self.spec().name
    }

    /// Returns the method with the given name.
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE
            .iter()
            .find(|spec| spec.name == name)
            .map(|spec| spec.method)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::{Method, MethodKind};
    use crate::version::ProtocolVersion;

    #[test]
    fn row_for_a_method_has_its_name_and_kind() {
        for method in Method::ALL {
            assert_eq!(method.spec().method, *method);
            assert_eq!(Method::from_name(method.as_str()), Some(*method));
            let is_note = method.as_str().starts_with("notifications/");
            assert_eq!(
                method.spec().kind == MethodKind::Notification,
                is_note,
                "{method}"
            );
        }
        assert_eq!(Method::from_name("Tools/call"), None);
    }

    #[test]
    fn method_count_depends_on_revision() {
        let count = |version| {
            Method::ALL
                .iter()
                .filter(|method| method.spec().exists_in(version))
                .count()
        };
        assert_eq!(
            ProtocolVersion::ALL.map(count),
            [
                8 + 7 + 3 + 2 + 2 + 3,
                15 + 13 + 3 - 2 + 2 + 3,
                15 + 9 + 1 + 3,
                15 + 9 + 3,
                15 + 9 + 3
            ],
        );
    }
}
