//! A token issuer: its metadata and its keys, fetched once for all requests.
//!
//! Spec: RFC 8414, OpenID Connect Discovery 1.0, RFC 7517.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use http::HeaderMap;
use http::header::CACHE_CONTROL;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::time::Instant;
use url::Url;

use super::jwt::{INVALID_SIGNATURE, Jws, KeySet, UNKNOWN_KEY, WRONG_ALGORITHM};
use super::verifier::VerifyError;
use crate::error::{AuthError, printable};
use crate::fetch::Fetcher;
use crate::flight::Flight;
use crate::metadata::server::{fetch_document, is_same_issuer};

/// Minimum time between two fetches of the keys for tokens that no known key has signed.
const MISS_INTERVAL: Duration = Duration::from_secs(30);
/// Time after a failed fetch during which the same error is returned without another fetch.
const FAILURE_INTERVAL: Duration = Duration::from_secs(5);
/// Time after which the metadata is fetched again together with the keys.
const METADATA_AGE: Duration = Duration::from_secs(3600);
/// Time after which keys are fetched again, without a header of the issuer.
const DEFAULT_AGE: Duration = Duration::from_secs(3600);
/// Limits of the time that the issuer sets.
const MIN_AGE: Duration = Duration::from_secs(300);
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);

/// The metadata of an issuer as far as a resource server needs it.
#[derive(Debug, Clone, Deserialize)]
struct IssuerDocument {
    issuer: String,
    jwks_uri: Option<Url>,
    introspection_endpoint: Option<Url>,
}

#[derive(Deserialize)]
struct KeyDocument {
    keys: Vec<Value>,
}

/// Called when an issuer has other keys than before.
pub(super) type OnNewKeys = Arc<dyn Fn() + Send + Sync>;

/// An issuer and the state of its fetches.
#[derive(Clone)]
pub(super) struct Issuer(Arc<IssuerState>);

struct IssuerState {
    /// The issuer, byte for byte as in its tokens.
    name: String,
    url: Url,
    /// The keys' URL, if the program has set it.
    keys_url: Option<Url>,
    fetcher: Fetcher,
    on_new_keys: OnNewKeys,
    keys: ArcSwapOption<Keys>,
    metadata: ArcSwapOption<Metadata>,
    keys_flight: Flight<Arc<Keys>>,
    metadata_flight: Flight<Arc<Metadata>>,
    times: Mutex<Times>,
}

struct Keys {
    set: KeySet,
    document: Vec<Value>,
    fetched: Instant,
    max_age: Duration,
}

struct Metadata {
    document: IssuerDocument,
    fetched: Instant,
}

#[derive(Default)]
struct Times {
    /// The last fetch for a token that no known key has signed.
    miss: Option<Instant>,
    failure: Option<(Instant, AuthError)>,
}

impl Issuer {
    pub(super) fn new(
        name: String,
        url: Url,
        keys_url: Option<Url>,
        fetcher: Fetcher,
        on_new_keys: OnNewKeys,
    ) -> Self {
        Self(Arc::new(IssuerState {
            name,
            url,
            keys_url,
            fetcher,
            on_new_keys,
            keys: ArcSwapOption::empty(),
            metadata: ArcSwapOption::empty(),
            keys_flight: Flight::default(),
            metadata_flight: Flight::default(),
            times: Mutex::default(),
        }))
    }

    pub(super) fn name(&self) -> &str {
        &self.0.name
    }

    /// Verifies the signature of a token and returns its claims. When no known key fits, the issuer may
    /// have replaced one: the keys are fetched again, at most once in 30 seconds for all tokens together.
    /// An issuer may also replace a key under the same id, or without an id. So the keys are fetched for a wrong
    /// signature, too, if they are older than 30 seconds.
    ///
    /// # Errors
    ///
    /// Returns [`VerifyError::Invalid`] when the token is not signed by a key of the issuer, and
    /// [`VerifyError::Unavailable`] when the keys cannot be fetched.
    pub(super) async fn verify(&self, jws: &Jws<'_>) -> Result<Map<String, Value>, VerifyError> {
        let keys = self.keys().await?;
        let misfit = match verify(&keys, jws) {
            Err(error) if [INVALID_SIGNATURE, WRONG_ALGORITHM, UNKNOWN_KEY].contains(&error) => {
                error
            }
            verified => return verified,
        };
        let is_unknown = misfit == UNKNOWN_KEY;
        let is_old = keys.fetched.elapsed() > MISS_INTERVAL;
        if (is_unknown || is_old) && self.may_fetch_missing_key() {
            let fetched = self.fetch_keys().await;
            if let Err(error) = fetched {
                // The known keys stay valid. A token with a known key id is not signed by it.
                return Err(if is_unknown {
                    unavailable(error)
                } else {
                    misfit
                });
            }
        } else if self.0.keys_flight.wait().await.is_none() {
            return Err(misfit);
        }
        verify(&*self.keys().await?, jws)
    }

    /// The URL of the introspection endpoint.
    ///
    /// # Errors
    ///
    /// Returns [`VerifyError::Unavailable`] when the metadata cannot be fetched or does not name it.
    pub(super) async fn introspection_endpoint(&self) -> Result<Url, VerifyError> {
        let metadata = self.metadata().await.map_err(unavailable)?;
        let endpoint = metadata.document.introspection_endpoint.clone();
        endpoint.ok_or_else(|| {
            VerifyError::Unavailable("the issuer names no introspection endpoint".to_owned())
        })
    }

    /// Returns the keys. Old ones are used while new ones are fetched.
    async fn keys(&self) -> Result<Arc<Keys>, VerifyError> {
        if let Some(keys) = self.0.keys.load_full() {
            let age = keys.fetched.elapsed();
            if age < keys.max_age {
                return Ok(keys);
            }
            if age < MAX_AGE {
                if self.recent_failure().is_none() {
                    let this = self.clone();
                    tokio::spawn(async move { this.fetch_keys().await });
                }
                return Ok(keys);
            }
        }
        self.fetch_keys().await.map_err(unavailable)
    }

    fn recent_failure(&self) -> Option<AuthError> {
        let times = self.0.times.lock();
        let (at, error) = times.failure.as_ref()?;
        (at.elapsed() < FAILURE_INTERVAL).then(|| error.clone())
    }

    fn may_fetch_missing_key(&self) -> bool {
        let mut times = self.0.times.lock();
        if times
            .miss
            .is_some_and(|miss| miss.elapsed() < MISS_INTERVAL)
        {
            return false;
        }
        times.miss = Some(Instant::now());
        true
    }

    /// Fetches the keys, once for all callers.
    async fn fetch_keys(&self) -> Result<Arc<Keys>, AuthError> {
        if let Some(error) = self.recent_failure() {
            return Err(error);
        }
        let this = self.clone();
        let work = || async move {
            let fetched = this.request_keys().await;
            if let Err(error) = &fetched {
                tracing::warn!(issuer = this.name(), error = %mcp_types::escaped(&error), "the keys of an issuer cannot be fetched");
            }
            let failure = fetched.as_ref().err().cloned();
            this.0.times.lock().failure = failure.map(|error| (Instant::now(), error));
            fetched
        };
        self.0.keys_flight.run(|| None, work).await
    }

    async fn request_keys(&self) -> Result<Arc<Keys>, AuthError> {
        let url = match &self.0.keys_url {
            Some(url) => url.clone(),
            None => {
                let metadata = self.metadata().await?;
                let url = metadata.document.jwks_uri.clone();
                url.ok_or_else(|| AuthError::malformed(&self.0.url, "jwks_uri is missing"))?
            }
        };
        let fetched = self.0.fetcher.get(&url).await?;
        if !fetched.status.is_success() {
            return Err(fetched.unexpected());
        }
        let document: KeyDocument = fetched.json()?;
        let set = KeySet::read(&document.keys);
        if set.is_empty() {
            return Err(AuthError::malformed(&url, "it has no key for signatures"));
        }
        let keys = Arc::new(Keys {
            set,
            max_age: max_age(&fetched.headers),
            document: document.keys,
            fetched: Instant::now(),
        });
        let before = self.0.keys.swap(Some(Arc::clone(&keys)));
        if before.is_some_and(|before| before.document != keys.document) {
            (self.0.on_new_keys)();
        }
        Ok(keys)
    }

    /// Returns the metadata, and fetches it if it is old.
    async fn metadata(&self) -> Result<Arc<Metadata>, AuthError> {
        let recent = || {
            let metadata = self.0.metadata.load_full();
            metadata.filter(|metadata| metadata.fetched.elapsed() < METADATA_AGE)
        };
        if let Some(metadata) = recent() {
            return Ok(metadata);
        }
        let this = self.clone();
        let work = || async move { this.request_metadata().await };
        let fetched = self.0.metadata_flight.run(recent, work).await;
        fetched.or_else(|error| self.0.metadata.load_full().ok_or(error))
    }

    async fn request_metadata(&self) -> Result<Arc<Metadata>, AuthError> {
        let IssuerState { fetcher, url, .. } = &*self.0;
        let document: IssuerDocument = fetch_document(fetcher, url).await?.public_json()?;
        if !is_same_issuer(&self.0.name, &document.issuer) {
            return Err(AuthError::MetadataIssuer {
                expected: printable(&self.0.name),
                found: printable(&document.issuer),
            });
        }
        let metadata = Arc::new(Metadata {
            document,
            fetched: Instant::now(),
        });
        self.0.metadata.store(Some(Arc::clone(&metadata)));
        Ok(metadata)
    }
}

/// Verifies a token with the key that fits it.
fn verify(keys: &Keys, jws: &Jws<'_>) -> Result<Map<String, Value>, VerifyError> {
    let id = jws.header.kid.as_deref();
    jws.verify(keys.set.find(id, jws.algorithm)?)
}

fn unavailable(error: AuthError) -> VerifyError {
    VerifyError::Unavailable(error.to_string())
}

/// Reads how long keys may be used without a new fetch.
fn max_age(headers: &HeaderMap) -> Duration {
    let value = headers
        .get(CACHE_CONTROL)
        .and_then(|value| value.to_str().ok());
    let mut directives = value.unwrap_or_default().split(',');
    let seconds = directives.find_map(|directive| {
        let (name, value) = directive.split_once('=')?;
        let value = value.trim().trim_matches('"');
        name.trim()
            .eq_ignore_ascii_case("max-age")
            .then(|| value.parse().ok())?
    });
    seconds.map_or(DEFAULT_AGE, |seconds| {
        Duration::from_secs(seconds).clamp(MIN_AGE, MAX_AGE)
    })
}
