import { redactor as hideSecrets } from '../tools/redact.ts';

const MASK = '***';

/** One URL without its credentials. An unescaped slash or @ in a password does not save it: all up to the last @ goes. */
export function redactUrl(url: string): string {
  return redactUrls(url).replace(
    /^([a-z][a-z0-9+.-]*:\/\/)(?!\*\*\*@)([^?#]+)@/i,
    (all, scheme: string, before: string) =>
      /^ssh:/i.test(scheme) && /^[\w.+-]+$/.test(before) ? all : `${scheme}${MASK}@`,
  );
}

/** Text with URLs in it, without what stands before an @ in their authority. A user name alone is part of an ssh address. */
export function redactUrls(text: string): string {
  return text.replace(
    /(\b[a-z][a-z0-9+.-]*:(?:\/\/|%2f%2f|\\\/\\\/))([^\s/?#'"<>\\]+)@/gi,
    (all, scheme: string, userinfo: string) =>
      /^ssh:/i.test(scheme) && !/:|%3a/i.test(userinfo) ? all : `${scheme}${MASK}@`,
  );
}

/**
 * Hides secrets in any text, in every usual encoding, also percent-encoded twice or read in the wrong character set, and
 * whatever credentials URLs in it hold.
 */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const hide = hideSecrets(secrets.filter((secret) => secret !== '').flatMap(formsOf));
  return (text) => redactUrls(hide(text));
}

function formsOf(secret: string): string[] {
  const misread = [Buffer.from(secret).toString('latin1'), Buffer.from(secret, 'latin1').toString('utf8')];
  return [...new Set([secret, encodeURIComponent(secret.toWellFormed()), ...misread])];
}
