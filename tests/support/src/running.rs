//! Programs that run beside a test: watched, told to stop, and ended with the test whatever happens to it.
//!
//! Nothing here waits for ever: who is waited for longer than [`patience`] fails the test with what it said.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use crate::json::Value;
use crate::program::{Ended, Scratch, program};

/// Whether the long form of the tests is asked for.
pub fn is_full() -> bool {
    std::env::var_os("TIDEGATE_FULL").is_some_and(|value| value != "0" && !value.is_empty())
}

/// How long anything may take that is not meant to take long.
pub fn patience() -> Duration {
    Duration::from_secs(if is_full() { 3_600 } else { 120 })
}

/// A status may come from the forwarder's cache for 100 ms.
const STATUS_FRESH: Duration = Duration::from_millis(110);

/// What a program says on one of its streams.
#[derive(Clone, Default)]
struct Received(Arc<(Mutex<Stated>, Condvar)>);

#[derive(Default)]
struct Stated {
    text: String,
    is_over: bool,
}

impl Received {
    fn listen(stream: impl Read + Send + 'static) -> Self {
        let received = Self::default();
        let reported = received.clone();
        thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            let mut line = Vec::new();
            while stream.read_until(b'\n', &mut line).is_ok_and(|len| len > 0) {
                reported.stated().text.push_str(&String::from_utf8_lossy(&line));
                reported.0.1.notify_all();
                line.clear();
            }
            reported.stated().is_over = true;
            reported.0.1.notify_all();
        });
        received
    }

    fn stated(&self) -> MutexGuard<'_, Stated> {
        self.0.0.lock().expect("nobody panics while it holds this lock")
    }

    /// Waits until `find` finds something; `None` when the stream ends or patience does before that.
    fn wait_for<T>(&self, find: impl Fn(&Stated) -> Option<T>) -> Option<T> {
        let until = Instant::now() + patience();
        let mut stated = self.stated();
        loop {
            let found = find(&stated);
            let left = until.saturating_duration_since(Instant::now());
            if found.is_some() || stated.is_over || left.is_zero() {
                return found;
            }
            stated = self.0.1.wait_timeout(stated, left).expect("nobody panics while it holds this lock").0;
        }
    }
}

/// A process that runs beside the test.
pub struct Running {
    child: Child,
    name: String,
    out: Received,
    err: Received,
}

impl Running {
    /// The program with these arguments.
    pub fn start(arguments: &[&str]) -> Self {
        let mut command = program();
        command.args(arguments);
        Self::of(command)
    }

    /// Any command.
    pub fn of(mut command: Command) -> Self {
        let (mut running, out) = Self::spawn(&mut command);
        running.out = Received::listen(out);
        running
    }

    /// Any command, and its standard output, which is the test's to read.
    pub fn with_output(command: &mut Command) -> (Self, ChildStdout) {
        let (running, out) = Self::spawn(command);
        running.out.stated().is_over = true;
        (running, out)
    }

    fn spawn(command: &mut Command) -> (Self, ChildStdout) {
        let name = format!("{command:?}");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|why| panic!("{name}: {why}"));
        let out = child.stdout.take().expect("piped");
        let err = Received::listen(child.stderr.take().expect("piped"));
        (Self { child, name, out: Received::default(), err }, out)
    }

    /// The first line on standard output that begins with `start`; waits for it.
    #[track_caller]
    pub fn out_line(&self, start: &str) -> String {
        self.line(&self.out, start)
    }

    /// The first line on standard error that begins with `start`; waits for it.
    #[track_caller]
    pub fn err_line(&self, start: &str) -> String {
        self.line(&self.err, start)
    }

    /// Whether standard error has `text` so far.
    pub fn has_reported(&self, text: &str) -> bool {
        self.err.stated().text.contains(text)
    }

    #[track_caller]
    fn line(&self, received: &Received, start: &str) -> String {
        let whole = |line: &&str| line.starts_with(start) && line.ends_with('\n');
        let find = |stated: &Stated| {
            stated.text.split_inclusive('\n').find(whole).map(|line| line.trim_end().to_owned())
        };
        received.wait_for(find).unwrap_or_else(|| panic!("no line {start:?}: {}", self.reported()))
    }

    /// Tells it something, such as `-INT`.
    pub fn signal(&self, signal: &str) {
        let reported = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(reported.expect("kill is there").success(), "{}", self.name);
    }

    /// Waits until it has ended.
    #[track_caller]
    pub fn wait(mut self) -> Ended {
        let until = Instant::now() + patience();
        let status = loop {
            match self.child.try_wait().expect("a child of ours") {
                Some(status) => break status,
                None if Instant::now() > until => panic!("it does not end: {}", self.reported()),
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        for received in [&self.out, &self.err] {
            received.wait_for(|stated| stated.is_over.then_some(()));
        }
        let text = |received: &Received| received.stated().text.clone();
        Ended { code: status.code(), out: text(&self.out), err: text(&self.err) }
    }

    /// Tells it to stop and waits until it has.
    #[track_caller]
    pub fn stop(self) -> Ended {
        self.signal("-INT");
        self.wait()
    }

    fn reported(&self) -> String {
        let (out, err) = (self.out.stated(), self.err.stated());
        format!("{}\nstdout:\n{}\nstderr:\n{}", self.name, out.text, err.text)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{}", self.reported());
        }
        // One that went well has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A way to connect to a forwarder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Udp,
    Tcp,
    Unix,
}

impl Way {
    pub const ALL: [Self; 3] = [Self::Udp, Self::Tcp, Self::Unix];
}

/// A forwarder that listens over UDP, TCP and at a Unix socket.
pub struct Forwarder {
    running: Option<Running>,
    uris: [String; 3],
    folder: SocketFolder,
    /// Path of its configuration.
    file: String,
    _scratch: Scratch,
}

/// Short, since the path of a socket has at most 107 bytes.
struct SocketFolder(PathBuf);

impl Drop for SocketFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A configuration that begins with these listeners.
fn with_listeners(unix: &Path, config: &str) -> String {
    format!(
        "format = 1\n[listen]\nudp = [\"127.0.0.1:0\"]\ntcp = [\"127.0.0.1:0\"]\nunix = [{unix:?}]\n{config}"
    )
}

impl Forwarder {
    /// Returns once it listens; `config` is what its configuration says beside listeners, tables only.
    pub fn start(test: &str, config: &str) -> Self {
        Self::start_as(test, config, program())
    }

    /// As [`start`](Self::start), with so many open files at most.
    pub fn start_with_files(test: &str, config: &str, files: u32) -> Self {
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("ulimit -n {files} && exec \"$0\" \"$@\"")]);
        limited.arg(program().get_program());
        Self::start_as(test, config, limited)
    }

    fn start_as(test: &str, config: &str, mut program: Command) -> Self {
        let scratch = Scratch::new(&format!("{test}-forwarder"));
        let folder = SocketFolder(std::env::temp_dir().join(format!("tg-{test}-{}", std::process::id())));
        let unix = folder.0.join("nfd.sock");
        let file = scratch.file("forwarder.toml", with_listeners(&unix, config).as_bytes());
        program.args(["forward", "--format", "json", &file]);
        let running = Running::of(program);
        let uri = |scheme: &str| {
            let line = running.err_line(&format!("{{\"note\":\"listening at {scheme}"));
            line.trim_start_matches("{\"note\":\"listening at ").trim_end_matches("\"}").to_owned()
        };
        let uris = [uri("udp4://"), uri("tcp4://"), uri("unix://")];
        Self { running: Some(running), uris, folder, file, _scratch: scratch }
    }

    /// Where it listens.
    pub fn uri(&self, way: Way) -> &str {
        &self.uris[way as usize]
    }

    /// The first line on its standard error that begins with `start`; waits for it.
    #[track_caller]
    pub fn err_line(&self, start: &str) -> String {
        self.running.as_ref().expect("it has not been ended").err_line(start)
    }

    /// Host and port of a listener.
    pub fn address(&self, way: Way) -> &str {
        self.uri(way).split_once("://").expect("a URI").1
    }

    /// The file of its Unix socket.
    pub fn socket_file(&self) -> PathBuf {
        self.folder.0.join("nfd.sock")
    }

    /// What `status` tells of it, or why not; never what it told before.
    pub fn request_status(&self) -> Ended {
        thread::sleep(STATUS_FRESH);
        Running::start(&["status", "--format", "json", "--transport", self.uri(Way::Unix)]).wait()
    }

    /// What it tells of itself.
    #[track_caller]
    pub fn status(&self) -> Value {
        self.request_status().with(0).json()
    }

    /// What it tells of itself, once it does and `is_there`.
    #[track_caller]
    pub fn status_when(&self, what: &str, is_there: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + patience();
        loop {
            let ended = self.request_status();
            if let Some(status) = Value::parse(&ended.out).ok().filter(&is_there) {
                return status;
            }
            assert!(Instant::now() < until, "{what} does not come: {}{}", ended.out, ended.err);
        }
    }

    /// Memory that it has in use, bytes.
    pub fn memory_bytes(&self) -> u64 {
        let process = self.running.as_ref().expect("it has not been ended").child.id();
        let reported = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
        let line = reported.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux tells it");
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        1_024 * kilobytes
    }

    /// Ends it without a word to it.
    pub fn kill(&mut self) {
        self.running = None;
    }

    /// Writes another configuration, with the same listeners.
    pub fn configure(&self, config: &str) {
        fs::write(&self.file, with_listeners(&self.socket_file(), config))
            .expect("the folder can be written");
    }

    /// Sends it a signal, such as `-HUP`.
    pub fn signal(&self, signal: &str) {
        self.running.as_ref().expect("it has not been ended").signal(signal);
    }

    /// Starts it again after [`kill`](Self::kill), at the same addresses; returns once it listens.
    pub fn restart(&mut self) {
        let mut arguments = vec!["forward", "--format", "json", &self.file];
        self.uris.iter().for_each(|uri| arguments.extend(["--listen", uri]));
        let running = Running::start(&arguments);
        running.err_line("{\"note\":\"listening at unix://");
        self.running = Some(running);
    }

    /// Tells it something, and waits until it has ended.
    #[track_caller]
    pub fn end(&mut self, signal: &str) -> Ended {
        let running = self.running.take().expect("it has not been ended");
        running.signal(signal);
        running.wait()
    }
}
