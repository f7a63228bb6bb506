import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A certificate authority of our own, and a server certificate for 127.0.0.1 and localhost that it signed. */
export async function makeCertificates(folder: string): Promise<{ ca: string; key: string; cert: string }> {
  const file = (name: string): string => join(folder, name);
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await run('openssl', [
    'req',
    '-x509',
    ...fresh,
    '-days',
    '2',
    '-subj',
    '/CN=test authority',
    '-keyout',
    file('ca.key'),
    '-out',
    file('ca.crt'),
  ]);
  await run('openssl', [
    'req',
    ...fresh,
    '-subj',
    '/CN=localhost',
    '-keyout',
    file('server.key'),
    '-out',
    file('server.csr'),
  ]);
  await writeFile(file('names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  const sign = [
    '-CA',
    file('ca.crt'),
    '-CAkey',
    file('ca.key'),
    '-CAcreateserial',
    '-days',
    '2',
    '-extfile',
    file('names'),
  ];
  await run('openssl', ['x509', '-req', '-in', file('server.csr'), ...sign, '-out', file('server.crt')]);
  const read = (name: string): Promise<string> => readFile(file(name), 'utf8');
  return { ca: await read('ca.crt'), key: await read('server.key'), cert: await read('server.crt') };
}
