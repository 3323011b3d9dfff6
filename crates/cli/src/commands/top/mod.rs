//! `tidegate top`: the counters of a running forwarder on a terminal, with rates, until a key ends it.

mod draw;
mod state;

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::crossterm::terminal::size;
use ratatui::layout::Rect;
use ratatui::{DefaultTerminal, TerminalOptions, Viewport};
use tidegate_core::units::Span;
use tidegate_live::client::Client;
use tidegate_live::daemon::status::StatusLine;
use tidegate_live::signals::StopSignal;
use tidegate_live::uplink::Uplink;

use super::status;
use crate::exit::{Exit, Failure, Outcome};
use crate::{Format, Session};
use state::{Next, TopState};

/// Maximum time until a new status or a request to stop takes effect on the screen.
const TICK: Duration = Duration::from_millis(100);

/// Maximum width and height of the screen, characters.
const MAX_SIDE: u16 = 500;

/// Arguments of the command `tidegate top`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Interval between two requests of the status, over which rates are computed: 200ms to 60s.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    interval: Span,
    /// URI of the forwarder, instead of `NDN_CLIENT_TRANSPORT` and `client.conf`.
    #[arg(long, value_name = "URI")]
    transport: Option<String>,
}

/// Parses the interval. A shorter one would receive the same status again from the forwarder's content store.
fn interval(text: &str) -> Result<Span, String> {
    let (min, max) = (Span::from_millis(200), Span::from_secs(60));
    let span: Span = text.parse()?;
    if (min..=max).contains(&span) { Ok(span) } else { Err(format!("{text:?} is not within 200ms to 60s")) }
}

/// A status, or the reason why there is none.
type Polled = Result<Vec<StatusLine>, String>;

/// Runs the command `tidegate top`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    if session.format == Format::Json || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        let why = "top needs a terminal for input and output and has no JSON; `tidegate status` prints the same counters once";
        return Err(Failure::usage(why));
    }
    let uplink = status::uplink(arguments.transport.as_deref())?;
    let stop = StopSignal::new().map_err(|why| Failure::error(format!("signals: {why}")))?;
    let mut state = TopState::new(uplink.uri.to_string());
    let (sender, statuses) = sync_channel(1);
    let interval = Duration::from_nanos(arguments.interval.as_nanos());
    // Apart from the keys, which have an effect even while a forwarder does not respond. The thread ends with the process.
    thread::spawn(move || poll(&uplink, interval, &sender));
    let terminal = screen()
        .and_then(|area| ratatui::try_init_with_options(TerminalOptions { viewport: Viewport::Fixed(area) }));
    let mut terminal = terminal.map_err(|why| Failure::error(format!("the terminal: {why}")))?;
    let ended = show(&mut terminal, &mut state, &statuses, &stop);
    ratatui::restore();
    ended.map_err(|why| Failure::error(format!("the terminal: {why}")))?;
    Ok(Exit::Ok)
}

/// Requests the status at intervals until nobody receives it.
fn poll(uplink: &Uplink, interval: Duration, statuses: &SyncSender<Polled>) {
    let mut client = None;
    while statuses.send(next_status(&mut client, uplink)).is_ok() {
        thread::sleep(interval);
    }
}

/// The present status. A client whose request failed is replaced by the next call.
fn next_status(client: &mut Option<Client>, uplink: &Uplink) -> Polled {
    let mut connected = match client.take() {
        Some(connected) => connected,
        None => Client::connect(uplink).map_err(|why| why.to_string())?,
    };
    let lines = status::read(&mut connected)
        .map_err(|failure| failure.message.trim_start_matches("error: ").to_owned())?;
    *client = Some(connected);
    Ok(lines)
}

/// The part of the terminal that is used: all of it, unless it states a size that no screen has.
fn screen() -> io::Result<Rect> {
    let (columns, lines) = size()?;
    Ok(Rect::new(0, 0, columns.min(MAX_SIDE), lines.min(MAX_SIDE)))
}

/// Draws statuses and follows keys until one of them, or a signal, ends it.
fn show(
    terminal: &mut DefaultTerminal,
    state: &mut TopState,
    statuses: &Receiver<Polled>,
    stop: &StopSignal,
) -> io::Result<()> {
    let mut area = screen()?;
    while !stop.is_stop_requested() {
        if screen()? != area {
            area = screen()?;
            terminal.resize(area)?;
        }
        terminal.draw(|frame| draw::draw(frame, state))?;
        if event::poll(TICK)?
            && let Event::Key(key) = event::read()?
            && key.kind == KeyEventKind::Press
            && state.on_key(key) == Next::Quit
        {
            return Ok(());
        }
        statuses.try_iter().for_each(|polled| state.on_status(polled));
    }
    Ok(())
}
