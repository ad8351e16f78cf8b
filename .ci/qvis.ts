// Loads qlogs with qvis's parser, and compares what it finds with the rows of the race. Arguments: the rows, and the folder of the logs.

import { readFileSync } from 'node:fs';
import TextSequenceJSONToQlog from '@/components/filemanager/newlineconverter/textsequencejsontoqlog';
import { QlogLoaderV2 } from '@/data/QlogLoaderV2';

// qvis reports what it does not accept with these functions.
let said: string[] = [];
const say = console.log;
const keep = (...words: unknown[]) => void said.push(words.map(String).join(' '));
Object.assign(globalThis, { alert: keep });
Object.assign(console, { log: () => {}, warn: keep, error: keep });

const [rows, logs] = process.argv.slice(2);
for (const line of readFileSync(rows, 'utf8').trim().split('\n')) {
    const row = JSON.parse(line);
    said = [];
    const bytes = readFileSync(`${logs}/${row.scheme}.sqlog`);
    const stream = new ReadableStream({
        start(controller) {
            controller.enqueue(bytes);
            controller.close();
        },
    });
    const file = await TextSequenceJSONToQlog.convert(stream as never);
    const connections = (file && QlogLoaderV2.fromJSON(file)?.getConnections()) || [];
    let [sent, received, windows, length] = [0, 0, 0, 0];
    for (const raw of connections.flatMap((connection: any) => connection.getEvents())) {
        const event = connections[0].parseEvent(raw);
        const name = `${event.category}:${event.name}`;
        sent += Number(name === 'transport:packet_sent');
        length += name === 'transport:packet_sent' ? event.data.raw.length : 0;
        received += Number(name === 'transport:packet_received' && event.data.frames[0].acked_ranges.length > 0);
        windows += Number(name === 'recovery:metrics_updated' && event.data.congestion_window > 0);
    }
    const faults = [
        connections.length === 1 || `it finds ${connections.length} connections`,
        sent === row.packets_sent || `it finds ${sent} packets sent; the row has ${row.packets_sent}`,
        length >= 2_000_000 || `it finds ${length} bytes sent`,
        (received > 0 && windows > 0) || 'it finds no ACKs or no windows',
        said.length === 0 || `it says: ${said.join('; ')}`,
    ].filter((fault) => fault !== true);
    if (faults.length > 0) {
        say(`qvis's parser: ${row.scheme}: ${faults.join('; ')}`);
        process.exit(1);
    }
    say(`${row.scheme}: ${sent} packets sent, ${received} ACKs, ${windows} windows`);
}
