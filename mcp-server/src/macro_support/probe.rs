//! Extractor, argument, or neither: found by the compiler, by type.
//!
//! The macros write `(&&&&Slot::<T>::new()).param()`. Method lookup takes the first step that fits:
//! [`ByCall`] for four references, [`ByValue`] for three, [`ByWrapper`] for two, the inherent
//! method for one. A step whose bounds `T` does not meet does not count, so the order of the steps
//! is the order of preference. The last steps take every `T` and then fail on a bound, with a
//! message for humans. The compiler shows these lines beside that message, so each stands written
//! out, not in a macro.
//!
//! A parameter without a name is asked by `.nameless()`, one of a resource that no variable of the URI
//! is called like by `.outside()`, one of a completion by `.beside()`: none of them can be an argument.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::params::{About, Params};
use super::plan::Input;
use crate::constraints::range::{Range, Ranged};
use crate::extract::{Args, Extension, FromCall, Header, Identity, State};
use crate::rejection::Rejection;

/// A parameter, before it is known what it is.
pub struct Slot<T>(PhantomData<fn() -> T>);

/// A parameter that is found in the call.
pub struct Extractor<T>(PhantomData<fn() -> T>);

/// A parameter that is an argument, sent by the client.
pub struct Argument<T>(PhantomData<fn() -> T>);

/// A parameter that cannot be one. The compiler has said so already; nothing more is said.
pub struct Neither<T>(PhantomData<fn() -> T>);

impl<T> Slot<T> {
    /// Asks about `T`.
    #[expect(clippy::new_without_default, reason = "only macros make it")]
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

/// First step: extractors.
pub trait ByCall {
    /// The parameter's type.
    type Value;

    /// It is an extractor.
    fn param(&self) -> Extractor<Self::Value> {
        Extractor(PhantomData)
    }

    /// It is an extractor, which needs no name.
    fn nameless(&self) -> Extractor<Self::Value> {
        Extractor(PhantomData)
    }

    /// It is an extractor, which needs no variable.
    fn outside(&self) -> Extractor<Self::Value> {
        Extractor(PhantomData)
    }

    /// It is an extractor.
    fn beside(&self) -> Extractor<Self::Value> {
        Extractor(PhantomData)
    }
}

impl<T: FromCall> ByCall for &&&Slot<T> {
    type Value = T;
}

/// Second step: arguments.
pub trait ByValue {
    /// The parameter's type.
    type Value;

    /// It is an argument.
    fn param(&self) -> Argument<Self::Value> {
        Argument(PhantomData)
    }

    /// It is an argument, and has no name.
    fn nameless(&self) -> Neither<Self::Value>
    where
        Self::Value: NamedParameter,
    {
        Neither(PhantomData)
    }

    /// It is an argument, and no variable has its name.
    fn outside(&self) -> Neither<Self::Value>
    where
        Self::Value: ResourceParameter,
    {
        Neither(PhantomData)
    }

    /// It is an argument, and a completion has none.
    fn beside(&self) -> Neither<Self::Value>
    where
        Self::Value: CompletionParameter,
    {
        Neither(PhantomData)
    }
}

impl<T: DeserializeOwned + JsonSchema> ByValue for &&Slot<T> {
    type Value = T;
}

/// Third step: an extractor of a type that does not fit it, such as `State` of a type that is not
/// `Clone`. The bound says which trait is missing.
pub trait ByWrapper {
    /// The parameter's type.
    type Value;

    /// It should be an extractor.
    fn param(&self) -> Neither<Self::Value>
    where
        Self::Value: FromCall,
    {
        Neither(PhantomData)
    }

    /// It should be an extractor.
    fn nameless(&self) -> Neither<Self::Value>
    where
        Self::Value: FromCall,
    {
        Neither(PhantomData)
    }

    /// It should be an extractor.
    fn outside(&self) -> Neither<Self::Value>
    where
        Self::Value: FromCall,
    {
        Neither(PhantomData)
    }

    /// It should be an extractor.
    fn beside(&self) -> Neither<Self::Value>
    where
        Self::Value: FromCall,
    {
        Neither(PhantomData)
    }
}

impl<T: Wrapper> ByWrapper for &Slot<T> {
    type Value = T;
}

/// An extractor of a type of the user's.
pub trait Wrapper {}

impl<T> Wrapper for Args<T> {}
impl<T> Wrapper for Extension<T> {}
impl<T> Wrapper for Header<T> {}
impl<T> Wrapper for Identity<T> {}
impl<T> Wrapper for State<T> {}
impl<T: Wrapper> Wrapper for Option<T> {}

impl<T> Slot<T> {
    /// Last step: neither.
    pub fn param(&self) -> Neither<T>
    where
        T: RouteParameter,
    {
        Neither(PhantomData)
    }

    /// Last step: neither.
    pub fn nameless(&self) -> Neither<T>
    where
        T: RouteParameter,
    {
        Neither(PhantomData)
    }

    /// Last step: neither.
    pub fn outside(&self) -> Neither<T>
    where
        T: ResourceParameter,
    {
        Neither(PhantomData)
    }

    /// Last step: neither.
    pub fn beside(&self) -> Neither<T>
    where
        T: CompletionParameter,
    {
        Neither(PhantomData)
    }
}

/// What no type is: the bound that says why a parameter is neither.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter here",
    label = "neither an argument nor an extractor",
    note = "for an argument that the client sends: `#[derive(serde::Deserialize, schemars::JsonSchema)]`, both of them, without borrowed fields",
    note = "for a value of the server: take `State<{Self}>`, or implement `FromCall` for the type"
)]
pub trait RouteParameter {}

/// What no type is: the bound that says why a parameter of a resource gets no value.
#[diagnostic::on_unimplemented(
    message = "nothing gives this parameter of a resource a value",
    label = "`{Self}` is no extractor, and no variable of the URI has the parameter's name",
    note = "name the parameter like a variable of the URI template, such as `id` for `users://{{id}}`",
    note = "for a value of the server: take `State<{Self}>`, or implement `FromCall` for the type"
)]
pub trait ResourceParameter {}

/// What no type is: the bound that says what a completion takes.
#[diagnostic::on_unimplemented(
    message = "nothing gives this parameter of a completion a value",
    label = "`{Self}` is no extractor",
    note = "what was typed so far is taken as `&str` or `String`",
    note = "the arguments that have their values already are taken as `Args<T>`, values of the server as `State<T>`"
)]
pub trait CompletionParameter {}

/// What no type is: the bound that says why a parameter needs a name.
#[diagnostic::on_unimplemented(
    message = "a parameter of type `{Self}` needs a name",
    label = "only an extractor can do without a name, and this is none",
    note = "write a plain name instead of the pattern, or add `#[arg(name = \"…\")]`",
    note = "for all arguments in one struct: `Args(name): Args<{Self}>`"
)]
pub trait NamedParameter {}

/// What no type is: the bound that keeps `#[arg(…)]` away from extractors.
#[diagnostic::on_unimplemented(
    message = "`#[arg(…)]` is for arguments, and `{Self}` is an extractor",
    label = "not sent by the client",
    note = "remove `#[arg(…)]`"
)]
pub trait Values {}

/// Writes what `#[arg(…)]` does to a parameter that is no argument: nothing. The compiler has said
/// already that it does not belong there.
macro_rules! no_options {
    () => {
        /// There are no options.
        pub fn default_of_type(self) -> Option<fn() -> T> {
            None
        }

        /// There are no options.
        pub fn default_value(self, _: fn() -> T) -> Option<fn() -> T> {
            None
        }

        /// There are no options.
        pub fn with_default(self, about: About, _: Option<fn() -> T>) -> About {
            about
        }

        /// There are no options.
        pub fn with_range(self, about: About, _: Range) -> About {
            about
        }
    };
}

impl<T: FromCall> Extractor<T> {
    /// Describes the parameter.
    pub fn describe(self, params: &mut Params, _: About) {
        params.extractor::<T>();
    }

    /// The parameter has `#[arg(…)]`.
    pub fn with_options(self)
    where
        T: Values,
    {
    }

    /// Finds the value.
    ///
    /// # Errors
    ///
    /// The rejection of the extractor.
    pub fn take(
        self,
        input: &mut Input<'_>,
        _: usize,
        _: Option<fn() -> T>,
    ) -> Result<T, Rejection> {
        T::from_call(input.call())
    }

    no_options!();
}

impl<T: DeserializeOwned + JsonSchema> Argument<T> {
    /// Describes the parameter.
    pub fn describe(self, params: &mut Params, about: About) {
        params.argument::<T>(about);
    }

    /// The parameter has `#[arg(…)]`.
    pub fn with_options(self) {}

    /// Decodes the value.
    ///
    /// # Errors
    ///
    /// Why it does not fit.
    pub fn take(
        self,
        input: &mut Input<'_>,
        index: usize,
        default: Option<fn() -> T>,
    ) -> Result<T, Rejection> {
        Ok(input.decode(index, default)?)
    }

    /// `#[arg(default)]`.
    pub fn default_of_type(self) -> Option<fn() -> T>
    where
        T: Default,
    {
        Some(T::default)
    }

    /// `#[arg(default = …)]`.
    pub fn default_value(self, default: fn() -> T) -> Option<fn() -> T> {
        Some(default)
    }

    /// Publishes the default.
    pub fn with_default(self, about: About, default: Option<fn() -> T>) -> About
    where
        T: Serialize,
    {
        match default {
            Some(default) => about.default_value(&default()),
            None => about,
        }
    }

    /// `#[arg(range = …)]`.
    pub fn with_range(self, about: About, range: Range) -> About
    where
        T: Ranged,
    {
        about.range(range)
    }
}

impl<T> Neither<T> {
    /// Never called.
    pub fn describe(self, _: &mut Params, _: About) {}

    /// Never called.
    pub fn with_options(self) {}

    /// Never called.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn take(self, _: &mut Input<'_>, _: usize, _: Option<fn() -> T>) -> Result<T, Rejection> {
        Err(Rejection::missing("not a parameter"))
    }

    no_options!();
}

macro_rules! markers {
    ($($marker:ident),*) => {
        $(
            impl<T> Clone for $marker<T> {
                fn clone(&self) -> Self {
                    *self
                }
            }

            impl<T> Copy for $marker<T> {}

            impl<T> fmt::Debug for $marker<T> {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    write!(f, "{}<{}>", stringify!($marker), type_name::<T>())
                }
            }
        )*
    };
}

markers!(Slot, Extractor, Argument, Neither);
