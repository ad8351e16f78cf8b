//! A transfer over the loopback interface, with both ends in this process.

use std::sync::{Arc, Mutex};

use firstflight_noq::{ExitReport, Factory};
use noq::{ClientConfig, Endpoint, ServerConfig, TransportConfig, VarInt};

async fn upload(scheme: &str, bytes: usize) -> (usize, Vec<ExitReport>) {
    let issued = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(issued.signing_key.serialize_der());
    let server = ServerConfig::with_single_cert(vec![issued.cert.der().clone()], key.into()).expect("valid");
    let server = Endpoint::server(server, ([127, 0, 0, 1], 0).into()).expect("a socket");
    let address = server.local_addr().expect("bound");
    let reading = tokio::spawn(async move {
        let connection = server.accept().await.expect("open").await.expect("a handshake");
        let mut stream = connection.accept_uni().await.expect("a stream");
        let received = stream.read_to_end(bytes).await.expect("all of it").len();
        connection.close(VarInt::from_u32(0), b"done");
        server.wait_idle().await;
        received
    });
    let exits = Arc::<Mutex<Vec<ExitReport>>>::default();
    let seen = exits.clone();
    let factory = Factory::named(scheme).expect("noq can run it");
    let factory = factory.on_exit(move |report| seen.lock().expect("no panic").push(*report));
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory));
    let mut roots = rustls::RootCertStore::empty();
    roots.add(issued.cert.der().clone()).expect("valid");
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).expect("TLS 1.3");
    client.transport_config(Arc::new(transport));
    let endpoint = Endpoint::client(([127, 0, 0, 1], 0).into()).expect("a socket");
    let connecting = endpoint.connect_with(client, address, "localhost").expect("an address");
    let connection = connecting.await.expect("a handshake");
    let mut stream = connection.open_uni().await.expect("a stream");
    stream.write_all(&vec![7; bytes]).await.expect("sent");
    stream.finish().expect("open");
    let received = reading.await.expect("no panic");
    let exits = exits.lock().expect("no panic").clone();
    (received, exits)
}

#[tokio::test]
async fn schemes_upload_over_real_sockets() {
    for scheme in ["leap", "hystart++", "slow-start"] {
        let (received, exits) = upload(scheme, 5_000_000).await;
        assert_eq!(received, 5_000_000, "{scheme}");
        println!("{scheme}: {exits:?}");
    }
}
