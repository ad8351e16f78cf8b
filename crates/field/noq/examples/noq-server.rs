//! Receives uploads and serves downloads over QUIC: `noq-server ADDRESS SCHEME`. It writes its certificate to `noq-server.der`.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use firstflight_noq::Factory;
use noq::{Endpoint, Incoming, ServerConfig, TransportConfig};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address: SocketAddr = arguments.next().unwrap_or("127.0.0.1:4433".to_owned()).parse()?;
    let scheme = arguments.next().unwrap_or("hystart++".to_owned());
    let factory = Factory::named(&scheme)?.on_exit(|report| println!("{report:?}"));
    let issued = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    std::fs::write("noq-server.der", issued.cert.der())?;
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(issued.signing_key.serialize_der());
    let mut config = ServerConfig::with_single_cert(vec![issued.cert.der().clone()], key.into())?;
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory));
    config.transport_config(Arc::new(transport));
    let endpoint = Endpoint::server(config, address)?;
    println!("{} runs {scheme}", endpoint.local_addr()?);
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async move {
            if let Err(error) = serve(incoming).await {
                println!("{error}");
            }
        });
    }
    Ok(())
}

/// Answers each stream: eight bytes say how many bytes to send back, and everything after them is an upload.
async fn serve(incoming: Incoming) -> Result<(), Box<dyn Error + Send + Sync>> {
    let connection = incoming.await?;
    while let Ok((mut send, mut receive)) = connection.accept_bi().await {
        let mut size = [0; 8];
        receive.read_exact(&mut size).await?;
        let mut received = 0;
        while let Some(chunk) = receive.read_chunk(usize::MAX).await? {
            received += chunk.len();
        }
        println!("received {received} bytes");
        let (block, mut left) = (vec![0; 1 << 16], usize::try_from(u64::from_be_bytes(size))?);
        while left > 0 {
            let some = left.min(block.len());
            send.write_all(&block[..some]).await?;
            left -= some;
        }
        send.finish()?;
    }
    Ok(())
}
