import type { Proposal } from './forge.ts';
import { byLink, byNextField, byStart } from './pages.ts';
import type { ProposalWords } from './propose.ts';
import { at, idAt, listAt, numberAt, textAt, textOrNothing } from './shape.ts';

type Words = Omit<ProposalWords, 'reads' | 'writes'>;

/** GitHub, Gitea and Forgejo. `owner` is the account or organisation that the repository is in. */
export function githubStyleProposal(
  repo: string,
  owner: string,
  pageSize: Readonly<Record<string, number>>,
  { title, body, head, base }: Proposal,
): Words {
  return {
    path: `${repo}/pulls`,
    // Gitea knows no choice by branch, and passes over what it does not know.
    query: { state: 'open', head: `${owner}:${head}`, base, ...pageSize },
    next: byLink,
    items: (answer) => listAt(answer),
    isIt: (item) =>
      at(item, 'head.ref') === head &&
      at(item, 'base.ref') === base &&
      at(item, 'head.repo.id') !== undefined &&
      at(item, 'head.repo.id') === at(item, 'base.repo.id'),
    read: (item) => ({
      number: numberAt(item, 'number'),
      url: textAt(item, 'html_url'),
      title: textOrNothing(item, 'title') ?? '',
      body: textOrNothing(item, 'body') ?? '',
    }),
    creation: { title, body, head, base },
    change: { method: 'PATCH', body: () => ({ title, body }) },
  };
}

export function gitlabProposal(
  project: string,
  pageSize: Readonly<Record<string, number>>,
  { title, body, head, base }: Proposal,
): Words {
  return {
    path: `${project}/merge_requests`,
    query: { state: 'opened', source_branch: head, target_branch: base, ...pageSize },
    next: byLink,
    items: (answer) => listAt(answer),
    isIt: (item) =>
      at(item, 'source_branch') === head &&
      at(item, 'target_branch') === base &&
      at(item, 'source_project_id') === at(item, 'target_project_id'),
    read: (item) => ({
      number: numberAt(item, 'iid'),
      url: textAt(item, 'web_url'),
      title: textOrNothing(item, 'title') ?? '',
      body: textOrNothing(item, 'description') ?? '',
    }),
    creation: { source_branch: head, target_branch: base, title, description: body, remove_source_branch: true },
    change: { method: 'PUT', body: () => ({ title, description: body }) },
  };
}

export function bitbucketCloudProposal(
  repo: string,
  fullName: string,
  pageSize: Readonly<Record<string, number>>,
  { title, body, head, base }: Proposal,
): Words {
  const branch = (name: string): object => ({ branch: { name } });
  return {
    path: `${repo}/pullrequests`,
    query: { q: `state="OPEN" AND source.branch.name=${JSON.stringify(head)}`, ...pageSize },
    next: byNextField,
    items: (answer) => listAt(answer, 'values'),
    isIt: (item) =>
      at(item, 'source.branch.name') === head &&
      at(item, 'destination.branch.name') === base &&
      textOrNothing(item, 'source.repository.full_name')?.toLowerCase() === fullName.toLowerCase(),
    read: (item) => ({
      number: numberAt(item, 'id'),
      url: textAt(item, 'links.html.href'),
      title: textOrNothing(item, 'title') ?? '',
      body: textOrNothing(item, 'description') ?? '',
    }),
    creation: { title, description: body, source: branch(head), destination: branch(base), close_source_branch: true },
    change: { method: 'PUT', body: () => ({ title, description: body }) },
  };
}

export function bitbucketServerProposal(
  repo: string,
  [project, slug]: readonly [string, string],
  pageSize: Readonly<Record<string, number>>,
  { title, body, head, base }: Proposal,
): Words {
  const ref = (name: string): object => ({
    id: `refs/heads/${name}`,
    repository: { slug, project: { key: project } },
  });
  return {
    path: `${repo}/pull-requests`,
    query: { state: 'OPEN', at: `refs/heads/${head}`, direction: 'OUTGOING', ...pageSize },
    next: byStart,
    items: (answer) => listAt(answer, 'values'),
    isIt: (item) =>
      at(item, 'fromRef.id') === `refs/heads/${head}` &&
      at(item, 'toRef.id') === `refs/heads/${base}` &&
      at(item, 'fromRef.repository.id') === at(item, 'toRef.repository.id'),
    read: (item) => ({
      number: numberAt(item, 'id'),
      url: textAt(item, 'links.self.0.href'),
      title: textOrNothing(item, 'title') ?? '',
      body: textOrNothing(item, 'description') ?? '',
    }),
    creation: { title, description: body, fromRef: ref(head), toRef: ref(base) },
    change: {
      method: 'PUT',
      // A change names the version that it changes, and drops the reviewers that it does not name.
      body: (item) => ({
        title,
        description: body,
        version: numberAt(item, 'version'),
        reviewers: listAt(item, 'reviewers').map((one) => ({ user: { name: idAt(one, 'user.name') } })),
      }),
    },
  };
}
