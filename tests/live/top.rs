//! The screen of `tidegate top`, on a pseudo-terminal that `script` (util-linux) makes.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use support::program::{program, tidegate};
use support::running::{Forwarder, Way};

/// The program on a terminal, which ends with the test.
struct Terminal {
    script: Child,
    keys: Option<ChildStdin>,
    drawn: ChildStdout,
    text: String,
}

impl Terminal {
    fn start(lines: u32, columns: u32, arguments: &str) -> Self {
        let program = program().get_program().to_string_lossy().into_owned();
        let command = format!("stty rows {lines} cols {columns}; exec '{program}' {arguments}");
        // A screen that never comes ends as well.
        let mut script = Command::new("timeout")
            .args(["--foreground", "120", "script", "-qec", &command, "/dev/null"])
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there are timeout and script");
        let (keys, drawn) = (script.stdin.take(), script.stdout.take().expect("piped"));
        Self { script, keys, drawn, text: String::new() }
    }

    /// Reads until all `words` were drawn since the last call, in any order: the first screen may have no status yet. The
    /// screen sends no spaces, but moves over them.
    #[track_caller]
    fn wait_for(&mut self, words: &[&str]) {
        let mut bytes = [0; 4096];
        while let Some(missing) = words.iter().find(|word| !self.text.contains(**word)) {
            let len = self.drawn.read(&mut bytes).expect("a pipe");
            assert!(len > 0, "the program ended without {missing:?}");
            self.text.push_str(&String::from_utf8_lossy(&bytes[..len]));
        }
        self.text.clear();
    }

    fn press(&mut self, key: &str) {
        self.keys.as_mut().expect("it runs").write_all(key.as_bytes()).expect("it runs");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

#[test]
fn the_screen_shows_faces_the_end_of_the_forwarder_and_its_return() {
    let face = "[[face]]\nname = \"peer\"\nuri = \"udp4://127.0.0.1:9\"\n";
    let route = "[[route]]\nprefix = \"/top/test\"\nface = \"peer\"\n";
    let mut forwarder = Forwarder::start("top", &[face, route].concat());
    let uri = forwarder.uri(Way::Unix).to_owned();
    let mut screen = Terminal::start(24, 80, &format!("top --interval 200ms --transport {uri}"));
    screen.wait_for(&["tidegate", "remote", "udp4://127.0.0.1:9", "/top/test", "scroll"]);
    forwarder.kill();
    screen.wait_for(&["connecting"]);
    forwarder.restart();
    screen.wait_for(&["bit/s"]);
    screen.press("q");
    let mut rest = String::new();
    screen.drawn.read_to_string(&mut rest).expect("it ends");
    // The terminal is as it was: no alternate screen.
    assert!(rest.contains("\u{1b}[?1049l"), "{rest:?}");
    assert_eq!(screen.script.wait().expect("a child").code(), Some(0));
}

#[test]
fn a_terminal_larger_than_any_screen_is_used_in_part() {
    let forwarder = Forwarder::start("top-large", "");
    let mut screen =
        Terminal::start(60_000, 60_000, &format!("top --transport {}", forwarder.uri(Way::Unix)));
    screen.wait_for(&["tidegate", "bit/s", "scroll"]);
    screen.press("q");
    assert_eq!(screen.script.wait().expect("a child").code(), Some(0));
}

#[test]
fn without_a_terminal_it_refers_to_status() {
    for arguments in [&["top"][..], &["top", "--format", "json"]] {
        let ended = tidegate(arguments).with(2);
        assert!(ended.out.is_empty() && ended.err.contains("`tidegate status`"), "{}", ended.err);
    }
}
