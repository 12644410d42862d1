//! [`CallResponse`]: the response of a server to one request.

use mcp_core::ResultBody;
use mcp_types::{CallToolResult, GetPromptResult, InputRequired, RawObject, ReadResourceResult};

use crate::call::{ActiveCall, CallStep};
use crate::error::Error;
use crate::prepared::PreparedCall;

/// The response of a server to one request. Returned by [`PreparedCall::response`].
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a result has three kinds")]
pub enum CallResponse<T> {
    /// The result.
    Done(T),
    /// The server requires input. [`PreparedCall::resume`] continues the call.
    Required(InputRequired),
    /// A result of an extension, such as a task. The server sends it if the call
    /// [declares](PreparedCall::capabilities) the extension.
    Extended {
        /// The `resultType`, such as `task`.
        result_type: Box<str>,
        /// The result as the server has sent it.
        body: RawObject,
    },
}

impl<T> PreparedCall<'_, T> {
    /// Sends one request and returns the response as it is: input requests are not answered, and a task is not
    /// followed. For gateways, which pass all of it on.
    ///
    /// # Errors
    ///
    /// Returns any error of a call.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::client::CallResponse;
    ///
    /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
    /// match client.call("render", ()).response().await? {
    ///     CallResponse::Done(result) => println!("{}", result.text()),
    ///     CallResponse::Extended { result_type, .. } => println!("a {result_type}"),
    ///     _ => println!("the server requires input"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn response(self) -> Result<CallResponse<T>, Error> {
        // Lists have neither input requests nor results of extensions.
        if self.is_paginated() {
            return self.run().await.map(CallResponse::Done);
        }
        let read = self.reader();
        let mut call: ActiveCall<'_> = self.returning_extended().activate()?;
        Ok(match call.step().await? {
            CallStep::Done(body) => CallResponse::Done(call.read(body, read)?),
            CallStep::InputRequired(round) => CallResponse::Required(round.required().clone()),
            CallStep::Extended { result_type, body } => {
                CallResponse::Extended { result_type, body }
            }
            CallStep::Task(task) => CallResponse::Extended {
                result_type: mcp_types::ext::tasks::RESULT_TYPE.into(),
                body: RawObject::from_value(&*task)
                    .map_err(|error| call.error(crate::error::ErrorKind::Arguments(error)))?,
            },
        })
    }
}

macro_rules! raw_calls {
    ($($result:ty),*) => {
        $(impl<'a> PreparedCall<'a, $result> {
            /// Makes the call return the result as the server has sent it, without decoding its content, and without
            /// checking it against the output schema of the tool. For gateways, which pass it on.
            ///
            /// # Examples
            ///
            /// ```no_run
            /// use mcp::core::ResultBody;
            ///
            /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
            /// let body: ResultBody = client.call("export", ()).raw().await?;
            /// println!("failed: {}", body.is_tool_error());
            /// # Ok(())
            /// # }
            /// ```
            pub fn raw(self) -> PreparedCall<'a, ResultBody> {
                self.returning_raw()
            }
        })*
    };
}

raw_calls!(CallToolResult, ReadResourceResult, GetPromptResult);
