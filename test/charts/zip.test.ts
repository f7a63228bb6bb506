import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFiles } from '../../src/charts/archive-tree.ts';
import { DEFAULT_LIMITS } from '../../src/charts/limits.ts';
import type { FileTree } from '../../src/git/tree.ts';
import { type ZipMember, zip } from './support/archives.ts';

/** What Info-ZIP's `zip -r` made of two files in a folder, one of them with an umlaut in its name. */
const BY_INFO_ZIP =
  'UEsDBAoAAAAAAHOgcl0AAAAAAAAAAAAAAAAEABwAd2ViL1VUCQADmgT+apoE/mp1eAsAAQQAAAAABAAAAABQSwMECgAAAAAAc6ByXSsoQ3YFAAAABQAAAAsAHAB3ZWIvw7wueWFtbFVUCQADmgT+apoE/mp1eAsAAQQAAAAABAAAAAB1OiAxClBLAwQUAAAACABzoHJdobQcPQoAAABkAAAACgAcAHdlYi9hLnlhbWxVVAkAA5oE/mqaBP5qdXgLAAEEAAAAAAQAAAAAS7RSMORKpC0BAFBLAQIeAwoAAAAAAHOgcl0AAAAAAAAAAAAAAAAEABgAAAAAAAAAEADtQQAAAAB3ZWIvVVQFAAOaBP5qdXgLAAEEAAAAAAQAAAAAUEsBAh4DCgAAAAAAc6ByXSsoQ3YFAAAABQAAAAsAGAAAAAAAAQAAAKSBPgAAAHdlYi/DvC55YW1sVVQFAAOaBP5qdXgLAAEEAAAAAAQAAAAAUEsBAh4DFAAAAAgAc6ByXaG0HD0KAAAAZAAAAAoAGAAAAAAAAQAAAKSBiAAAAHdlYi9hLnlhbWxVVAUAA5oE/mp1eAsAAQQAAAAABAAAAABQSwUGAAAAAAMAAwDrAAAA1gAAAAAA';
/** What Python's zipfile made, written to a stream: sums and sizes come behind each file. */
const STREAMED =
  'UEsDBBQACAAIAIMYIlwAAAAAAAAAAAAAAAAKAAAAd2ViL2EueWFtbEu0UjDkSqQtAQBQSwcIobQcPQoAAABkAAAAUEsDBBQACAAIAIMYIlwAAAAAAAAAAAAAAAAKAAAAd2ViL2IueWFtbEuyUjDkAgBQSwcIuWODpAcAAAAFAAAAUEsBAhQDFAAIAAgAgxgiXKG0HD0KAAAAZAAAAAoAAAAAAAAAAAAAAIABAAAAAHdlYi9hLnlhbWxQSwECFAMUAAgACACDGCJcuWODpAcAAAAFAAAACgAAAAAAAAAAAAAAgAFCAAAAd2ViL2IueWFtbFBLBQYAAAAAAgACAHAAAACBAAAAAAA=';

function read(archive: Buffer, limits = {}): Promise<FileTree> {
  return readFiles(archive, { name: 'x.zip', commit: 'sha256:0', limits: { ...DEFAULT_LIMITS, ...limits } });
}

async function contents(tree: FileTree): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { path, type } of tree.walk('')) {
    if (type === 'file') found[path] = Buffer.from((await tree.read(path)) ?? '').toString();
  }
  return found;
}

test('zips that other programs made are read', async () => {
  assert.deepEqual(await contents(await read(Buffer.from(BY_INFO_ZIP, 'base64'))), {
    'web/a.yaml': 'a: 1\n'.repeat(20),
    'web/ü.yaml': 'u: 1\n',
  });
  assert.deepEqual(await contents(await read(Buffer.from(STREAMED, 'base64'))), {
    'web/a.yaml': 'a: 1\n'.repeat(20),
    'web/b.yaml': 'b: 1\n',
  });
});

test('a zip with a comment, with stored files, with folders and with what macOS adds', async () => {
  const members: ZipMember[] = [
    { path: 'web/', mode: 0o040755 },
    { path: 'web/a.yaml', data: 'a' },
    { path: 'web/b.yaml', data: 'b', method: 0, mode: 0 },
    { path: '__MACOSX/web/._a.yaml', data: 'x' },
  ];
  const found = await read(zip(members, { comment: '0123456789abcdef' }));
  assert.deepEqual(await contents(found), { 'web/a.yaml': 'a', 'web/b.yaml': 'b' });
});

test('a link is in the list, and refused by whoever would read it', async () => {
  const tree = await read(zip([{ path: 'a/token', data: '/etc/passwd', mode: 0o120777 }]));
  assert.deepEqual(
    (await tree.list('a')).map(({ type }) => type),
    ['link'],
  );
  await assert.rejects(tree.read('a/token'), { code: 'GitUnsafePath' });
});

const A: ZipMember = { path: 'a.yaml', data: 'a: 1\n' };
const zip64Extra = Buffer.from([1, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
const megabytes = (count: number): Buffer => Buffer.alloc(count << 20, 'a');

const refused: [title: string, archive: () => Buffer, message: RegExp, limits?: object][] = [
  ['a path upwards', () => zip([{ path: '../a.yaml' }]), /leads out of its folder/],
  ['an absolute path', () => zip([{ path: '/etc/a.yaml' }]), /absolute/],
  ['backslashes', () => zip([{ path: 'a\\..\\b' }]), /backslashes/],
  ['a NUL in a name', () => zip([{ path: 'a\0.yaml' }]), /control characters/],
  ['a name in some code page', () => zip([{ path: 'ü.yaml', encoding: 'latin1' }]), /no UTF-8/],
  ['a device', () => zip([{ path: 'null', mode: 0o020666 }]), /neither a file nor a folder/],
  ['one file twice', () => zip([A, A]), /"a\.yaml" twice/],
  ['a file where a folder is', () => zip([{ path: 'a' }, { path: 'a/b' }]), /a file and a folder/],
  ['an encrypted file', () => zip([{ ...A, flags: 1 }]), /encrypted/],
  ['a strongly encrypted file', () => zip([{ ...A, flags: 0x41 }]), /encrypted/],
  ['an unknown flag', () => zip([{ ...A, flags: 0x20 }]), /unusual way/],
  ['an unknown method', () => zip([{ ...A, method: 12 }]), /unusual way/],
  ['sizes of zip64', () => zip([{ ...A, extra: zip64Extra }]), /zip64/],
  ['a size that only zip64 has', () => zip([{ ...A, claims: { size: 0xffffffff } }]), /zip64/],
  [
    'something before its first file',
    () => zip([A], { before: 'PK or not' }),
    /before its first file|lies there otherwise/,
  ],
  ['something between its files', () => zip([A, { path: 'b' }], { between: 'x' }), /between its files/],
  ['two names for one file', () => zip([{ ...A, localPath: 'b.yaml' }]), /otherwise than the list says/],
  ['another sum', () => zip([{ ...A, claims: { sum: 1 } }]), /not what it should be/],
  ['more than it says', () => zip([{ ...A, claims: { size: 2 } }]), /more than it says/],
  ['less than it says', () => zip([{ ...A, claims: { size: 50 } }]), /not what it should be/],
  ['something behind its end', () => Buffer.concat([zip([A]), Buffer.from('x')]), /without an end/],
  ['half of it', () => zip([A]).subarray(0, 60), /without an end/],
  [
    'many files',
    () => zip(Array.from({ length: 30 }, (_, at) => ({ path: `${at}` }))),
    /more than 20 files/,
    { files: 20 },
  ],
  ['many folders in few names', () => zip([{ path: `${'a/'.repeat(30)}b` }]), /more than 20 files/, { files: 20 }],
  [
    'a lot in it',
    () => zip([{ path: 'a', data: megabytes(3) }]),
    /more than 2\.0 MiB/,
    { folderBytes: 2 << 20, ratio: 1e6 },
  ],
  ['an 800-fold file', () => zip([{ path: 'a', data: megabytes(4) }]), /100 times as large/],
];

for (const [title, archive, message, limits] of refused) {
  test(`refuses a zip with ${title}`, async () => {
    await assert.rejects(read(archive(), limits), { code: 'ChartRefused', message, retry: false });
  });
}

test('files that share their bytes are refused before any is inflated', async () => {
  const bomb = zip([A, { path: 'b', data: megabytes(1) }]);
  // The first file's entry in the list is led to the second one's place as well.
  const list = bomb.indexOf('PK\x01\x02');
  const second = bomb.indexOf('PK\x01\x02', list + 1);
  bomb.writeUInt32LE(bomb.readUInt32LE(second + 42), list + 42);
  await assert.rejects(read(bomb), { code: 'ChartRefused', message: /before its first file/ });
});
