import { obtain } from '../../../src/tools/obtain.ts';
import type { Surroundings } from '../../../src/tools/surroundings.ts';
import { helloTool } from './hello.ts';

/** A process that asks for the program, for tests that need two of them or want to kill one. */
const surroundings: Surroundings = JSON.parse(process.argv[2] ?? '');
const paths = await obtain([helloTool()], { surroundings, progress: () => {} });
process.stdout.write(`${paths.get('hello')}\n`);
