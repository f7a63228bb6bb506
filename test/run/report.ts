import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { spec, type TestEvent } from 'node:test/reporters';

/** What one lane leaves for the end of the run. */
export interface LaneTotal {
  counts: Record<string, number>;
  /** How long each file took. */
  ms: Record<string, number>;
}

/** Under this name a lane appends what failed. */
export const FAILURES = 'failures.txt';
const FAILURES_BEGIN = '✖ failing tests:';
const TOTAL = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

/** Tells a file when it has ended, all at once: other lanes write to the same terminal. */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const [folder = ''] = process.argv.slice(2);
  const ms: LaneTotal['ms'] = {};
  let events: TestEvent[] = [];
  for await (const event of source) {
    const { type, data } = event;
    if (type === 'test:summary') {
      const total: LaneTotal = { counts: data.counts, ms };
      writeFileSync(join(folder, `total-${process.pid}.json`), JSON.stringify(total));
    }
    if (type === 'test:summary' || (type === 'test:diagnostic' && TOTAL.test(data.message))) continue;
    events.push(event);
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting > 0) continue;
    ms[data.name] = data.details.duration_ms;
    const text = await textOf(events);
    const failures = text.indexOf(FAILURES_BEGIN);
    if (failures >= 0) appendFileSync(join(folder, FAILURES), text.slice(failures + FAILURES_BEGIN.length));
    yield text;
    events = [];
  }
  yield await textOf(events);
}

async function textOf(events: TestEvent[]): Promise<string> {
  let text = '';
  for await (const part of Readable.from(events).compose(new spec())) text += part;
  return text;
}
