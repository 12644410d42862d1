//! Scopes that callers of a route need.

use std::fmt;
use std::sync::Arc;

use mcp_core::{Call, Fault, catch_panic_sync};
use mcp_types::RawObject;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::caller::Caller;

type ScopesForCall = Arc<dyn Fn(&ScopedCall<'_>) -> Vec<String> + Send + Sync>;

/// The scopes that calls of a route need: fixed ones, and those of a function.
#[derive(Clone, Default)]
pub(crate) struct RequiredScopes {
    fixed: Vec<String>,
    for_call: Option<ScopesForCall>,
}

impl RequiredScopes {
    pub(crate) fn add<S: Into<String>>(&mut self, scopes: impl IntoIterator<Item = S>) {
        extend(&mut self.fixed, scopes);
    }

    pub(super) fn set_for_call<S: Into<String>, I: IntoIterator<Item = S>>(
        &mut self,
        scopes: impl Fn(&ScopedCall<'_>) -> I + Send + Sync + 'static,
    ) {
        let scopes = move |call: &ScopedCall<'_>| {
            let scopes = scopes(call).into_iter();
            scopes.map(Into::into).collect()
        };
        self.for_call = Some(Arc::new(scopes));
    }

    /// Returns whether every caller may call the route.
    pub(crate) fn is_empty(&self) -> bool {
        self.fixed.is_empty() && self.for_call.is_none()
    }

    /// Returns the scopes that every call needs.
    pub(crate) fn fixed(&self) -> &[String] {
        &self.fixed
    }

    /// Returns the first scope that a challenge cannot contain.
    // spec: AUTH-S-10
    pub(crate) fn invalid(&self) -> Option<&str> {
        let is_valid = |scope: &str| is_scope(scope) && scope != "offline_access";
        let mut scopes = self.fixed.iter().map(String::as_str);
        scopes.find(|scope| !is_valid(scope))
    }

    /// Returns whether a caller has the fixed scopes. For lists, which have no call of the route.
    pub(crate) fn are_granted_to(&self, caller: &Caller<'_>) -> bool {
        is_exempt(caller) || self.fixed.iter().all(|scope| caller.has_scope(scope))
    }

    /// Checks that a caller has the scopes for a call.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::InsufficientScope`] with all scopes of the call when it has not, and an internal
    /// error when the function panics or returns a scope that cannot be in a challenge.
    // spec: AUTH-S-08
    pub(crate) fn check(&self, call: &Call, caller: &Caller<'_>) -> Result<(), Fault> {
        if self.is_empty() || is_exempt(caller) {
            return Ok(());
        }
        let mut required = self.fixed.clone();
        if let Some(for_call) = &self.for_call {
            extend(&mut required, further(for_call, call, caller)?);
        }
        if required.iter().all(|scope| caller.has_scope(scope)) {
            Ok(())
        } else {
            Err(Fault::InsufficientScope { required })
        }
    }
}

fn further(
    for_call: &ScopesForCall,
    call: &Call,
    caller: &Caller<'_>,
) -> Result<Vec<String>, Fault> {
    let scoped = ScopedCall {
        call,
        caller: *caller,
    };
    let scopes = catch_panic_sync(|| for_call(&scoped)).map_err(|panic| {
        tracing::error!(panic = %mcp_types::escaped(&panic), "the scopes of a call panicked");
        Fault::internal("the authorization of the call failed")
    })?;
    match scopes.iter().find(|scope| !is_scope(scope)) {
        None => Ok(scopes),
        Some(scope) => {
            tracing::error!(scope, "a function returned an invalid scope");
            Err(Fault::internal("the authorization of the call failed"))
        }
    }
}

/// Returns whether scopes do not apply to a caller: calls on pipes and in the same process have this
/// process's rights. Over HTTP an anonymous caller has no scopes.
fn is_exempt(caller: &Caller<'_>) -> bool {
    !caller.is_http() && caller.principal().is_none()
}

fn extend<S: Into<String>>(scopes: &mut Vec<String>, further: impl IntoIterator<Item = S>) {
    for scope in further {
        let scope = scope.into();
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
}

/// Returns whether `scope` has only the characters of RFC 6749, section 3.3.
fn is_scope(scope: &str) -> bool {
    let valid = |byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    !scope.is_empty() && scope.bytes().all(valid)
}

impl fmt::Debug for RequiredScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.fixed).finish()
    }
}

/// A call whose scopes are to be decided: the argument of functions such as
/// [`ToolRoute::scopes_for`](crate::ToolRoute::scopes_for).
///
/// # Examples
///
/// ```
/// use mcp::ScopedCall;
///
/// fn scopes(call: &ScopedCall<'_>) -> Vec<&'static str> {
///     match call.argument::<bool>("recursive") {
///         Some(true) => vec!["files:write", "files:admin"],
///         _ => vec!["files:write"],
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ScopedCall<'a> {
    call: &'a Call,
    caller: Caller<'a>,
}

impl<'a> ScopedCall<'a> {
    /// The caller with its scopes.
    pub fn caller(&self) -> &Caller<'a> {
        &self.caller
    }

    /// The call as the client sent it. Its [`item`](Call::item) is the URI of a resource that is read.
    pub fn call(&self) -> &'a Call {
        self.call
    }

    /// An argument of a tool or prompt. `None` when the client did not send it, or when it has another
    /// type: demand the wider scopes then.
    pub fn argument<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let arguments = match self.call {
            Call::CallTool(params) => params.arguments.as_ref(),
            Call::GetPrompt(params) => params.arguments.as_ref(),
            _ => None,
        };
        let members: std::collections::HashMap<String, &RawValue> =
            serde_json::from_str(arguments.map(RawObject::as_str)?).ok()?;
        serde_json::from_str(members.get(name)?.get()).ok()
    }
}
