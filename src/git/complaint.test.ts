import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainComplaint } from './complaint.ts';

const SAID: [string, string][] = [
  ['Host key verification failed.\nfatal: Could not read from remote repository.', 'GitHostUnknown'],
  ['No ED25519 host key is known for git.example.com and you have requested strict checking.', 'GitHostUnknown'],
  [
    'git@git.example.com: Permission denied (publickey).\nfatal: Could not read from remote repository.',
    'GitAuthFailed',
  ],
  ["fatal: Authentication failed for 'https://git.example.com/a.git/'", 'GitAuthFailed'],
  ["fatal: could not read Username for 'https://git.example.com': terminal prompts disabled", 'GitAuthFailed'],
  ["fatal: unable to access 'https://x/': The requested URL returned error: 403", 'GitAuthFailed'],
  ["fatal: repository 'https://git.example.com/a.git/' not found", 'GitNotFound'],
  ["fatal: '/srv/a.git' does not appear to be a git repository", 'GitNotFound'],
  ["fatal: couldn't find remote ref refs/heads/x", 'GitRefMissing'],
  ['fatal: remote error: upload-pack: not our ref 123', 'GitRefMissing'],
  ["fatal: unable to access 'https://x/': Could not resolve host: x", 'GitUnreachable'],
  ['ssh: connect to host x port 22: Connection refused', 'GitUnreachable'],
  ["fatal: unable to access 'https://x/': The requested URL returned error: 503", 'GitUnreachable'],
  ["fatal: transport 'file' not allowed", 'GitBadUrl'],
  ["fatal: unable to access 'http://x/': The requested URL returned error: 302", 'GitBadUrl'],
  ['fatal: protocol error: bad line length character: <htm', 'GitProtocolError'],
  ['error: cannot run ssh: No such file or directory', 'ToolMissing'],
];

test('tells from what git says what went wrong', () => {
  for (const [said, code] of SAID) assert.equal(explainComplaint('git.example.com', said).code, code, said);
});

test('quotes the telling line, and no control characters', () => {
  const { message } = explainComplaint('git.example.com', 'noise\nfatal: bad \u001b[31mthing\u0007\n');
  assert.match(message, /^git\.example\.com gave an answer .* \(fatal: bad {2}\[31mthing\)\.$/);
});
