import { isRecord } from './json.ts';

/** The part of a Kubernetes `Status` answer that we rely on. */
export interface KubeStatus {
  message: string;
  reason: string;
  details: {
    name?: string;
    kind?: string;
    retryAfterSeconds?: number;
    causes: { reason: string; message: string; field: string }[];
  };
}

/** Undefined when the body is not a `Status`: then something between us and the API server may have answered. */
export function readStatus(body: string): KubeStatus | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  return isRecord(parsed) && parsed.kind === 'Status' ? statusOf(parsed) : undefined;
}

export function statusOf(value: Record<string, unknown>): KubeStatus {
  const raw = isRecord(value.details) ? value.details : {};
  const causes = Array.isArray(raw.causes) ? raw.causes.filter(isRecord) : [];
  const details: KubeStatus['details'] = {
    causes: causes.map((cause) => ({
      reason: text(cause.reason),
      message: text(cause.message),
      field: text(cause.field),
    })),
  };
  if (typeof raw.name === 'string') details.name = raw.name;
  if (typeof raw.kind === 'string') details.kind = raw.kind;
  if (typeof raw.retryAfterSeconds === 'number') details.retryAfterSeconds = raw.retryAfterSeconds;
  return { message: text(value.message), reason: text(value.reason), details };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
