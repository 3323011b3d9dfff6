//! A QUIC transfer over loopback whose sender runs `tcp-cubic` of the catalogue: `cargo run -p quinn-cubic -- MEGABYTES`.

mod controller;

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use quinn::rustls::RootCertStore;
use quinn::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use tidegate_schemes::tcp_cubic;

use controller::Scheme;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Name in the server's certificate.
const NAME: &str = "localhost";

/// Sends `content` over one stream of one connection; returns what arrived and the sender's last window, bytes.
async fn transfer(content: Vec<u8>) -> Outcome<(Vec<u8>, u64)> {
    let certificate = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
    let key = PrivatePkcs8KeyDer::from(certificate.signing_key.serialize_der());
    let chain = vec![certificate.cert.der().clone()];
    let mut config = ServerConfig::with_single_cert(chain.clone(), key.into())?;
    let scheme = Scheme::new(&tcp_cubic::SCHEME, tcp_cubic::Params::default())?;
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(scheme));
    config.transport_config(Arc::new(transport));
    let server = Endpoint::server(config, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let address = server.local_addr()?;
    let sender = tokio::spawn(async move { send(&server, &content).await });
    let received = receive(address, &chain).await?;
    Ok((received, sender.await??))
}

/// Sends `content` to the first client; returns the window at the end, bytes.
async fn send(server: &Endpoint, content: &[u8]) -> Outcome<u64> {
    let connection = server.accept().await.ok_or("the endpoint was closed")?.await?;
    let mut stream = connection.open_uni().await?;
    stream.write_all(content).await?;
    stream.finish()?;
    // Until everything is acknowledged.
    stream.stopped().await?;
    Ok(connection.stats().path.cwnd)
}

async fn receive(server: SocketAddr, chain: &[CertificateDer<'static>]) -> Outcome<Vec<u8>> {
    let mut roots = RootCertStore::empty();
    chain.iter().try_for_each(|certificate| roots.add(certificate.clone()))?;
    let mut client = Endpoint::client(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    client.set_default_client_config(ClientConfig::with_root_certificates(Arc::new(roots))?);
    let connection = client.connect(server, NAME)?.await?;
    let mut stream = connection.accept_uni().await?;
    let content = stream.read_to_end(usize::MAX).await?;
    client.close(0u32.into(), b"done");
    client.wait_idle().await;
    Ok(content)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let megabytes: usize = std::env::args().nth(1).map_or(Ok(10), |text| text.parse())?;
    let started = Instant::now();
    let (received, window) = transfer(vec![7; megabytes * 1_000_000]).await?;
    let seconds = started.elapsed().as_secs_f64();
    let rate = received.len() as f64 * 8e-6 / seconds;
    println!("{} bytes, {rate:.0} Mbit/s, window of {window} bytes at the end", received.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_transfer_under_tcp_cubic_arrives_and_opens_the_window() {
        let content: Vec<u8> =
            (0..3_000_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let (received, window) = transfer(content.clone()).await.expect("loopback carries it");
        assert!(received == content, "{} bytes of {}", received.len(), content.len());
        // Ten segments of at most 1452 bytes at first.
        assert!(window > 20 * 1_452, "a window of {window} bytes");
    }
}
