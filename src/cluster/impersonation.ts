import type { Impersonation } from './kubeclient.ts';

/** Groups and extra values are headers of their own each: joined into one they would be one strange group. */
export function impersonationHeaders(user: Impersonation): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { 'impersonate-user': user.name };
  if (user.groups !== undefined && user.groups.length > 0) headers['impersonate-group'] = user.groups;
  if (user.uid !== undefined) headers['impersonate-uid'] = user.uid;
  for (const [key, values] of Object.entries(user.extra ?? {})) {
    headers[`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`] = values;
  }
  return headers;
}
