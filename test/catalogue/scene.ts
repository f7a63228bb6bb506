import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { ANNOTATION, API_VERSION, type Extension, type ExtensionInstance, readAs } from '../../src/api/index.ts';
import { type Platform, type PlatformOptions, startPlatform } from '../cases/support/platform.ts';
import { eventually } from '../support/eventually.ts';

/** Extensions are of the whole cluster, where other tests run too. */
export function uniqueName(base: string): string {
  return `${base}-${randomBytes(4).toString('hex')}`;
}

/** An Extension whose versions are folders of the repository. JSON is YAML too. */
export function extensionYaml(name: string, spec: Record<string, unknown>): string {
  const plugin = { kind: 'manifests' };
  return JSON.stringify({ apiVersion: API_VERSION, kind: 'Extension', metadata: { name }, spec: { plugin, ...spec } });
}

export function instanceYaml(name: string, spec: Record<string, unknown>): string {
  return JSON.stringify({ apiVersion: API_VERSION, kind: 'ExtensionInstance', metadata: { name }, spec });
}

/** One version: a folder of manifests. */
export function version(app: string, path: string, more: Record<string, unknown> = {}) {
  return { app, source: { git: { path } }, ...more };
}

export interface CatalogueScene extends Platform {
  instance(name: string): Promise<ExtensionInstance | undefined>;
  extension(name: string): Promise<Extension | undefined>;
  /** Waits until an instance is ready, or says so. */
  instanceSays(name: string, text: RegExp, status?: 'True' | 'False'): Promise<ExtensionInstance>;
  approveVersion(name: string, version: string): Promise<void>;
  /** Applies an object of ours as a person does. */
  apply(text: string): Promise<void>;
}

export async function startCatalogue(t: Pick<TestContext, 'after'>, options: PlatformOptions): Promise<CatalogueScene> {
  const platform = await startPlatform(t, { prefix: 'catalogue', ...options });
  const { client, namespace } = platform;
  const instance = async (name: string): Promise<ExtensionInstance | undefined> => {
    const found = await platform.get('ExtensionInstance', name, API_VERSION);
    return found === undefined ? undefined : readAs(found, 'ExtensionInstance');
  };
  return Object.assign(Object.create(platform) as Platform, {
    instance,
    async extension(name: string) {
      const found = await client.get({ apiVersion: API_VERSION, kind: 'Extension', name });
      return found === undefined ? undefined : readAs(found, 'Extension');
    },
    instanceSays: (name: string, text: RegExp, status: 'True' | 'False' = 'True') =>
      eventually(
        async () => {
          const found = await instance(name);
          const ready = found?.status?.conditions?.find(({ type }) => type === 'Ready');
          if (found !== undefined && ready?.status === status && text.test(ready.message)) return found;
          throw new Error(`${name} is ${ready?.status}: ${ready?.message}; ${JSON.stringify(found?.status)}`);
        },
        { timeoutMs: 20_000 },
      ),
    async approveVersion(name: string, approved: string) {
      const body = { metadata: { annotations: { [ANNOTATION.approveVersion]: approved } } };
      await client.patch(platform.ref('ExtensionInstance', name, API_VERSION), body, {
        type: 'merge',
        fieldManager: 'somebody',
      });
    },
    async apply(text: string) {
      const object = JSON.parse(text);
      await client.apply(
        { ...object, metadata: { ...object.metadata, ...(object.kind === 'Extension' ? {} : { namespace }) } },
        { fieldManager: 'somebody' },
      );
    },
  });
}
