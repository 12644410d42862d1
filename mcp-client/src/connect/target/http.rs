//! Servers over Streamable HTTP.

use mcp_transport_http::client::HttpChannel;
use url::Url;

use super::Target;
use crate::client::Client;
use crate::connect::ClientBuilder;
#[cfg(feature = "auth")]
use crate::connect::authorization::open_with_login;
use crate::connect::open::open;
use crate::error::Error;

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
