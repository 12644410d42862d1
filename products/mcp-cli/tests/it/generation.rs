//! `mcp gen`.

use crate::kit::{folder, http_shop, mcp, mcp_in, stdio_shop};

#[test]
fn client_generated_for_a_server_fits_it() {
    let folder = folder("gen-client");
    let shop = stdio_shop();
    let run = mcp_in(&folder, &["gen", "rust", "-o", "shop.rs", "--", &shop], "");
    assert_eq!((run.code, &*run.out), (0, ""), "{run:?}");
    assert!(run.err.contains("tools have full types"), "{run:?}");
    let source = std::fs::read_to_string(folder.join("shop.rs")).unwrap();
    assert!(source.contains("pub struct Shop {"), "{source}");
    assert!(source.contains("pub fn add<'a>("), "{source}");
    let written = std::fs::metadata(folder.join("shop.rs"))
        .unwrap()
        .modified();
    let run = mcp_in(&folder, &["gen", "rust", "-o", "shop.rs", &http_shop()], "");
    assert_eq!(run.code, 0, "{run:?}");
    let again = std::fs::metadata(folder.join("shop.rs"))
        .unwrap()
        .modified();
    assert_eq!(
        written.unwrap(),
        again.unwrap(),
        "an equal file is not written"
    );
    let check = ["gen", "rust", "-o", "shop.rs", "--check", "--", &shop];
    let run = mcp_in(&folder, &check, "");
    assert_eq!((run.code, &*run.out), (0, ""), "{run:?}");
}

#[test]
fn check_with_a_broken_file_shows_changes_and_exits_with_1() {
    let folder = folder("gen-check");
    let old = r#"{"tools": [{"name": "gone", "inputSchema": {"type": "object"}}]}"#;
    std::fs::write(folder.join("old.json"), old).unwrap();
    let words = [
        "gen",
        "rust-server",
        "old.json",
        "-o",
        "shop.rs",
        "--name",
        "store",
        "--json",
    ];
    let run = mcp_in(&folder, &words, "");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.json()["full"], 1, "{run:?}");
    let source = std::fs::read_to_string(folder.join("shop.rs")).unwrap();
    assert!(source.contains("pub trait Store"), "{source}");
    let check = [
        "gen",
        "rust-server",
        &http_shop(),
        "-o",
        "shop.rs",
        "--check",
        "--json",
    ];
    let run = mcp_in(&folder, &check, "");
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(
        run.json()["differences"][0]["path"],
        "/tools/gone",
        "{run:?}"
    );
    assert_eq!(run.json_error()["kind"], "breaking", "{run:?}");
}

#[test]
fn code_without_a_file_is_printed() {
    let run = mcp(&["gen", "rust", &http_shop(), "--name", "disk shop"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.out.contains("pub struct DiskShop {"), "{run:?}");
    let run = mcp(&["gen", "rust", "x", "--check"]);
    assert_eq!(run.code, 1, "{run:?}");
}
