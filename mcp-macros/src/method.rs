//! One marked function: its signature becomes a route, its body stays unchanged.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Expr, FnArg, GenericParam, Generics, Lifetime, LitStr, PathArguments, Receiver,
    ReceiverKind, ReturnType, Safety, Signature, Type, TypeFnPtr, TypeImplTrait, TypeReference,
};

use crate::docs;
use crate::errors::Errors;
use crate::options::{CratePath, hygienic};
use crate::param::Param;
use crate::route::{FnPosition, Route, RouteAttribute, RouteKind};

const RECEIVERS: &str = "`&self`, `self: Arc<Self>`, `self: &Arc<Self>` or nothing";

/// A function that becomes a route.
pub(crate) struct RouteMethod {
    pub(crate) route: Route,
    pub(crate) ident: Ident,
    /// The function's output, without the future around it.
    pub(crate) output: Type,
    position: FnPosition,
    cfgs: Vec<Attribute>,
    receiver: Option<PassSelf>,
    list: Option<ListFunction>,
    params: Vec<Param>,
    is_async: bool,
}

/// The option `list`'s function: a method of the same block, or any other function.
struct ListFunction {
    function: Expr,
    receiver: Option<PassSelf>,
    /// Parameter types of a method in the block.
    params: Vec<Type>,
    is_async: bool,
}

impl ListFunction {
    fn read(function: &Expr, siblings: &[Signature], errors: &mut Errors) -> Option<Self> {
        let name = match function {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        };
        let is_named = |signature: &&Signature| Some(&signature.ident) == name;
        let Some(signature) = siblings.iter().find(is_named) else {
            return Some(Self {
                function: function.clone(),
                receiver: None,
                params: Vec::new(),
                is_async: false,
            });
        };
        let mut lifetimes = anonymize_lifetimes(signature);
        let mut receiver = None;
        let mut params = Vec::new();
        for input in &signature.inputs {
            match input {
                FnArg::Receiver(this) => receiver = Some(pass_self("list", this, errors)?),
                FnArg::Typed(param) => {
                    let mut ty = (*param.ty).clone();
                    lifetimes.visit_type_mut(&mut ty);
                    params.push(ty);
                }
            }
        }
        Some(Self {
            function: syn::parse_quote!(Self::#function),
            receiver,
            params,
            is_async: signature.asyncness.is_some(),
        })
    }

    /// Returns the function, or a closure that passes `self` to it.
    fn closure(&self, span: Span) -> TokenStream {
        let function = &self.function;
        let Some(receiver) = self.receiver else {
            return quote_spanned!(span=> #function);
        };
        let values: Vec<_> = (0..self.params.len())
            .map(|index| Ident::new(&format!("__value_{index}"), span))
            .collect();
        let types = &self.params;
        let this = match receiver {
            PassSelf::ByReference => quote_spanned!(span=> &__this),
            PassSelf::ByArc => quote_spanned!(span=> __this),
        };
        let wait = self.is_async.then(|| quote_spanned!(span=> .await));
        quote_spanned! {span=>
            {
                let __this = ::std::sync::Arc::clone(&__this);
                move |#(#values: #types),*| {
                    let __this = ::std::sync::Arc::clone(&__this);
                    async move { #function(#this #(, #values)*) #wait }
                }
            }
        }
    }
}

/// The way in which the method receives `self`.
#[derive(Clone, Copy)]
enum PassSelf {
    /// `&self`, `self: &Arc<Self>`.
    ByReference,
    /// `self: Arc<Self>`.
    ByArc,
}

impl RouteMethod {
    /// Reads a marked function and removes attributes that the compiler would reject. Returns `None`
    /// after adding errors.
    pub(crate) fn read(
        position: FnPosition,
        attribute: RouteAttribute<'_>,
        crate_path: &CratePath,
        (attributes, signature): (&mut Vec<Attribute>, &mut Signature),
        siblings: &[Signature],
        errors: &mut Errors,
    ) -> Option<Self> {
        let kind = attribute.kind;
        let ident = signature.ident.clone();
        let private = crate_path.private(ident.span());
        let route = Route::read(attribute, &ident, attributes, &private, errors);
        allow_lints(attributes);
        let noun = kind.noun();
        reject_modifiers(noun, signature, errors);
        let concrete = is_concrete(noun, &signature.generics, errors);
        let output = output(noun, signature, errors);
        let inputs = inputs(kind, crate_path, signature, errors);
        let (mut route, (receiver, mut params)) = (route?, inputs?);
        if signature.asyncness.is_some()
            && let Some(option) = route.blocking.take()
        {
            let message = "`blocking` is for a function without `async`; in an `async` one, move the \
                           blocking part into `tokio::task::spawn_blocking`";
            errors.add(syn::Error::new(option, message));
        }
        check_single_args(noun, &params, errors);
        check_names(noun, &params, errors);
        if let Some((uri, variables)) = &route.uri {
            assign_variables(uri, variables, &mut params, errors);
        }
        let list = route.list.as_ref();
        let list = list.and_then(|list| ListFunction::read(list, siblings, errors));
        Some(Self {
            position,
            cfgs: cfgs(attributes),
            is_async: signature.asyncness.is_some(),
            output: output.filter(|_| concrete)?,
            ident,
            route,
            receiver,
            list,
            params,
        })
    }

    /// Returns whether the function that lists resources takes `self`.
    pub(crate) fn list_needs_self(&self) -> bool {
        self.list
            .as_ref()
            .is_some_and(|list| list.receiver.is_some())
    }

    /// Returns the kind and the name or URI that identify the route for clients.
    pub(crate) fn key(&self) -> (RouteKind, &str) {
        (self.route.kind, &self.route.key)
    }

    /// Returns the argument names; `None` if they are fields of a struct.
    pub(crate) fn argument_names(&self) -> Option<Vec<&str>> {
        if let Some((_, variables)) = &self.route.uri {
            return Some(variables.iter().map(String::as_str).collect());
        }
        let all = self.params.iter().any(Param::takes_all_arguments);
        (!all).then(|| self.params.iter().filter_map(Param::name).collect())
    }

    /// Returns whether the method has `#[cfg]`.
    pub(crate) fn is_conditional(&self) -> bool {
        !self.cfgs.is_empty()
    }

    /// Returns the statement that adds the route to `__routes`.
    pub(crate) fn add_statement(&self, crate_path: &CratePath) -> TokenStream {
        let span = hygienic(self.ident.span());
        let (cfgs, add, route) = (
            &self.cfgs,
            self.route.add_method(),
            self.route_expr(crate_path),
        );
        quote_spanned! {span=>
            #(#cfgs)*
            let __routes = __routes.#add(#route);
        }
    }

    /// Returns the route's expression. In a method, the variable `__this` is the shared `self`.
    pub(crate) fn route_expr(&self, crate_path: &CratePath) -> TokenStream {
        let span = hygienic(self.ident.span());
        let private = crate_path.private(span);
        let Route { item, setters, .. } = &self.route;
        let describe = self.params.iter().map(|param| param.describe(crate_path));
        let (call, read) = (self.call(crate_path), self.read_parameters());
        let constructor = self.route.constructor(&self.output, crate_path);
        let convert = self.route.convert_method();
        let share = self.receiver.map(|_| {
            quote_spanned! {span=> let __this = ::std::sync::Arc::clone(&__this); }
        });
        let make_list = self.list.as_ref().map(|list| {
            let list = list.closure(span);
            quote_spanned!(span=> let __list = #list;)
        });
        let set_list = self
            .list
            .as_ref()
            .map(|_| quote_spanned!(span=> .list(__list)));
        quote_spanned! {span=>
            {
                #make_list
                #share
                let mut __parameters = #private::Parameters::new();
                #(#describe)*
                #constructor(#item, __parameters, move |__plan, __call| {
                    #share
                    async move {
                        #read
                        let __output = #call;
                        ::core::result::Result::Ok(#private::HandlerOutput(__output).#convert())
                    }
                }) #set_list #setters
            }
        }
    }

    /// Returns `let (__value_0, …) = …;`. The values borrow nothing from the call.
    fn read_parameters(&self) -> TokenStream {
        let span = hygienic(self.ident.span());
        let count = Literal::usize_unsuffixed(self.params.len());
        let extract = self.params.iter().map(Param::extract);
        let values: Vec<_> = self.params.iter().map(Param::value).collect();
        quote_spanned! {span=>
            let (#(#values,)*) = __plan.read::<#count, _>(__call, |__reader| {
                #(#extract)*
                ::core::result::Result::Ok((#(#values,)*))
            })?;
        }
    }

    /// Returns the call of the function with the values of its parameters.
    fn call(&self, crate_path: &CratePath) -> TokenStream {
        let span = hygienic(self.ident.span());
        let mut ident = self.ident.clone();
        ident.set_span(span);
        let this = self.receiver.map(|pass| match pass {
            PassSelf::ByReference => quote_spanned!(span=> &__this,),
            PassSelf::ByArc => quote_spanned!(span=> __this,),
        });
        let values = self.params.iter().map(Param::passed);
        let wait = self.is_async.then(|| quote_spanned!(span=> .await));
        let path = match self.position {
            FnPosition::Method => quote_spanned!(span=> Self::#ident),
            FnPosition::Free => quote_spanned!(span=> #ident),
        };
        let call = quote_spanned!(span=> #path(#this #(#values),*) #wait);
        match self.route.blocking {
            Some(option) => {
                let private = crate_path.private(option);
                quote_spanned!(span=> #private::run_blocking(move || #call).await)
            }
            None => call,
        }
    }
}

/// Removes the attributes of routes and returns the first one.
pub(crate) fn remove_attribute(
    kind: RouteKind,
    attributes: &mut Vec<Attribute>,
    errors: &mut Errors,
) -> Option<Attribute> {
    let mut found = attributes.extract_if(.., |attribute| {
        RouteKind::from_attribute(attribute).is_some()
    });
    let first = found.next();
    for second in found {
        let message = match RouteKind::from_attribute(&second) {
            Some(other) if other != kind => {
                format!("it is a {} already; write a second function", kind.noun())
            }
            _ => format!("write all options in one `#[{}(…)]`", kind.noun()),
        };
        errors.add_at(second, message);
    }
    first
}

/// Rejects a second `Args<T>`.
fn check_single_args(noun: &str, params: &[Param], errors: &mut Errors) {
    let mut all = params.iter().filter(|param| param.takes_all_arguments());
    if let (Some(_), Some(second)) = (all.next(), all.next()) {
        let message = format!(
            "one `Args<T>` takes all arguments of a {noun}: put them into one struct, or take each \
             as a parameter of its own"
        );
        errors.add_at(second.ty(), message);
    }
}

/// Rejects two arguments of one name. A parameter with the type of an extractor is not an argument.
fn check_names(noun: &str, params: &[Param], errors: &mut Errors) {
    let arguments: Vec<_> = params.iter().filter(|param| param.is_argument()).collect();
    for (index, param) in arguments.iter().enumerate() {
        let mut earlier = arguments.iter().take(index);
        if earlier.any(|other| other.name() == param.name()) {
            let name = param.name().unwrap_or_default();
            let message = format!(
                "another argument of this {noun} is named `{name}`; set another name: \
                 `#[arg(name = \"…\")]`"
            );
            errors.add_at(param.ty(), message);
        }
    }
}

/// Checks that each variable has a parameter with its name, and marks the other parameters as
/// extractors. They stay unmarked when a variable has no parameter: one of them may have a wrong name, which
/// is one mistake.
fn assign_variables(uri: &LitStr, variables: &[String], params: &mut [Param], errors: &mut Errors) {
    let is_taken = |variable: &String| {
        let mut params = params.iter();
        params.any(|param| param.takes_all_arguments() || param.name() == Some(variable))
    };
    let missing: Vec<_> = variables.iter().filter(|name| !is_taken(name)).collect();
    if !missing.is_empty() {
        for variable in missing {
            let message = format!(
                "no parameter takes the variable `{variable}`: add `{variable}: String` (or `u64`, an enum, …), or rename a parameter"
            );
            errors.add_at(uri, message);
        }
        return;
    }
    for param in params {
        if !variables
            .iter()
            .any(|variable| param.name() == Some(variable))
        {
            param.mark_without_variable();
        }
    }
}

pub(crate) fn cfgs(attributes: &[Attribute]) -> Vec<Attribute> {
    let is_cfg = |attribute: &&Attribute| attribute.path().is_ident("cfg");
    attributes.iter().filter(is_cfg).cloned().collect()
}

/// Allows lints that parameters of routes necessarily violate: they are owned, and there are as many as
/// the route has arguments. The user's own attributes come later and take precedence.
fn allow_lints(attributes: &mut Vec<Attribute>) {
    let allow = syn::parse_quote! {
        #[allow(
            clippy::fn_params_excessive_bools,
            clippy::needless_pass_by_value,
            clippy::too_many_arguments
        )]
    };
    attributes.insert(0, allow);
}

fn reject_modifiers(noun: &str, signature: &Signature, errors: &mut Errors) {
    if let Safety::Unsafe(token) = &signature.safety {
        let message = format!("a {noun} is called by clients and cannot be `unsafe`");
        errors.add_at(token, message);
    }
    if let Some(abi) = &signature.abi {
        errors.add_at(abi, format!("a {noun} is a plain Rust function"));
    }
    if let Some(variadic) = &signature.variadic {
        let message = format!("a {noun} has a fixed list of parameters");
        errors.add_at(variadic, message);
    }
}

/// Rejects generic types and constants; lifetimes are allowed.
fn is_concrete(noun: &str, generics: &Generics, errors: &mut Errors) -> bool {
    let mut concrete = true;
    for param in &generics.params {
        let name = match param {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(param) => &param.ident,
            GenericParam::Const(param) => &param.ident,
        };
        concrete = false;
        reject_generic(noun, param, &format!("`{name}`"), errors);
    }
    concrete
}

fn reject_generic(noun: &str, tokens: impl ToTokens, what: &str, errors: &mut Errors) {
    let message = format!(
        "a {noun} cannot be generic: its schema is made for one type, and clients cannot choose \
         {what}; write the type itself, or one {noun} for each"
    );
    errors.add_at(tokens, message);
}

/// Rejects `impl Trait` and references in the type of a parameter.
fn is_owned(noun: &str, ty: &Type, errors: &mut Errors) -> bool {
    let mut found = UnsupportedTypes::default();
    found.visit_type(ty);
    if let Some(impl_trait) = &found.impl_trait {
        reject_generic(noun, impl_trait, "the type", errors);
    }
    if let Some(reference) = &found.reference {
        let owned = match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") => "`String`",
            Type::Slice(_) => "a `Vec`",
            _ => "the type without `&`",
        };
        let message = format!("a {noun} owns its arguments, it borrows none: take {owned}");
        errors.add_at(reference, message);
    }
    found.impl_trait.is_none() && found.reference.is_none()
}

fn output(noun: &str, signature: &Signature, errors: &mut Errors) -> Option<Type> {
    let ReturnType::Type(_, output) = &signature.output else {
        return Some(syn::parse_quote!(()));
    };
    let mut found = UnsupportedTypes::default();
    found.visit_type(output);
    if let Some(impl_trait) = found.impl_trait {
        let message = format!(
            "a {noun}'s result needs a type with a name: its schema is made from it; \
             for a future write `async fn`"
        );
        errors.add_at(impl_trait, message);
        return None;
    }
    let mut output = (**output).clone();
    anonymize_lifetimes(signature).visit_type_mut(&mut output);
    Some(output)
}

fn inputs(
    kind: RouteKind,
    crate_path: &CratePath,
    signature: &mut Signature,
    errors: &mut Errors,
) -> Option<(Option<PassSelf>, Vec<Param>)> {
    let noun = kind.noun();
    let mut lifetimes = anonymize_lifetimes(signature);
    let mut is_valid = true;
    let mut receiver = None;
    let mut params = Vec::new();
    for input in &mut signature.inputs {
        match input {
            FnArg::Receiver(this) => {
                docs::remove(&mut this.attrs);
                receiver = pass_self(noun, this, errors);
                is_valid &= receiver.is_some();
            }
            FnArg::Typed(param) => {
                let mut ty = (*param.ty).clone();
                lifetimes.visit_type_mut(&mut ty);
                let index = params.len();
                if kind == RouteKind::Completion {
                    let param = Param::of_completion(index, param, ty, crate_path, errors);
                    is_valid &= param.is_prefix() || is_owned(noun, param.ty(), errors);
                    params.push(param);
                } else {
                    is_valid &= is_owned(noun, &param.ty, errors);
                    params.push(Param::read(kind, index, param, ty, errors));
                }
            }
        }
    }
    is_valid.then_some((receiver, params))
}

fn pass_self(noun: &str, this: &Receiver, errors: &mut Errors) -> Option<PassSelf> {
    let receivers = format!("a {noun} takes {RECEIVERS}");
    let pass = match &this.kind {
        ReceiverKind::Reference(_, _, None) => Ok(PassSelf::ByReference),
        ReceiverKind::Reference(_, _, Some(_)) => Err("calls run at the same time and share one \
             value: take `&self`, and keep what changes in a `Mutex` or an atomic"),
        ReceiverKind::Value => {
            Err("all calls share one value: take `&self`, or `self: Arc<Self>` to keep it")
        }
        ReceiverKind::Typed(_, ty) => pass_typed_self(ty).ok_or(&*receivers),
        _ => Err(&*receivers),
    };
    pass.map_err(|message| errors.add_at(this, message)).ok()
}

/// Accepts `self: Arc<Self>`, `self: &Arc<Self>` and `self: &Self`.
fn pass_typed_self(ty: &Type) -> Option<PassSelf> {
    match ty {
        Type::Paren(inner) => pass_typed_self(&inner.elem),
        Type::Group(inner) => pass_typed_self(&inner.elem),
        Type::Reference(reference) if is_mutable(reference) => None,
        Type::Reference(reference) => {
            let is_shared = pass_typed_self(&reference.elem).is_some() || is_self(&reference.elem);
            is_shared.then_some(PassSelf::ByReference)
        }
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else {
                return None;
            };
            (last.ident == "Arc" && arguments.args.len() == 1).then_some(PassSelf::ByArc)
        }
        _ => None,
    }
}

fn is_mutable(reference: &TypeReference) -> bool {
    reference.mutability.is_some()
}

fn is_self(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("Self"))
}

/// The first `impl Trait` and the first reference in a type.
#[derive(Default)]
struct UnsupportedTypes {
    impl_trait: Option<TypeImplTrait>,
    reference: Option<TypeReference>,
}

impl<'ast> Visit<'ast> for UnsupportedTypes {
    fn visit_type_impl_trait(&mut self, found: &'ast TypeImplTrait) {
        self.impl_trait.get_or_insert_with(|| found.clone());
    }

    fn visit_type_reference(&mut self, found: &'ast TypeReference) {
        let lifetime = found.lifetime.as_ref();
        if lifetime.is_none_or(|lifetime| lifetime.ident != "static") {
            self.reference.get_or_insert_with(|| found.clone());
        }
        visit::visit_type_reference(self, found);
    }

    // References in the signature of a function pointer are allowed.
    fn visit_type_fn_ptr(&mut self, _: &'ast TypeFnPtr) {}
}

/// Replaces lifetimes in the signature of a function by `'_`, because generated code cannot name them.
pub(crate) struct AnonymizeLifetimes(Vec<Ident>);

pub(crate) fn anonymize_lifetimes(signature: &Signature) -> AnonymizeLifetimes {
    let lifetimes = signature.generics.lifetimes();
    AnonymizeLifetimes(
        lifetimes
            .map(|param| param.lifetime.ident.clone())
            .collect(),
    )
}

impl VisitMut for AnonymizeLifetimes {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if self.0.contains(&lifetime.ident) {
            lifetime.ident = Ident::new("_", lifetime.ident.span());
        }
        visit_mut::visit_lifetime_mut(self, lifetime);
    }
}
