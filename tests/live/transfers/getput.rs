//! `get` and `put`, whose options and lines are those of ndn-tools' `ndnget` and `ndnserve`.

use std::io::Write;
use std::process::Stdio;

use super::Content;
use support::program::{Ended, Scratch, program};
use support::running::{Forwarder, Running, Way};

const LEN: u64 = 100_000;

fn get(arguments: &[&str]) -> (Ended, Vec<u8>) {
    let output = program().arg("get").args(arguments).output().expect("the program starts");
    let content = output.stdout.clone();
    (Ended::from(output), content)
}

#[test]
fn content_goes_from_standard_input_to_standard_output_with_ndngets_closing_lines() {
    let scratch = Scratch::new("get-put");
    let forwarder = Forwarder::start("get-put", "");
    let uri = forwarder.uri(Way::Unix);
    let mut content = Vec::new();
    std::io::copy(&mut Content::new(LEN), &mut content).expect("memory");
    let mut put = program();
    let mut put = put
        .args(["put", "/piped/v=9", "-s", "1000", "-p", "--transport", uri])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    put.stdin.take().expect("piped").write_all(&content).expect("it reads");
    let mut published = std::io::BufReader::new(put.stderr.take().expect("piped"));
    let mut lines = String::new();
    while !lines.contains("Published") {
        let read = std::io::BufRead::read_line(&mut published, &mut lines).expect("a pipe");
        assert!(read > 0, "{lines}");
    }
    assert_eq!(lines, "Loading input ...\nPublished 100 Data packets with prefix /piped/v=9\n");

    let log = scratch.at("cwnd");
    let (ended, found) = get(&["/piped", "--init-cwnd", "4", "--log-cwnd", &log, "--transport", uri]);
    let closing = ended.with(0).err;
    assert!(found == content);
    assert!(closing.starts_with("\n\nAll segments have been received.\nTime elapsed: "), "{closing}");
    let heads =
        ["Segments received: 100\n", "Transferred size: 100 kB\n", "Goodput: ", "Congestion marks: 0\n"];
    let more = ["Timeouts: ", "Retransmitted segments: ", "RTT min/avg/max = "];
    for line in heads.iter().chain(&more) {
        assert!(closing.contains(&format!("\n{line}")), "{line}: {closing}");
    }
    let windows = std::fs::read_to_string(&log).expect("written");
    assert!(windows.starts_with("time\tcwndsize\n0"), "{windows}");

    let (ended, found) = get(&["-q", "-p", "fixed", "-s", "5", "-D", "/piped/v=9", "--transport", uri]);
    assert!(found == content && ended.with(0).err.is_empty());
    let killed = std::process::Command::new("kill").args(["-INT", &put.id().to_string()]).status();
    assert!(killed.expect("kill is there").success());
    assert!(put.wait().expect("a child").success());
    let mut version = String::new();
    std::io::Read::read_to_string(&mut put.stdout.take().expect("piped"), &mut version).expect("text");
    assert_eq!(version, "v=9\n");
}

#[test]
fn what_cannot_be_got_or_put_has_the_exit_codes_of_ndn_tools() {
    let scratch = Scratch::new("get-codes");
    let forwarder = Forwarder::start("get-codes", "");
    let at = ["--transport", forwarder.uri(Way::Unix)];
    assert!(get(&[&["/absent"][..], &at].concat()).0.with(1).err.contains("no route"));
    get(&[&["/absent", "--log-cwnd", "/no/such/folder/file"][..], &at].concat()).0.with(4);
    get(&["-p", "tcp", "/absent"]).0.with(2);
    let unsupported = get(&["-N", "marker", "/absent"]).0.with(2).err;
    assert!(unsupported.contains("use \"typed\""), "{unsupported}");
    let missing = Running::start(&[&["put", "/a", &scratch.at("absent")][..], &at].concat()).wait().with(1);
    assert!(missing.err.contains("cannot read"), "{}", missing.err);
    let signer = Running::start(&["put", "/a", "README.md", "-S", "key:/a"]).wait().with(2);
    assert!(signer.err.contains("--signing-info"), "{}", signer.err);
}
