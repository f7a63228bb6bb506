import { plainTable, type Row } from './figures.ts';
import { bulkBench } from './loop-bulk.ts';
import { driftBench } from './loop-drift.ts';
import { pushBench } from './loop-push.ts';
import { restBench } from './loop-rest.ts';

const PARTS: Record<string, () => Promise<Row[]>> = {
  push: pushBench,
  drift: driftBench,
  bulk: bulkBench,
  rest: restBench,
};

/** The whole way from Git to the cluster, on a control plane of its own for each part. `only` names parts. */
export async function main(only: readonly string[]): Promise<Row[]> {
  for (const name of only) if (!(name in PARTS)) throw new Error(`no part ${name}; there are ${Object.keys(PARTS)}`);
  const rows: Row[] = [];
  for (const [name, part] of Object.entries(PARTS)) {
    if (only.length > 0 && !only.includes(name)) continue;
    console.error(`loop: ${name}`);
    const found = await part();
    console.log(`${plainTable(found)}\n`);
    rows.push(...found);
  }
  return rows;
}
