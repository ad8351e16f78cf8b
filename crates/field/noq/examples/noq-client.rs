//! Uploads or downloads 50 MB over QUIC: `noq-client ADDRESS SCHEME upload|download`. It trusts the certificate in `noq-server.der`.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use firstflight_noq::Factory;
use noq::{ClientConfig, Endpoint, TransportConfig};

const SIZE: usize = 50_000_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address: SocketAddr = arguments.next().unwrap_or("127.0.0.1:4433".to_owned()).parse()?;
    let scheme = arguments.next().unwrap_or("hystart++".to_owned());
    let uploads = arguments.next().is_none_or(|way| way == "upload");
    let factory = Factory::named(&scheme)?.on_exit(|report| println!("{report:?}"));
    let mut roots = rustls::RootCertStore::empty();
    roots.add(std::fs::read("noq-server.der")?.into())?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory));
    config.transport_config(Arc::new(transport));
    let endpoint = Endpoint::client(([0, 0, 0, 0], 0).into())?;
    let connection = endpoint.connect_with(config, address, "localhost")?.await?;

    #[expect(clippy::disallowed_methods, reason = "an example on a real clock")]
    let start = std::time::Instant::now();
    let (mut send, mut receive) = connection.open_bi().await?;
    let (up, down) = if uploads { (SIZE, 0) } else { (0, SIZE) };
    send.write_all(&u64::try_from(down)?.to_be_bytes()).await?;
    send.write_all(&vec![0; up]).await?;
    send.finish()?;
    let received = receive.read_to_end(SIZE).await?.len();
    let seconds = start.elapsed().as_secs_f64();
    println!("sent {up} bytes and received {received} bytes in {seconds:.3} s");
    connection.close(0_u32.into(), b"done");
    endpoint.wait_idle().await;
    Ok(())
}
