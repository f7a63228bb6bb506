import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memoryTree } from '../git/memorytree.ts';
import { logoFault } from './logos.ts';

const file = (data: Uint8Array | string) => ({ type: 'file' as const, data: Buffer.from(data) });
const tree = memoryTree(
  new Map([
    ['logos/a.svg', file('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['logos/a.png', file(Buffer.from('89504e470d0a1a0a', 'hex'))],
    ['logos/large.svg', file(Buffer.concat([Buffer.from('<svg>'), Buffer.alloc(20 * 1024 * 1024)]))],
    ['logos/page.html', file('<html><script>alert(1)</script></html>')],
  ]),
  'local',
);

describe('a logo', () => {
  for (const logo of [
    undefined,
    'logos/a.svg',
    'logos/a.png',
    'https://example.com/a.svg',
    'data:image/png;base64,AAAA',
  ])
    test(`${logo ?? 'that is not given'} is fine`, async () => assert.equal(await logoFault(tree, logo), undefined));

  for (const [logo, fault] of [
    ['logos/large.svg', /has 20481 KiB, and a logo may have 256/],
    ['logos/none.svg', /does not exist at this commit/],
    ['logos/page.html', /is no image/],
    ['logos', /is no file/],
    ['../secret.svg', /spec\.logo/],
    ['javascript:alert(1)', /must be a path in the repository, an https URL or a data URI/],
    ['http://example.com/a.svg', /must be a path/],
    ['data:text/html,x', /must be a path/],
  ] as const)
    test(`${logo} is told`, async () => assert.match((await logoFault(tree, logo)) ?? '', fault));
});
