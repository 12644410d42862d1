//! Generated files. `UPDATE_EXPECT=1` writes them.

use expect_test::{ExpectFile, expect_file};
use mcp_client::catalog::Snapshot;
use mcp_gen::{Generator, catalog_of};

/// The catalog of the tests.
pub(crate) fn shop() -> Snapshot {
    include_str!("catalogs/shop.json").parse().unwrap()
}

/// Returns the items of a generated file.
pub(crate) fn items(source: &str) -> Vec<syn::Item> {
    let items = syn::parse_file(source).unwrap().items.into_iter();
    let module = items.filter_map(|item| match item {
        syn::Item::Mod(module) => module.content,
        _ => None,
    });
    module.flat_map(|(_, items)| items).collect()
}

fn check(generator: &Generator, snapshot: &Snapshot, expected: ExpectFile) {
    let source = generator.generate(snapshot).unwrap().to_source().unwrap();
    expected.assert_eq(&source);
    assert_eq!(&catalog_of(&source).unwrap(), snapshot);
}

#[test]
fn client_for_the_shop_equals_the_stored_file() {
    let file = expect_file!["generated/shop.rs"];
    check(&Generator::client("shop"), &shop(), file);
}

#[test]
fn client_for_the_example_equals_the_stored_file() {
    let snapshot = include_str!("../../../../examples/shop.json");
    let file = expect_file!["../../../../examples/src/shop.rs"];
    check(&Generator::client("shop"), &snapshot.parse().unwrap(), file);
}

#[test]
fn server_for_the_shop_equals_the_stored_file() {
    let generator = Generator::server("shop");
    let file = expect_file!["generated/shop_server.rs"];
    check(&generator, &shop(), file);
}

#[test]
fn row_of_a_template_has_no_function() {
    let catalog = serde_json::json!({
        "resourceTemplates": [{"uriTemplate": "users://{id}", "name": "user"}],
        "resources": [{"uri": "users://7", "name": "Ada"}, {"uri": "help://all", "name": "help"}],
    });
    let snapshot = Snapshot::from_value(catalog).unwrap();
    for generator in [Generator::client("shop"), Generator::server("shop")] {
        let source = generator.generate(&snapshot).unwrap().to_source().unwrap();
        assert!(source.contains("fn read_user"), "{source}");
        assert!(source.contains("fn read_help"), "{source}");
        assert!(!source.contains("read_ada"), "{source}");
        let written = catalog_of(&source).unwrap();
        assert_eq!(written, snapshot.without_template_data());
        assert!(!written.to_json().contains("Ada"), "{source}");
    }
}

#[test]
fn text_from_a_server_does_not_end_the_catalog() {
    let description = format!("\"{};\" \"#; \\\"# #", "#".repeat(300));
    let tool = serde_json::json!({"name": "a", "description": description, "inputSchema": {"type": "object"}});
    let snapshot: Snapshot = serde_json::json!({"tools": [tool]})
        .to_string()
        .parse()
        .unwrap();
    let source = Generator::client("shop").generate(&snapshot).unwrap();
    let source = source.to_source().unwrap();
    assert_eq!(catalog_of(&source).unwrap(), snapshot);
    // The compiler's own parser reads the same text.
    let read = items(&source).into_iter().find_map(|item| match item {
        syn::Item::Const(item) => match *item.expr {
            syn::Expr::Lit(literal) => match literal.lit {
                syn::Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    assert_eq!(read.unwrap().parse::<Snapshot>().unwrap(), snapshot);
}

#[test]
fn catalog_is_read_whatever_the_file_is() {
    let source = Generator::client("shop").generate(&shop()).unwrap();
    let source = source.to_source().unwrap();
    let wrapped = source.replace("CATALOG: &str = r", "CATALOG: &str =\n        r");
    let nested = format!("const X: u8 = {}1;\n{source}", "(".repeat(200_000));
    let tabs = source.replace("    pub const CATALOG", "\tpub const CATALOG");
    for source in [wrapped, nested, tabs, source.replace("#;\n", "#;\n\n")] {
        assert_eq!(catalog_of(&source).unwrap(), shop());
    }
    for source in [
        "",
        "fn main() {}",
        "\n    pub const CATALOG: &str = r\"{}",
        "\n    pub const CATALOG: &str = \"{}\";",
    ] {
        assert!(catalog_of(source).is_err(), "{source}");
    }
}

#[test]
fn report_names_the_parts_without_a_type() {
    let generated = Generator::client("shop").generate(&shop()).unwrap();
    let report = generated.report();
    assert_eq!((report.full(), report.tools().len()), (7, 8));
    assert_eq!(
        report.to_string(),
        "7 of 8 tools have full types\n\
         order/inputSchema/properties/odd: any JSON, because `$ref` points to \
         `https://example.com/odd.json`, which is not in the schema\n"
    );
}
