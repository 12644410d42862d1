//! Equal types of several tools as one type.

use std::collections::{HashMap, HashSet};

use crate::types::{Shape, Table, Type};

/// Replaces equal types by the first of them, which gets their common label as its name. `uses` are the types
/// outside of the table.
///
/// Types are equal if all their members are, with their names and descriptions, and if their labels are: the
/// severity of two tools is one type, and so is a `min_severity` with the same values. A width and a height
/// with the same values stay two types.
pub(crate) fn merge<'a>(types: &mut Table, uses: impl Iterator<Item = &'a mut Type>) {
    let names = common_labels(types);
    let classes = classes(types, &names);
    let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
    for (slot, class) in classes.iter().enumerate() {
        members.entry(*class).or_default().push(slot);
    }
    let first = |slot: usize| {
        let members = classes.get(slot).and_then(|class| members.get(class));
        members
            .and_then(|members| members.first())
            .copied()
            .unwrap_or(slot)
    };
    for ty in uses {
        ty.slots(&mut |slot| *slot = first(*slot));
    }
    for (slot, name) in names.iter().enumerate() {
        let equal = classes.get(slot).and_then(|class| members.get(class));
        let Some(([kept, replaced @ ..], Name::Label(label))) =
            equal.map(Vec::as_slice).zip(Some(name))
        else {
            continue;
        };
        if *kept == slot && !replaced.is_empty() && types.shape(slot).is_some() {
            types.release(slot);
            for other in replaced {
                types.release(*other);
                forget(types, slot, *other);
            }
            types.rename(slot, label);
        }
    }
    for definition in types.definitions_mut() {
        if let Some(shape) = &mut definition.shape {
            shape.slots(&mut |slot| *slot = first(*slot));
            remove_equal_variants(shape);
        }
    }
}

/// Removes a definition that `kept` replaces. Descriptions stay if both have the same one.
fn forget(types: &mut Table, kept: usize, replaced: usize) {
    let definitions = types.definitions_mut();
    let Some(replaced) = definitions.get_mut(replaced) else {
        return;
    };
    replaced.shape = None;
    let docs = std::mem::take(&mut replaced.docs);
    if let Some(kept) = definitions.get_mut(kept).filter(|kept| kept.docs != docs) {
        kept.docs.clear();
    }
}

fn remove_equal_variants(shape: &mut Shape) {
    let Shape::Union(variants) = shape else {
        return;
    };
    let mut known = HashSet::new();
    variants.retain(|(_, ty)| known.insert(ty.clone()));
    if let [(_, only)] = variants.as_slice() {
        *shape = Shape::Newtype(only.clone());
    }
}

/// The name of a type in all tools. Types with different names are never equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Name {
    Label(String),
    /// The type has no label.
    Slot(usize),
}

/// Returns the name of each slot: the shortest label of an equal type with which the own label ends.
fn common_labels(types: &Table) -> Vec<Name> {
    let all_equal = vec![Name::Slot(0); types.definitions().len()];
    let classes = classes(types, &all_equal);
    let labels = types
        .definitions()
        .iter()
        .map(|definition| definition.label.as_deref());
    let labeled: Vec<(Option<&str>, usize)> = labels.zip(classes).collect();
    let known: HashSet<(Option<&str>, usize)> = labeled.iter().copied().collect();
    let name = |(slot, (label, class)): (usize, (Option<&str>, usize))| {
        let Some(label) = label else {
            return Name::Slot(slot);
        };
        let words = label
            .char_indices()
            .rev()
            .filter(|(_, c)| c.is_ascii_uppercase());
        let mut ends = words.filter_map(|(at, _)| label.get(at..));
        let shortest = ends.find(|end| known.contains(&(Some(*end), class)));
        Name::Label(shortest.unwrap_or(label).to_owned())
    };
    labeled.into_iter().enumerate().map(name).collect()
}

/// Returns the class of each slot: types with the same one are equal. Starts with one class for all types, and
/// splits classes until the members of equal types are equal as well.
fn classes(types: &Table, names: &[Name]) -> Vec<usize> {
    let definitions = types.definitions();
    let mut classes = vec![0; definitions.len()];
    let mut count = 0;
    loop {
        let mut known = HashMap::new();
        let mut split = Vec::with_capacity(definitions.len());
        for ((definition, name), own) in definitions.iter().zip(names).zip(&classes) {
            let mut shape = definition.shape.clone();
            if let Some(shape) = &mut shape {
                shape.slots(&mut |slot| *slot = classes.get(*slot).copied().unwrap_or_default());
            }
            let next = known.len();
            split.push(*known.entry((*own, name, shape)).or_insert(next));
        }
        if known.len() == count {
            return split;
        }
        count = known.len();
        classes = split;
    }
}
