//! The view on a terminal of 80 columns: the groups of connections, and below them the latest start-ups.

use std::collections::VecDeque;
use std::time::Duration;

use firstflight_report::human::{count, significant};
use firstflight_trace::in_a_line;
use firstflight_watch::{Group, Groups, Start, Totals};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table};
use ratatui::{DefaultTerminal, Frame};

/// The content of the view.
pub(super) struct Shown<'a> {
    /// The time since the command started.
    pub(super) elapsed: Duration,
    /// The numbers of connections and of events.
    pub(super) totals: Totals,
    /// The number of start-ups reported.
    pub(super) told: u64,
    /// The start-ups grouped by prefix and congestion control.
    pub(super) groups: &'a Groups,
    /// The latest start-ups, the newest first.
    pub(super) latest: &'a VecDeque<Start>,
}

/// The terminal that shows the view. It is restored when this is dropped.
pub(super) struct View {
    terminal: DefaultTerminal,
}

impl View {
    /// Takes over the terminal; `None` if the terminal cannot show the view.
    pub(super) fn open() -> Option<Self> {
        ratatui::try_init().ok().map(|terminal| Self { terminal })
    }

    /// Returns whether the user left the view with q, Escape, or Ctrl-C, which is an ordinary key in the view.
    pub(super) fn is_left() -> bool {
        while event::poll(Duration::ZERO).unwrap_or(false) {
            let Ok(Event::Key(key)) = event::read() else { continue };
            let is_interrupt =
                key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'd'));
            let leaves = matches!(key.code, KeyCode::Char('q') | KeyCode::Esc) || is_interrupt;
            if leaves && key.kind != KeyEventKind::Release {
                return true;
            }
        }
        false
    }

    /// Draws the view. If the terminal fails, nothing is shown, and watching continues.
    pub(super) fn draw(&mut self, shown: &Shown<'_>) {
        drop(self.terminal.draw(|frame| draw(frame, shown)));
    }
}

impl Drop for View {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

fn draw(frame: &mut Frame<'_>, shown: &Shown<'_>) {
    let groups = u16::try_from(shown.groups.iter().count()).unwrap_or(u16::MAX);
    // The groups get the height they need, up to half of the view.
    let most = (frame.area().height / 2).max(4);
    let areas = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(groups.saturating_add(3).min(most)),
        Constraint::Min(3),
    ])
    .split(frame.area());
    let Totals { open, opened, facts_lost } = shown.totals;
    let head = format!(
        "{} s  {} opened  {} open  {} start-ups  {} facts lost   q leaves",
        shown.elapsed.as_secs(),
        count(opened),
        count(open),
        count(shown.told),
        count(facts_lost)
    );
    frame.render_widget(Paragraph::new(Line::from(head)), areas[0]);
    table(
        frame,
        areas[1],
        "by destination and congestion control",
        GROUPS,
        shown.groups.largest().into_iter().map(of_group),
    );
    table(frame, areas[2], "latest", LATEST, shown.latest.iter().map(of_start));
}

/// The columns, each with its head and its width. The first two have words, and the others have numbers.
type Heads = [(&'static str, u16); 9];

const GROUPS: Heads = [
    ("destination", 18),
    ("control", 10),
    ("starts", 7),
    ("loss", 6),
    ("flat", 6),
    ("none", 6),
    ("window p", 9),
    ("over p", 7),
    ("ends s", 7),
];

const LATEST: Heads = [
    ("receiver", 21),
    ("control", 10),
    ("exit", 9),
    ("window p", 9),
    ("Mbit/s", 7),
    ("over p", 7),
    ("ends s", 7),
    ("idle", 5),
    ("", 0),
];

fn of_group(((prefix, law), group): ((&str, &str), &Group)) -> [String; 9] {
    let by = |cause: &str| group.counters.causes.get(cause).copied().unwrap_or(0);
    let median = |told: firstflight_report::inspected::Quantiles, scale: f64| {
        told.median.as_f64().map_or_else(|| "-".to_owned(), |value| significant(value / scale))
    };
    [
        in_a_line(prefix),
        in_a_line(law),
        count(group.counters.starts),
        count(by("loss") + by("timeout")),
        count(by("flat") + by("drain")),
        count(by("none")),
        median(group.window.quantiles(), 1.0),
        count(group.counters.overshoot),
        median(group.completion.quantiles(), 1.0),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn of_start(start: &Start) -> [String; 9] {
    let found = &start.found;
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), significant);
    let window = found.exit_flight_bytes.zip(found.mss_bytes);
    [
        in_a_line(&found.to),
        in_a_line(&start.congestion_control),
        found.exit_cause.unwrap_or("-").replace("receiver-window", "rwnd").replace("application", "app"),
        number(window.map(|(flight, mss)| flight as f64 / mss.max(1) as f64)),
        number(start.exit_rate_bps.map(|rate| rate / 1e6)),
        found.overshoot_segments.map_or_else(|| "-".to_owned(), count),
        number(found.transfer_s),
        count(found.idle_restarts_total),
        String::new(),
    ]
}

fn table(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &str,
    heads: Heads,
    rows: impl Iterator<Item = [String; 9]>,
) {
    let cells = |texts: [String; 9]| {
        texts.into_iter().enumerate().map(|(at, text)| {
            let alignment = if at < 2 { Alignment::Left } else { Alignment::Right };
            Cell::from(Line::from(text).alignment(alignment))
        })
    };
    let head = Row::new(cells(heads.map(|(head, _)| head.to_owned())))
        .style(Style::default().add_modifier(Modifier::BOLD));
    let room = usize::from(area.height);
    let rows = rows.take(room).map(|texts| Row::new(cells(texts)));
    let widths = heads.map(|(_, width)| Constraint::Length(width));
    let block = Block::default().borders(Borders::TOP).title(title);
    frame.render_widget(Table::new(rows, widths).header(head).block(block).column_spacing(0), area);
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_inspect::Found;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn start(at: u64) -> Start {
        let found = Found {
            to: format!("203.0.113.{at}:443"),
            exit_cause: Some("loss"),
            exit_flight_bytes: Some(1_448 * 76),
            mss_bytes: Some(1_448),
            overshoot_segments: Some(9),
            transfer_s: Some(0.25),
            ..Found::default()
        };
        Start {
            prefix: "203.0.113.0/24".to_owned(),
            congestion_control: "ff_hystart_pp".to_owned(),
            exit_rate_bps: Some(18.6e6),
            found,
            ..Start::default()
        }
    }

    /// Returns the lines of the view on a terminal of this size.
    fn screen(width: u16, height: u16, starts: u64) -> Vec<String> {
        let mut groups = Groups::default();
        let latest: VecDeque<Start> = (1..=starts).map(start).collect();
        for start in &latest {
            groups.add(start);
        }
        let totals = Totals { open: 3, opened: 1_234, facts_lost: 0 };
        let elapsed = Duration::from_secs(12);
        let shown = Shown { elapsed, totals, told: starts, groups: &groups, latest: &latest };
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal in memory");
        terminal.draw(|frame| draw(frame, &shown)).expect("it draws");
        let buffer = terminal.backend().buffer().clone();
        let line = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol().to_owned()).collect::<String>();
        (0..height).map(|y| line(y).trim_end().to_owned()).collect()
    }

    #[test]
    fn eighty_columns_hold_the_groups_and_the_latest_start_ups() {
        let lines = screen(80, 24, 5);
        assert_eq!(lines[0], "12 s  1,234 opened  3 open  5 start-ups  0 facts lost   q leaves");
        for (line, heads) in [(2, GROUPS), (6, LATEST)] {
            let shown: Vec<&str> = lines[line].split_whitespace().collect();
            let heads = heads.map(|(head, _)| head).join(" ");
            assert_eq!(shown.join(" "), heads.trim_end(), "{lines:#?}");
        }
        assert!(lines[3].starts_with("203.0.113.0/24    ff_hystart"), "{lines:#?}");
        let words: Vec<&str> = lines[3].split_whitespace().skip(2).collect();
        assert_eq!(words, ["5", "5", "0", "0", "76.0", "45", "0.250"], "{lines:#?}");
        let latest = lines.iter().find(|line| line.starts_with("203.0.113.1:443")).expect("it is shown");
        let words: Vec<&str> = latest.split_whitespace().skip(2).collect();
        assert_eq!(words, ["loss", "76.0", "18.6", "9", "0.250", "0"], "{lines:#?}");
    }

    #[test]
    fn a_small_terminal_is_no_failure() {
        for (width, height) in [(1, 1), (20, 3), (80, 5), (300, 4)] {
            assert_eq!(screen(width, height, 60).len(), usize::from(height));
        }
    }
}
