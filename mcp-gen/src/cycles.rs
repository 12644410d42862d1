//! Types that contain themselves: boxes, and unions that would be read without end.

use crate::types::{Shape, Table, Type};

/// Boxes the fields through which a type contains itself. A union that is its own variant becomes any
/// JSON, since reading it would not end. Returns the slots of those unions.
pub(crate) fn resolve(types: &mut Table) -> Vec<usize> {
    let endless = components(types, transparent);
    let mut replaced = Vec::new();
    for slot in 0..types.len() {
        let name = types.name(slot).to_owned();
        if let (Some(true), Some(definition)) =
            (endless.get(slot).map(|it| it.is_cycle), types.get_mut(slot))
        {
            let reason = format!("`{name}` is a variant of itself");
            definition.shape = Shape::Newtype(Type::Value(Some(reason)));
            replaced.push(slot);
        }
    }
    let direct = components(types, parts);
    for slot in 0..types.len() {
        let Some(own) = direct.get(slot).filter(|it| it.is_cycle) else {
            continue;
        };
        let in_cycle = |other: usize| direct.get(other).is_some_and(|it| it.id == own.id);
        if let Some(definition) = types.get_mut(slot) {
            for ty in types_of(&mut definition.shape) {
                add_boxes(ty, &in_cycle);
            }
        }
    }
    replaced
}

fn add_boxes(ty: &mut Type, in_cycle: &impl Fn(usize) -> bool) {
    match ty {
        Type::Named(slot) if in_cycle(*slot) => *ty = Type::Boxed(Box::new(ty.clone())),
        Type::Option(inner) => add_boxes(inner, in_cycle),
        Type::Tuple(items) => items.iter_mut().for_each(|it| add_boxes(it, in_cycle)),
        _ => {}
    }
}

fn types_of(shape: &mut Shape) -> Vec<&mut Type> {
    match shape {
        Shape::Struct { fields, .. } => fields.iter_mut().map(|it| &mut it.ty).collect(),
        Shape::Union(variants) => variants.iter_mut().map(|(_, ty)| ty).collect(),
        Shape::Newtype(ty) => vec![ty],
        Shape::Choice(_) => Vec::new(),
    }
}

/// The types whose JSON is the JSON of this type.
fn transparent(shape: &Shape) -> Vec<usize> {
    let mut slots = Vec::new();
    let mut add = |ty: &Type| match ty {
        Type::Named(slot) => slots.push(*slot),
        Type::Option(inner) => {
            if let Type::Named(slot) = **inner {
                slots.push(slot);
            }
        }
        _ => {}
    };
    match shape {
        Shape::Union(variants) => variants.iter().for_each(|(_, ty)| add(ty)),
        Shape::Newtype(ty) => add(ty),
        Shape::Struct { .. } | Shape::Choice(_) => {}
    }
    slots
}

/// The types that are stored inside of this type without a pointer.
fn parts(shape: &Shape) -> Vec<usize> {
    fn add(ty: &Type, slots: &mut Vec<usize>) {
        match ty {
            Type::Named(slot) => slots.push(*slot),
            Type::Option(inner) => add(inner, slots),
            Type::Tuple(items) => items.iter().for_each(|it| add(it, slots)),
            _ => {}
        }
    }
    let mut slots = Vec::new();
    match shape {
        Shape::Struct { fields, .. } => fields.iter().for_each(|it| add(&it.ty, &mut slots)),
        Shape::Union(variants) => variants.iter().for_each(|(_, ty)| add(ty, &mut slots)),
        Shape::Newtype(ty) => add(ty, &mut slots),
        Shape::Choice(_) => {}
    }
    slots
}

/// The strongly connected component of a type.
#[derive(Clone, Copy)]
struct Component {
    id: usize,
    /// The type can reach itself.
    is_cycle: bool,
}

/// Kosaraju's algorithm, without recursion.
fn components(types: &Table, edges: fn(&Shape) -> Vec<usize>) -> Vec<Component> {
    let count = types.len();
    let edges_of = |slot: usize| match types.get(slot) {
        Some(definition) => edges(&definition.shape),
        None => Vec::new(),
    };
    let forward: Vec<Vec<usize>> = (0..count).map(edges_of).collect();
    let mut backward = vec![Vec::new(); count];
    for (from, targets) in forward.iter().enumerate() {
        for to in targets {
            backward[*to].push(from);
        }
    }
    let mut seen = vec![false; count];
    let mut order = Vec::with_capacity(count);
    for start in 0..count {
        visit(start, &forward, &mut seen, |slot| order.push(slot));
    }
    let mut seen = vec![false; count];
    let empty = Component {
        id: 0,
        is_cycle: false,
    };
    let mut result = vec![empty; count];
    for start in order.into_iter().rev() {
        let mut members = Vec::new();
        visit(start, &backward, &mut seen, |slot| members.push(slot));
        let is_cycle = members.len() > 1 || forward[start].contains(&start);
        for member in members {
            result[member] = Component {
                id: start,
                is_cycle,
            };
        }
    }
    result
}

/// Calls `leave` with all nodes that were not seen and can be reached, each after its successors.
fn visit(start: usize, edges: &[Vec<usize>], seen: &mut [bool], mut leave: impl FnMut(usize)) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut stack = vec![(start, 0)];
    while let Some((slot, next)) = stack.pop() {
        match edges[slot].get(next) {
            Some(target) => {
                stack.push((slot, next + 1));
                if !std::mem::replace(&mut seen[*target], true) {
                    stack.push((*target, 0));
                }
            }
            None => leave(slot),
        }
    }
}
