//! The types of the generated code.

use crate::names::{Names, RESERVED_TYPES};

/// Most levels of lists, maps, tuples and options in a type without a name. The parser of Rust code needs 55 KiB of stack for
/// each in a debug build.
const MAX_LEVELS: usize = 8;
/// Most parts of a type without a name: a tuple of 12 references to such tuples has 157.
const MAX_PARTS: usize = 200;

/// A type where it is used.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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

    /// Returns true if the type needs a name, since it is too large to stand inside of others.
    pub(crate) fn is_large(&self) -> bool {
        let (levels, parts) = self.size();
        levels > MAX_LEVELS || parts > MAX_PARTS
    }

    /// Returns the levels and the parts, without those of named types.
    fn size(&self) -> (usize, usize) {
        let inner = match self {
            Self::List(inner) | Self::Map(inner) | Self::Option(inner) | Self::Boxed(inner) => {
                std::slice::from_ref(&**inner)
            }
            Self::Tuple(items) => items,
            _ => return (0, 1),
        };
        let sizes = inner.iter().map(Self::size);
        let add =
            |(levels, parts): (usize, usize), (inner, more)| (levels.max(inner), parts + more);
        let (levels, parts) = sizes.fold((0, 1), add);
        (levels + 1, parts)
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

    /// Calls `visit` with each named type's slot in this type.
    pub(crate) fn slots(&mut self, visit: &mut impl FnMut(&mut usize)) {
        match self {
            Self::Named(slot) => visit(slot),
            Self::List(inner) | Self::Map(inner) | Self::Option(inner) | Self::Boxed(inner) => {
                inner.slots(visit);
            }
            Self::Tuple(items) => items.iter_mut().for_each(|item| item.slots(visit)),
            _ => {}
        }
    }

    /// Collects the reasons of `Value`s in this type, except inside named types.
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
    /// The name without the tool: the member, `$defs` entry or title. Equal types with equal labels are one type.
    pub(crate) label: Option<String>,
    pub(crate) docs: Vec<String>,
    /// `None` before it is known, and if another definition replaces this one.
    pub(crate) shape: Option<Shape>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    Struct {
        fields: Vec<Field>,
        /// The name and type of the field with all other members.
        rest: Option<(String, Type)>,
    },
    /// A string enum: names and values.
    Choice(Vec<(String, String)>),
    /// An enum of types: names and types.
    Union(Vec<(String, Type)>),
    Newtype(Type),
}

impl Shape {
    /// Calls `visit` with each named type's slot in this shape.
    pub(crate) fn slots(&mut self, visit: &mut impl FnMut(&mut usize)) {
        match self {
            Self::Struct { fields, rest } => {
                fields.iter_mut().for_each(|field| field.ty.slots(visit));
                if let Some((_, ty)) = rest {
                    ty.slots(visit);
                }
            }
            Self::Choice(_) => {}
            Self::Union(variants) => variants.iter_mut().for_each(|(_, ty)| ty.slots(visit)),
            Self::Newtype(ty) => ty.slots(visit),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Field {
    /// The name of the member in JSON.
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) docs: Vec<String>,
    pub(crate) ty: Type,
    /// The position among the required members, which `new` takes in this order. `None` for an optional one.
    pub(crate) required: Option<usize>,
    /// The type has one value, which is its default.
    pub(crate) constant: bool,
    /// The member is a string that contains the value's JSON: a prompt argument.
    pub(crate) is_json_text: bool,
}

/// The types of a generated file. A slot is a definition's index.
#[derive(Debug)]
pub(crate) struct Table {
    names: Names,
    definitions: Vec<Definition>,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self {
            names: Names::with_reserved(&RESERVED_TYPES),
            definitions: Vec::new(),
        }
    }

    /// Reserves a name, without a definition.
    pub(crate) fn reserve(&mut self, wanted: &str, label: Option<&str>) -> usize {
        self.definitions.push(Definition {
            name: self.names.take(wanted),
            label: label.map(str::to_owned),
            docs: Vec::new(),
            shape: None,
        });
        self.definitions.len() - 1
    }

    /// Makes the name of a slot available again.
    pub(crate) fn release(&mut self, slot: usize) {
        self.names.release(self.name(slot).to_owned().as_str());
    }

    /// Names a slot again, whose name was released.
    pub(crate) fn rename(&mut self, slot: usize, wanted: &str) {
        let name = self.names.take(wanted);
        if let Some(definition) = self.definitions.get_mut(slot) {
            definition.name = name;
        }
    }

    pub(crate) fn define(&mut self, slot: usize, docs: Vec<String>, shape: Shape) {
        if let Some(definition) = self.definitions.get_mut(slot) {
            definition.docs = docs;
            definition.shape = Some(shape);
        }
    }

    pub(crate) fn name(&self, slot: usize) -> &str {
        self.definitions
            .get(slot)
            .map_or("", |definition| &definition.name)
    }

    pub(crate) fn shape(&self, slot: usize) -> Option<&Shape> {
        self.definitions.get(slot)?.shape.as_ref()
    }

    pub(crate) fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    pub(crate) fn definitions_mut(&mut self) -> &mut [Definition] {
        &mut self.definitions
    }

    /// Returns, for each slot, whether one of these types contains it.
    pub(crate) fn contained<'a>(&self, types: impl Iterator<Item = &'a Type>) -> Vec<bool> {
        let mut is_contained = vec![false; self.definitions.len()];
        let mut open = Vec::new();
        for ty in types {
            ty.clone().slots(&mut |slot| open.push(*slot));
        }
        while let Some(slot) = open.pop() {
            let is_new = is_contained
                .get_mut(slot)
                .is_some_and(|known| !std::mem::replace(known, true));
            if let Some(shape) = self.shape(slot).filter(|_| is_new) {
                shape.clone().slots(&mut |slot| open.push(*slot));
            }
        }
        is_contained
    }
}
