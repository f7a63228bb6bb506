import { type KubeObject, kindDefinition, messageOf } from '../../src/api/index.ts';
import type { KubeClient } from '../../src/cluster/client.ts';

export interface Verdict {
  accepted: boolean;
  /** The refusal, or nothing. */
  message: string;
  /** The object as the server would store it. */
  object: KubeObject | undefined;
}

/** What the API server would say to this object, with unknown fields refused. Nothing is stored. */
export async function ask(client: KubeClient, object: KubeObject): Promise<Verdict> {
  const definition = kindDefinition(object.kind);
  if (definition === undefined) throw new Error(`${object.kind} is not a kind of ours`);
  const namespace = definition.scope === 'Namespaced' ? '/namespaces/default' : '';
  const answer = await client.raw({
    method: 'POST',
    path: `/apis/${object.apiVersion}${namespace}/${definition.plural}`,
    query: { dryRun: 'All', fieldValidation: 'Strict' },
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(object),
  });
  const body = parse(answer.body);
  if (answer.status === 201) return { accepted: true, message: '', object: body as unknown as KubeObject };
  if (![400, 413, 422].includes(answer.status)) throw new Error(`${answer.status}: ${answer.body}`);
  return { accepted: false, message: String(body.message), object: undefined };
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`the API server did not answer in JSON: ${messageOf(error)}`);
  }
}
