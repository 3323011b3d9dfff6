//! Connects again to a forwarder that ended the connection.

use std::time::Duration;

use tidegate_core::units::{Span, Time};
use tidegate_wire::FrameBatch;

use super::{Client, ClientError, STOP, TRANSPORT};
use crate::link_service::{GenericLinkService, MtuPlan};
use crate::poll::SocketInterest;
use crate::transport::Transport;

/// Timeout of one attempt over TCP. During an attempt, a request to stop has to wait.
const ATTEMPT: Duration = Duration::from_secs(1);

/// Interval between the first two attempts, doubled after each.
const FIRST_INTERVAL: Span = Span::from_millis(20);

/// Maximum interval between two attempts.
const MAX_INTERVAL: Span = Span::from_secs(1);

impl Client {
    /// Connects to the same forwarder again after [`ClientError::Lost`], within `patience` (`None`: without a limit).
    /// Names stay interned. Packets that were to be sent are dropped, and the forwarder has none of the earlier
    /// registrations and Interests.
    ///
    /// # Errors
    /// [`ClientError::Connect`] with the error of the last attempt after `patience`, and at once if this client was made
    /// from a transport. [`ClientError::Stopped`] if the application was asked to stop. The client cannot be used any
    /// more then.
    pub fn reconnect(&mut self, patience: Option<Span>) -> Result<(), ClientError> {
        let Some(uplink) = self.uplink.clone() else { return Err(ClientError::Lost(None)) };
        let until = patience.map_or(Time::MAX, |patience| self.now() + patience);
        // A socket that has failed would end each wait at once.
        self.poll.deregister(&self.transport).map_err(ClientError::System)?;
        let mut interval = FIRST_INTERVAL;
        loop {
            let why = match Transport::connect(&uplink.uri, ATTEMPT) {
                Ok(transport) => return self.adopt(transport),
                Err(why) => why,
            };
            let now = self.now();
            if now >= until {
                return Err(ClientError::Connect { uplink, why });
            }
            self.pause((now + interval).min(until))?;
            interval = (interval + interval).min(MAX_INTERVAL);
        }
    }

    /// Waits until `until`, unless the application is asked to stop.
    fn pause(&mut self, until: Time) -> Result<(), ClientError> {
        while self.now() < until {
            let ready = self.poll.wait(Some(until), &self.clock).map_err(ClientError::System)?;
            if ready.iter().any(|event| event.token == STOP) {
                return Err(ClientError::Stopped);
            }
        }
        Ok(())
    }

    /// Uses `transport` in place of the one that failed.
    fn adopt(&mut self, transport: Transport) -> Result<(), ClientError> {
        self.poll.register(&transport, TRANSPORT, SocketInterest::Read).map_err(ClientError::System)?;
        self.watched = SocketInterest::Read;
        self.link = GenericLinkService::over(&transport, MtuPlan::Probed, &mut self.nonces);
        self.transport = transport;
        self.begin_reliability();
        self.batch = FrameBatch::new();
        self.unclaimed.clear();
        if self.sends_interests_only {
            self.set_for_interests()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listen::StreamListener;
    use crate::uplink::Uplink;
    use crate::uri::FaceUri;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::path::PathBuf;

    /// A listener at a path of its own, and an application's connection to it.
    fn connected(test: &str) -> (PathBuf, StreamListener, Client) {
        let path =
            std::env::temp_dir().join(format!("tidegate-reconnect-{}-{test}.sock", std::process::id()));
        let listener = StreamListener::unix(&path, 0o600).expect("the temporary folder is writable");
        let uplink = Uplink { uri: FaceUri::Unix(path.clone()), source: "test".to_owned() };
        let client = Client::connect(&uplink).expect("somebody listens");
        (path, listener, client)
    }

    fn lose(client: &mut Client) {
        let mut inbox = Vec::new();
        assert!(matches!(client.exchange(None, &mut inbox), Err(ClientError::Lost(_))));
    }

    #[test]
    fn a_client_connects_again_to_a_forwarder_that_was_restarted() {
        let (path, listener, mut client) = connected("restarted");
        drop(listener.accept().expect("accepted"));
        lose(&mut client);
        drop(listener);
        let listener = StreamListener::unix(&path, 0o600).expect("free again");
        client.reconnect(None).expect("somebody listens");
        assert!(listener.accept().expect("accepted").is_some());
    }

    #[test]
    fn attempts_end_after_the_given_time_with_the_last_error() {
        let (path, listener, mut client) = connected("gone");
        drop(listener.accept().expect("accepted"));
        lose(&mut client);
        drop(listener);
        let _ = std::fs::remove_file(path);
        let why = client.reconnect(Some(Span::from_millis(30))).expect_err("nobody listens");
        assert!(matches!(why, ClientError::Connect { .. }), "{why}");
    }

    #[test]
    fn a_request_to_stop_ends_the_attempts() {
        let (path, listener, mut client) = connected("stopped");
        let (stop, watched) = UnixStream::pair().expect("sockets");
        client.stop_on(OwnedFd::from(watched)).expect("watched");
        drop(listener.accept().expect("accepted"));
        lose(&mut client);
        drop(listener);
        let _ = std::fs::remove_file(path);
        drop(stop);
        assert!(matches!(client.reconnect(None), Err(ClientError::Stopped)));
    }
}
