//! Owned messages: all requests, notifications and responses of a side, typed by their method.
//!
//! Programs between clients and servers read, edit and write them. Servers and clients use the borrowed
//! [`Message`], which does not interpret parameters.
//!
//! What reads and writes parameters of every type is `#[inline]`, so that it is compiled in the programs that use
//! it (docs/decisions/0165-code-compiled-where-it-is-called.md).

mod lossless;
mod patch;

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use lossless::Lossless;

use crate::elicitation::{ElicitParams, ElicitationComplete};
use crate::ext::tasks::{Task, UpdateTaskParams};
use crate::jsonrpc::{ErrorObject, Message, ParseError, RequestId};
use crate::legacy_tasks::{LegacyTask, TaskParams};
use crate::logging::{LogMessage, SetLevelParams};
use crate::method::{Method, table::method_table};
use crate::raw::{RawJson, RawObject};
use crate::resources::{ReadResourceParams, ResourceUpdated, SubscribeParams};
use crate::subscriptions::{ListenParams, SubscriptionAcknowledged};
use crate::{
    cancellation::Cancelled, completion::CompleteParams, de::without_position, extra::JsonObject,
    lifecycle::InitializeParams, meta::Meta, page::Page, progress::ProgressParams,
    prompts::GetPromptParams, sampling::CreateMessageParams, tools::CallToolParams,
};

/// A message as JSON.
#[derive(Default, Serialize)]
struct Members<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RequestId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<RawObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<RawObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorObject>,
}

/// Returns the error for an object that cannot be read, or that is another kind of value.
/// Refuses arguments of which a program between client and server would read another member than the server.
///
/// # Errors
///
/// Returns [`ParseError::Invalid`] with the member's name.
fn refuse_repeated(id: &RequestId, arguments: Option<RawJson<'_>>) -> Result<(), ParseError> {
    let Some(name) = arguments.and_then(RawJson::repeated_member) else {
        return Ok(());
    };
    Err(ParseError::Invalid {
        id: Some(id.clone()),
        reason: format!(
            "a member of `params.arguments` comes twice: {}",
            crate::escape::escape_line(&name)
        )
        .into(),
    })
}

fn unreadable(id: Option<&RequestId>, name: &str, error: &serde_json::Error) -> ParseError {
    ParseError::Invalid {
        id: id.cloned(),
        reason: format!("`{name}`: {}", without_position(error)).into(),
    }
}

fn read_result(id: &RequestId, result: RawJson<'_>) -> Result<Lossless<JsonObject>, ParseError> {
    let object = RawObject::from_raw(result).map_err(serde::de::Error::custom);
    object
        .and_then(Lossless::read)
        .map_err(|error| unreadable(Some(id), "result", &error))
}

/// Defines the unions of both sides from the method table's rows.
macro_rules! unions {
    (Client { $($client:tt)* } Server { $($server:tt)* } Both { $($both:tt)* }) => {
        messages! {
            /// A client message, owned and typed by its method: a request, a notification, or an answer to a
            /// server request.
            ///
            /// Programs between clients and servers (proxies, gateways, recorders) edit it in place. Unknown methods,
            /// unknown members, their order and the digits of numbers survive, see [`Lossless`]. Members beside
            /// those of JSON-RPC are dropped.
            ///
            /// `serde_json::to_string` writes the message.
            ///
            /// # Examples
            ///
            /// ```
            /// use mcp::types::{ClientMessage, ClientParams};
            ///
            /// let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"math_add","x":1.50}}"#;
            /// let mut message = ClientMessage::parse(text.as_bytes())?;
            /// if let ClientMessage::Request { params: ClientParams::CallTool(call), .. } = &mut message {
            ///     call.name = call.name.replace("math_", "");
            /// }
            /// if let Some(meta) = message.meta_mut() {
            ///     meta.insert("com.example/proxy", true);
            /// }
            /// assert_eq!(
            ///     serde_json::to_string(&message)?,
            ///     r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","x":1.50,"_meta":{"com.example/proxy":true}}}"#,
            /// );
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ClientMessage,
            /// Parameters of a client request or notification, typed by the method.
            ClientParams;
            $($client)* $($both)*
        }
        messages! {
            /// A server message, owned and typed by its method: a response, a notification, or a request to the
            /// client.
            ///
            /// It is the counterpart of [`ClientMessage`]. A response does not say which method it answers: a program
            /// that forwards messages remembers the methods by request id, and edits the result with
            /// [`Lossless::edit`].
            ///
            /// # Examples
            ///
            /// ```
            /// use mcp::types::{CallToolResult, ContentBlock, ServerMessage};
            ///
            /// let text = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"token: 4711"}]}}"#;
            /// let mut message = ServerMessage::parse(text.as_bytes())?;
            /// if let ServerMessage::Response { result, .. } = &mut message {
            ///     result.edit(|result: &mut CallToolResult| {
            ///         for block in &mut result.content {
            ///             if let ContentBlock::Text(content) = block {
            ///                 content.text = content.text.replace("4711", "[redacted]");
            ///             }
            ///         }
            ///     })?;
            /// }
            /// assert!(!serde_json::to_string(&message)?.contains("4711"));
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ServerMessage,
            /// Parameters of a server request or notification, typed by the method.
            ServerParams;
            $($server)* $($both)*
        }
    };
}

macro_rules! messages {
    (
        $(#[$about:meta])* $message:ident,
        $(#[$about_params:meta])* $params:ident;
        $($(#[$doc:meta])* $method:ident($type:ty) = $name:literal, $kind:ident $(. $fact:ident($($value:expr),*))*;)*
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub enum $message {
            /// A request.
            Request {
                /// The request's id, which its response repeats.
                id: RequestId,
                /// Method and parameters.
                params: $params,
            },
            /// A notification.
            Notification {
                /// Method and parameters.
                params: $params,
            },
            /// A response with a result.
            Response {
                /// The request's id.
                id: RequestId,
                /// The result. The method of the request determines its type.
                result: Lossless<JsonObject>,
            },
            /// A response with an error.
            Error {
                /// The request's id. `None` if the peer could not read it.
                id: Option<RequestId>,
                /// The error.
                error: ErrorObject,
            },
        }

        impl $message {
            /// Parses one message with the rules of [`Message::parse`].
            ///
            /// # Errors
            ///
            /// Returns [`ParseError`] if the bytes are not a valid message, the result is not an object, a member occurs
            /// twice in `params.arguments`, or the parameters or the result have more than 128 levels where a type reads
            /// them.
            #[inline]
            pub fn parse(text: &[u8]) -> Result<Self, ParseError> {
                let (message, has_params) = Message::parse_with_presence(text)?;
                match message {
                    Message::Request(request) => {
                        refuse_repeated(&request.id, request.params.get("arguments"))?;
                        let raw = has_params.then(|| request.params.to_object());
                        let params = $params::read(&request.method, raw)
                            .map_err(|error| unreadable(Some(&request.id), "params", &error))?;
                        Ok(Self::Request { id: request.id, params })
                    }
                    Message::Notification(notification) => {
                        let raw = has_params.then(|| notification.params.to_object());
                        let params = $params::read(&notification.method, raw)
                            .map_err(|error| unreadable(None, "params", &error))?;
                        Ok(Self::Notification { params })
                    }
                    Message::Response(response) => match (response.outcome, response.id) {
                        (Ok(result), Some(id)) => {
                            Ok(Self::Response { result: read_result(&id, result)?, id })
                        }
                        (Err(error), id) => Ok(Self::Error { id, error }),
                        // The parser refuses it.
                        (Ok(_), None) => Err(ParseError::Invalid { id: None, reason: "a result needs an `id`".into() }),
                    },
                }
            }

            /// Returns the method of a request or notification.
            pub fn method(&self) -> Option<&str> {
                match self {
                    Self::Request { params, .. } | Self::Notification { params } => Some(params.method()),
                    Self::Response { .. } | Self::Error { .. } => None,
                }
            }

            /// Returns the request id, or the id that a response repeats.
            pub fn id(&self) -> Option<&RequestId> {
                match self {
                    Self::Request { id, .. } | Self::Response { id, .. } => Some(id),
                    Self::Error { id, .. } => id.as_ref(),
                    Self::Notification { .. } => None,
                }
            }

            /// Returns `_meta` of the parameters or the result. An error has none.
            pub fn meta(&self) -> Option<&Meta> {
                match self {
                    Self::Request { params, .. } | Self::Notification { params } => Some(params.meta()),
                    Self::Response { result, .. } => Some(result.meta()),
                    Self::Error { .. } => None,
                }
            }

            /// Returns `_meta` of the parameters or the result to edit it. An error has none.
            pub fn meta_mut(&mut self) -> Option<&mut Meta> {
                match self {
                    Self::Request { params, .. } | Self::Notification { params } => Some(params.meta_mut()),
                    Self::Response { result, .. } => Some(result.meta_mut()),
                    Self::Error { .. } => None,
                }
            }
        }

        impl Serialize for $message {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut members = Members { jsonrpc: "2.0", ..Members::default() };
                members.id = self.id();
                members.method = self.method();
                match self {
                    Self::Request { params, .. } | Self::Notification { params } => {
                        members.params = params.to_raw().map_err(S::Error::custom)?;
                    }
                    Self::Response { result, .. } => {
                        members.result = Some(result.to_raw().map_err(S::Error::custom)?);
                    }
                    Self::Error { error, .. } => members.error = Some(error),
                }
                members.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $message {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let object = RawObject::deserialize(deserializer)?;
                Self::parse(object.as_str().as_bytes()).map_err(D::Error::custom)
            }
        }

        #[cfg(feature = "schemars")]
        impl schemars::JsonSchema for $message {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($message).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let methods = [$((Method::$method, generator.subschema_for::<$type>()),)*];
                crate::json_schema::message(&methods, generator)
            }
        }

        $(#[$about_params])*
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub enum $params {
            $($(#[$doc])* $method(Lossless<$type>),)*
            /// A method that this crate does not know, or parameters that are not valid for their method.
            Other {
                /// The method's name.
                method: String,
                /// The parameters.
                params: Lossless<JsonObject>,
            },
        }

        impl $params {
            #[inline]
            fn read(method: &str, raw: Option<RawObject>) -> serde_json::Result<Self> {
                let known = match Method::from_name(method) {
                    $(Some(Method::$method) => read_known(raw.as_ref()).map(Self::$method),)*
                    _ => None,
                };
                if let Some(known) = known {
                    return Ok(known);
                }
                let params = raw.map(Lossless::read).transpose()?;
                Ok(Self::Other {
                    method: method.to_owned(),
                    params: params.unwrap_or_else(|| JsonObject::new().into()),
                })
            }

            #[inline]
            fn to_raw(&self) -> serde_json::Result<Option<RawObject>> {
                match self {
                    $(Self::$method(params) => write_known(params),)*
                    Self::Other { params, .. } => write_known(params),
                }
            }

            /// Returns the method's name.
            pub fn method(&self) -> &str {
                match self {
                    $(Self::$method(_) => Method::$method.as_str(),)*
                    Self::Other { method, .. } => method,
                }
            }

            fn meta(&self) -> &Meta {
                match self {
                    $(Self::$method(params) => params.meta(),)*
                    Self::Other { params, .. } => params.meta(),
                }
            }

            fn meta_mut(&mut self) -> &mut Meta {
                match self {
                    $(Self::$method(params) => params.meta_mut(),)*
                    Self::Other { params, .. } => params.meta_mut(),
                }
            }
        }
    };
}

/// Reads parameters. Absent ones have no members. Returns `None` if they are not valid for their type.
fn read_known<T>(raw: Option<&RawObject>) -> Option<Lossless<T>>
where
    T: Serialize + DeserializeOwned,
{
    match raw {
        Some(raw) => Lossless::read(raw.clone()).ok(),
        None => RawObject::default().parse::<T>().ok().map(Lossless::from),
    }
}

/// Writes parameters. Returns `None` if they were absent and still have no members.
fn write_known<T>(params: &Lossless<T>) -> serde_json::Result<Option<RawObject>>
where
    T: Serialize + DeserializeOwned,
{
    let raw = params.to_raw()?;
    Ok((!params.is_own() || raw.as_str() != "{}").then_some(raw))
}

method_table!(unions);
