import { main as allInOneBench } from './all-in-one.ts';
import { main as catalogueBench } from './catalogue.ts';
import { main as cliBench } from './cli.ts';
import { main as clientBench, type Figure } from './client.ts';
import { main as expansionBench } from './expansion.ts';
import { type Row, times } from './figures.ts';
import { main as helmBench } from './helm.ts';
import { main as imagesBench } from './images.ts';
import { main as kubegemsBench } from './kubegems.ts';
import { main as loopBench } from './loop.ts';
import { main as previewBench } from './preview.ts';
import { writeFigures } from './record.ts';

const BENCHES: Record<string, (only: string[]) => Promise<Row[]>> = {
  cli: cliBench,
  client: async () => (await clientBench()).map(rowOf),
  loop: loopBench,
  helm: helmBench,
  'all-in-one': allInOneBench,
  preview: previewBench,
  catalogue: catalogueBench,
  kubegems: kubegemsBench,
  images: imagesBench,
  expansion: expansionBench,
};

/** `npm run bench -- all`, or one of them by name; parts of the loop may be named: `loop push drift`. */
async function main(): Promise<void> {
  const [name = 'all', ...only] = process.argv.slice(2);
  const names = name === 'all' ? Object.keys(BENCHES) : [name];
  for (const one of names) {
    const bench = BENCHES[one];
    if (bench === undefined) throw new Error(`no benchmark ${one}; there are ${Object.keys(BENCHES).join(', ')}, all`);
    const rows = await bench(only);
    // A part alone would leave the README with half the figures.
    if (only.length === 0) await writeFigures(one, rows);
    if (rows.some((row) => row.met === false)) process.exitCode = 1;
  }
}

function rowOf({ name, value, unit, ratio }: Figure): Row {
  const figure = `${Math.round(value)} ${unit}`;
  return { what: name, figure: ratio === undefined ? figure : `${figure} (client: ${times(ratio)})` };
}

await main();
