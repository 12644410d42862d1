//! The public items of a file, as lines.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Fields, FnArg, Generics, ImplItem, Item, ItemImpl, ItemTrait, Pat, Signature,
    TraitItem, TypeParamBound, UseTree, Visibility,
};

use super::text;
use crate::tidy::source::{RustFile, without_docs};

/// The modules of a file that stand in files of their own: their path without its ending, their
/// name, and how far they are open.
pub(super) fn modules(file: &RustFile) -> Vec<(String, String, Openness)> {
    let folder = match file.path.rsplit_once('/') {
        Some((folder, "lib.rs" | "mod.rs")) => folder,
        _ => file.path.trim_end_matches(".rs"),
    };
    let modules = file.ast.items.iter().filter_map(|item| match item {
        Item::Mod(it) if it.content.is_none() => {
            let openness = match (&it.vis, is_hidden(&it.attrs)) {
                (_, true) => Openness::Hidden,
                (Visibility::Public(_), _) => Openness::Open,
                _ => Openness::Closed,
            };
            Some((
                format!("{folder}/{}", it.ident),
                it.ident.to_string(),
                openness,
            ))
        }
        _ => None,
    });
    modules.collect()
}

/// Who sees a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Openness {
    /// Users can name it.
    Open,
    /// What is in it is seen where it is re-exported.
    Closed,
    /// Nobody shall use it.
    Hidden,
}

/// Adds a line for everything that is public. What is re-exported counts where it can be named: in
/// a `module`, which has no name at the root.
pub(super) fn collect(items: &[Item], module: Option<&str>, lines: &mut BTreeSet<String>) {
    for item in items {
        match item {
            Item::Use(it) if is_open(&it.vis, &it.attrs) => {
                if let Some(module) = module {
                    let mut names = Vec::new();
                    flatten(&it.tree, "", &mut names);
                    for name in names {
                        add(lines, &it.attrs, &format!("{module}use {name}"));
                    }
                }
            }
            Item::Mod(it) if is_open(&it.vis, &it.attrs) => {
                add(lines, &it.attrs, &format!("mod {}", it.ident));
                if let Some((_, inner)) = &it.content {
                    collect(inner, Some(&format!("{}: ", it.ident)), lines);
                }
            }
            other => collect_item(other, lines),
        }
    }
}

fn collect_item(item: &Item, lines: &mut BTreeSet<String>) {
    match item {
        Item::Impl(block) if block.trait_.is_none() => collect_impl(block, lines),
        Item::Macro(makro)
            if makro
                .attrs
                .iter()
                .any(|it| it.path().is_ident("macro_export")) =>
        {
            let name = makro.ident.as_ref().map(ToString::to_string);
            lines.insert(format!("macro {}!", name.unwrap_or_default()));
        }
        Item::Const(it) if is_open(&it.vis, &it.attrs) => {
            let (name, ty) = (&it.ident, &it.ty);
            add(lines, &it.attrs, &text::of(quote!(const #name: #ty)));
        }
        Item::Static(it) if is_open(&it.vis, &it.attrs) => {
            let (name, ty) = (&it.ident, &it.ty);
            add(lines, &it.attrs, &text::of(quote!(static #name: #ty)));
        }
        Item::Fn(it) if is_open(&it.vis, &it.attrs) => {
            add(lines, &it.attrs, &function("", &it.sig));
        }
        Item::Type(it) if is_open(&it.vis, &it.attrs) => {
            let (name, generics, ty) = (&it.ident, &it.generics, &it.ty);
            add(
                lines,
                &it.attrs,
                &text::of(quote!(type #name #generics = #ty)),
            );
        }
        Item::Struct(it) if is_open(&it.vis, &it.attrs) => {
            add(lines, &it.attrs, &named("struct", &it.ident, &it.generics));
            fields(&it.ident.to_string(), &it.fields, lines);
        }
        Item::Enum(it) if is_open(&it.vis, &it.attrs) => {
            add(lines, &it.attrs, &named("enum", &it.ident, &it.generics));
            for variant in it.variants.iter().filter(|it| !is_hidden(&it.attrs)) {
                let (name, content) = (&variant.ident, bare(&variant.fields));
                let line = format!("{}::{}", it.ident, text::of(quote!(#name #content)));
                add(lines, &variant.attrs, &line);
            }
        }
        Item::Trait(it) if is_open(&it.vis, &it.attrs) => collect_trait(it, lines),
        _ => {}
    }
}

fn collect_impl(block: &ItemImpl, lines: &mut BTreeSet<String>) {
    let owner = text::of(&block.self_ty);
    for item in &block.items {
        match item {
            ImplItem::Fn(it) if is_open(&it.vis, &it.attrs) => {
                add(lines, &it.attrs, &function(&owner, &it.sig));
            }
            ImplItem::Const(it) if is_open(&it.vis, &it.attrs) => {
                let (name, ty) = (&it.ident, &it.ty);
                let rest = text::of(quote!(#name: #ty));
                add(lines, &it.attrs, &format!("const {owner}::{rest}"));
            }
            // What it writes is not known here, but that it is written is.
            ImplItem::Macro(it) => {
                let name = text::of(&it.mac.path);
                let asked = text::of(without_docs(it.mac.tokens.clone()));
                add(lines, &it.attrs, &format!("in {owner}: {name}!({asked})"));
            }
            _ => {}
        }
    }
}

fn collect_trait(it: &ItemTrait, lines: &mut BTreeSet<String>) {
    let bounds: Vec<&TypeParamBound> = it.supertraits.iter().collect();
    let mut line = named("trait", &it.ident, &it.generics);
    if !bounds.is_empty() {
        line = format!("{line}: {}", text::of(quote!(#(#bounds)+*)));
    }
    add(lines, &it.attrs, &line);
    let owner = it.ident.to_string();
    for item in &it.items {
        match item {
            TraitItem::Fn(it) if !is_hidden(&it.attrs) => {
                let provided = if it.default.is_some() { " { … }" } else { "" };
                add(lines, &it.attrs, &(function(&owner, &it.sig) + provided));
            }
            TraitItem::Const(it) if !is_hidden(&it.attrs) => {
                let (name, ty) = (&it.ident, &it.ty);
                let rest = text::of(quote!(#name: #ty));
                add(lines, &it.attrs, &format!("const {owner}::{rest}"));
            }
            TraitItem::Type(it) if !is_hidden(&it.attrs) => {
                let (name, bounds) = (&it.ident, &it.bounds);
                let rest = text::of(quote!(#name: #bounds));
                add(lines, &it.attrs, &format!("type {owner}::{rest}"));
            }
            _ => {}
        }
    }
}

fn fields(owner: &str, fields: &Fields, lines: &mut BTreeSet<String>) {
    for (number, field) in fields.iter().enumerate() {
        if is_open(&field.vis, &field.attrs) {
            let name = field
                .ident
                .as_ref()
                .map_or(number.to_string(), ToString::to_string);
            let line = format!("{owner}.{name}: {}", text::of(&field.ty));
            add(lines, &field.attrs, &line);
        }
    }
}

/// The fields of a variant, without their attributes.
fn bare(fields: &Fields) -> TokenStream {
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

fn function(owner: &str, signature: &Signature) -> String {
    let mut signature = signature.clone();
    // Whether a function changes what it was given is its own business.
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
    let line = text::of(&signature);
    match owner {
        "" => line,
        _ => line.replacen("fn ", &format!("fn {owner}::"), 1),
    }
}

fn named(kind: &str, name: &syn::Ident, generics: &Generics) -> String {
    let clause = &generics.where_clause;
    format!("{kind} {}", text::of(quote!(#name #generics #clause)))
}

/// Every name of a `use` by itself.
fn flatten(tree: &UseTree, before: &str, names: &mut Vec<String>) {
    match tree {
        UseTree::Path(it) => flatten(&it.tree, &format!("{before}{}::", it.ident), names),
        UseTree::Name(it) => names.push(format!("{before}{}", it.ident)),
        UseTree::Rename(it) => names.push(format!("{before}{} as {}", it.ident, it.rename)),
        UseTree::Glob(_) => names.push(format!("{before}*")),
        UseTree::Group(it) => it
            .items
            .iter()
            .for_each(|tree| flatten(tree, before, names)),
    }
}

/// A line, with what it depends on, and whether it may grow.
fn add(lines: &mut BTreeSet<String>, attributes: &[Attribute], line: &str) {
    let mut line = line.to_owned();
    for attribute in attributes {
        if attribute.path().is_ident("non_exhaustive") {
            line.push_str(" …");
        }
        if attribute.path().is_ident("cfg")
            && let Ok(list) = attribute.meta.require_list()
        {
            line = format!("{line}  [{}]", text::of(&list.tokens));
        }
    }
    lines.insert(line);
}

fn is_open(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    matches!(visibility, Visibility::Public(_)) && !is_hidden(attributes)
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    let mut docs = attributes.iter().filter(|it| it.path().is_ident("doc"));
    docs.any(|it| {
        let list = it.meta.require_list();
        list.is_ok_and(|list| list.tokens.to_string() == "hidden")
    })
}
