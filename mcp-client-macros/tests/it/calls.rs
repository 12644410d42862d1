//! Calls with a client of the macro.

use mcp::catalog::Snapshot;

mcp::client!("tests/shop.json", pub(crate) mod shop);
mcp::client!(
    "tests/shop.json",
    #[cfg(any())]
    mod absent;
);

#[tokio::test]
async fn client_of_the_macro_calls_a_server() {
    let snapshot: Snapshot = shop::CATALOG.parse().unwrap();
    let client = mcp_testing::connect(mcp_testing::mock(snapshot))
        .await
        .unwrap();
    let shop = shop::Shop::new(client);
    let sum = shop.add(shop::AddInput::new(1.0, 2.0)).await.unwrap();
    assert_eq!(sum.sum, 1.5, "the example of the schema");
    assert_eq!(shop.ping().await.unwrap().text(), "example of ping");
}

#[test]
fn constant_is_the_file() {
    assert_eq!(shop::CATALOG, include_str!("../shop.json"));
}
