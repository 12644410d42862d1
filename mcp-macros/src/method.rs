//! One marked method: what it says becomes a route, its body stays as it is.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, FnArg, GenericParam, Generics, ImplItemFn, Lifetime, LitStr, PathArguments,
    Receiver, ReceiverKind, ReturnType, Safety, Signature, Type, TypeFnPtr, TypeImplTrait,
    TypeReference,
};

use crate::docs;
use crate::errors::Errors;
use crate::options::{Root, at};
use crate::param::Param;
use crate::route::{Completes, Kind, Route, make};

const RECEIVERS: &str = "`&self`, `self: Arc<Self>`, `self: &Arc<Self>` or nothing";

/// A method that becomes a route.
pub(crate) struct RouteMethod {
    kind: Kind,
    ident: Ident,
    cfgs: Vec<Attribute>,
    route: Route,
    finish: TokenStream,
    receiver: Option<Passed>,
    params: Vec<Param>,
    output: Type,
    is_async: bool,
}

/// How the method takes its value.
#[derive(Clone, Copy)]
enum Passed {
    /// `&self`, `self: &Arc<Self>`.
    ByReference,
    /// `self: Arc<Self>`.
    ByArc,
}

impl RouteMethod {
    /// Reads a method that has one of the attributes and takes away what the compiler must not see.
    /// Without a result the mistakes are noted.
    pub(crate) fn read(
        kind: Kind,
        root: &Root,
        method: &mut ImplItemFn,
        errors: &mut Errors,
    ) -> Option<Self> {
        let attribute = take_attribute(kind, &mut method.attrs, errors)?;
        let ident = method.sig.ident.clone();
        let route = Route::read(kind, &attribute, &ident, &method.attrs, errors);
        allow_lints(&mut method.attrs);
        let noun = kind.noun();
        refuse_modifiers(noun, &method.sig, errors);
        let concrete = is_concrete(noun, &method.sig.generics, errors);
        let output = output(noun, &method.sig, errors);
        let inputs = inputs(kind, root, &mut method.sig, errors);
        let (route, (receiver, mut params)) = (route?, inputs?);
        one_takes_all(noun, &params, errors);
        if let Some((uri, variables)) = route.variables() {
            match_variables(uri, variables, &mut params, errors);
        }
        let finish = route.finish(&root.support(at(ident.span())), errors);
        Some(Self {
            kind,
            cfgs: cfgs(&method.attrs),
            is_async: method.sig.asyncness.is_some(),
            output: output.filter(|_| concrete)?,
            finish,
            ident,
            route,
            receiver,
            params,
        })
    }

    pub(crate) fn ident(&self) -> &Ident {
        &self.ident
    }

    /// What it is, and by what clients find it.
    pub(crate) fn key(&self) -> (Kind, String) {
        (self.kind, self.route.key())
    }

    /// What it completes.
    pub(crate) fn completes(&self) -> Option<Completes<'_>> {
        self.route.completes()
    }

    /// The names that its arguments may have; `None` when a struct has them.
    pub(crate) fn argument_names(&self) -> Option<Vec<&str>> {
        if let Some((_, variables)) = self.route.variables() {
            return Some(variables.iter().map(String::as_str).collect());
        }
        let all = self.params.iter().any(Param::takes_all_arguments);
        (!all).then(|| self.params.iter().filter_map(Param::name).collect())
    }

    /// It may be absent in some configurations.
    pub(crate) fn is_conditional(&self) -> bool {
        !self.cfgs.is_empty()
    }

    /// The statement that adds its route to `routes`.
    pub(crate) fn route(&self, root: &Root) -> TokenStream {
        let span = at(self.ident.span());
        let cfgs = &self.cfgs;
        let support = root.support(span);
        let listed = self.route.listed(&support);
        let describe = self.params.iter().map(|param| param.describe(root));
        let (call, take) = (self.call(), self.take());
        let make = make(&self.route, &root.support(self.output.span()), &self.output);
        let (adds, becomes) = (self.route.adds(), self.route.becomes());
        let finish = &self.finish;
        let share = self.receiver.map(|_| {
            quote_spanned! {span=> let this = ::std::sync::Arc::clone(&this); }
        });
        quote_spanned! {span=>
            #(#cfgs)*
            let routes = routes.#adds({
                #share
                let mut params = #support::Params::new();
                #(#describe)*
                #make(#listed, params, move |plan, call| {
                    #share
                    async move {
                        #take
                        let output = #call;
                        ::core::result::Result::Ok(#support::Returned(output).#becomes())
                    }
                }) #finish
            });
        }
    }

    /// `let (value_0, …) = …;`: nothing of the call is left behind.
    fn take(&self) -> TokenStream {
        let span = at(self.ident.span());
        let count = Literal::usize_unsuffixed(self.params.len());
        let take = self.params.iter().map(Param::take);
        let values: Vec<_> = self.params.iter().map(Param::value).collect();
        quote_spanned! {span=>
            let (#(#values,)*) = plan.take::<#count, _>(call, |input| {
                #(#take)*
                ::core::result::Result::Ok((#(#values,)*))
            })?;
        }
    }

    fn call(&self) -> TokenStream {
        let span = at(self.ident.span());
        let mut ident = self.ident.clone();
        ident.set_span(span);
        let this = self.receiver.map(|passed| match passed {
            Passed::ByReference => quote_spanned!(span=> &this,),
            Passed::ByArc => quote_spanned!(span=> this,),
        });
        let values = self.params.iter().map(Param::passed);
        let wait = self.is_async.then(|| quote_spanned!(span=> .await));
        quote_spanned!(span=> Self::#ident(#this #(#values),*) #wait)
    }
}

fn take_attribute(
    kind: Kind,
    attributes: &mut Vec<Attribute>,
    errors: &mut Errors,
) -> Option<Attribute> {
    let mut found = attributes.extract_if(.., |attribute| Kind::of(attribute).is_some());
    let first = found.next();
    for second in found {
        let message = match Kind::of(&second) {
            Some(other) if other != kind => {
                format!("it is a {} already; write a second function", kind.noun())
            }
            _ => format!("write all options in one `#[{}(…)]`", kind.noun()),
        };
        errors.at(second, message);
    }
    first
}

/// Arguments are taken once.
fn one_takes_all(noun: &str, params: &[Param], errors: &mut Errors) {
    let mut takers = params.iter().filter(|param| param.takes_all_arguments());
    if let (Some(_), Some(second)) = (takers.next(), takers.next()) {
        let message = format!(
            "one `Args<T>` takes all arguments of a {noun}: put them into one struct, or take each \
             as a parameter of its own"
        );
        errors.at(second.ty(), message);
    }
}

/// Each variable goes to the parameter of its name, and no other parameter comes from the URI.
fn match_variables(uri: &LitStr, variables: &[String], params: &mut [Param], errors: &mut Errors) {
    let all = params.iter().any(Param::takes_all_arguments);
    for variable in variables {
        if !all && !params.iter().any(|param| param.name() == Some(variable)) {
            let message = format!(
                "no parameter takes the variable `{variable}`: add `{variable}: String` (or `u64`, an enum, …)"
            );
            errors.at(uri, message);
        }
    }
    for param in params {
        if !variables
            .iter()
            .any(|variable| param.name() == Some(variable))
        {
            param.outside();
        }
    }
}

pub(crate) fn cfgs(attributes: &[Attribute]) -> Vec<Attribute> {
    let is_cfg = |attribute: &&Attribute| attribute.path().is_ident("cfg");
    attributes.iter().filter(is_cfg).cloned().collect()
}

/// What the parameters look like is not a matter of taste: values that are owned, as many as there
/// are arguments. The user's own attributes come later and win.
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

fn refuse_modifiers(noun: &str, signature: &Signature, errors: &mut Errors) {
    if let Safety::Unsafe(token) = &signature.safety {
        let message = format!("a {noun} is called by clients and cannot be `unsafe`");
        errors.at(token, message);
    }
    if let Some(abi) = &signature.abi {
        errors.at(abi, format!("a {noun} is a plain Rust function"));
    }
    if let Some(variadic) = &signature.variadic {
        let message = format!("a {noun} has a fixed list of parameters");
        errors.at(variadic, message);
    }
}

/// Lifetimes are fine, types and constants are not.
fn is_concrete(noun: &str, generics: &Generics, errors: &mut Errors) -> bool {
    let mut concrete = true;
    for param in &generics.params {
        let name = match param {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(param) => &param.ident,
            GenericParam::Const(param) => &param.ident,
        };
        concrete = false;
        generic(noun, param, &format!("`{name}`"), errors);
    }
    concrete
}

fn generic(noun: &str, at: impl quote::ToTokens, what: &str, errors: &mut Errors) {
    let message = format!(
        "a {noun} cannot be generic: its schema is made for one type, and clients cannot choose \
         {what}; write the type itself, or one {noun} for each"
    );
    errors.at(at, message);
}

/// Neither `impl Trait` nor a reference into something: what a parameter can be made of.
fn is_owned(noun: &str, ty: &Type, errors: &mut Errors) -> bool {
    let mut found = Found::default();
    found.visit_type(ty);
    if let Some(implied) = &found.implied {
        generic(noun, implied, "the type", errors);
    }
    if let Some(borrowed) = &found.borrowed {
        let owned = match &*borrowed.elem {
            Type::Path(path) if path.path.is_ident("str") => "`String`",
            Type::Slice(_) => "a `Vec`",
            _ => "the type without `&`",
        };
        let message = format!("a {noun} owns its arguments, it borrows none: take {owned}");
        errors.at(borrowed, message);
    }
    found.implied.is_none() && found.borrowed.is_none()
}

fn output(noun: &str, signature: &Signature, errors: &mut Errors) -> Option<Type> {
    let ReturnType::Type(_, output) = &signature.output else {
        return Some(syn::parse_quote!(()));
    };
    let mut found = Found::default();
    found.visit_type(output);
    if let Some(implied) = found.implied {
        let message = format!(
            "a {noun}'s result needs a type with a name: its schema is made from it; \
             for a future write `async fn`"
        );
        errors.at(implied, message);
        return None;
    }
    let mut output = (**output).clone();
    forget_lifetimes(signature).visit_type_mut(&mut output);
    Some(output)
}

fn inputs(
    kind: Kind,
    root: &Root,
    signature: &mut Signature,
    errors: &mut Errors,
) -> Option<(Option<Passed>, Vec<Param>)> {
    let noun = kind.noun();
    let mut forget = forget_lifetimes(signature);
    let mut fits = true;
    let mut receiver = None;
    let mut params = Vec::new();
    for input in &mut signature.inputs {
        match input {
            FnArg::Receiver(this) => {
                docs::take(&mut this.attrs);
                receiver = passed(noun, this, errors);
                fits &= receiver.is_some();
            }
            FnArg::Typed(param) => {
                let mut ty = (*param.ty).clone();
                forget.visit_type_mut(&mut ty);
                let index = params.len();
                if kind == Kind::Completion {
                    let param = Param::beside_prefix(index, param, ty, root, errors);
                    fits &= param.is_prefix() || is_owned(noun, param.ty(), errors);
                    params.push(param);
                } else {
                    fits &= is_owned(noun, &param.ty, errors);
                    params.push(Param::read(kind, index, param, ty, errors));
                }
            }
        }
    }
    fits.then_some((receiver, params))
}

fn passed(noun: &str, this: &Receiver, errors: &mut Errors) -> Option<Passed> {
    let receivers = format!("a {noun} takes {RECEIVERS}");
    let passed = match &this.kind {
        ReceiverKind::Reference(_, _, None) => Ok(Passed::ByReference),
        ReceiverKind::Reference(_, _, Some(_)) => Err("calls run at the same time and share one \
             value: take `&self`, and keep what changes in a `Mutex` or an atomic"),
        ReceiverKind::Value => {
            Err("all calls share one value: take `&self`, or `self: Arc<Self>` to keep it")
        }
        ReceiverKind::Typed(_, ty) => typed(ty).ok_or(&*receivers),
        _ => Err(&*receivers),
    };
    passed.map_err(|message| errors.at(this, message)).ok()
}

/// `self: Arc<Self>`, `self: &Arc<Self>`, `self: &Self`.
fn typed(ty: &Type) -> Option<Passed> {
    match ty {
        Type::Paren(inner) => typed(&inner.elem),
        Type::Group(inner) => typed(&inner.elem),
        Type::Reference(reference) if is_mutable(reference) => None,
        Type::Reference(reference) => {
            let shared = typed(&reference.elem).is_some() || is_self(&reference.elem);
            shared.then_some(Passed::ByReference)
        }
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let PathArguments::AngleBracketed(of) = &last.arguments else {
                return None;
            };
            (last.ident == "Arc" && of.args.len() == 1).then_some(Passed::ByArc)
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
struct Found {
    implied: Option<TypeImplTrait>,
    borrowed: Option<TypeReference>,
}

impl<'ast> Visit<'ast> for Found {
    fn visit_type_impl_trait(&mut self, found: &'ast TypeImplTrait) {
        self.implied.get_or_insert_with(|| found.clone());
    }

    fn visit_type_reference(&mut self, found: &'ast TypeReference) {
        let lifetime = found.lifetime.as_ref();
        if lifetime.is_none_or(|lifetime| lifetime.ident != "static") {
            self.borrowed.get_or_insert_with(|| found.clone());
        }
        visit::visit_type_reference(self, found);
    }

    // Its references are its own.
    fn visit_type_fn_ptr(&mut self, _: &'ast TypeFnPtr) {}
}

/// The lifetimes that a function names mean nothing outside of it: they become `'_`.
struct ForgetLifetimes(Vec<Ident>);

fn forget_lifetimes(signature: &Signature) -> ForgetLifetimes {
    let lifetimes = signature.generics.lifetimes();
    ForgetLifetimes(
        lifetimes
            .map(|param| param.lifetime.ident.clone())
            .collect(),
    )
}

impl VisitMut for ForgetLifetimes {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if self.0.contains(&lifetime.ident) {
            lifetime.ident = Ident::new("_", lifetime.ident.span());
        }
        visit_mut::visit_lifetime_mut(self, lifetime);
    }
}
