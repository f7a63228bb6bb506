import { EspalierError } from '../api/index.ts';
import type { PushRequest } from './backend.ts';
import { exchange, type HttpAnswer } from './http.ts';
import type { GitLimits } from './limits.ts';
import { once, packetLine, readPackets } from './pktline.ts';
import { checkAnswer, readList, sameOrigin, unsupported } from './serveranswer.ts';
import type { SmartOptions } from './smart.ts';

const SERVICE = 'receive-pack';
const ZERO = '0'.repeat(40);
const LONGEST_SAID = 2000;

/**
 * Pushes over https without any program. Of the branch it is said where it must stand, so whoever was faster is never
 * overwritten: that ends in GitPushRefused, as what the server declines does.
 */
export async function pushOverHttps(
  options: SmartOptions,
  { ref, from, commit, pack }: PushRequest,
  signal: AbortSignal,
): Promise<void> {
  const { url: repository, dialer, policy, limits } = options;
  const authorization = await options.authorize(signal);
  const check = (answer: HttpAnswer, method: string): Promise<void> => {
    const authorized = authorization !== undefined && sameOrigin(answer.url, repository);
    return checkAnswer(answer, method, authorized, repository, SERVICE);
  };
  const asked = `${repository}/info/refs?service=git-${SERVICE}`;
  const advertised = await exchange(dialer, policy, { method: 'GET', url: asked, headers: {}, authorization, signal });
  await check(advertised, 'GET');
  const { refs, able } = await readAdvertised(await readList(advertised, limits));
  const present = refs.get(ref);
  if (present !== from) throw moved(ref);
  const base = advertised.url.replace(/\/info\/refs\?.*$/, '');
  const wanted = ['report-status', 'side-band-64k'].filter((one) => able.has(one));
  const command = `${from ?? ZERO} ${commit} ${ref}\0 ${[...wanted, 'agent=espalier'].join(' ')}`;
  const answer = await exchange(dialer, policy, {
    method: 'POST',
    url: `${base}/git-${SERVICE}`,
    headers: {
      'content-type': `application/x-git-${SERVICE}-request`,
      accept: `application/x-git-${SERVICE}-result`,
    },
    authorization: sameOrigin(base, repository) ? authorization : undefined,
    body: Buffer.concat([packetLine(command), Buffer.from('0000'), pack]),
    signal,
  });
  await check(answer, 'POST');
  const { report, said } = await readReport(answer.body, able.has('side-band-64k'), limits);
  mustBeTaken(ref, report, said);
}

async function readAdvertised(list: Buffer): Promise<{ refs: Map<string, string>; able: Set<string> }> {
  const refs = new Map<string, string>();
  let able: Set<string> | undefined;
  for await (const { marker, data } of readPackets(once(list))) {
    const line = data.toString('utf8').trimEnd();
    if (marker !== undefined || line.startsWith('# service=')) continue;
    const [pair = '', capabilities] = line.split('\0');
    able ??= new Set((capabilities ?? '').split(' '));
    refs.set(pair.slice(41), pair.slice(0, 40));
  }
  if (able?.has('object-format=sha256') === true) throw unsupported('SHA-256 object ids');
  if (able?.has('report-status') !== true) throw unsupported('pushes of which nobody is told how they went');
  return { refs, able };
}

/** What the server says of the push, and what it says to people. */
async function readReport(
  body: AsyncIterable<Uint8Array>,
  banded: boolean,
  limits: GitLimits,
): Promise<{ report: string[]; said: string }> {
  const inner: Buffer[] = [];
  let [said, bytes] = ['', 0];
  for await (const { data, raw } of readPackets(body)) {
    bytes += raw.length;
    if (bytes > limits.listingBytes) throw unsupported('answers to a push without end');
    if (!banded) inner.push(raw);
    else if (data[0] === 1) inner.push(data.subarray(1));
    else if (said.length < LONGEST_SAID) said += data.toString('utf8', 1);
  }
  const report: string[] = [];
  for await (const { marker, data } of readPackets(once(Buffer.concat(inner))))
    if (marker === undefined) report.push(data.toString('utf8').trimEnd());
  return { report, said };
}

function mustBeTaken(ref: string, report: readonly string[], said: string): void {
  const [unpacked] = report;
  if (unpacked === 'unpack ok' && report.includes(`ok ${ref}`)) return;
  const refusal = report.find((line) => line.startsWith(`ng ${ref} `))?.slice(ref.length + 4);
  const words = said
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, LONGEST_SAID);
  const why = [refusal ?? unpacked ?? 'it did not say how the push went', words].filter((text) => text !== '');
  throw refusedPush(ref, why.join('; '));
}

function refusedPush(ref: string, why: string): EspalierError {
  return new EspalierError(
    'GitPushRefused',
    `The server does not take the push to ${ref}: ${why}; where the branch is protected, ask for a pull request instead.`,
    { data: { ref } },
  );
}

function moved(ref: string): EspalierError {
  return new EspalierError('GitPushRefused', `Somebody else pushed to ${ref} at the same time.`, { data: { ref } });
}
