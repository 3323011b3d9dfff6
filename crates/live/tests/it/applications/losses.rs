use std::thread;

use tidegate_core::ndn::packet::{Kind, Nack, NackReason};
use tidegate_core::units::Span;
use tidegate_live::client::Client;
use tidegate_live::fetch::fetch;
use tidegate_live::serve::{ServeSettings, Served, serve};

use crate::applications::bench::{
    Server, content, fetch_newest, fetch_settings, file, lossy_pair, name, settings, unix_pair,
};

/// A peer that refuses everything for the time `refusing`, as a forwarder does whose table is full.
fn refuse_for(client: &mut Client, refusing: Span) {
    let until = client.now() + refusing;
    let mut inbox = Vec::new();
    while client.now() < until {
        client.exchange(Some(until), &mut inbox).expect("connected");
        for mut packet in inbox.drain(..) {
            if let Kind::Interest(interest) = packet.header.kind {
                packet.header.kind = Kind::Nack(Nack { interest, reason: NackReason::Congestion });
                client.send(&packet);
            }
        }
    }
}

#[test]
fn a_forwarder_that_refuses_all_for_a_time_does_not_end_a_fetch() {
    let bytes = content(20_000);
    let (mut client, far) = unix_pair();
    let path = file("refused", &bytes);
    let server = thread::spawn(move || {
        let mut client = Client::over(far).expect("descriptors");
        let version = settings("/refused", 1200);
        let mut served = Served::open(&path, ServeSettings { version: Some(1), ..version }).expect("served");
        refuse_for(&mut client, Span::from_millis(300));
        let _ = serve(&mut client, &mut served, |why| panic!("{why}"));
    });
    let mut output = Vec::new();
    let requested = fetch_settings(name("/refused/v=1"), "fixed");
    let fetched = fetch(&mut client, requested, &mut output, &mut |_| ()).expect("a name");
    fetched.end.expect("complete");
    assert!(output == bytes);
    assert!(fetched.record.flows[0].nacks > 0);
    drop(client);
    server.join().expect("no panic");
}

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
