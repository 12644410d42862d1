//! Secrets appear in no log, error, event or `Debug` output.

use std::io;
use std::sync::Arc;

use mcp_auth::{AuthError, OAuth, Secret};
use parking_lot::Mutex;
use tracing_subscriber::fmt::MakeWriter;

use crate::world::World;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn whole_flow_at_trace_level_shows_no_secret() {
    let log = Log::default();
    // The log of the other tests counts, too: a subscriber of one thread would miss events whose
    // first use is on another thread.
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let world = World::start().await;
    let oauth = world.interactive().client_secret("given", "canary-secret");
    let mut shown = format!("{oauth:?}");
    let authorizer = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    world.expire_access();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    world.expire_access();
    world.set(|inner| inner.token_failures = vec![(400, "invalid_grant"); 2]);
    let error = world.post(&authorizer).await.unwrap_err();
    shown.push_str(&format!(
        "{error:?} {error} {authorizer:?} {:?}",
        authorizer.status()
    ));
    shown.push_str(&format!("{:?}", Secret::new("canary")));
    let service = authorizer.service(());
    shown.push_str(&format!("{service:?}"));
    authorizer.logout().await.unwrap();

    let machine = OAuth::client_credentials("service", "canary-secret");
    let machine = machine.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&machine).await.unwrap(), 200);
    shown.push_str(&format!("{machine:?}"));

    let log = String::from_utf8(log.0.lock().clone()).unwrap();
    assert!(log.contains("Authorized"), "{log}");
    for text in [&shown, &log] {
        assert!(!text.contains("canary"), "{text}");
        let secret = "Y2FuYXJ5"; // "canary" in Base64
        assert!(!text.contains(secret), "{text}");
    }
}

#[tokio::test]
async fn hostile_descriptions_stay_on_one_line() {
    let world = World::start().await;
    world.set(|inner| inner.token_failures = vec![(400, "bad\r\nINFO fake line\u{1b}[2J")]);
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    let error = authorizer.login().await.unwrap_err();
    assert!(matches!(error, AuthError::TokenRejected(_)), "{error}");
    let text = format!("{error} {error:?}");
    assert!(!text.contains(['\r', '\n', '\u{1b}']), "{text}");
}
