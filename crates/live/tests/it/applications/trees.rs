//! Directories, content in memory, and several of them with one cache.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tidegate_live::client::Client;
use tidegate_live::name_uri;
use tidegate_live::serve::{Publications, Responder, ServeCounters, ServeSettings, Served, ServedTree};
use tidegate_wire::name::push_segment;
use tidegate_wire::{DataView, InterestBuilder, KeyAlgorithm, KeySigner, Signer, rdr};

use crate::applications::bench::{content, name, settings, unix_pair};

/// A directory with two files, a directory, links and a pipe, which is removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(test: &str) -> Self {
        let root = std::env::temp_dir().join(format!("tidegate-tree-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("tree/sub")).expect("the temporary folder is writable");
        fs::write(root.join("outside"), "secret").expect("writable");
        let tree = root.join("tree");
        fs::write(tree.join("b"), content(2500)).expect("writable");
        fs::write(tree.join("sub/a"), "small").expect("writable");
        symlink("sub/a", tree.join("inner")).expect("writable");
        symlink("../outside", tree.join("outer")).expect("writable");
        symlink(root.join("outside"), tree.join("absolute")).expect("writable");
        symlink("..", tree.join("sub/up")).expect("writable");
        let made =
            std::process::Command::new("mkfifo").arg(tree.join("pipe")).status().expect("there is mkfifo");
        assert!(made.success());
        Self(root)
    }

    fn tree(&self) -> PathBuf {
        self.0.join("tree")
    }

    fn served(&self) -> ServedTree {
        ServedTree::open(&self.tree(), settings("/t", 1000)).expect("served")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Name and content of what answers an Interest.
fn answer(served: &mut dyn Responder, client: &mut Client, components: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let interest = InterestBuilder { name: components, can_be_prefix: true, ..InterestBuilder::default() };
    let requested = client.packet(interest.build().expect("valid")).expect("valid");
    let data = served.answer(&requested, client).expect("readable")?;
    let view = DataView::parse(&data.body).expect("valid");
    Some((view.name.components().to_vec(), view.content.to_vec()))
}

/// The name of the present version, and all of its content.
fn fetched(served: &mut dyn Responder, client: &mut Client, uri: &str) -> Option<(String, Vec<u8>)> {
    let mut discovery = name(uri);
    rdr::push_metadata(&mut discovery);
    let (_, metadata) = answer(served, client, &discovery)?;
    let versioned = rdr::versioned_name(&metadata).expect("metadata").components().to_vec();
    let mut bytes = Vec::new();
    for segment in 0.. {
        let mut requested = versioned.clone();
        tidegate_wire::name::push_segment(&mut requested, segment);
        match answer(served, client, &requested) {
            Some((found, part)) if found == requested => bytes.extend(part),
            _ => break,
        }
    }
    Some((name_uri::show(&versioned), bytes))
}

#[test]
fn files_have_the_names_of_their_paths_and_directories_a_listing() {
    let directory = Directory::new("names");
    let (mut served, (mut client, _far)) = (directory.served(), unix_pair());
    let mut found = |uri: &str| fetched(&mut served, &mut client, uri);
    assert_eq!(found("/t/b").map(|(_, bytes)| bytes), Some(content(2500)));
    let (versioned, bytes) = found("/t/sub/a").expect("there");
    assert!(versioned.starts_with("/t/sub/a/v=") && bytes == b"small", "{versioned}");
    assert_eq!(found("/t/inner").map(|(_, bytes)| bytes), Some(b"small".to_vec()));
    let listing = b"b\0inner\0sub/\0".to_vec();
    for uri in ["/t/32=ls", "/t"] {
        let (versioned, bytes) = found(uri).expect("there");
        assert!(versioned.starts_with("/t/32=ls/v="), "{versioned}");
        assert_eq!(bytes, listing);
    }
    assert_eq!(found("/t/sub").map(|(_, bytes)| bytes), Some(b"a\0up/\0".to_vec()));
}

#[test]
fn nothing_outside_of_the_directory_and_no_special_file_is_served() {
    let directory = Directory::new("outside");
    let (mut served, (mut client, _far)) = (directory.served(), unix_pair());
    let component = |value: &[u8]| {
        let mut components = name("/t");
        tidegate_wire::name::push_component(&mut components, 8, value);
        components
    };
    let mut refused =
        vec![name("/t/outer"), name("/t/absolute"), name("/t/pipe"), name("/t/none"), name("/t/b/x")];
    refused.extend([&b".."[..], b".", b"", b"../outside", b"sub/a", b"b\0"].map(component));
    refused.push(name("/u/b"));
    for mut requested in refused {
        let shown = name_uri::show(&requested);
        assert_eq!(answer(&mut served, &mut client, &requested), None, "{shown}");
        rdr::push_metadata(&mut requested);
        assert_eq!(answer(&mut served, &mut client, &requested), None, "{shown}");
    }
    assert_eq!(fetched(&mut served, &mut client, "/t/sub/up/b").map(|(_, bytes)| bytes), Some(content(2500)));
}

#[test]
fn a_file_that_changes_is_served_as_another_version() {
    let directory = Directory::new("changes");
    let (mut served, (mut client, _far)) = (directory.served(), unix_pair());
    let (before, _) = fetched(&mut served, &mut client, "/t/b").expect("there");
    fs::write(directory.tree().join("b"), "another").expect("writable");
    let (after, bytes) = fetched(&mut served, &mut client, "/t/b").expect("there");
    assert!(before != after && bytes == b"another", "{before} {after}");
    let old = name(&format!("{before}/seg=0"));
    assert_eq!(answer(&mut served, &mut client, &old), None);
    fs::write(directory.tree().join("new"), "").expect("writable");
    let (_, listing) = fetched(&mut served, &mut client, "/t").expect("there");
    assert_eq!(listing, b"b\0inner\0new\0sub/\0");
}

#[test]
fn more_files_than_may_be_open_are_all_served() {
    let directory = Directory::new("many");
    let uris: Vec<String> = (0..100).map(|at| format!("/t/many{at}")).collect();
    for (at, uri) in uris.iter().enumerate() {
        fs::write(directory.tree().join(&uri[3..]), at.to_string()).expect("writable");
    }
    let (mut served, (mut client, _far)) = (directory.served(), unix_pair());
    for _ in 0..2 {
        for (at, uri) in uris.iter().enumerate() {
            let found = fetched(&mut served, &mut client, uri).map(|(_, bytes)| bytes);
            assert_eq!(found, Some(at.to_string().into_bytes()));
        }
    }
    let open = fs::read_dir("/proc/self/fd").expect("Linux").flatten();
    let of_tree = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    assert!(of_tree.filter(|path| path.starts_with(directory.tree())).count() <= 65);
}

#[test]
fn several_names_share_one_cache_and_a_segment_is_signed_once() {
    let directory = Directory::new("several");
    let mut in_memory = settings("/memory", 1000);
    in_memory.version = Some(3);
    let in_memory = Served::of_content(content(1500), in_memory).expect("served");
    let producers: Vec<(String, Box<dyn Responder>)> =
        vec![("tree".to_owned(), Box::new(directory.served())), ("memory".to_owned(), Box::new(in_memory))];
    let (mut served, (mut client, _far)) = (Publications::new(producers, 1_000_000), unix_pair());
    for _ in 0..3 {
        let found = fetched(&mut served, &mut client, "/memory");
        assert_eq!(found, Some(("/memory/v=3".to_owned(), content(1500))));
        assert_eq!(fetched(&mut served, &mut client, "/t/b").map(|(_, bytes)| bytes), Some(content(2500)));
    }
    assert_eq!(answer(&mut served, &mut client, &name("/other")), None);
    let counters = served.counters();
    let expected = ServeCounters {
        // Of each object, per round: the metadata, its segments, and the one past its end.
        interests: 3 * (2 + 5 + 2) + 1,
        segments: 15,
        cached: 10,
        bytes: 3 * 4000,
        metadata: 6,
        unanswered: 7,
    };
    assert_eq!(counters, expected);
}

#[test]
fn without_room_for_a_cache_each_segment_is_signed_again() {
    let served = Served::of_content(content(10), settings("/memory", 1000)).expect("served");
    let producers: Vec<(String, Box<dyn Responder>)> = vec![("memory".to_owned(), Box::new(served))];
    let (mut served, (mut client, _far)) = (Publications::new(producers, 0), unix_pair());
    (0..2).for_each(|_| assert!(fetched(&mut served, &mut client, "/memory").is_some()));
    assert_eq!((served.counters().segments, served.counters().cached), (2, 0));
}

#[test]
fn segments_of_an_object_larger_than_the_cache_are_kept_if_a_key_signs_them() {
    let key = KeySigner::from_bytes(KeyAlgorithm::P256, &[7; 32], &[]).expect("a key");
    for (signer, cached) in [(Signer::Digest, 0), (Signer::Key(Box::new(key)), 1)] {
        let settings = ServeSettings { signer, version: Some(3), ..settings("/memory", 1000) };
        let served = Served::of_content(content(20_000), settings).expect("served");
        let producers: Vec<(String, Box<dyn Responder>)> = vec![("memory".to_owned(), Box::new(served))];
        let (mut served, (mut client, _far)) = (Publications::new(producers, 10_000), unix_pair());
        let mut segment = name("/memory");
        rdr::push_version(&mut segment, 3);
        push_segment(&mut segment, 4);
        (0..2).for_each(|_| assert!(answer(&mut served, &mut client, &segment).is_some()));
        assert_eq!((served.counters().segments, served.counters().cached), (2, cached));
    }
}
