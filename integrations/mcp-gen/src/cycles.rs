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
    let direct = components(types, |shape| {
        let parts = parts(shape).into_iter();
        parts.filter_map(|ty| slot_of(ty)).collect()
    });
    for (definition, own) in types.definitions_mut().iter_mut().zip(&direct) {
        let in_cycle = |other: usize| direct.get(other).is_some_and(|other| other.id == own.id);
        if let Some(shape) = definition.shape.as_mut().filter(|_| own.is_cycle) {
            for ty in parts(shape) {
                if slot_of(ty).is_some_and(in_cycle) {
                    *ty = Type::Boxed(Box::new(ty.clone()));
                }
            }
        }
    }
}

/// Returns the types that are stored inside of this type without a pointer.
fn parts(shape: &mut Shape) -> Vec<&mut Type> {
    let mut open: Vec<&mut Type> = match shape {
        Shape::Struct { fields, .. } => fields.iter_mut().map(|field| &mut field.ty).collect(),
        Shape::Union(variants) => variants.iter_mut().map(|(_, ty)| ty).collect(),
        Shape::Newtype(ty) => vec![ty],
        Shape::Choice(_) => Vec::new(),
    };
    let mut parts = Vec::new();
    while let Some(ty) = open.pop() {
        match ty {
            Type::Option(inner) => open.push(inner),
            Type::Tuple(items) => open.extend(items),
            ty => parts.push(ty),
        }
    }
    parts
}

/// Returns the types whose JSON is this type's JSON.
fn transparent(shape: &mut Shape) -> Vec<usize> {
    let types: Vec<&Type> = match shape {
        Shape::Union(variants) => variants.iter().map(|(_, ty)| ty).collect(),
        Shape::Newtype(ty) => vec![ty],
        Shape::Struct { .. } | Shape::Choice(_) => Vec::new(),
    };
    let slots = types.into_iter().filter_map(|ty| match ty {
        Type::Option(inner) => slot_of(inner),
        ty => slot_of(ty),
    });
    slots.collect()
}

fn slot_of(ty: &Type) -> Option<usize> {
    match ty {
        Type::Named(slot) => Some(*slot),
        _ => None,
    }
}

/// The strongly connected component of a type.
#[derive(Clone, Copy)]
struct Component {
    id: usize,
    /// The type can reach itself.
    is_cycle: bool,
}

/// Kosaraju's algorithm, without recursion.
fn components(types: &mut Table, edges: fn(&mut Shape) -> Vec<usize>) -> Vec<Component> {
    let definitions = types.definitions_mut().iter_mut();
    let shapes = definitions.map(|definition| definition.shape.as_mut());
    let forward: Vec<Vec<usize>> = shapes
        .map(|shape| shape.map_or_else(Vec::new, edges))
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
