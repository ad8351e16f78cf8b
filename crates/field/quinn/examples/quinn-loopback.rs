//! Uploads 50 MB over the loopback interface with quinn: `quinn-loopback SCHEME`. Both ends are in this process.

use std::error::Error;
use std::sync::Arc;

use firstflight_quinn::Factory;
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};

const SIZE: usize = 50_000_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let scheme = std::env::args().nth(1).unwrap_or("hystart".to_owned());
    let factory = Factory::named(&scheme)?.on_exit(|report| println!("{report:?}"));

    let issued = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(issued.signing_key.serialize_der());
    let server = ServerConfig::with_single_cert(vec![issued.cert.der().clone()], key.into())?;
    let server = Endpoint::server(server, ([127, 0, 0, 1], 0).into())?;
    let address = server.local_addr()?;
    let reading = tokio::spawn(async move {
        let connection = server.accept().await.ok_or("the endpoint was closed")?.await?;
        let received = connection.accept_uni().await?.read_to_end(SIZE).await?.len();
        connection.close(0_u32.into(), b"done");
        server.wait_idle().await;
        Ok::<usize, Box<dyn Error + Send + Sync>>(received)
    });

    let mut roots = rustls::RootCertStore::empty();
    roots.add(issued.cert.der().clone())?;
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots))?;
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory));
    client.transport_config(Arc::new(transport));
    let endpoint = Endpoint::client(([127, 0, 0, 1], 0).into())?;
    let connection = endpoint.connect_with(client, address, "localhost")?.await?;
    #[expect(clippy::disallowed_methods, reason = "an example on a real clock")]
    let start = std::time::Instant::now();
    let mut stream = connection.open_uni().await?;
    stream.write_all(&vec![0; SIZE]).await?;
    stream.finish()?;
    let received = reading.await?.map_err(|error| error.to_string())?;
    println!("{scheme}: {received} bytes in {:.3} s", start.elapsed().as_secs_f64());
    Ok(())
}
