import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isError } from '../../src/api/index.ts';
import type { Forge, StatusState } from '../../src/forge/forge.ts';
import { withMarker } from '../../src/forge/marker.ts';
import { type FakeForge, openFake } from './support/fake-forge.ts';
import { KINDS } from './support/kinds.ts';
import { addNote, addPull, COMMIT, changeNote, commitOf, newState } from './support/state.ts';

const live = new AbortController().signal;

for (const { name, start } of KINDS) {
  describe(name, () => {
    let fake: FakeForge;
    let forge: Forge;
    let clock: { now: number };

    before(async () => {
      fake = await start();
    });
    after(async () => {
      await fake.close();
    });
    /** Each story begins with an empty forge and a client that knows nothing. */
    function story(title: string, tell: () => Promise<void>): void {
      test(title, async () => {
        const { self } = fake.state;
        Object.assign(fake.state, newState(), { self });
        fake.state.people.set(self, 'admin');
        fake.server.requests.length = 0;
        fake.server.fault = undefined;
        ({ forge, clock } = openFake(fake));
        try {
          await tell();
        } finally {
          await forge.close();
        }
      });
    }

    story('says a status, and reads back what was said last in each context', async () => {
      const say = (context: string, state: StatusState, description: string): Promise<void> =>
        forge.setStatus(COMMIT, { context, state, description, url: 'https://agent.example.com/x' }, live);
      await say('espalier/prod', 'pending', 'applying');
      await say('espalier/prod', 'success', '12 plugins ready');
      await say('espalier/prod/drift', 'failure', 'web was changed by hand');
      await say('espalier/stage', 'pending', 'applying');
      await say('espalier/test', 'error', 'could not be tried');
      const said = new Map((await forge.statuses(COMMIT, live)).map((status) => [status.context, status]));
      assert.deepEqual(said.get('espalier/prod'), {
        context: 'espalier/prod',
        state: 'success',
        description: '12 plugins ready',
        url: 'https://agent.example.com/x',
      });
      assert.equal(said.get('espalier/prod/drift')?.state, 'failure');
      assert.equal(said.get('espalier/stage')?.state, 'pending');
      assert.match(said.get('espalier/test')?.state ?? '', /^(error|failure)$/);
      assert.equal(said.size, 4);
      assert.deepEqual(await forge.statuses(commitOf(1), live), []);
    });

    story('says the same twice without harm, and the forge shows one', async () => {
      for (const description of ['applying', 'applying still']) {
        await forge.setStatus(COMMIT, { context: 'espalier/prod', state: 'pending', description }, live);
      }
      assert.equal((await forge.statuses(COMMIT, live)).length, 1);
    });

    story('cuts a long description at the end of a word, to what every forge takes', async () => {
      const description = `12 plugins ready, 30 waiting: ${'cert-manager '.repeat(20)}`;
      await forge.setStatus(COMMIT, { context: 'espalier/prod', state: 'pending', description }, live);
      const [said] = await forge.statuses(COMMIT, live);
      assert.ok((said?.description.length ?? 999) <= 140);
      assert.match(said?.description ?? '', /cert-manager…$/);
    });

    story('S26: gives the forge no link but to the web', async () => {
      const url = 'javascript:alert(1)';
      await forge.setStatus(COMMIT, { context: 'espalier/prod', state: 'success', description: 'ok', url }, live);
      assert.doesNotMatch(JSON.stringify(fake.server.requests.map(({ body }) => body)), /javascript/);
    });

    story('reads statuses over all pages', async () => {
      for (let n = 0; n < 130; n += 1) {
        clock.now += 60_000;
        await forge.setStatus(COMMIT, { context: `espalier/c${n}`, state: 'success', description: 'ok' }, live);
        if (n % 20 === 19) clock.now += 3_600_000;
      }
      assert.equal(new Set((await forge.statuses(COMMIT, live)).map(({ context }) => context)).size, 130);
    });

    story('lists open pull requests over all pages, and tells forks from own branches', async () => {
      for (let n = 1; n <= 120; n += 1) addPull(fake.state, { fork: n % 3 === 0 });
      addPull(fake.state, { state: 'closed' });
      addPull(fake.state, { state: 'merged' });
      const open = await forge.openPullRequests(live);
      assert.deepEqual(
        open.map(({ number }) => number),
        Array.from({ length: 120 }, (_, n) => n + 1),
      );
      assert.ok(open.every(({ number, fromFork }) => fromFork === (number % 3 === 0)));
      assert.ok(open.every(({ number, head }) => head.commit === commitOf(number)));
      const [first] = open;
      assert.equal(first?.title, 'Change 1');
      assert.equal(first?.author, fake.person('wilma'));
      assert.equal(first?.base, 'main');
      assert.equal(first?.state, 'open');
      assert.match(first?.url ?? '', /^https:.*1$/);
      assert.match(
        first?.head.ref ?? '',
        /^refs\/(pull\/1\/head|merge-requests\/1\/head|pull-requests\/1\/from|heads\/topic-1)$/,
      );
    });

    story('reads 500 open pull requests at most', async () => {
      for (let n = 1; n <= 520; n += 1) addPull(fake.state);
      assert.equal((await forge.openPullRequests(live)).length, 500);
    });

    story('answers one pull request in any state, and undefined where there is none', async () => {
      addPull(fake.state);
      addPull(fake.state, { state: 'closed' });
      addPull(fake.state, { state: 'merged' });
      assert.equal((await forge.pullRequest(1, live))?.state, 'open');
      assert.equal((await forge.pullRequest(2, live))?.state, 'closed');
      assert.equal((await forge.pullRequest(3, live))?.state, 'merged');
      assert.equal(await forge.pullRequest(99, live), undefined);
    });

    story('does not take a repository that it may no longer see for a pull request that is gone', async () => {
      addPull(fake.state);
      fake.state.visible = false;
      await assert.rejects(forge.pullRequest(1, live), (error: Error) => {
        assert.ok(isError(error, 'ForgeRefused'));
        assert.match(error.message, /may not see the repository/);
        return true;
      });
      await assert.rejects(forge.mayWrite(fake.person('ada'), live), (error) => isError(error));
    });

    story('opens a pull request of a branch, changes the one that is open, and says nothing twice', async () => {
      addPull(fake.state, { branch: 'espalier/install-web', fork: true });
      addPull(fake.state, { branch: 'espalier/install-web', base: 'release' });
      addPull(fake.state, { branch: 'espalier/install-web', state: 'closed' });
      const proposal = { title: 'Install web', body: 'line one\nline two', head: 'espalier/install-web', base: 'main' };
      const opened = await forge.openPullRequest(proposal, live);
      assert.deepEqual({ number: opened.number, done: opened.done }, { number: 4, done: 'created' });
      assert.match(opened.url, /^https:.*4$/);
      const pull = fake.state.pulls[3];
      assert.ok(pull);
      assert.deepEqual([pull.title, pull.body, pull.base], ['Install web', 'line one\nline two', 'main']);
      pull.body = pull.body.replaceAll('\n', '\r\n');
      assert.deepEqual(await forge.openPullRequest(proposal, live), { ...opened, done: 'unchanged' });
      assert.equal(pull.version, 0);
      const other = { ...proposal, title: 'Install web 2' };
      assert.deepEqual(await forge.openPullRequest(other, live), { ...opened, done: 'changed' });
      assert.deepEqual([pull.title, pull.version, fake.state.pulls.length], ['Install web 2', 1, 4]);
    });

    story('finds the pull request of who was faster', async () => {
      const proposal = { title: 'Install web', body: 'why', head: 'espalier/install-web', base: 'main' };
      fake.server.fault = ({ method, path }) => {
        if (method !== 'POST' || /access_tokens$/.test(path)) return undefined;
        fake.server.fault = undefined;
        addPull(fake.state, { branch: proposal.head });
        return undefined;
      };
      assert.deepEqual((await forge.openPullRequest(proposal, live)).done, 'changed');
      assert.equal(fake.state.pulls.length, 1);
    });

    story('says which right a login lacks that may not open a pull request', async () => {
      fake.state.mayPropose = false;
      const proposal = { title: 'Install web', body: '', head: 'espalier/install-web', base: 'main' };
      await assert.rejects(forge.openPullRequest(proposal, live), (error: Error) => {
        assert.ok(isError(error, 'ForgeAuthFailed'));
        assert.match(error.message, /the pull request of espalier\/install-web into main in .*platform/i);
        assert.match(
          error.message,
          /give it .*(Pull requests: write|write:repository|Developer|pullrequest:write|repository write)/,
        );
        return true;
      });
    });

    story('writes one comment, changes it in place, and writes it again where a person deleted it', async () => {
      addPull(fake.state);
      const id = await forge.upsertComment(1, { marker: 'prod', body: 'the plan' }, live);
      assert.equal(await forge.upsertComment(1, { marker: 'prod', body: 'a newer plan', id }, live), id);
      assert.equal(await forge.upsertComment(1, { marker: 'prod', body: 'the newest plan' }, live), id);
      assert.equal(fake.state.comments.length, 1);
      assert.match(fake.state.comments[0]?.body ?? '', /^\[\/\/\]: # \(espalier:prod\)\n\nthe newest plan$/);
      fake.state.comments.length = 0;
      const again = await forge.upsertComment(1, { marker: 'prod', body: 'again', id }, live);
      assert.notEqual(again, id);
      assert.equal(fake.state.comments.length, 1);
    });

    story('writes nothing where its comment says the same already', async () => {
      addPull(fake.state);
      await forge.upsertComment(1, { marker: 'prod', body: 'line one\nline two' }, live);
      const [note] = fake.state.comments;
      assert.ok(note);
      note.body = note.body.replaceAll('\n', '\r\n');
      await forge.upsertComment(1, { marker: 'prod', body: 'line one\nline two' }, live);
      assert.equal(note.version, 0);
    });

    story('keeps the comments of two clusters apart', async () => {
      addPull(fake.state);
      const prod = await forge.upsertComment(1, { marker: 'team/prod', body: 'for prod' }, live);
      const stage = await forge.upsertComment(1, { marker: 'team/prod-2', body: 'for stage' }, live);
      assert.notEqual(prod, stage);
      assert.equal(await forge.upsertComment(1, { marker: 'team/prod', body: 'more' }, live), prod);
      assert.equal(fake.state.comments.length, 2);
    });

    story("takes nobody's comment for its own because it bears the marker", async () => {
      addPull(fake.state);
      const forged = addNote(fake.state, { number: 1, author: 'rita', body: withMarker('all is well', 'prod') });
      const id = await forge.upsertComment(1, { marker: 'prod', body: 'the plan' }, live);
      assert.notEqual(id, String(forged.id));
      assert.equal(forged.version, 0);
    });

    story('refuses a comment that is too long before it is sent', async () => {
      const body = 'x'.repeat(forge.limits.comment + 1);
      await assert.rejects(forge.upsertComment(1, { marker: 'prod', body }, live), (error) =>
        isError(error, 'ForgeRefused'),
      );
      assert.equal(fake.server.requests.length, 0);
      addPull(fake.state);
      await forge.upsertComment(1, { marker: 'prod', body: 'x'.repeat(forge.limits.comment) }, live);
    });

    story("lists what people wrote in its order, over all pages, and leaves the agent's own out", async () => {
      addPull(fake.state);
      await forge.upsertComment(1, { marker: 'prod', body: 'the plan' }, live);
      for (let n = 0; n < 130; n += 1) addNote(fake.state, { number: 1, author: 'wilma', body: `comment ${n}` });
      const own = addNote(fake.state, { number: 1, body: '/espalier approve, says a person with the same account' });
      const changed = addNote(fake.state, { number: 1, author: 'ada', body: 'first' });
      changeNote(changed, '/espalier approve');
      const comments = await forge.comments(1, live);
      assert.equal(comments.length, 132);
      assert.deepEqual(
        comments.slice(0, 130).map(({ body }) => body),
        Array.from({ length: 130 }, (_, n) => `comment ${n}`),
      );
      assert.deepEqual(comments.at(-2)?.id, String(own.id));
      assert.deepEqual(comments.at(-1), {
        id: String(changed.id),
        author: fake.person('ada'),
        body: '/espalier approve',
        writtenAt: changed.createdAt,
        edited: true,
      });
      assert.equal(comments[0]?.edited, false);
    });

    story('says who may write: those with the right, and neither readers nor strangers', async () => {
      assert.equal(await forge.mayWrite(fake.person('ada'), live), true);
      assert.equal(await forge.mayWrite(fake.person('wilma'), live), true);
      assert.equal(await forge.mayWrite(fake.person('rita'), live), false);
      assert.equal(await forge.mayWrite(fake.person('nobody'), live), false);
      assert.equal(await forge.mayWrite(fake.person('wil'), live), false);
    });

    story('makes a webhook with its secret and verified TLS, and changes that one the next time', async () => {
      const url = 'https://agent.example.com/hooks/team/platform';
      fake.state.hooks.push({ id: '1', url: 'https://chat.example.com', sent: {} });
      assert.equal(await forge.ensureWebhook({ url, secret: 'first-secret' }, live), 'created');
      assert.equal(await forge.ensureWebhook({ url, secret: 'second-secret' }, live), 'changed');
      const ours = fake.state.hooks.filter((hook) => hook.url === url);
      assert.equal(ours.length, 1);
      assert.equal(fake.state.hooks.length, 2);
      const sent = JSON.stringify(ours[0]?.sent);
      assert.match(sent, /second-secret/);
      assert.doesNotMatch(sent, /first-secret/);
      assert.doesNotMatch(sent, /"(insecure_ssl":"1|enable_ssl_verification":false|skip_cert_verification":true)/);
      for (const about of [/push|refs_changed/, /pull_?request|merge_request|pr:/, /comment|note/]) {
        assert.match(sent, about);
      }
    });

    for (const [what, answer, code] of [
      ['401', { status: 401, body: { message: 'no' } }, 'ForgeAuthFailed'],
      ['403', { status: 403, body: { message: 'not with this token' } }, 'ForgeAuthFailed'],
      ['404', { status: 404, body: { message: 'Not Found' } }, 'ForgeRefused'],
      ['422', { status: 422, body: { message: 'no', errors: [{ message: 'sha is unknown' }] } }, 'ForgeRefused'],
      ['429', { status: 429, body: {} }, 'ForgeLimited'],
      ['500', { status: 500, body: { message: 'oops' } }, 'ForgeUnreachable'],
      ['502 and a page', { status: 502 }, 'ForgeUnreachable'],
      ['a page instead of JSON', 'html', 'ForgeBadAnswer'],
      ['a reset connection', 'reset', 'ForgeUnreachable'],
      ['nothing, ever', 'hang', 'ForgeUnreachable'],
    ] as const) {
      story(`R3: ${what} ends in ${code}`, async () => {
        if (answer === 'hang') {
          await forge.close();
          ({ forge, clock } = openFake(fake, { timeoutMs: 400 }));
        }
        fake.server.fault = ({ path }) => (/access_tokens$/.test(path) ? undefined : answer);
        const status = { context: 'espalier/prod', state: 'success', description: 'ok' } as const;
        await assert.rejects(forge.setStatus(COMMIT, status, live), (error) => isError(error, code));
        fake.server.fault = undefined;
        clock.now += 3_600_001;
        if (answer === 'hang') {
          await forge.close();
          ({ forge, clock } = openFake(fake));
        }
        await forge.setStatus(COMMIT, status, live);
      });
    }

    story('S19: no error holds the token, in any encoding, even where the forge repeats it', async () => {
      const { canary } = fake;
      const forms = [canary, encodeURIComponent(canary), Buffer.from(canary).toString('base64')];
      for (const status of [400, 401, 403, 422, 500]) {
        const message = `bad header: Authorization: Bearer ${forms.join(' or ')}`;
        fake.server.fault = ({ path }) => (/access_tokens$/.test(path) ? undefined : { status, body: { message } });
        await assert.rejects(
          forge.setStatus(COMMIT, { context: 'c', state: 'success', description: 'ok' }, live),
          (error) => {
            assert.ok(isError(error));
            const shown = JSON.stringify([error.message, error.data, error.stack, String(error.cause)]);
            for (const form of forms) assert.ok(!shown.includes(form), shown);
            assert.match(error.message, /bad header/);
            return true;
          },
        );
      }
    });

    story('S19: shortens what the forge says after secrets are hidden, so that no half of one is left', async () => {
      const { canary } = fake;
      for (let cut = 1; cut < canary.length; cut += 1) {
        const message = `${'x'.repeat(199 - cut)}${canary} and more`;
        fake.server.fault = ({ path }) =>
          /access_tokens$/.test(path) ? undefined : { status: 422, body: { message } };
        await assert.rejects(forge.statuses(COMMIT, live), (error: Error) => {
          assert.ok(!error.message.includes(canary.slice(0, Math.min(cut, 4))) || cut < 3, error.message);
          return true;
        });
      }
    });

    story('S19: hides secrets in what was asked too, and those of a webhook', async () => {
      const { canary } = fake;
      fake.server.fault = ({ path }) => (/access_tokens$/.test(path) ? undefined : { status: 500, body: {} });
      await assert.rejects(
        forge.setStatus(COMMIT, { context: `c ${canary}`, state: 'success', description: 'ok' }, live),
        (error: Error) => !error.message.includes(canary),
      );
      const secret = 'hook+secret/canary';
      fake.server.fault = ({ method, body }) =>
        method === 'POST' && 'events' in body ? { status: 422, body: { message: JSON.stringify(body) } } : undefined;
      await forge
        .ensureWebhook({ url: 'https://agent.example.com/h', secret }, live)
        .catch((error: Error) => assert.ok(!error.message.includes(secret), error.message));
    });

    story('sends nothing until the time that the forge named is over', async () => {
      fake.server.fault = ({ path }) =>
        /access_tokens$/.test(path) ? undefined : { status: 429, body: {}, headers: { 'retry-after': '120' } };
      const limited = (error: unknown): boolean => isError(error, 'ForgeLimited') && (error.retryAfterMs ?? 0) > 0;
      await assert.rejects(forge.statuses(COMMIT, live), limited);
      fake.server.fault = undefined;
      const sent = fake.server.requests.length;
      clock.now += 119_000;
      await assert.rejects(forge.openPullRequests(live), (error) => {
        assert.ok(isError(error, 'ForgeLimited'));
        assert.equal(error.retryAfterMs, 1000);
        return true;
      });
      assert.equal(fake.server.requests.length, sent);
      clock.now += 1000;
      assert.deepEqual(await forge.openPullRequests(live), []);
    });

    story('takes its login nowhere else when it is sent away', async () => {
      const elsewhere = await KINDS[3]?.start();
      assert.ok(elsewhere);
      fake.server.fault = ({ path }) =>
        /access_tokens$|\/app$/.test(path)
          ? undefined
          : { status: 302, headers: { location: `${elsewhere.server.url}/stolen` } };
      await assert.rejects(forge.statuses(COMMIT, live), (error) => isError(error));
      await assert.rejects(
        forge.setStatus(COMMIT, { context: 'c', state: 'success', description: 'ok' }, live),
        (error) => isError(error, 'ForgeRefused'),
      );
      assert.ok(elsewhere.server.requests.every(({ headers }) => headers.authorization === undefined));
      await elsewhere.close();
    });

    story('stops when it is told to', async () => {
      fake.server.fault = () => 'hang';
      const stop = new AbortController();
      const asked = forge.openPullRequests(stop.signal);
      setImmediate(() => stop.abort());
      await assert.rejects(asked, (error) => isError(error, 'Aborted'));
    });
  });
}
