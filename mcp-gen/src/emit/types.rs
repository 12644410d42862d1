//! Structs and enums.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::docs::{add_reasons, doc};
use crate::names::ident;
use crate::types::{Definition, Field, Shape, Table, Type};

/// Returns all definitions.
pub(super) fn definitions(types: &Table) -> TokenStream {
    types
        .definitions()
        .map(|it| definition(it, types))
        .collect()
}

/// Returns a type where it is used.
pub(super) fn reference(ty: &Type, types: &Table) -> TokenStream {
    match ty {
        Type::Value(_) => quote!(::mcp::typed::Value),
        Type::Null => quote!(()),
        Type::Bool => quote!(bool),
        Type::Integer => quote!(i64),
        Type::Unsigned => quote!(u64),
        Type::Number => quote!(f64),
        Type::Text => quote!(String),
        Type::List(item) => {
            let item = reference(item, types);
            quote!(Vec<#item>)
        }
        Type::Tuple(items) => {
            let items = items.iter().map(|it| reference(it, types));
            quote!((#(#items,)*))
        }
        Type::Map(value) => {
            let value = reference(value, types);
            quote!(::std::collections::BTreeMap<String, #value>)
        }
        Type::Option(inner) => {
            let inner = reference(inner, types);
            quote!(Option<#inner>)
        }
        Type::Boxed(inner) => {
            let inner = reference(inner, types);
            quote!(Box<#inner>)
        }
        Type::Named(slot) => {
            let name = ident(types.name(*slot));
            quote!(#name)
        }
    }
}

fn definition(definition: &Definition, types: &Table) -> TokenStream {
    let name = ident(&definition.name);
    let docs = doc(&definition.docs);
    let serde = quote! {
        ::mcp::typed::serde::Serialize, ::mcp::typed::serde::Deserialize
    };
    match &definition.shape {
        Shape::Struct { fields, rest } => {
            let all: Vec<Emitted> = fields.iter().map(|it| emitted(it, types)).collect();
            let declarations = all.iter().map(|it| &it.declaration);
            let rest_field = rest.as_ref().map(|it| rest_declaration(it, types));
            let is_default = fields.iter().all(|it| !it.required || it.constant);
            let default = is_default.then(|| quote!(Default,));
            let methods = constructor(fields, rest.as_ref(), &all);
            quote! {
                #docs
                #[derive(Debug, Clone, PartialEq, #default #serde)]
                #[serde(crate = "::mcp::typed::serde")]
                pub struct #name { #(#declarations,)* #rest_field }
                impl #name { #methods }
            }
        }
        Shape::Choice(values) => choice(definition, values, &serde),
        Shape::Union(variants) => {
            let declarations = variants.iter().map(|(variant, ty)| {
                let mut lines = Vec::new();
                let mut reasons = Vec::new();
                ty.reasons(&mut reasons);
                add_reasons(&mut lines, &reasons);
                let (docs, variant, ty) = (doc(&lines), ident(variant), reference(ty, types));
                quote!(#docs #variant(#ty))
            });
            let conversions = variants.iter().map(|(variant, ty)| {
                let (variant, ty) = (ident(variant), reference(ty, types));
                quote! {
                    impl From<#ty> for #name {
                        fn from(value: #ty) -> Self { Self::#variant(value) }
                    }
                }
            });
            quote! {
                #docs
                #[derive(Debug, Clone, PartialEq, #serde)]
                #[serde(crate = "::mcp::typed::serde", untagged)]
                pub enum #name { #(#declarations,)* }
                #(#conversions)*
            }
        }
        Shape::Newtype(ty) => {
            let mut lines = definition.docs.clone();
            let mut reasons = Vec::new();
            ty.reasons(&mut reasons);
            add_reasons(&mut lines, &reasons);
            let (docs, ty) = (doc(&lines), reference(ty, types));
            quote! {
                #docs
                #[derive(Debug, Clone, PartialEq, #serde)]
                #[serde(crate = "::mcp::typed::serde", transparent)]
                pub struct #name(pub #ty);
            }
        }
    }
}

fn choice(
    definition: &Definition,
    values: &[(String, String)],
    serde: &TokenStream,
) -> TokenStream {
    let name = ident(&definition.name);
    let docs = doc(&definition.docs);
    let is_constant = values.len() == 1;
    let derive_default = is_constant.then(|| quote!(Default,));
    let default = is_constant.then(|| quote!(#[default]));
    let variants = values.iter().map(|(variant, value)| {
        let variant = ident(variant);
        quote!(#[serde(rename = #value)] #default #variant)
    });
    let arms = values.iter().map(|(variant, value)| {
        let variant = ident(variant);
        quote!(Self::#variant => #value)
    });
    quote! {
        #docs
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, #derive_default #serde)]
        #[serde(crate = "::mcp::typed::serde")]
        pub enum #name { #(#variants,)* }
        impl #name {
            /// The value in JSON.
            pub const fn as_str(self) -> &'static str {
                match self { #(#arms,)* }
            }
        }
        impl ::std::fmt::Display for #name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    }
}

/// A field of a struct, and its parts in the constructor.
struct Emitted {
    declaration: TokenStream,
    parameter: Option<TokenStream>,
    value: TokenStream,
    setter: Option<TokenStream>,
}

fn emitted(field: &Field, types: &Table) -> Emitted {
    let name = ident(&field.name);
    let is_optional = !field.required;
    let inner = reference(&field.ty, types);
    let already = matches!(field.ty, Type::Option(_));
    let ty = match is_optional && !already {
        true => quote!(Option<#inner>),
        false => inner.clone(),
    };
    let mut lines = field.docs.clone();
    let mut reasons = Vec::new();
    field.ty.reasons(&mut reasons);
    add_reasons(&mut lines, &reasons);
    let docs = doc(&lines);
    let key = &field.key;
    let rename = (*key != field.name).then(|| quote!(#[serde(rename = #key)]));
    let skip =
        is_optional.then(|| quote!(#[serde(default, skip_serializing_if = "Option::is_none")]));
    let is_parameter = field.required && !field.constant;
    let is_text = field.ty == Type::Text;
    let parameter = is_parameter.then(|| match is_text {
        true => quote!(#name: impl Into<String>),
        false => quote!(#name: #ty),
    });
    let value = match (is_parameter, is_text) {
        (true, true) => quote!(#name: #name.into()),
        (true, false) => quote!(#name),
        (false, _) => quote!(#name: Default::default()),
    };
    let setter = is_optional.then(|| {
        let method = format_ident!("with_{}", field.name);
        let bare = match &field.ty {
            Type::Option(inner) => reference(inner, types),
            _ => inner.clone(),
        };
        let is_text = is_text || field.ty == Type::Option(Box::new(Type::Text));
        let (parameter, value) = match (is_text, &field.ty) {
            (true, _) => (quote!(impl Into<String>), quote!(value.into())),
            (false, Type::Boxed(inner)) => (reference(inner, types), quote!(Box::new(value))),
            (false, _) => (bare, quote!(value)),
        };
        let docs = doc(&lines);
        quote! {
            #docs
            #[must_use]
            pub fn #method(mut self, value: #parameter) -> Self {
                self.#name = Some(#value);
                self
            }
        }
    });
    Emitted {
        declaration: quote!(#docs #rename #skip pub #name: #ty),
        parameter,
        value,
        setter,
    }
}

fn rest_declaration((name, ty): &(String, Type), types: &Table) -> TokenStream {
    let (name, value) = (ident(name), reference(ty, types));
    let mut lines = vec!["All other members.".to_owned()];
    let mut reasons = Vec::new();
    ty.reasons(&mut reasons);
    add_reasons(&mut lines, &reasons);
    let docs = doc(&lines);
    quote! {
        #docs
        #[serde(flatten)]
        pub #name: ::std::collections::BTreeMap<String, #value>,
    }
}

/// Returns `new` with the required members, and a setter for each other one.
fn constructor(fields: &[Field], rest: Option<&(String, Type)>, all: &[Emitted]) -> TokenStream {
    let parameters = all.iter().filter_map(|it| it.parameter.as_ref());
    let values = all.iter().map(|it| &it.value);
    let setters = all.iter().filter_map(|it| it.setter.as_ref());
    let rest = rest.map(|(name, _)| {
        let name = ident(name);
        quote!(#name: Default::default(),)
    });
    let docs = match fields.iter().any(|it| !it.required) {
        true => " Creates a value with the required members.",
        false => " Creates a value.",
    };
    quote! {
        #[doc = #docs]
        pub fn new(#(#parameters),*) -> Self {
            Self { #(#values,)* #rest }
        }
        #(#setters)*
    }
}
