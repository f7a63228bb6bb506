import { type ErrorCode, EspalierError } from '../api/index.ts';

const COMPLAINTS: [RegExp, ErrorCode, string][] = [
  [
    /host key verification failed|no .* host key is known|host identification has changed|no matching host key/i,
    'GitHostUnknown',
    "is not the SSH server that `known_hosts` describes; compare its key with the operator's and correct `known_hosts`",
  ],
  [
    /permission denied \(|authentication failed|could not read (username|password)|returned error: 40[13]|too many authentication failures|invalid credentials/i,
    'GitAuthFailed',
    'did not accept the credentials; check that they are valid and may read the repository',
  ],
  [
    /load key .*(invalid format|error in libcrypto|incorrect passphrase)|bad passphrase/i,
    'GitAuthFailed',
    'was not asked: the private key (`identity`) is unreadable, or its passphrase (`password`) is wrong',
  ],
  [
    /permission to .* denied|denied for writing|(not allowed|no permission) to push|read[ -]only/i,
    'GitAuthFailed',
    'does not let these credentials write to the repository; give them that right',
  ],
  [
    /\[(remote )?rejected\]|failed to push some refs/i,
    'GitPushRefused',
    'does not take the push; where the branch is protected, ask for a pull request instead',
  ],
  [
    /couldn't find remote ref|not our ref|unadvertised object/i,
    'GitRefMissing',
    'does not offer that branch, tag or commit',
  ],
  [
    /repository .*not found|not found: did you run|does not appear to be a git repository|could not be found|returned error: 404|no such project|not exported/i,
    'GitNotFound',
    'has no repository at that path, or hides it from these credentials; check the path',
  ],
  [
    /redirect|returned error: 30\d/i,
    'GitBadUrl',
    'redirects elsewhere, which is not followed here; give the final URL',
  ],
  [/transport '.*' not allowed/i, 'GitBadUrl', 'can only be reached in a way that is not allowed'],
  [
    /could not resolve|connection (refused|reset|closed|timed out)|connect to host|failed to connect|network is unreachable|couldn't connect|certificate (problem|verification failed)|returned error: (429|5\d\d)|operation timed out|no route to host/i,
    'GitUnreachable',
    "can't be reached; check the address, the network and the certificate's authority (`ca.crt`)",
  ],
  [/cannot run .*ssh|ssh: (command )?not found/i, 'ToolMissing', 'needs the program `ssh`, which is not installed'],
  [/no space left/i, 'Internal', "can't be read: the disk for repositories is full"],
];

/** What a failed git program meant. Its own words are kept as data, already redacted by who ran it. */
export function explainComplaint(host: string, stderr: string): EspalierError {
  const [, code, what] = COMPLAINTS.find(([pattern]) => pattern.test(stderr)) ?? [
    undefined,
    'GitProtocolError' as const,
    "gave an answer that is not Git's protocol; check that the URL is the one for cloning",
  ];
  const lines = stderr.split('\n').map((line) => line.replace(/[^\x20-\x7e]/g, ' ').trim());
  const telling = lines.filter((line) => /^(fatal|error|remote|ssh|.*: permission denied)/i.test(line));
  const last = (lines.find((line) => /^! \[.*rejected\]/.test(line)) ?? telling.at(-1))?.slice(0, 200);
  const said = last === undefined ? '' : ` (${last})`;
  return new EspalierError(code, `${host} ${what}${said}.`, { data: { said: last ?? '' } });
}
