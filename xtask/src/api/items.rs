//! The lines of an item: one for its definition, one for each function.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Fields, FnArg, Generics, ImplItem, Item, ItemImpl, ItemTrait, Pat, PathArguments,
    Signature, TraitItem, Type, TypeParamBound, Visibility,
};

use super::text;
use crate::sources::{has_attribute, is_hidden, without_docs};

/// Returns the lines of a definition. `name` is its public path.
pub(super) fn lines(item: &Item, name: &str) -> Vec<String> {
    match item {
        Item::Const(it) => vec![constant(name, &it.ty)],
        Item::Static(it) => vec![format!("static {name}: {}", text::format(&it.ty))],
        Item::Fn(it) => vec![function(name, &it.sig, &it.attrs)],
        Item::Macro(_) => vec![format!("macro {name}!")],
        Item::Type(it) => {
            let ty = text::format(&it.ty);
            vec![format!("type {name}{} = {ty}", parameters(&it.generics))]
        }
        Item::Struct(it) => {
            let head = format!("struct {name}{}", parameters(&it.generics));
            vec![head + &public_fields(&it.fields) + more(&it.attrs)]
        }
        Item::Union(it) => vec![format!("union {name}{}", parameters(&it.generics))],
        Item::Enum(it) => {
            let variants = it
                .variants
                .iter()
                .filter(|variant| !is_hidden(&variant.attrs));
            let variants: Vec<String> = variants
                .map(|variant| {
                    let (ident, content) = (&variant.ident, bare_fields(&variant.fields));
                    text::format(quote!(#ident #content)) + more(&variant.attrs)
                })
                .collect();
            let head = format!("enum {name}{}", parameters(&it.generics));
            vec![format!(
                "{head} {{ {} }}{}",
                variants.join(", "),
                more(&it.attrs)
            )]
        }
        Item::Trait(it) => trait_lines(it, name),
        _ => Vec::new(),
    }
}

/// Returns the lines of an inherent `impl`. `name` is the public path of its type.
pub(super) fn impl_lines(block: &ItemImpl, name: &str) -> Vec<String> {
    let arguments = match &*block.self_ty {
        Type::Path(ty) => ty
            .path
            .segments
            .last()
            .map(|segment| match &segment.arguments {
                PathArguments::None => String::new(),
                arguments => text::format(arguments),
            }),
        _ => None,
    };
    let owner = format!("{name}{}", arguments.unwrap_or_default());
    let members = block.items.iter().filter_map(|item| match item {
        ImplItem::Fn(it) if is_open(&it.vis, &it.attrs) => {
            let path = format!("{owner}::{}", it.sig.ident);
            Some(function(&path, &it.sig, &it.attrs))
        }
        ImplItem::Const(it) if is_open(&it.vis, &it.attrs) => {
            Some(constant(&format!("{owner}::{}", it.ident), &it.ty))
        }
        // The expansion is not known here.
        ImplItem::Macro(it) => {
            let tokens = text::format(without_docs(it.mac.tokens.clone()));
            Some(format!(
                "in {owner}: {}!({tokens})",
                text::format(&it.mac.path)
            ))
        }
        _ => None,
    });
    let suffix: String = block
        .attrs
        .iter()
        .filter_map(cfg)
        .map(|cfg| format!("  [{cfg}]"))
        .collect();
    members.map(|line| line + &suffix).collect()
}

/// Joins constants and functions of one owner that differ only in their names to one line, for
/// example `fn Error::{is_closed, is_timeout}(&self) -> bool`.
pub(super) fn group(lines: BTreeSet<String>) -> BTreeSet<String> {
    let mut grouped = BTreeSet::new();
    let mut families: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for line in &lines {
        match split(line) {
            Some((start, name, end)) => families.entry((start, end)).or_default().push(name),
            None => {
                grouped.insert(line.clone());
            }
        }
    }
    for ((start, end), names) in families {
        let names = match names.as_slice() {
            [name] => (*name).to_owned(),
            names => format!("{{{}}}", names.join(", ")),
        };
        grouped.insert(format!("{start}{names}{end}"));
    }
    grouped
}

/// Splits the line of a constant or function that has an owner: `fn Error::`, `is_closed`, the rest.
fn split(line: &str) -> Option<(&str, &str, &str)> {
    let kinds = ["const fn ", "async fn ", "fn ", "const "];
    let kind = kinds.into_iter().find(|kind| line.starts_with(kind))?;
    let mut depth = 0_usize;
    let mut start = None;
    for (at, c) in line.char_indices().skip(kind.len()) {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && line[at..].starts_with("::") => start = Some(at + 2),
            // The parameters of a function, or the type of a constant.
            '(' | ' ' if depth == 0 => break,
            _ => {}
        }
    }
    let (start, rest) = line.split_at(start?);
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let (name, end) = rest.split_at(rest.find(|c| !is_name(c))?);
    Some((start, name, end))
}

/// Returns the condition of a `#[cfg(…)]`.
pub(super) fn cfg(attribute: &Attribute) -> Option<String> {
    let list = attribute.meta.require_list().ok()?;
    attribute
        .path()
        .is_ident("cfg")
        .then(|| text::format(&list.tokens))
}

fn trait_lines(it: &ItemTrait, name: &str) -> Vec<String> {
    let bounds: Vec<&TypeParamBound> = it.supertraits.iter().collect();
    let mut head = format!("trait {name}{}", parameters(&it.generics));
    if !bounds.is_empty() {
        head = format!("{head}: {}", text::format(quote!(#(#bounds)+*)));
    }
    let mut types = Vec::new();
    let mut lines = Vec::new();
    for item in &it.items {
        match item {
            TraitItem::Fn(it) if !is_hidden(&it.attrs) => {
                let provided = if it.default.is_some() { " { … }" } else { "" };
                let path = format!("{name}::{}", it.sig.ident);
                lines.push(function(&path, &it.sig, &it.attrs) + provided);
            }
            TraitItem::Const(it) if !is_hidden(&it.attrs) => {
                let (name, ty) = (&it.ident, &it.ty);
                types.push(text::format(quote!(const #name: #ty)));
            }
            TraitItem::Type(it) if !is_hidden(&it.attrs) => {
                let (name, generics, bounds) = (&it.ident, &it.generics, &it.bounds);
                let colon = (!bounds.is_empty()).then(|| quote!(:));
                types.push(text::format(quote!(type #name #generics #colon #bounds)));
            }
            _ => {}
        }
    }
    if !types.is_empty() {
        head = format!("{head} {{ {} }}", types.join("; "));
    }
    lines.insert(0, head);
    lines
}

fn constant(name: &str, ty: &Type) -> String {
    format!("const {name}: {}", text::format(ty))
}

/// Formats the public fields; `..` stands for private ones.
fn public_fields(fields: &Fields) -> String {
    let public = fields
        .iter()
        .enumerate()
        .filter(|(_, field)| is_open(&field.vis, &field.attrs));
    let mut listed: Vec<String> = public
        .map(|(number, field)| {
            let ty = text::format(&field.ty);
            match (&field.ident, number) {
                (Some(name), _) => format!("{name}: {ty}"),
                (None, number) => format!("{number}: {ty}"),
            }
        })
        .collect();
    if listed.is_empty() {
        return String::new();
    }
    if listed.len() < fields.len() {
        listed.push("..".to_owned());
    }
    format!(" {{ {} }}", listed.join(", "))
}

/// Returns the fields of a variant, without their attributes.
fn bare_fields(fields: &Fields) -> TokenStream {
    let types = fields.iter().map(|field| &field.ty);
    match fields {
        Fields::Named(_) => {
            let names = fields.iter().map(|field| &field.ident);
            quote!({ #(#names: #types),* })
        }
        Fields::Unnamed(_) => quote!((#(#types),*)),
        Fields::Unit => TokenStream::new(),
    }
}

fn function(path: &str, signature: &Signature, attributes: &[Attribute]) -> String {
    let mut signature = signature.clone();
    // `mut` of a parameter is not part of the interface.
    for input in &mut signature.inputs {
        match input {
            FnArg::Receiver(it) => it.mutability = None,
            FnArg::Typed(it) => {
                if let Pat::Ident(name) = &mut *it.pat {
                    name.mutability = None;
                }
            }
        }
    }
    let own = format!("fn {}", signature.ident);
    let line = text::format(&signature).replacen(&own, &format!("fn {path}"), 1);
    let cfgs = attributes.iter().filter_map(cfg);
    cfgs.fold(line, |line, cfg| format!("{line}  [{cfg}]"))
}

/// Generic parameters with their bounds.
fn parameters(generics: &Generics) -> String {
    let clause = &generics.where_clause;
    let parameters = text::format(generics);
    match clause {
        Some(clause) => format!("{parameters} {}", text::format(clause)),
        None => parameters,
    }
}

/// The mark of `#[non_exhaustive]`.
fn more(attributes: &[Attribute]) -> &'static str {
    if has_attribute(attributes, "non_exhaustive") {
        " …"
    } else {
        ""
    }
}

fn is_open(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    matches!(visibility, Visibility::Public(_)) && !is_hidden(attributes)
}
