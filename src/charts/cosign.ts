import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Chart } from './cache.ts';
import { refused } from './errors.ts';
import type { OciOrigin, Registries } from './oci.ts';
import { parseJson } from './oci-auth.ts';
import { unverified } from './provenance.ts';
import { mapIn } from './text-yaml.ts';

const PAYLOAD = 'application/vnd.dev.cosign.simplesigning.v1+json';
const SIGNATURE = 'dev.cosignproject.cosign/signature';
const PAYLOAD_BYTES = 64 * 1024;
const MAX_SIGNATURES = 50;

/**
 * Looks for a signature by one of the keys over the manifest of a chart, as `cosign sign --key` stores it beside the chart.
 * Nothing but the registry is asked: no transparency log and no certificates.
 */
export async function verifyCosign(
  registries: Registries,
  origin: OciOrigin,
  chart: Pick<Chart, 'name' | 'version'>,
  manifest: string,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const known = keys.flatMap(publicKeys);
  if (known.length === 0)
    throw refused(
      'There is no public key to verify charts with: the Secret needs one as `cosign public-key` prints it.',
    );
  const stored = await registries.manifest(origin, `${manifest.replace(':', '-')}.sig`, signal);
  if (stored === undefined) {
    throw unverified(
      chart,
      `${origin.url} has no signature for ${manifest}; sign it with \`cosign sign --key\` (with Cosign 3: --new-bundle-format=false --use-signing-config=false)`,
    );
  }
  for (const layer of stored.layers.slice(0, MAX_SIGNATURES)) {
    const signature = layer.annotations[SIGNATURE];
    if (layer.mediaType !== PAYLOAD || signature === undefined) continue;
    const payload = await registries.read(origin, layer, PAYLOAD_BYTES, signal);
    if (signedDigest(payload) !== manifest) continue;
    if (known.some((key) => isSignedBy(key, payload, signature))) return;
  }
  throw unverified(chart, `No signature of ${manifest} in ${origin.url} is by one of the keys given`);
}

/** The manifest that a payload is about. */
export function signedDigest(payload: Buffer): string | undefined {
  const { critical } = mapIn(parseJson(payload));
  const { type, image } = mapIn(critical);
  const digest = mapIn(image)['docker-manifest-digest'];
  return type === 'cosign container image signature' && typeof digest === 'string' ? digest : undefined;
}

/** ECDSA and RSA over SHA-256, or Ed25519. */
export function isSignedBy(key: KeyObject, payload: Uint8Array, signature: string): boolean {
  const hash = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  try {
    return verify(hash, payload, key, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}

function publicKeys(pem: string): KeyObject[] {
  const blocks = pem.match(/-----BEGIN PUBLIC KEY-----[\s\S]*?-----END PUBLIC KEY-----/g) ?? [];
  return blocks.map((block) => {
    try {
      const key = createPublicKey(block);
      if (['ec', 'rsa', 'ed25519'].includes(key.asymmetricKeyType ?? '')) return key;
    } catch {
      // Said below, as for a key of another kind.
    }
    throw refused(
      'A public key to verify charts with is damaged or of an unknown kind; ECDSA, RSA and Ed25519 keys are understood.',
    );
  });
}
