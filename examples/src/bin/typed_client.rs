//! A typed client: `cargo run -p examples --bin typed_client`. Its methods and types are in `src/shop.rs`, which
//! `mcp gen rust shop.json -o src/shop.rs` wrote. The server is a part of this program.

#![allow(clippy::print_stdout, reason = "a command line program")]

use examples::shop;
use mcp::InProcess;
use mcp::prelude::*;

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Reservation {
    number: i64,
    total: f64,
}

struct Disks;

#[mcp::server]
impl Disks {
    /// Reserves disks for a customer.
    #[tool]
    fn reserve(&self, title: String, count: u32, delivery: Option<String>) -> Json<Reservation> {
        let postage = match delivery.as_deref() {
            Some("pick-up") => 0.0,
            _ => 4.5,
        };
        println!("{count} × {title}");
        Json(Reservation {
            number: 7,
            total: f64::from(count) * 9.0 + postage,
        })
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let shop = shop::Shop::new(Client::connect(InProcess(Server::of(Disks))).await?);
    let disks = shop::ReserveInput::new("Kind of Blue", 2)
        .with_delivery(shop::ReserveInputDelivery::PickUp);
    // The fields are `count`, `delivery` and `title`; a missing or misspelled one does not compile.
    let reservation: shop::ReserveOutput = shop.reserve(disks).await?;
    println!("reservation {}: {}", reservation.number, reservation.total);
    Ok(())
}
