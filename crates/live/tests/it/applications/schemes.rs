use crate::applications::bench::{Server, content, fetch_newest, file, settings, udp_pair};

#[test]
fn every_consumer_scheme_of_the_registry_fetches_a_file() {
    let bytes = content(300_000);
    let path = file("schemes", &bytes);
    let schemes = tidegate_schemes::SCHEMES.iter().filter(|scheme| scheme.consumer.is_some());
    let mut tried = 0;
    for scheme in schemes {
        let (mut client, far) = udp_pair();
        let _server = Server::start(far, path.clone(), settings("/s", 1200));
        let (output, fetched) = fetch_newest(&mut client, "/s", scheme.name);
        fetched.end.unwrap_or_else(|why| panic!("{}: {why}", scheme.name));
        assert!(output == bytes, "{}", scheme.name);
        assert_eq!(fetched.record.flows[0].scheme, scheme.name);
        tried += 1;
    }
    assert!(tried >= 8, "{tried} schemes");
}
