//! Merges equal types of several tools into one type.

use std::collections::{HashMap, HashSet};

use crate::types::{Shape, Table, Type};

/// Replaces equal types by the first of them, and names it after their common label. `uses` are the types
/// outside the table that refer to its slots.
///
/// Types are equal if their shapes are (member names, member types and member descriptions), and if one label
/// ends with the other: the `severity` of two tools is one type, and so is a `min_severity` with the same values.
/// A `width` and a `height` with the same values stay two types.
pub(crate) fn merge<'a>(types: &mut Table, uses: impl Iterator<Item = &'a mut Type>) {
    let names = common_labels(types);
    let classes = classes(types, &names);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); classes.len()];
    for (slot, class) in classes.iter().enumerate() {
        members[*class].push(slot);
    }
    let first = |slot: usize| classes.get(slot).map_or(slot, |&class| members[class][0]);
    for ty in uses {
        ty.slots(&mut |slot| *slot = first(*slot));
    }
    for equal in &members {
        let [kept, replaced @ ..] = equal.as_slice() else {
            continue;
        };
        if let Name::Label(label) = &names[*kept]
            && !replaced.is_empty()
            && types.shape(*kept).is_some()
        {
            types.release(*kept);
            for other in replaced {
                types.release(*other);
                forget(types, *kept, *other);
            }
            types.rename(*kept, label);
        }
    }
    for definition in types.definitions_mut() {
        if let Some(shape) = &mut definition.shape {
            shape.slots(&mut |slot| *slot = first(*slot));
            remove_equal_variants(shape);
        }
    }
}

/// Removes a definition that `kept` replaces. `kept` loses its description if the other one differs.
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

/// Removes variants that have become equal. A union with one variant left becomes a newtype.
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

/// The part of the label that equal types share. Types with different names are never equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Name {
    Label(String),
    /// A type without a label is equal to no other.
    Slot(usize),
}

/// Returns the name of each slot: the shortest suffix of its label that is the label of a type with the same
/// shape, such as `Severity` for `MinSeverity`.
fn common_labels(types: &Table) -> Vec<Name> {
    // With one name for all types, only their shapes count.
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

/// Returns the class of each slot: types of one class are equal. Classes are numbered by their first slots.
///
/// Starts with one class for all types, and splits classes until types of one class refer to types of one class.
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
