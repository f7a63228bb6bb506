import { EspalierError } from '../api/index.ts';

export interface Person {
  name: string;
  email: string;
}

/** `Ada Lovelace <ada@example.com>` */
export function parsePerson(text: string): Person {
  const [, name = '', email = ''] = /^([^<>]*)<([^<>\s]+@[^<>\s]+)>$/.exec(text.trim()) ?? [];
  if (name.trim() !== '' && !/\p{Cc}/u.test(text)) return { name: name.trim(), email };
  throw new EspalierError('InvalidConfiguration', `"${text}" is no author, such as "Ada Lovelace <ada@example.com>"`, {
    retry: false,
  });
}

/** The bytes of a commit. The time is UTC. */
export function commitBytes(commit: {
  tree: string;
  parent: string;
  author: Person;
  message: string;
  /** Milliseconds since 1970. */
  at: number;
}): Buffer {
  const { tree, parent, author, message, at } = commit;
  const who = `${author.name} <${author.email}> ${Math.floor(at / 1000)} +0000`;
  return Buffer.from(`tree ${tree}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\n\n${message.trimEnd()}\n`);
}
