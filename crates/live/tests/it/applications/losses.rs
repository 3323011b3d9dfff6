use crate::applications::bench::{Server, content, fetch_newest, file, lossy_pair, settings};

#[test]
fn every_tenth_datagram_lost_each_way_leaves_the_content_whole() {
    let bytes = content(1_000_000);
    let (mut client, far) = lossy_pair(0.1);
    let _server = Server::start(far, file("lossy", &bytes), settings("/lossy", 1200));
    let (output, fetched) = fetch_newest(&mut client, "/lossy", "fixed");
    fetched.end.expect("complete");
    assert!(output == bytes);
    let flow = &fetched.record.flows[0];
    assert_eq!(flow.delivered_segments, 834);
    assert!(flow.retransmissions > 50, "{} retransmissions", flow.retransmissions);
}
