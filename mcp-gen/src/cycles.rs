//! Types that contain themselves: boxes, and unions that would be read without end.

use crate::types::{Shape, Table, Type};

/// Boxes the fields through which a type contains itself. A union that is its own variant becomes any
/// JSON, since reading it would not end.
pub(crate) fn resolve(types: &mut Table) {
    let endless = components(types, transparent);
    for (definition, component) in types.definitions_mut().iter_mut().zip(endless) {
        if component.is_cycle {
            let reason = format!("`{}` is a variant of itself", definition.name);
            definition.shape = Some(Shape::Newtype(Type::Value(Some(reason))));
        }
    }
    let direct = components(types, parts);
    for (definition, own) in types.definitions_mut().iter_mut().zip(&direct) {
        let in_cycle = |other: usize| direct.get(other).is_some_and(|other| other.id == own.id);
        if let Some(shape) = definition.shape.as_mut().filter(|_| own.is_cycle) {
            for ty in types_of(shape) {
                add_boxes(ty, &in_cycle);
            }
        }
    }
}

fn add_boxes(ty: &mut Type, in_cycle: &impl Fn(usize) -> bool) {
    match ty {
        Type::Named(slot) if in_cycle(*slot) => *ty = Type::Boxed(Box::new(ty.clone())),
        Type::Option(inner) => add_boxes(inner, in_cycle),
        Type::Tuple(items) => items.iter_mut().for_each(|item| add_boxes(item, in_cycle)),
        _ => {}
    }
}

fn types_of(shape: &mut Shape) -> Vec<&mut Type> {
    match shape {
        Shape::Struct { fields, .. } => fields.iter_mut().map(|field| &mut field.ty).collect(),
        Shape::Union(variants) => variants.iter_mut().map(|(_, ty)| ty).collect(),
        Shape::Newtype(ty) => vec![ty],
        Shape::Choice(_) => Vec::new(),
    }
}

/// The types whose JSON is this type's JSON.
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

/// The types that are stored inside this type without a pointer.
fn parts(shape: &Shape) -> Vec<usize> {
    fn add(ty: &Type, slots: &mut Vec<usize>) {
        match ty {
            Type::Named(slot) => slots.push(*slot),
            Type::Option(inner) => add(inner, slots),
            Type::Tuple(items) => items.iter().for_each(|item| add(item, slots)),
            _ => {}
        }
    }
    let mut slots = Vec::new();
    match shape {
        Shape::Struct { fields, .. } => fields.iter().for_each(|field| add(&field.ty, &mut slots)),
        Shape::Union(variants) => variants.iter().for_each(|(_, ty)| add(ty, &mut slots)),
        Shape::Newtype(ty) => add(ty, &mut slots),
        Shape::Choice(_) => {}
    }
    slots
}

/// A type's strongly connected component.
#[derive(Clone, Copy)]
struct Component {
    id: usize,
    /// The type can reach itself.
    is_cycle: bool,
}

/// Kosaraju's algorithm, without recursion.
fn components(types: &Table, edges: fn(&Shape) -> Vec<usize>) -> Vec<Component> {
    let shapes = types
        .definitions()
        .iter()
        .map(|definition| &definition.shape);
    let forward: Vec<Vec<usize>> = shapes
        .map(|shape| shape.as_ref().map_or_else(Vec::new, edges))
        .collect();
    let count = forward.len();
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
