//! Rules of `rules.rs` that no other file covers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mcp_auth::{
    AuthError, AuthStatus, CredentialStore, FileStore, ManualRedirect, OAuth, Secret, StoreKey,
    StoreLock,
};
use parking_lot::Mutex;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::world::{Folder, REDIRECT_URI, World, follow, reason};

/// A server that answers every connection with the same bytes and records the requests. With a pause,
/// it sends one byte at a time.
struct Fixed {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Fixed {
    async fn start(response: impl Into<Vec<u8>>, pause: Option<Duration>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (seen, response) = (Arc::clone(&requests), response.into());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (seen, response) = (Arc::clone(&seen), response.clone());
                tokio::spawn(async move {
                    let mut head = vec![0; 4096];
                    let read = stream.read(&mut head).await.unwrap_or_default();
                    seen.lock()
                        .push(String::from_utf8_lossy(&head[..read]).into_owned());
                    let Some(pause) = pause else {
                        let _ = stream.write_all(&response).await;
                        return;
                    };
                    for byte in response {
                        let _ = stream.write_all(&[byte]).await;
                        tokio::time::sleep(pause).await;
                    }
                });
            }
        });
        Self { url, requests }
    }

    async fn json(body: &str) -> Self {
        let length = body.len();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
        Self::start(
            format!("{head}content-length: {length}\r\n\r\n{body}"),
            None,
        )
        .await
    }
}

/// Sends a request to the MCP server of `world`, whose authorization server is at `issuer`. Returns the
/// error, and checks that the client works when the right authorization server is back.
async fn failure_with(world: &World, issuer: &str) -> AuthError {
    world.set(|inner| inner.authorization_servers = vec![issuer.to_owned()]);
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    let error = reason(world.post(&authorizer).await.unwrap_err());
    world.set(|inner| inner.authorization_servers = vec![world.issuer.clone()]);
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    error
}

#[tokio::test(start_paused = true)]
async fn trickling_authorization_server_ends_in_a_typed_error_within_the_limit() {
    let world = World::start().await;
    let response = "HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{".to_owned() + &" ".repeat(899);
    let slow = Fixed::start(response, Some(Duration::from_secs(1))).await;
    let start = Instant::now();
    let error = failure_with(&world, &slow.url).await;
    assert!(error.is_transient(), "{error}");
    let seconds = start.elapsed().as_secs();
    assert!((15..=31).contains(&seconds), "{seconds} s");
}

#[tokio::test(start_paused = true)]
async fn hanging_endpoint_ends_in_a_typed_error_within_the_limit() {
    for name in ["registration_endpoint", "token_endpoint"] {
        let world = World::start().await;
        // Connections stay open without a byte.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/x", listener.local_addr().unwrap());
        world.set(|inner| inner.extra = json!({name: url}));
        // The endpoints of a trusted authorization server may be anywhere.
        let oauth = world.interactive().issuer(&world.issuer);
        let authorizer = oauth.authorizer(&world.server).unwrap();
        let start = Instant::now();
        let error = reason(world.post(&authorizer).await.unwrap_err());
        assert!(error.is_transient(), "{name}: {error}");
        assert!(
            start.elapsed().as_secs() <= 31,
            "{name}: {:?}",
            start.elapsed()
        );
        world.set(|inner| inner.extra = json!({}));
        assert_eq!(world.post(&authorizer).await.unwrap(), 200, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn hanging_revocation_does_not_keep_the_tokens() {
    let world = World::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/x", listener.local_addr().unwrap());
    world.set(|inner| inner.extra = json!({"revocation_endpoint": url}));
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    let start = Instant::now();
    authorizer.logout().await.unwrap();
    assert!(start.elapsed().as_secs() <= 16, "{:?}", start.elapsed());
    assert_eq!(authorizer.status(), AuthStatus::LoggedOut);
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    assert_eq!(world.inner.lock().logins.len(), 2);
}

#[tokio::test]
async fn metadata_that_is_no_metadata_ends_in_a_typed_error() {
    let deep = format!("{{\"issuer\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    for body in ["<html>", "[]", "null", "{", "{}", "{\"issuer\":7}", &deep] {
        let world = World::start().await;
        let lying = Fixed::json(body).await;
        let error = failure_with(&world, &lying.url).await;
        let is_typed = matches!(
            error,
            AuthError::Malformed { .. }
                | AuthError::NoMetadata { .. }
                | AuthError::MetadataIssuer { .. }
        );
        assert!(is_typed, "{body:.20}: {error}");
    }
}

#[tokio::test]
async fn compressed_response_is_not_inflated() {
    let world = World::start().await;
    // The start of a gzip stream.
    let mut response = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-encoding: gzip\r\ncontent-length: 10\r\n\r\n".to_vec();
    response.extend([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
    let bomb = Fixed::start(response, None).await;
    let error = failure_with(&world, &bomb.url).await;
    assert!(matches!(error, AuthError::NoMetadata { .. }), "{error}");
    let requests = bomb.requests.lock();
    let asks = |head: &String| head.to_ascii_lowercase().contains("accept-encoding");
    assert!(
        !requests.is_empty() && !requests.iter().any(asks),
        "{requests:?}"
    );
}

#[tokio::test]
async fn metadata_redirects_stay_at_the_origin_and_end() {
    let other = Fixed::json("{}").await;
    for (target, most) in [
        ("http://169.254.169.254/latest/meta-data", 2),
        (other.url.as_str(), 2),
        // Two documents, each with three redirects.
        ("/again", 8),
    ] {
        let world = World::start().await;
        let head = format!(
            "HTTP/1.1 302 Found\r\nlocation: {target}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        );
        let redirecting = Fixed::start(head, None).await;
        let error = failure_with(&world, &redirecting.url).await;
        assert!(
            matches!(error, AuthError::NoMetadata { .. }),
            "{target}: {error}"
        );
        assert_eq!(redirecting.requests.lock().len(), most, "{target}");
    }
    assert!(other.requests.lock().is_empty());
}

#[tokio::test]
async fn ninth_authorization_server_is_not_considered() {
    for (others, is_found) in [(7, true), (8, false)] {
        let world = World::start().await;
        world.set(|inner| {
            let other = |number| format!("{}/none/{number}", world.issuer);
            inner.authorization_servers = (0..others)
                .map(other)
                .chain([world.issuer.clone()])
                .collect();
        });
        let authorizer = world.interactive().authorizer(&world.server).unwrap();
        assert_eq!(world.post(&authorizer).await.is_ok(), is_found, "{others}");
    }
}

#[tokio::test]
async fn page_from_a_hostile_server_is_one_word_without_quotes() {
    let world = World::start().await;
    let endpoint = format!(
        "{}/authorize\" --flag `id` $(id) '%USERPROFILE%",
        world.issuer
    );
    world.set(|inner| inner.extra = json!({"authorization_endpoint": endpoint}));
    let shown = Arc::<Mutex<String>>::default();
    let seen = Arc::clone(&shown);
    let redirect = ManualRedirect::new(REDIRECT_URI, move |url| {
        *seen.lock() = url;
        std::future::ready(Err(AuthError::Redirect("test".to_owned())))
    });
    let oauth = OAuth::interactive("test").redirect(redirect);
    let authorizer = oauth.authorizer(&world.server).unwrap();
    authorizer.login().await.unwrap_err();
    let shown = shown.lock();
    assert!(shown.starts_with("http://127.0.0.1:"), "{shown}");
    assert!(!shown.contains([' ', '"', '<', '>']), "{shown}");
}

#[tokio::test]
async fn callback_from_another_login_requests_no_token() {
    let world = World::start().await;
    let first = Arc::<Mutex<String>>::default();
    let kept = Arc::clone(&first);
    let records = ManualRedirect::new(REDIRECT_URI, move |page| {
        let kept = Arc::clone(&kept);
        async move {
            let callback = follow(page).await?;
            kept.lock().clone_from(&callback);
            Ok(callback)
        }
    });
    let authorizer = world.interactive().redirect(records);
    let authorizer = authorizer.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    let requests = world.inner.lock().token_requests.len();
    // Another login, and the same one again.
    let replays = ManualRedirect::new(REDIRECT_URI, move |_| {
        std::future::ready(Ok(first.lock().clone()))
    });
    let replaying = world.interactive().redirect(replays);
    let replaying = replaying.authorizer(&world.server).unwrap();
    for _ in 0..2 {
        let error = replaying.login().await.unwrap_err();
        assert!(matches!(error, AuthError::Callback(_)), "{error}");
    }
    assert_eq!(world.inner.lock().token_requests.len(), requests);
}

/// A store whose process ends right after a record is on the disk.
#[derive(Clone)]
struct Ending {
    files: FileStore,
    armed: Arc<AtomicBool>,
    saved: Arc<Notify>,
}

#[async_trait]
impl CredentialStore for Ending {
    async fn load(&self, key: &StoreKey) -> Result<Option<Secret>, AuthError> {
        self.files.load(key).await
    }

    async fn save(&self, key: &StoreKey, record: &Secret) -> Result<(), AuthError> {
        self.files.save(key, record).await?;
        if self.armed.load(Ordering::SeqCst) {
            self.saved.notify_one();
            std::future::pending::<()>().await;
        }
        Ok(())
    }

    async fn remove(&self, key: &StoreKey) -> Result<(), AuthError> {
        self.files.remove(key).await
    }

    async fn lock(&self, key: &StoreKey, timeout: Duration) -> Result<StoreLock, AuthError> {
        self.files.lock(key, timeout).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_that_ends_between_rotation_and_use_loses_nothing() {
    let (world, folder) = (World::start().await, Folder::new("ending"));
    let store = Ending {
        files: FileStore::new(&folder.0),
        armed: Arc::default(),
        saved: Arc::default(),
    };
    let process = {
        let (world, store) = (world.clone(), store.clone());
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let runtime = runtime.unwrap();
            runtime.block_on(async {
                let authorizer = world.interactive().store(store.clone());
                let authorizer = authorizer.authorizer(&world.server).unwrap();
                assert_eq!(world.post(&authorizer).await.unwrap(), 200);
                world.expire_access();
                store.armed.store(true, Ordering::SeqCst);
                tokio::select! {
                    _ = world.post(&authorizer) => panic!("the call ended"),
                    () = store.saved.notified() => {}
                }
            });
            // The process is gone: its tasks end where they are, and its locks are released.
            drop(runtime);
        })
    };
    tokio::task::spawn_blocking(|| process.join().unwrap())
        .await
        .unwrap();
    let next = world.interactive().store(FileStore::new(&folder.0));
    let next = next.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&next).await.unwrap(), 200);
    world.expire_access();
    assert_eq!(world.post(&next).await.unwrap(), 200);
    assert_eq!(world.inner.lock().logins.len(), 1);
    world.assert_no_mistakes();
}
