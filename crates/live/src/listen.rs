//! Listeners of TCP and Unix streams, and of WebSocket connections.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use socket2::{Domain, Protocol, SockAddr, Socket, TcpKeepalive, Type};

use crate::stream::StreamFace;
use crate::transport::Transport;
use crate::uri::FaceUri;
use crate::websocket::WebSocketFace;

/// Maximum number of connections that wait to be accepted.
const WAITING: i32 = 128;

/// A socket that streams are accepted from.
#[derive(Debug)]
pub struct StreamListener {
    socket: Socket,
    uri: FaceUri,
    /// The socket file, which is removed when the listener is dropped.
    file: Option<SocketFile>,
}

impl StreamListener {
    /// Listens for TCP at `local`; port 0 lets the system choose one.
    ///
    /// # Errors
    /// When the address is not ours or taken.
    pub fn tcp(local: SocketAddr) -> io::Result<Self> {
        Self::over_tcp(local, FaceUri::Tcp)
    }

    /// Listens for WebSocket connections at `local`; port 0 lets the system choose one.
    ///
    /// # Errors
    /// When the address is not ours or taken.
    pub fn websocket(local: SocketAddr) -> io::Result<Self> {
        Self::over_tcp(local, FaceUri::WebSocket)
    }

    fn over_tcp(local: SocketAddr, kind: fn(SocketAddr) -> FaceUri) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(local), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        if local.is_ipv6() {
            // A listener for IPv4 may be bound to the same port.
            socket.set_only_v6(true)?;
        }
        socket.bind(&local.into())?;
        // Port 0 has become a real one.
        let local = socket.local_addr()?.as_socket().unwrap_or(local);
        Self::listen(socket, kind(local), None)
    }

    /// Listens at `path`, with the file permissions `mode`: makes its folder if there is none, and replaces a socket file on
    /// which no process listens any more.
    ///
    /// # Errors
    /// If another process listens there, a file of another type is at `path`, or the folder cannot be written.
    pub fn unix(path: &Path, mode: u32) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        // A listener that was killed leaves its file behind, and bind refuses a path that exists.
        remove_stale(path)?;
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.bind(&SockAddr::unix(path)?)?;
        let file = SocketFile::at(path)?;
        // Before `listen`, so that nobody connects with other permissions.
        fs::set_permissions(path, Permissions::from_mode(mode))?;
        Self::listen(socket, FaceUri::Unix(path.to_owned()), Some(file))
    }

    fn listen(socket: Socket, uri: FaceUri, file: Option<SocketFile>) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.listen(WAITING)?;
        Ok(Self { socket, uri, file })
    }

    /// Accepts the next connection of a stream; `None` if none waits.
    ///
    /// # Errors
    /// When the system has no descriptor left; the connection waits on.
    pub fn accept(&self) -> io::Result<Option<StreamFace>> {
        self.next()?.map(|(socket, address)| self.face(socket, &address)).transpose()
    }

    /// As [`accept`](Self::accept), for listeners of any kind. The handshake of a WebSocket is made by its transport.
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub fn accept_transport(&self) -> io::Result<Option<Transport>> {
        let Some((socket, address)) = self.next()? else { return Ok(None) };
        Ok(Some(match (&self.uri, address.as_socket()) {
            (FaceUri::WebSocket(_), Some(remote)) => {
                Transport::WebSocket(WebSocketFace::accepted(socket, remote)?)
            }
            _ => Transport::Stream(self.face(socket, &address)?),
        }))
    }

    fn next(&self) -> io::Result<Option<(Socket, SockAddr)>> {
        loop {
            match self.socket.accept() {
                Ok(accepted) => return Ok(Some(accepted)),
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                // The peer left before it was its turn.
                Err(why) if is_about_peer(&why) => {}
                Err(why) => return Err(why),
            }
        }
    }

    fn face(&self, socket: Socket, address: &SockAddr) -> io::Result<StreamFace> {
        match address.as_socket() {
            Some(remote) => {
                watch_peer(&socket)?;
                StreamFace::of_tcp(socket, remote)
            }
            None => {
                // The connecting end of a Unix stream has no path.
                let remote = FaceUri::Fd(socket.as_raw_fd());
                StreamFace::of_unix(socket, self.uri.clone(), remote)
            }
        }
    }

    /// Address of the listener as a face URI.
    pub fn uri(&self) -> &FaceUri {
        &self.uri
    }
}

impl AsFd for StreamListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for StreamListener {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            file.remove();
        }
    }
}

/// Makes an accepted connection non-blocking, and ends it when its peer has been gone for two minutes without closing it: the
/// face of such a peer would stay forever.
pub(crate) fn watch_peer(socket: &Socket) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    let (idle, interval) = (Duration::from_secs(60), Duration::from_secs(10));
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(idle).with_interval(interval).with_retries(6))
}

fn is_about_peer(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted)
}

/// A socket file of ours.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    fn at(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), identity: identity(&fs::symlink_metadata(path)?) })
    }

    /// Removes the file unless another has taken its place.
    fn remove(&self) {
        let is_ours = fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == self.identity);
        if is_ours {
            // A file that cannot be removed is found stale by the next listener.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Removes a socket file without a listening process.
fn remove_stale(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(why) => return Err(why),
    };
    if !found.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "a file that is not a socket exists there"));
    }
    // Only a connection shows whether someone listens: the file stays when its process is gone.
    match UnixStream::connect(path) {
        Err(why) if why.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        // It went away meanwhile.
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(why) => Err(why),
        Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "another program listens there")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODE: u32 = 0o600;
    use crate::reception::Reception;
    use crate::udp::Received;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tidegate-listen-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    fn receive(face: &mut StreamFace) -> io::Result<Vec<Vec<u8>>> {
        let mut received = Vec::new();
        while face.receive(&mut Reception::new(), |frame| received.push(frame.to_vec()))? == Received::More {}
        Ok(received)
    }

    #[test]
    fn a_unix_listener_makes_its_folder_and_leaves_no_file_behind() -> io::Result<()> {
        let path = folder("file").join("deep/nfd.sock");
        let listener = StreamListener::unix(&path, MODE)?;
        assert_eq!(listener.uri().to_string(), format!("unix://{}", path.display()));
        assert_eq!(fs::metadata(&path)?.permissions().mode() & 0o777, MODE);
        assert!(listener.accept()?.is_none());
        let mut client = StreamFace::connect_unix(&path)?;
        let Some(mut face) = listener.accept()? else { panic!("a connection waits") };
        client.send([(&[0x06, 1][..], &[7][..])].into_iter())?;
        assert_eq!(receive(&mut face)?, [[0x06, 1, 7]]);
        assert!(face.is_local() && client.is_local());
        drop(listener);
        assert!(!path.exists());
        Ok(())
    }

    #[test]
    fn a_stale_socket_file_is_replaced_and_a_busy_one_is_not() -> io::Result<()> {
        let path = folder("stale").join("nfd.sock");
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        drop(std::os::unix::net::UnixListener::bind(&path)?);
        let listener = StreamListener::unix(&path, MODE)?;
        let busy = StreamListener::unix(&path, MODE).expect_err("taken").kind();
        assert_eq!(busy, io::ErrorKind::AddrInUse);
        drop(listener);
        fs::write(&path, "text")?;
        assert_eq!(
            StreamListener::unix(&path, MODE).expect_err("a file").kind(),
            io::ErrorKind::AlreadyExists
        );
        assert!(path.exists());
        Ok(())
    }

    #[test]
    fn a_listener_leaves_the_file_of_its_successor_alone() -> io::Result<()> {
        let path = folder("successor").join("nfd.sock");
        let first = StreamListener::unix(&path, MODE)?;
        fs::remove_file(&path)?;
        let second = StreamListener::unix(&path, MODE)?;
        drop(first);
        assert!(path.exists());
        drop(second);
        assert!(!path.exists());
        Ok(())
    }

    #[test]
    fn tcp_from_a_loopback_address_is_local() -> io::Result<()> {
        let listener = StreamListener::tcp(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let FaceUri::Tcp(address) = *listener.uri() else { panic!("{}", listener.uri()) };
        let mut client = StreamFace::connect_tcp_now(address, Duration::from_secs(5))?;
        let face = listener.accept()?.expect("the connection stands");
        assert!(face.is_local() && client.is_local());
        assert_eq!((face.remote(), face.local()), (client.local(), client.remote()));
        assert_eq!(client.unsent_bytes(), 0);
        client.send([(&[0x06, 1][..], &[7][..])].into_iter())?;
        Ok(())
    }
}
