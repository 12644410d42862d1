//! A network link that can be cut.

use std::io;
use std::net::Ipv4Addr;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A link to a port. While it is cut, connections stay open and no byte passes.
#[derive(Debug)]
pub struct Link {
    port: u16,
    is_cut: watch::Sender<bool>,
}

impl Link {
    /// Starts a link to a loopback port, at a free one.
    ///
    /// # Errors
    ///
    /// Returns an error if no port can be bound.
    pub async fn start(target: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let (is_cut, cut) = watch::channel(false);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(connect(client, target, cut.clone()));
            }
        });
        Ok(Self { port, is_cut })
    }

    /// The port of the link.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Cuts the link, or restores it.
    pub fn set_cut(&self, is_cut: bool) {
        self.is_cut.send_replace(is_cut);
    }
}

async fn connect(client: TcpStream, target: u16, mut cut: watch::Receiver<bool>) -> io::Result<()> {
    if cut.wait_for(|cut| !cut).await.is_err() {
        return Ok(());
    }
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, target)).await?;
    let ((from, to), (back, out)) = (client.into_split(), server.into_split());
    // The end of one direction ends the connection.
    tokio::select! {
        () = forward(from, out, cut.clone()) => {}
        () = forward(back, to, cut) => {}
    }
    Ok(())
}

async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut cut: watch::Receiver<bool>,
) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let is_open = cut.wait_for(|cut| !cut).await.is_ok();
        if !is_open || to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}
