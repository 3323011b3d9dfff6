//! What members of a configured group may change: nothing that belongs to other users.

use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_gid, set_thread_groups, set_thread_uid};
use support::skipped::skipped;
use tidegate_live::client::Client;
use tidegate_live::nfd::ControlParameters;

use super::bench::Forwarder;
use super::face_management::{of, peer, to};
use super::management::{about, command, done};

/// Configured group, and two users in it.
const GROUP: u32 = 64_000;
const USERS: [u32; 2] = [64_001, 64_002];

const REGISTER: [&str; 2] = ["rib", "register"];
const UNREGISTER: [&str; 2] = ["rib", "unregister"];

/// A forwarder whose group may send commands of these modules; `None` if this process may not change its user.
fn forwarder(name: &str, modules: &str) -> Option<Forwarder> {
    let config = format!("[management]\ngroups = [\"{GROUP}\"]\ngroup_commands = {modules}\n");
    let forwarder = Forwarder::start(name, &config);
    let can_be_another = application_of(&forwarder, USERS[0]).is_some();
    if !can_be_another {
        skipped("commands of members of a group", "this user may not be another one");
    }
    can_be_another.then_some(forwarder)
}

/// An application of another user of the group.
fn application_of(forwarder: &Forwarder, uid: u32) -> Option<Client> {
    let connect = || {
        // The system calls change one thread; the others keep their user.
        set_thread_groups(&[]).ok()?;
        set_thread_gid(Gid::from_raw(GROUP)).ok()?;
        set_thread_uid(Uid::from_raw(uid)).ok()?;
        Some(forwarder.consumer())
    };
    std::thread::scope(|scope| scope.spawn(connect).join().expect("no panic"))
}

/// Parameters about the route to `/shared` through the face of this number.
fn route(face_id: Option<u64>) -> ControlParameters {
    ControlParameters { face_id, ..about("/shared") }
}

#[test]
fn a_member_of_a_group_changes_routes_of_its_own_user_only() {
    let Some(forwarder) = forwarder("group-routes", "[\"rib\", \"fib\"]") else { return };
    let [mut first, mut second] = USERS.map(|uid| application_of(&forwarder, uid).expect("as before"));
    let mut again = application_of(&forwarder, USERS[0]).expect("as before");
    let mut root = forwarder.consumer();
    let of_root = done(&mut root, REGISTER, &route(None)).face_id;
    let of_first = done(&mut first, REGISTER, &route(None)).face_id;
    for other in [of_root, of_first] {
        for words in [REGISTER, UNREGISTER, ["fib", "add-nexthop"], ["fib", "remove-nexthop"]] {
            assert_eq!(command(&mut second, words, &route(other)).0, 403, "{words:?} {other:?}");
        }
    }
    // Another connection of the same user.
    assert_eq!(done(&mut again, UNREGISTER, &route(of_first)).face_id, of_first);
    // A route that root has registered for it.
    done(&mut root, REGISTER, &route(of_first));
    for words in [REGISTER, UNREGISTER] {
        assert_eq!(command(&mut first, words, &route(None)).0, 403, "{words:?}");
    }
    done(&mut root, UNREGISTER, &route(of_first));
    done(&mut first, REGISTER, &route(None));
    // As for everybody, what is gone need not be removed.
    assert_eq!(command(&mut second, UNREGISTER, &route(Some(999_999))).0, 200);
    assert_eq!(command(&mut second, REGISTER, &route(Some(999_999))).0, 410);
}

#[test]
fn a_member_of_a_group_changes_faces_of_its_own_user_only() {
    let Some(forwarder) = forwarder("group-faces", "[\"rib\", \"faces\"]") else { return };
    let [mut first, mut second] = USERS.map(|uid| application_of(&forwarder, uid).expect("as before"));
    let (_socket, uri) = peer();
    let created = of(done(&mut first, ["faces", "create"], &to(&uri)).face_id);
    let permanent = ControlParameters { persistency: Some(2), ..created.clone() };
    assert_eq!(command(&mut second, ["faces", "update"], &permanent).0, 403);
    assert_eq!(command(&mut second, ["faces", "destroy"], &created).0, 403);
    assert_eq!(command(&mut second, REGISTER, &route(created.face_id)).0, 403);
    done(&mut first, ["faces", "update"], &permanent);
    done(&mut first, REGISTER, &route(created.face_id));
    done(&mut first, ["faces", "destroy"], &created);
}
