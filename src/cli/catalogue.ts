import { API_VERSION, isError, type KubeObject, messageOf, readAs } from '../api/index.ts';
import type { Charts } from '../charts/charts.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { CatalogueFacts } from '../reconcile/catalogue-facts.ts';

export interface CatalogueOptions {
  /** Undefined: without a cluster. */
  client: KubeClient | undefined;
  kubernetes: string | undefined;
  /** For registries whose tags are versions: those that the cluster's catalogue names already, and others. */
  charts(isKnown: boolean): Pick<Charts, 'listTags'> | undefined;
}

/** What the catalogue of a command knows of the cluster: what is there now, and what registries answer without credentials. */
export async function catalogueFacts({ client, kubernetes, charts }: CatalogueOptions): Promise<CatalogueFacts> {
  const list = async (kind: 'Extension' | 'ExtensionInstance'): Promise<KubeObject[]> => {
    try {
      return client === undefined ? [] : (await client.list({ apiVersion: API_VERSION, kind })).items;
    } catch (error) {
      if (isError(error, 'KubeKindUnknown')) return [];
      throw error;
    }
  };
  const [extensions, instances] = await Promise.all([list('Extension'), list('ExtensionInstance')]);
  return {
    kubernetes,
    now: Date.now(),
    extensions: extensions.map((object) => readAs(object, 'Extension')),
    instances: instances.map((object) => readAs(object, 'ExtensionInstance')),
    async tags(_namespace, { url }) {
      const isKnown = extensions.some((one) => versionsOf(one).some(({ source }) => source.oci?.url === url));
      const asked = charts(isKnown);
      if (asked === undefined) return { unknown: `${url} is not asked with --offline` };
      try {
        return await asked.listTags({ origin: { type: 'oci', url } });
      } catch (error) {
        return { unknown: `${url}: ${messageOf(error)}` };
      }
    },
  };
}

function versionsOf(extension: KubeObject) {
  return readAs(extension, 'Extension').spec.versions;
}
