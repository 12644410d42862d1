//! One `#[tool]` method: what it says becomes a route, its body stays as it is.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Expr, FnArg, GenericParam, Generics, ImplItemFn, Lifetime, LitStr, PathArguments,
    Receiver, ReceiverKind, ReturnType, Safety, Signature, Type, TypeFnPtr, TypeImplTrait,
    TypeReference,
};

use crate::docs;
use crate::errors::Errors;
use crate::options::{Options, Root, at};
use crate::param::Param;

const OPTIONS: &[&str] = &[
    "name",
    "title",
    "description",
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
];

const RECEIVERS: &str = "a tool takes `&self`, `self: Arc<Self>`, `self: &Arc<Self>` or nothing";

/// `#[tool]`, `#[mcp::tool]`, whatever the path.
pub(crate) fn is_named(attribute: &Attribute, name: &str) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|segment| segment.ident == name)
}

/// A tool, as its method says it.
pub(crate) struct ToolMethod {
    ident: Ident,
    name: String,
    cfgs: Vec<Attribute>,
    listed: Listed,
    receiver: Option<Passed>,
    params: Vec<Param>,
    output: Type,
    is_async: bool,
}

/// What is listed beside name and schemas.
struct Listed {
    title: Option<Expr>,
    description: Vec<Expr>,
    given_description: Option<Expr>,
    read_only: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
}

/// How the method takes its value.
#[derive(Clone, Copy)]
enum Passed {
    /// `&self`, `self: &Arc<Self>`.
    ByReference,
    /// `self: Arc<Self>`.
    ByArc,
}

impl ToolMethod {
    /// Reads a method that has `#[tool]` and takes away what the compiler must not see. Without a
    /// result the mistakes are noted.
    pub(crate) fn read(method: &mut ImplItemFn, errors: &mut Errors) -> Option<Self> {
        let tool = take_tool(&mut method.attrs, errors)?;
        let mut options = Options::of("#[tool]", Some(&tool), OPTIONS, errors);
        let ident = method.sig.ident.clone();
        let name = tool_name(options.text("name", errors), &ident, errors);
        let listed = Listed {
            title: options.expr("title", errors),
            description: docs::of(&method.attrs),
            given_description: options.expr("description", errors),
            read_only: options.flag("read_only", errors),
            destructive: options.flag("destructive", errors),
            idempotent: options.flag("idempotent", errors),
            open_world: options.flag("open_world", errors),
        };
        allow_lints(&mut method.attrs);
        refuse_modifiers(&method.sig, errors);
        let concrete = is_concrete(&method.sig.generics, errors);
        let output = output(&method.sig, errors);
        let (receiver, params) = inputs(&mut method.sig, errors)?;
        Some(Self {
            cfgs: cfgs(&method.attrs),
            is_async: method.sig.asyncness.is_some(),
            output: output.filter(|_| concrete)?,
            ident,
            name,
            listed,
            receiver,
            params,
        })
    }

    pub(crate) fn ident(&self) -> &Ident {
        &self.ident
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
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
        let tool = self.listed(&support);
        let describe = self.params.iter().map(|param| param.describe(root));
        let (call, take) = (self.call(), self.take());
        let output = &self.output;
        let returned = root.support(output.span());
        let make = quote_spanned!(at(output.span())=> #returned::tool::<#output, _, _>);
        let share = self.receiver.map(|_| {
            quote_spanned! {span=> let this = ::std::sync::Arc::clone(&this); }
        });
        quote_spanned! {span=>
            #(#cfgs)*
            let routes = routes.tool({
                #share
                let mut params = #support::Params::new();
                #(#describe)*
                #make(#tool, params, move |plan, call| {
                    #share
                    async move {
                        #take
                        let output = #call;
                        #support::Returned(output).into_result()
                    }
                })
            });
        }
    }

    fn listed(&self, support: &TokenStream) -> TokenStream {
        let name = &self.name;
        let listed = &self.listed;
        let title = listed.title.as_ref().map(|title| quote!(.title(#title)));
        let description = match (&listed.given_description, listed.description.as_slice()) {
            (Some(given), _) => quote!(.describe(#given)),
            (None, []) => quote!(),
            (None, pieces) => quote!(.describe(#support::doc(&[#(#pieces),*]))),
        };
        let read_only = (listed.read_only == Some(true)).then(|| quote!(.read_only()));
        let idempotent = (listed.idempotent == Some(true)).then(|| quote!(.idempotent()));
        let destructive = listed.destructive.map(|is| quote!(.destructive(#is)));
        let open_world = listed.open_world.map(|is| quote!(.open_world(#is)));
        quote! {
            #support::Tool::new(#name)
                #title #description #read_only #destructive #idempotent #open_world
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
        let values = self.params.iter().map(Param::value);
        let wait = self.is_async.then(|| quote_spanned!(span=> .await));
        quote_spanned!(span=> Self::#ident(#this #(#values),*) #wait)
    }
}

fn take_tool(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Attribute> {
    let mut tools = attributes.extract_if(.., |attribute| is_named(attribute, "tool"));
    let first = tools.next();
    for second in tools {
        errors.at(second, "write all options in one `#[tool(…)]`");
    }
    first
}

pub(crate) fn cfgs(attributes: &[Attribute]) -> Vec<Attribute> {
    let is_cfg = |attribute: &&Attribute| attribute.path().is_ident("cfg");
    attributes.iter().filter(is_cfg).cloned().collect()
}

/// What a tool's parameters look like is not a matter of taste: values that are owned, as many as
/// the tool has arguments. The user's own attributes come later and win.
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

// spec: TOOL-08
fn tool_name(given: Option<LitStr>, ident: &Ident, errors: &mut Errors) -> String {
    let name = match &given {
        Some(given) => given.value(),
        None => ident.unraw().to_string(),
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if (1..=128).contains(&name.len()) && name.chars().all(fits) {
        return name;
    }
    match given {
        Some(given) => errors.at(given, "a tool's name has 1 to 128 of `A-Za-z0-9_-.`"),
        None => errors.at(
            ident,
            "a tool's name has 1 to 128 of `A-Za-z0-9_-.`; set another one: `#[tool(name = \"…\")]`",
        ),
    }
    name
}

fn refuse_modifiers(signature: &Signature, errors: &mut Errors) {
    if let Safety::Unsafe(token) = &signature.safety {
        errors.at(token, "a tool is called by clients and cannot be `unsafe`");
    }
    if let Some(abi) = &signature.abi {
        errors.at(abi, "a tool is a plain Rust function");
    }
    if let Some(variadic) = &signature.variadic {
        errors.at(variadic, "a tool has a fixed list of parameters");
    }
}

/// Lifetimes are fine, types and constants are not.
fn is_concrete(generics: &Generics, errors: &mut Errors) -> bool {
    let mut concrete = true;
    for param in &generics.params {
        let name = match param {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(param) => &param.ident,
            GenericParam::Const(param) => &param.ident,
        };
        concrete = false;
        generic(param, &format!("`{name}`"), errors);
    }
    concrete
}

fn generic(at: impl quote::ToTokens, what: &str, errors: &mut Errors) {
    let message = format!(
        "a tool cannot be generic: its schema is made for one type, and clients cannot choose {what}; \
         write the type itself, or one tool for each"
    );
    errors.at(at, message);
}

/// Neither `impl Trait` nor a reference into something: what a parameter can be made of.
fn is_owned(ty: &Type, errors: &mut Errors) -> bool {
    let mut found = Found::default();
    found.visit_type(ty);
    if let Some(implied) = &found.implied {
        generic(implied, "the type", errors);
    }
    if let Some(borrowed) = &found.borrowed {
        let owned = match &*borrowed.elem {
            Type::Path(path) if path.path.is_ident("str") => "`String`",
            Type::Slice(_) => "a `Vec`",
            _ => "the type without `&`",
        };
        let message = format!("a tool owns its arguments, it borrows none: take {owned}");
        errors.at(borrowed, message);
    }
    found.implied.is_none() && found.borrowed.is_none()
}

fn output(signature: &Signature, errors: &mut Errors) -> Option<Type> {
    let ReturnType::Type(_, output) = &signature.output else {
        return Some(syn::parse_quote!(()));
    };
    let mut found = Found::default();
    found.visit_type(output);
    if let Some(implied) = found.implied {
        let message = "a tool's result needs a type with a name: its schema is made from it; \
                       for a future write `async fn`";
        errors.at(implied, message);
        return None;
    }
    let mut output = (**output).clone();
    forget_lifetimes(signature).visit_type_mut(&mut output);
    Some(output)
}

fn inputs(signature: &mut Signature, errors: &mut Errors) -> Option<(Option<Passed>, Vec<Param>)> {
    let mut forget = forget_lifetimes(signature);
    let mut fits = true;
    let mut receiver = None;
    let mut params = Vec::new();
    for input in &mut signature.inputs {
        match input {
            FnArg::Receiver(this) => {
                docs::take(&mut this.attrs);
                receiver = passed(this, errors);
                fits &= receiver.is_some();
            }
            FnArg::Typed(param) => {
                fits &= is_owned(&param.ty, errors);
                let mut ty = (*param.ty).clone();
                forget.visit_type_mut(&mut ty);
                params.push(Param::read(params.len(), param, ty, errors));
            }
        }
    }
    fits.then_some((receiver, params))
}

fn passed(this: &Receiver, errors: &mut Errors) -> Option<Passed> {
    let passed = match &this.kind {
        ReceiverKind::Reference(_, _, None) => Ok(Passed::ByReference),
        ReceiverKind::Reference(_, _, Some(_)) => Err("calls run at the same time and share one \
             value: take `&self`, and keep what changes in a `Mutex` or an atomic"),
        ReceiverKind::Value => {
            Err("all calls share one value: take `&self`, or `self: Arc<Self>` to keep it")
        }
        ReceiverKind::Typed(_, ty) => typed(ty).ok_or(RECEIVERS),
        _ => Err(RECEIVERS),
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
