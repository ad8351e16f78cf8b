// The data in the page, decoded: the flows with their series, and the ideal.

const digitValue = new Uint8Array(128);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"]
  .forEach((digit, value) => { digitValue[digit.charCodeAt(0)] = value; });

/** Numbers from differences in base-64 variable-length digits. */
function decode(text, count) {
  const numbers = new Float64Array(count);
  let at = 0, total = 0;
  for (let i = 0; i < count; i++) {
    let value = 0, scale = 1, digit;
    do {
      digit = digitValue[text.charCodeAt(at++)];
      value += (digit & 31) * scale;
      scale *= 32;
    } while (digit & 32);
    total += value % 2 ? -(value - 1) / 2 : value / 2;
    numbers[i] = total;
  }
  return numbers;
}

const data = JSON.parse(document.getElementById("drawing").textContent);
const PHASES = data.is_capture ? ["handshake", "start-up", "restart", "repair", "after timeout", "later"]
  : ["handshake", "start-up", "restart", "recovery", "after timeout", "avoidance"];

/** A series in seconds since the first data and the unit that is drawn, thinned in some of the regions that end at these ticks. */
function series(trace, scale, { tick, regions: ends, first_data: origin }) {
  const x = decode(trace.x, trace.n), y = decode(trace.y, trace.n);
  // Points of one thinned bucket have the same link: what was between them is not here.
  const link = new Float64Array(trace.n).fill(-1);
  let region = 0;
  for (let i = 0; i < trace.n; i++) {
    while (region < ends.length - 1 && x[i] >= ends[region]) region++;
    if (trace.thinned[region]) {
      const start = region ? ends[region - 1] : 0, length = Math.max(1, ends[region] - start);
      link[i] = region * data.buckets + Math.floor(Math.min(x[i] - start, length - 1) * data.buckets / length);
    }
    x[i] = (x[i] - (origin ?? 0)) * tick;
    y[i] *= scale;
  }
  return { x, y, link, of: trace.of };
}

const flows = data.flows.map((flow, index) => {
  const perPacket = 1 / flow.mss;
  const phases = { from: decode(flow.phases.from, flow.phases.n), to: decode(flow.phases.to, flow.phases.n),
    kind: decode(flow.phases.kind, flow.phases.n) };
  const since = (ticks) => (ticks - (flow.first_data ?? 0)) * flow.tick;
  return {
    label: flow.label, name: flow.label, names: [flow.label, ...flow.names], style: flow.style, isShown: flow.is_shown, mss: flow.mss, index,
    start: since(0), windows: flow.windows.map(since), restarts: flow.restarts.map((window) => window.map(since)),
    sends: series(flow.sends, 1, flow), retransmissions: series(flow.retransmissions, 1, flow), drops: series(flow.drops, 1, flow),
    acks: series(flow.acks, 1, flow), delivered: series(flow.delivered, 1, flow), cwnd: series(flow.cwnd, perPacket, flow),
    ssthresh: series(flow.ssthresh, perPacket, flow), inFlight: series(flow.in_flight, perPacket, flow),
    rtt: series(flow.rtt, 1e-3, flow), queue: series(flow.queue, 1, flow), product: series(flow.product, 1e-3, flow),
    phases: Array.from(phases.from, (from, i) => ({ from: since(from), to: since(phases.to[i]), kind: phases.kind[i] })),
    marks: flow.marks.map(([at, kind, text]) => ({ at: since(at), kind, text })),
    marksLeftOut: flow.marks_left_out,
  };
});
placed(flows);
// The ideal's clock is that of the first run.
const ideal = series(data.ideal, 1, { tick: data.tick, regions: [],
  first_data: data.flows.length && data.flows[0].first_data !== null ? data.flows[0].first_data * data.flows[0].tick / data.tick : 0 });
