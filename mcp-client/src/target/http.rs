//! Servers over Streamable HTTP.

use mcp_transport_http::client::HttpChannel;
use url::Url;

use super::Target;
#[cfg(feature = "auth")]
use crate::authorization::open_with_login;
use crate::builder::ClientBuilder;
use crate::client::Client;
use crate::error::Error;
use crate::open::open;

macro_rules! urls {
    ($($url:ty),*) => {
        $(
            impl Target for $url {
                async fn connect(self, builder: ClientBuilder) -> Result<Client, Error> {
                    let url: &str = self.as_ref();
                    HttpChannel::new(url)?.connect(builder).await
                }
            }
        )*
    };
}

urls!(&str, String, &String, Url, &Url);

impl Target for HttpChannel {
    async fn connect(self, builder: ClientBuilder) -> Result<Client, Error> {
        #[cfg(feature = "auth")]
        if let Some(login) = builder.login.clone() {
            return open_with_login(builder, login, self).await;
        }
        open(builder, self).await
    }
}
