//! A forwarder of several threads: whatever thread has a face or a name, applications see one forwarder.

use super::bench::Forwarder;
use super::pressure::{Server, fetch_all};

const TWO: &str = "[forwarder]\nthreads = 2\n";

#[test]
fn objects_are_fetched_whole_whatever_threads_have_the_applications_and_the_names() {
    let forwarder = Forwarder::start("workers-fetch", TWO);
    for name in [b"\x08\x01a", b"\x08\x01b", b"\x08\x01c"] {
        let bytes = 700 * 1_000;
        let _server = Server::start(&forwarder, name, bytes, 1_000);
        for _ in 0..2 {
            let fetched = fetch_all(&forwarder, name, 100.0);
            fetched.end.expect("complete");
            assert_eq!((fetched.bytes, fetched.record.flows[0].retransmissions), (bytes as u64, 0));
        }
    }
}
