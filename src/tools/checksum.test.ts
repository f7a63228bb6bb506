import assert from 'node:assert/strict';
import { test } from 'node:test';
import { githubDigestFor, sumFor } from './checksum.ts';

const SUM = 'cbe24006683f8eb669266162894b9a522a1af52f2665fbc63a4bb032ed26ac10';
const OTHER = '6b8dc4333c53a5a57c9e5834e3a48f92605d7154014cd07269ff3327db5d37f4';

test('the sum of a file is found in a list of sha256sum, in binary mode and with folders too', () => {
  assert.equal(sumFor('a.tar.gz', `${OTHER}  b.tar.gz\n${SUM}  a.tar.gz\n`), SUM);
  assert.equal(sumFor('a.tar.gz', `${SUM} *./dist/a.tar.gz\r\n`), SUM);
});

test('a bare sum counts when it stands alone', () => {
  assert.equal(sumFor('kubectl', `${SUM}\n`), SUM);
  assert.equal(sumFor('kubectl', `${SUM}\n${OTHER}\n`), undefined);
});

test('a list about other files, a web page and a sum of another length prove nothing', () => {
  assert.equal(sumFor('a', `${SUM}  a.sig`), undefined);
  assert.equal(sumFor('a', '<html>404</html>'), undefined);
  assert.equal(sumFor('a', `${SUM.slice(1)}  a`), undefined);
});

test("an asset's digest is found in the JSON of a release on GitHub", () => {
  const release = {
    assets: [
      { name: 'b', digest: `sha256:${OTHER}` },
      { name: 'a', digest: `sha256:${SUM}` },
    ],
  };
  assert.equal(githubDigestFor('a', JSON.stringify(release)), SUM);
});

test('an asset without a digest, no JSON and a message of GitHub prove nothing', () => {
  assert.equal(githubDigestFor('a', JSON.stringify({ assets: [{ name: 'a', digest: null }, null] })), undefined);
  assert.equal(githubDigestFor('a', JSON.stringify({ message: 'API rate limit exceeded' })), undefined);
  assert.equal(githubDigestFor('a', 'not json'), undefined);
});
