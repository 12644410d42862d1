//! References that lead back to a schema around them.

use mcp_schema::Schema;

/// Returns true if a reference inside a schema leads back to a schema around the reference.
pub(super) fn is_recursive(schema: &Schema<'_>) -> bool {
    // By id: the schemas that each one leads to, and the number of ways to it that are not known to end.
    let mut ways = vec![0_usize; schema.len()];
    let mut next = vec![Vec::new(); schema.len()];
    for node in schema.nodes() {
        let inside = node.subschemas().map(|sub| sub.node);
        for to in inside.chain(node.target()) {
            next[node.id().index()].push(to.id().index());
            ways[to.id().index()] += 1;
        }
    }
    let mut ending: Vec<_> = (0..ways.len()).filter(|id| ways[*id] == 0).collect();
    let mut count = 0;
    while let Some(id) = ending.pop() {
        count += 1;
        for &to in &next[id] {
            ways[to] -= 1;
            if ways[to] == 0 {
                ending.push(to);
            }
        }
    }
    count < schema.len()
}
