//! `tidegate import`, and scenarios that name the topology of another program.

use std::fs;

use crate::{Scratch, tidegate};

const TOPOLOGIES: &str = "scenarios/topologies";

#[test]
fn what_import_writes_passes_check_whatever_the_format() {
    tidegate(&["check", &format!("{TOPOLOGIES}/abilene.toml")]).with(0);
    let scratch = Scratch::new("import");
    for (file, format) in [
        ("abilene.txt", "ndnsim"),
        ("abilene.conf", "minindn"),
        ("abilene.graphml", "graphml"),
        ("abilene-weights.intra", "rocketfuel"),
    ] {
        let scenario = scratch.at(&format!("{format}.toml"));
        let file = format!("{TOPOLOGIES}/{file}");
        let ended = tidegate(&["import", &file, "-o", &scenario]).with(0);
        assert!(ended.out.contains(&format!("11 nodes and 14 links from format {format}")), "{}", ended.out);
        tidegate(&["check", &scenario]).with(0);
        let printed = tidegate(&["import", &file, "--from", format]).with(0);
        assert_eq!(printed.out, fs::read_to_string(&scenario).expect("written"));
    }
    let weights = format!("{TOPOLOGIES}/abilene-weights.intra");
    let latencies = format!("{TOPOLOGIES}/abilene-latencies.intra");
    let both = tidegate(&["import", &weights, "--latencies", &latencies, "--format", "json"]).with(0).json();
    assert!(
        both.get("scenario").text().contains("cost = 6")
            && both.get("scenario").text().contains("delay = \"6ms\"")
    );
}

#[test]
fn a_file_that_cannot_be_imported_is_refused_at_its_place() {
    let scratch = Scratch::new("import-errors");
    let broken = scratch.file("net.txt", b"router\na NA 1 2\nb NA 3 4\nlink\na b 1Mps 1 10 9\n");
    let ended = tidegate(&["import", &broken]).with(1);
    assert!(
        ended.err.contains("net.txt:5:5: \"1Mps\" is not a rate") && ended.err.contains("\n      ^^^^"),
        "{}",
        ended.err
    );
    assert!(ended.err.contains("write it as \"10ms\" or \"10s\""), "{}", ended.err);
    let strange = scratch.file("net.dat", b"hello\n");
    assert!(
        tidegate(&["import", &strange])
            .with(1)
            .err
            .contains("its format was not recognised; give --from, one of ndnsim, minindn")
    );
    let wrong = tidegate(&["import", &strange, "--from", "gml"]).with(2);
    assert!(wrong.err.contains("known are ndnsim, minindn, graphml, rocketfuel"), "{}", wrong.err);
    let parts = scratch.file("parts.graphml", b"<graphml><graph><node id='a'/><node id='b'/><node id='c'/><edge source='a' target='b'/></graph></graphml>");
    let noted = tidegate(&["import", &parts]).with(0);
    assert!(noted.err.contains("note: 1 nodes that are not connected"), "{}", noted.err);
}

#[test]
fn what_import_writes_leaves_its_own_check_nothing_to_say() {
    let scratch = Scratch::new("import-check");
    for file in
        ["abilene.txt", "abilene.conf", "abilene.graphml", "abilene-weights.intra", "abilene-latencies.intra"]
    {
        let scenario = scratch.at(&format!("{file}.toml"));
        tidegate(&["import", &format!("{TOPOLOGIES}/{file}"), "-o", &scenario]).with(0);
        let checked = tidegate(&["check", "--strict", &scenario]);
        assert_eq!(checked.code, Some(0), "{file}: {}", checked.out);
    }
}

#[test]
fn import_writes_over_nothing_unless_forced_to() {
    let scratch = Scratch::new("import-over");
    let mine = scratch.file("mine.toml", b"mine");
    let file = format!("{TOPOLOGIES}/abilene.txt");
    let refused = tidegate(&["import", &file, "-o", &mine]).with(1);
    assert!(refused.err.contains("mine.toml already exists; use --force"), "{}", refused.err);
    assert_eq!(fs::read(&mine).expect("readable"), b"mine");
    tidegate(&["import", &file, "-o", &mine, "--force"]).with(0);
    tidegate(&["check", &mine]).with(0);
}

#[test]
fn a_format_is_recognised_by_content_whatever_the_file_is_called() {
    let scratch = Scratch::new("import-content");
    for (file, format) in
        [("abilene.txt", "ndnsim"), ("abilene.graphml", "graphml"), ("abilene-weights.intra", "rocketfuel")]
    {
        let text = fs::read(format!("{TOPOLOGIES}/{file}")).expect("readable");
        let renamed = scratch.file("net.conf", &text);
        let document = tidegate(&["import", &renamed, "--format", "json"]).with(0).json();
        assert_eq!(document.get("format").text(), format);
    }
    let own = scratch.file("own.conf", b"[scenario]\nname = \"a\"\n");
    assert!(tidegate(&["import", &own]).with(1).err.contains("give --from, one of"));
}

#[test]
fn results_keep_the_topology_that_they_came_from() {
    let scratch = Scratch::new("import-run");
    let file = scratch.file("net.conf", b"[nodes]\na: _\nb: _\n[links]\na:b delay=5ms bw=10\n");
    let text =
        b"format = 1\n[scenario]\nname = \"net\"\nduration = \"1s\"\n[topology]\nfile = \"net.conf\"\n\
        [[flow]]\nconsumer = \"a\"\nproducer = \"b\"\nprefix = \"/x\"\nscheme = \"fixed\"\n";
    let scenario = scratch.file("net.toml", text);
    let out = scratch.at("results");
    let folders = || fs::read_dir(&out).expect("readable").map(|entry| entry.expect("readable").path());
    tidegate(&["run", &scenario, "--out", &out]).with(0);
    let first = folders().next().expect("one folder");
    fs::write(&file, "[nodes]\na: _\nb: _\n[links]\na:b delay=5ms bw=20\n").expect("writable");
    tidegate(&["run", &scenario, "--out", &out]).with(0);
    assert_eq!(folders().count(), 2, "another topology has results of its own");
    fs::write(&file, b"[nodes]\na: \xFF\n").expect("writable");
    let stated = tidegate(&["check", &scenario]).with(1).err;
    assert!(
        stated.contains("\"net.conf\" cannot be read: line 2, column 4: byte 0xFF is not UTF-8"),
        "{stated}"
    );
    // The first results still know theirs, without the file.
    fs::remove_file(&file).expect("it is there");
    let stated = tidegate(&["check", &scenario]).with(1).err;
    assert!(stated.contains("file: \"net.conf\" cannot be read: No such file"), "{stated}");
    let checked = tidegate(&["check", first.join("scenario.toml").to_str().expect("text")]);
    checked.with(0);
    let figure = first.to_str().expect("text");
    tidegate(&["figure", figure, "delay-cdf", "--as", "pdf"]).with(0);
}
