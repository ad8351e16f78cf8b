//! Heap memory that a socket holds, counted by the allocator, for any behavior of its peer. Nothing else runs in this process.

use firstflight::avoidance::Reno;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Controller, Span, Time};
use firstflight_tcp::bytes::{Settings, Socket};
use firstflight_tcp::{Config, Flags, Role, SackBlock, Segment};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

type Plain = Socket<SlowStart, Rfc5681, Reno>;

/// A socket, the heap memory that it holds, and the maximum so far.
struct Measured {
    socket: Plain,
    held: usize,
    most: usize,
}

impl Measured {
    fn new(config: &Config, settings: &Settings) -> Self {
        let before = HEAP.current_usage();
        let initial = Initial { segments: 10, ssthresh: None };
        let controller = Controller::new(SlowStart::new(initial), Rfc5681::new(initial), Reno::new());
        let socket = Socket::new(Role::Server, config, controller, settings);
        let held = HEAP.current_usage() - before;
        Self { socket, held, most: held }
    }

    /// Calls the socket and measures. The socket holds the memory allocated after a call beyond that before; during the call it may hold
    /// more. The test's own threads allocate and free a little meanwhile, so the peak may be below the memory before.
    fn call<T>(&mut self, call: impl FnOnce(&mut Plain) -> T) -> T {
        HEAP.reset_peak_usage();
        let before = HEAP.current_usage();
        let answer = call(&mut self.socket);
        self.most = self.most.max(self.held + HEAP.peak_usage().saturating_sub(before));
        self.held = self.held + HEAP.current_usage() - before;
        answer
    }
}

/// Returns a pseudo-random number that follows from the previous one.
fn random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// Checks that a socket in TIME-WAIT holds no buffers: a host may have many of them.
fn holds_no_buffers_at_its_end() {
    let mut measured = Measured::new(&Config::default(), &Settings::default());
    let arrives =
        |seq, ack, flags, len| Segment { seq, ack, flags, len, window: 60_000, ..Segment::default() };
    measured.call(|socket| {
        socket.on_segment(Time::ZERO, &arrives(0, 0, Flags::SYN, 0), &[]);
        while socket.poll(Time::ZERO).is_some() {}
        socket.on_segment(Time::ZERO, &arrives(1, 1, Flags::ACK, 1_000), &[7; 1_000]);
        assert_eq!(socket.write(&[7; 1_000]), 1_000);
        socket.shutdown();
        while socket.poll(Time::ZERO).is_some() {}
    });
    assert!(measured.held >= 32 << 10, "a page each way: {}", measured.held);
    measured.call(|socket| {
        let fin = Flags::FIN.with(Flags::ACK);
        socket.on_segment(Time::ZERO, &arrives(1_001, 1_002, fin, 0), &[]);
        assert_eq!(socket.read(&mut [0; 2_000]), 1_000);
        assert!(socket.is_at_end() && !socket.is_finished(), "it closed first, and waits");
    });
    assert!(measured.held < 4 << 10, "{}", measured.held);
}

/// `docs/reference/laws.md`.
#[test]
fn socket_memory_is_bounded_by_buffers_and_endpoint_state() {
    holds_no_buffers_at_its_end();
    let buffers: u64 = 1 << 20;
    let config = Config { receive_buffer: buffers, ..Config::default() };
    let settings = Settings { send_buffer: buffers, ..Settings::default() };
    for seed in 0..3 {
        let mut dice = seed;
        let mut measured = Measured::new(&config, &settings);
        assert_eq!(measured.held, 0, "a socket that waits holds nothing");
        let window = u16::MAX;
        let syn = Segment {
            flags: Flags::SYN,
            window,
            mss: core::num::NonZeroU16::new(1_460),
            window_scale: Some(8),
            sack_permitted: true,
            ..Segment::default()
        };
        let mut now = Time::ZERO;
        measured.call(|socket| socket.on_segment(now, &syn, &[]));
        let payload = [7; 1_460];
        let (mut highest, mut most_segments) = (1, 0);
        for step in 0..100_000_u64 {
            now = now + Span::from_micros(random(&mut dice, 2_000));
            measured.call(|socket| while socket.write(&payload) > 0 {});
            while let Some(segment) = measured.call(|socket| socket.poll(now).map(|(it, _)| it.segment)) {
                highest = highest.max(segment.seq + u32::from(segment.len));
            }
            // Data beyond a hole that is filled at the end, in pieces of any size, many of them tiny; it is never read.
            let next = measured.socket.endpoint().readable_range().end;
            let at = if step < 80_000 { random(&mut dice, buffers).max(1) } else { next };
            let len = 1 + random(&mut dice, if step % 3 == 0 { 2 } else { 1_460 });
            // The beginning of the sent data is acknowledged now and then, and pieces far beyond it all the time.
            let una = u32::try_from(measured.socket.endpoint().una()).unwrap() + 1;
            let advance = if step % 500 == 0 { (highest - una).min(20_000) } else { 0 };
            let start = una + (highest - una) / 8 + u32::try_from(random(&mut dice, buffers)).unwrap();
            let mut segment = Segment {
                seq: u32::try_from(1 + at).unwrap(),
                ack: if step == 0 { 1 } else { una + advance },
                len: u16::try_from(len).unwrap(),
                window,
                flags: Flags::ACK,
                ..Segment::default()
            };
            if start + 1_460 < highest {
                segment.sack_count = 1;
                segment.sack[0] = SackBlock { start, end: start + 1_460 };
            }
            let payload = &payload[..usize::from(segment.len)];
            measured.call(|socket| socket.on_segment(now, &segment, payload));
            if measured.socket.next_timer().is_some_and(|at| at <= now) {
                measured.call(|socket| socket.on_timer(now));
            }
            most_segments = most_segments.max(measured.socket.endpoint().info().outstanding);
        }
        assert_eq!(measured.socket.error(), None);
        assert!(measured.socket.readable() > buffers / 2, "{} readable", measured.socket.readable());
        let endpoint = 96 * most_segments + 48 * (buffers / 1_460 + 64) + 65_536;
        let bound = usize::try_from(2 * buffers + endpoint).unwrap() + 4 * (16 << 10);
        println!("{} bytes at most, bound {bound}, {most_segments} segments", measured.most);
        assert!(measured.most <= bound, "{} bytes, bound {bound}", measured.most);
        assert!(measured.most > usize::try_from(2 * buffers).unwrap(), "both buffers were full");
    }
}
