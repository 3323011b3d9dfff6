//! A file fetched under ICP by an application of its own: `cargo run -p icp-fetch -- FORWARDER NAME FILE`.
//!
//! FORWARDER is the UDP address of any NDN forwarder, such as 127.0.0.1:6363, and NAME the name of the segments with its
//! version, such as `/file/54=%05`. The window is ICP's; socket, timers and retransmissions are the application's.

#[cfg(all(test, target_os = "linux"))]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::{error::Error, net::UdpSocket, time::Duration, time::Instant};

use tidegate_core::prelude::*;
use tidegate_schemes::icp;
use tidegate_wire::{DataView, InterestBuilder, decode_frame};

/// The content of all segments below `name`, in order.
fn fetch(forwarder: &str, name: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect(forwarder)?;
    socket.set_read_timeout(Some(Duration::from_millis(1)))?;
    let mut names = NameTable::new();
    let prefix = names.intern_uri(name)?;
    let mut controller = icp::SCHEME.make_consumer(icp::Params::default())?;
    let mut flow = FlowView::default();
    let started = Instant::now();
    let now = || Time::from_nanos(started.elapsed().as_nanos() as u64);
    // Interests under way, and segments to ask for again, each with its number of retransmissions.
    let (mut pending, mut again) = (BTreeMap::<u32, (Sent, u32)>::new(), VecDeque::<(u32, u32)>::new());
    let (mut content, mut last, mut buffer) = (BTreeMap::<u32, Vec<u8>>::new(), u32::MAX, [0; 9_000]);
    while content.len() as u64 <= u64::from(last) {
        while f64::from(flow.in_flight) < controller.window().floor() {
            let new = (flow.next_segment <= last).then_some((flow.next_segment, 0));
            let Some((segment, count)) = again.pop_front().or(new) else { break };
            let sent = if count == 0 { Sent::first(segment, now()) } else { Sent::again(segment, now()) };
            flow.count_sent(segment);
            controller.on_sent(
                &mut Present::detached(sent.at).context(),
                &sent,
                &mut HopSignals::default(),
                &flow,
            );
            pending.insert(segment, (sent, count));
            let (mut name, nonce) = (Vec::new(), Some(sent.at.as_nanos() as u32));
            names.write_components(Name::segment(prefix, segment), &mut name);
            socket.send(&InterestBuilder { name: &name, nonce, ..InterestBuilder::default() }.build()?)?;
        }
        if let Ok(size) = socket.recv(&mut buffer) {
            let frame = decode_frame(buffer[..size].to_vec().into())?;
            let Ok(data) = DataView::parse(&frame.fragment) else { continue };
            let Segment(segment) = data.header(&mut names)?.0.segment;
            let Some((sent, count)) = pending.remove(&segment) else { continue };
            last = last.min(data.final_segment().0);
            content.insert(segment, data.content.to_vec());
            let delivery = Delivery::of_data(segment, ByteCount::new(size as u64), sent.at, now())
                .with_signals(frame.fields.hop)
                .with_retransmissions(count)
                .with_in_flight_before(flow.in_flight);
            flow.count_delivered(segment);
            controller.on_delivery(&mut Present::detached(now()).context(), &delivery, &flow);
        }
        pending.retain(|_, (sent, count)| {
            let timeout = controller.loss_timeout(sent).unwrap_or(Span::from_secs(1));
            let is_lost = now().since(sent.at) > timeout;
            if is_lost {
                again.push_back((sent.segment, *count + 1));
                flow.count_lost();
                let loss = Loss::new(sent.segment, sent.at, LossSignal::Timeout);
                controller.on_loss(&mut Present::detached(now()).context(), &loss, &flow);
            }
            !is_lost
        });
    }
    Ok(content.into_values().flatten().collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, forwarder, name, file] = &arguments[..] else {
        return Err("icp-fetch FORWARDER NAME FILE".into());
    };
    let content = fetch(forwarder, name)?;
    println!("{} bytes", content.len());
    Ok(std::fs::write(file, content)?)
}
