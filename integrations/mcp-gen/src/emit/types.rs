//! Structs and enums.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::docs::{doc, with_reasons};
use crate::names::ident;
use crate::types::{Definition, Field, Shape, Table, Type};

/// Returns all definitions. The program creates values of the types in `written`: only they have methods for
/// that.
pub(super) fn definitions<'a>(
    types: &Table,
    written: impl Iterator<Item = &'a Type>,
) -> TokenStream {
    let written = types.contained(written);
    let definitions = types.definitions().iter().zip(written);
    let known = definitions.filter_map(|(definition, is_written)| {
        let shape = definition.shape.as_ref()?;
        Some(self::definition(definition, shape, is_written, types))
    });
    known.collect()
}

/// Returns a type where it is used.
pub(super) fn reference(ty: &Type, types: &Table) -> TokenStream {
    match ty {
        Type::Value(_) => quote!(Value),
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
            let items = items.iter().map(|item| reference(item, types));
            quote!((#(#items,)*))
        }
        Type::Map(value) => {
            let value = reference(value, types);
            quote!(BTreeMap<String, #value>)
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

fn definition(
    definition: &Definition,
    shape: &Shape,
    is_written: bool,
    types: &Table,
) -> TokenStream {
    let name = ident(&definition.name);
    let docs = doc(&definition.docs);
    match shape {
        Shape::Struct { fields, rest } => {
            let all: Vec<Emitted> = fields.iter().map(|field| emitted(field, types)).collect();
            let declarations = all.iter().map(|field| &field.declaration);
            let rest_field = rest.as_ref().map(|rest| rest_declaration(rest, types));
            let is_default = fields
                .iter()
                .all(|field| field.required.is_none() || field.constant);
            let default = is_default.then(|| quote!(Default,));
            let methods = is_written.then(|| {
                let methods = constructor(fields, rest.as_ref(), &all);
                quote!(impl #name { #methods })
            });
            quote! {
                #docs
                #[derive(Debug, Clone, PartialEq, #default Serialize, Deserialize)]
                #[serde(crate = "::mcp::typed::serde")]
                pub struct #name { #(#declarations,)* #rest_field }
                #methods
            }
        }
        Shape::Choice(values) => choice(&name, &docs, values),
        Shape::Union(variants) => {
            let declarations = variants.iter().map(|(variant, ty)| {
                let (docs, variant) = (doc(&with_reasons(&[], ty)), ident(variant));
                let ty = reference(ty, types);
                quote!(#docs #variant(#ty))
            });
            let conversions = variants.iter().filter(|_| is_written).map(|(variant, ty)| {
                let (variant, ty) = (ident(variant), reference(ty, types));
                quote! {
                    impl From<#ty> for #name {
                        fn from(value: #ty) -> Self { Self::#variant(value) }
                    }
                }
            });
            quote! {
                #docs
                #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
                #[serde(crate = "::mcp::typed::serde", untagged)]
                pub enum #name { #(#declarations,)* }
                #(#conversions)*
            }
        }
        Shape::Newtype(ty) => {
            let docs = doc(&with_reasons(&definition.docs, ty));
            let ty = reference(ty, types);
            quote! {
                #docs
                #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
                #[serde(crate = "::mcp::typed::serde", transparent)]
                pub struct #name(pub #ty);
            }
        }
    }
}

fn choice(name: &Ident, docs: &TokenStream, values: &[(String, String)]) -> TokenStream {
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
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, #derive_default Serialize, Deserialize)]
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
    let is_optional = field.required.is_none();
    let inner = reference(&field.ty, types);
    let ty = if is_optional && !matches!(field.ty, Type::Option(_)) {
        quote!(Option<#inner>)
    } else {
        inner.clone()
    };
    let docs = doc(&with_reasons(&field.docs, &field.ty));
    let attribute = attribute(field);
    let is_parameter = !is_optional && !field.constant;
    let is_text = field.ty == Type::Text;
    let parameter = is_parameter.then(|| {
        if is_text {
            quote!(#name: impl Into<String>)
        } else {
            quote!(#name: #ty)
        }
    });
    let value = match (is_parameter, is_text) {
        (true, true) => quote!(#name: #name.into()),
        (true, false) => quote!(#name),
        (false, _) => quote!(#name: Default::default()),
    };
    let setter = is_optional.then(|| {
        let method = format_ident!("with_{}", field.name);
        let bare = match &field.ty {
            Type::Option(inner) => inner,
            ty => ty,
        };
        let (parameter, value) = match bare {
            Type::Text => (quote!(impl Into<String>), quote!(value.into())),
            Type::Boxed(inner) => (reference(inner, types), quote!(Box::new(value))),
            bare => (reference(bare, types), quote!(value)),
        };
        quote! {
            #[must_use]
            pub fn #method(mut self, value: #parameter) -> Self {
                self.#name = Some(#value);
                self
            }
        }
    });
    Emitted {
        declaration: quote!(#docs #attribute pub #name: #ty),
        parameter,
        value,
        setter,
    }
}

/// Returns the serde attribute of a field.
fn attribute(field: &Field) -> Option<TokenStream> {
    let key = &field.key;
    let mut options = Vec::new();
    if *key != field.name {
        options.push(quote!(rename = #key));
    }
    if field.required.is_none() {
        options.push(quote!(default));
        options.push(quote!(skip_serializing_if = "Option::is_none"));
    }
    if field.is_json_text {
        options.push(quote!(with = "::mcp::typed::json_text"));
    }
    (!options.is_empty()).then(|| quote!(#[serde(#(#options),*)]))
}

fn rest_declaration((name, ty): &(String, Type), types: &Table) -> TokenStream {
    let (name, value) = (ident(name), reference(ty, types));
    let docs = doc(&with_reasons(&["All other members.".to_owned()], ty));
    quote! {
        #docs
        #[serde(flatten)]
        pub #name: BTreeMap<String, #value>,
    }
}

/// Returns `new` with the required members in the schema's order, and a setter for each other one.
fn constructor(fields: &[Field], rest: Option<&(String, Type)>, all: &[Emitted]) -> TokenStream {
    let mut ordered: Vec<_> = fields.iter().zip(all).collect();
    ordered.sort_by_key(|(field, _)| field.required);
    let parameters = ordered
        .iter()
        .filter_map(|(_, emitted)| emitted.parameter.as_ref());
    let values = all.iter().map(|field| &field.value);
    let setters = all.iter().filter_map(|field| field.setter.as_ref());
    let rest = rest.map(|(name, _)| {
        let name = ident(name);
        quote!(#name: Default::default(),)
    });
    let docs = if fields.iter().any(|field| field.required.is_none()) {
        " Creates a value with the required members."
    } else {
        " Creates a value."
    };
    quote! {
        #[doc = #docs]
        pub fn new(#(#parameters),*) -> Self {
            Self { #(#values,)* #rest }
        }
        #(#setters)*
    }
}
