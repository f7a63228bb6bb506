import { openRepository } from '../../../src/git/repository.ts';

/** A process of its own that fetches a commit and may be killed in the middle: url, folder, commit, backend. */
const [, , url = '', dir = '', commit = '', backend] = process.argv;
const repository = await openRepository({
  url,
  dir,
  backend: backend === 'system' ? 'system' : 'builtin',
  allow: { http: true, privateAddresses: true },
});
await repository.fetch(commit);
await repository.close();
process.stdout.write('fetched\n');
