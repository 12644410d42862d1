//! The types of the generated code.

use std::collections::HashMap;

use crate::names::{Names, RESERVED_TYPES};
use crate::report::Note;

/// A type where it is used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    /// Any JSON, with the reason if the schema says more than that.
    Value(Option<String>),
    Null,
    Bool,
    Integer,
    Unsigned,
    Number,
    Text,
    List(Box<Self>),
    Tuple(Vec<Self>),
    Map(Box<Self>),
    Option(Box<Self>),
    Boxed(Box<Self>),
    /// An index of the table.
    Named(usize),
}

impl Type {
    pub(crate) fn optional(self) -> Self {
        match self {
            Self::Option(_) | Self::Null | Self::Value(_) => self,
            other => Self::Option(Box::new(other)),
        }
    }

    /// Returns true if both are the same type in Rust. Reasons do not matter.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Value(_), Self::Value(_)) => true,
            (Self::List(a), Self::List(b))
            | (Self::Map(a), Self::Map(b))
            | (Self::Option(a), Self::Option(b))
            | (Self::Boxed(a), Self::Boxed(b)) => a.is_same(b),
            (Self::Tuple(a), Self::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_same(b))
            }
            _ => self == other,
        }
    }

    /// Collects the reasons of `Value`s in this type, without those inside of named types.
    pub(crate) fn reasons<'a>(&'a self, into: &mut Vec<&'a str>) {
        match self {
            Self::Value(Some(reason)) => into.push(reason),
            Self::List(inner) | Self::Map(inner) | Self::Option(inner) | Self::Boxed(inner) => {
                inner.reasons(into);
            }
            Self::Tuple(items) => items.iter().for_each(|item| item.reasons(into)),
            _ => {}
        }
    }
}

/// A struct or enum of the generated code.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) docs: Vec<String>,
    pub(crate) shape: Shape,
}

#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Struct {
        fields: Vec<Field>,
        /// The name and type of the field with all other members.
        rest: Option<(String, Type)>,
    },
    /// An enum of strings: names and values.
    Choice(Vec<(String, String)>),
    /// An enum of types: names and types.
    Union(Vec<(String, Type)>),
    Newtype(Type),
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    /// The name of the member in JSON.
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) docs: Vec<String>,
    pub(crate) ty: Type,
    pub(crate) required: bool,
    /// The type has one value, which is its default.
    pub(crate) constant: bool,
}

/// All types of one generated file.
#[derive(Debug)]
pub(crate) struct Table {
    names: Names,
    /// The name of each slot, and its definition once it is known.
    slots: Vec<(String, Option<Definition>)>,
    /// Types of `$defs` by their whole content, so that equal ones of several tools are one type.
    pub(crate) shared: HashMap<String, (Type, Vec<Note>)>,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self {
            names: Names::with_reserved(&RESERVED_TYPES),
            slots: Vec::new(),
            shared: HashMap::new(),
        }
    }

    /// Reserves a name, without a definition.
    pub(crate) fn reserve(&mut self, wanted: &str) -> usize {
        let name = self.names.take(wanted);
        self.slots.push((name, None));
        self.slots.len() - 1
    }

    /// Makes the name of a slot without a definition available again.
    pub(crate) fn release(&mut self, slot: usize) {
        if let Some((name, None)) = self.slots.get(slot) {
            self.names.release(name);
        }
    }

    pub(crate) fn define(&mut self, slot: usize, docs: Vec<String>, shape: Shape) {
        if let Some((name, definition)) = self.slots.get_mut(slot) {
            *definition = Some(Definition {
                name: name.clone(),
                docs,
                shape,
            });
        }
    }

    pub(crate) fn get(&self, slot: usize) -> Option<&Definition> {
        self.slots.get(slot)?.1.as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: usize) -> Option<&mut Definition> {
        self.slots.get_mut(slot)?.1.as_mut()
    }

    pub(crate) fn name(&self, slot: usize) -> &str {
        self.slots.get(slot).map_or("", |(name, _)| name)
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.slots.iter().filter_map(|(_, it)| it.as_ref())
    }
}
