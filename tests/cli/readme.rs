//! The commands of the README, run as they stand there.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::Scratch;

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("readable")
}

/// The commands between the README's marks.
fn commands() -> Vec<String> {
    let readme = readme();
    let (_, rest) = readme.split_once("<!-- live:begin -->").expect("marked");
    let (block, _) = rest.split_once("<!-- live:end -->").expect("marked");
    block.lines().filter(|line| line.starts_with("tidegate ")).map(str::to_owned).collect()
}

/// A command in a shell that finds this build of the program; `exec`, so that the shell becomes the program.
fn shell(command: &str, folder: &str) -> Command {
    let built = Path::new(env!("CARGO_BIN_EXE_tidegate")).parent().expect("in a folder");
    let path = format!("{}:{}", built.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec {command}")]).env("PATH", path).current_dir(folder).stdin(Stdio::null());
    shell
}

/// A command that runs until this value ends.
struct Running(Child);

impl Running {
    /// Starts `command` and waits for a line with `words` on the output that `pipe` takes; answers the line, too.
    fn start<P: Read>(
        mut command: Command,
        words: &str,
        pipe: impl FnOnce(&mut Child) -> Option<P>,
    ) -> (Self, String) {
        let mut child = command.spawn().expect("a shell is there");
        let lines = BufReader::new(pipe(&mut child).expect("piped")).lines();
        let running = Self(child);
        let line = lines.map_while(Result::ok).find(|line| line.contains(words));
        (running, line.unwrap_or_else(|| panic!("no line has {words:?}: {command:?}")))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn three_commands_of_the_readme_forward_serve_and_plot_a_fetch() {
    let commands = commands();
    let [forward, serve, fetch] = commands.as_slice() else { panic!("{commands:?}") };
    let scratch = Scratch::new("readme");
    let mut forward = shell(forward, scratch.path());
    forward.stderr(Stdio::piped());
    let _forwarder = Running::start(forward, "listening at unix:", |child| child.stderr.take());
    let mut serve = shell(serve, scratch.path());
    serve.stdout(Stdio::piped());
    let _server = Running::start(serve, "serving ", |child| child.stdout.take());
    let ended = shell(fetch, scratch.path()).output().expect("a shell is there");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let read = |name: &str| fs::read(Path::new(scratch.path()).join(name)).expect("written");
    let program = fs::read(env!("CARGO_BIN_EXE_tidegate")).expect("readable");
    assert!(read("copy") == program, "the copy differs");
    let page = String::from_utf8(read("fetch.html")).expect("text");
    assert!(page.contains("Congestion window") && page.contains("measured on real sockets"));
}

#[test]
fn the_readme_has_the_number_of_runs_that_its_first_command_says_beforehand() {
    let scratch = Scratch::new("readme-runs");
    let mut reproduce = shell("tidegate reproduce plr", scratch.path());
    reproduce.stderr(Stdio::piped());
    let (_running, stated) = Running::start(reproduce, " runs: about ", |child| child.stderr.take());
    let (runs, _) = stated.split_once(" runs").expect("a count");
    assert!(readme().contains(&format!(" simulates {runs} runs,")), "{stated}");
}

#[test]
fn the_scheme_that_the_readme_fetches_with_has_the_parameter_it_sets() {
    let readme = readme();
    let (_, rest) = readme.split_once("supports every consumer scheme: `").expect("an example is there");
    let (options, _) = rest.split_once('`').expect("it ends");
    let nowhere = ["fetch", "/f", "--transport", "unix:///no/sock"];
    let words: Vec<&str> = nowhere.into_iter().chain(options.split_whitespace()).collect();
    let ended = super::tidegate(&words).with(1);
    assert!(ended.err.starts_with("error: cannot connect to "), "{}", ended.err);
}
