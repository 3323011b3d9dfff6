use std::net::UdpSocket;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tidegate_core::link::line::{LineSetup, LossPlan};
use tidegate_core::ndn::face::Limit;
use tidegate_core::units::{BitRate, Packets};

use super::*;

fn channel(rate: BitRate, delay: Span, loss: f64) -> ChannelSetup {
    let loss = if loss > 0.0 { LossPlan::Bernoulli { probability: loss } } else { LossPlan::None };
    let line = LineSetup { rate, delay, jitter: Span::ZERO, reorder: false, loss };
    ChannelSetup { line, mtu: None, queue: Limit::Packets(Packets::new(1_000)) }
}

/// A link towards `to` that runs for `duration`, and the address of its listener.
fn start(
    to: SocketAddr,
    forward: ChannelSetup,
    reverse: ChannelSetup,
    duration: Span,
) -> io::Result<(SocketAddr, thread::JoinHandle<io::Result<LinkReport>>)> {
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let setup = LinkSetup { listen, to, forward, reverse, seed: Seed(1) };
    let (notify, reported) = mpsc::channel();
    let run = move || {
        let mut link = Link::bind(&setup)?;
        notify.send(link.local()).map_err(io::Error::other)?;
        link.run(None, Some(duration), None, |_| ())?;
        Ok(link.report())
    };
    let thread = thread::spawn(run);
    Ok((reported.recv().map_err(io::Error::other)?, thread))
}

fn socket() -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    Ok(socket)
}

/// Answers every datagram until none comes for a while.
fn echo() -> io::Result<(SocketAddr, thread::JoinHandle<()>)> {
    let server = socket()?;
    let address = server.local_addr()?;
    let answer = move || {
        let mut memory = [0; 2_000];
        while let Ok((len, from)) = server.recv_from(&mut memory) {
            let _ = server.send_to(&memory[..len], from);
        }
    };
    Ok((address, thread::spawn(answer)))
}

fn ended(run: thread::JoinHandle<io::Result<LinkReport>>) -> io::Result<LinkReport> {
    run.join().expect("the link does not panic")
}

#[test]
fn datagrams_of_several_clients_go_there_and_come_back_to_whom_they_belong() -> io::Result<()> {
    let (server, answers) = echo()?;
    let one_way = || channel(BitRate::from_mbps(100.0), Span::from_millis(10), 0.0);
    let (link, run) = start(server, one_way(), one_way(), Span::from_millis(1_200))?;
    let clients = [socket()?, socket()?, socket()?];
    for round in 0..20_u8 {
        for (number, client) in (0..).zip(&clients) {
            let before = Instant::now();
            client.send_to(&[number, round, 7], link)?;
            if round == 0 {
                let mut memory = [0; 100];
                client.recv_from(&mut memory)?;
                assert!(before.elapsed() >= Duration::from_millis(20), "{:?}", before.elapsed());
            }
        }
    }
    for (number, client) in (0..).zip(&clients) {
        for round in 1..20 {
            let mut memory = [0; 100];
            let (len, from) = client.recv_from(&mut memory)?;
            assert_eq!((&memory[..len], from), (&[number, round, 7][..], link));
        }
    }
    let report = ended(run)?;
    answers.join().expect("the server does not panic");
    assert_eq!((report.clients, report.refused), (3, Refused::default()));
    for direction in [&report.forward, &report.reverse] {
        let counts = direction.counts;
        assert_eq!((counts.offered, counts.delivered, direction.unsent), (60, 60, 0));
        assert_eq!((direction.delivered_bytes.get(), direction.lateness.count), (180, 60));
    }
    Ok(())
}

#[test]
fn what_is_lost_in_one_direction_is_not_lost_in_the_other() -> io::Result<()> {
    let (server, answers) = echo()?;
    let forward = channel(BitRate::from_bps(u64::MAX), Span::ZERO, 0.2);
    let reverse = channel(BitRate::from_bps(u64::MAX), Span::from_millis(5), 0.0);
    let (link, run) = start(server, forward, reverse, Span::from_millis(1_200))?;
    let client = socket()?;
    for number in 0..200_u16 {
        client.send_to(&number.to_be_bytes(), link)?;
        if number % 50 == 0 {
            thread::sleep(Duration::from_millis(1));
        }
    }
    let mut memory = [0; 100];
    let mut back = 0;
    while client.recv_from(&mut memory).is_ok() {
        back += 1;
    }
    let report = ended(run)?;
    answers.join().expect("the server does not panic");
    let (forward, reverse) = (report.forward.counts, report.reverse.counts);
    assert!((20..65).contains(&forward.lost), "{forward:?}");
    assert_eq!(forward.offered + report.refused.overflowed, 200);
    assert_eq!(forward.offered, forward.lost + forward.delivered);
    assert_eq!((reverse.lost, reverse.delivered), (0, back));
    Ok(())
}

#[test]
fn a_rate_is_kept_and_lateness_is_reported() -> io::Result<()> {
    let server = socket()?;
    let forward = channel(BitRate::from_mbps(8.0), Span::from_millis(1), 0.0);
    let reverse = forward.clone();
    let (link, run) = start(server.local_addr()?, forward, reverse, Span::from_millis(1_500))?;
    let client = socket()?;
    let before = Instant::now();
    for _ in 0..200 {
        client.send_to(&[0; 1_000], link)?;
    }
    let mut memory = [0; 2_000];
    for _ in 0..200 {
        server.recv_from(&mut memory)?;
    }
    // 200 datagrams of a millisecond each; a busy machine makes it longer, nothing makes it shorter.
    let took = before.elapsed();
    assert!(took >= Duration::from_millis(201), "{took:?}");
    let report = ended(run)?;
    let lateness = report.forward.lateness;
    assert!(lateness.count == 200 && lateness.mean > Span::ZERO && lateness.max >= lateness.p99);
    assert!(report.forward.waiting.max >= Span::from_millis(150), "{:?}", report.forward.waiting);
    Ok(())
}

#[test]
fn a_link_to_nobody_goes_on_carrying() -> io::Result<()> {
    let nobody = socket()?.local_addr()?;
    let way = || channel(BitRate::from_mbps(100.0), Span::ZERO, 0.0);
    let (link, run) = start(nobody, way(), way(), Span::from_millis(200))?;
    let client = socket()?;
    for _ in 0..10 {
        client.send_to(b"?", link)?;
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(ended(run)?.forward.counts.delivered, 10);
    Ok(())
}
