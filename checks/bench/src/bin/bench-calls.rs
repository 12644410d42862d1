//! `bench-calls KIND N` makes `N` calls of the client of the SDK without a socket, to count instructions:
//! `bearer` with a fixed token, `oauth` with a token of an authorization server.

use bench::{Failure, login};

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, count] = &arguments[..] else {
        return Err("usage: bench-calls bearer|oauth N".into());
    };
    let count: usize = count.parse()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match kind.as_str() {
        "bearer" => runtime.block_on(login::with_fixed_token(count)),
        "oauth" => runtime.block_on(login::with_authorizer(count)),
        _ => Err("expected bearer or oauth".into()),
    }
}
