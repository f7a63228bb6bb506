/** The same parts, each of which the hash has seen when it comes. */
export async function* hashed(
  content: AsyncIterable<Uint8Array>,
  hash: { update(data: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for await (const part of content) {
    hash.update(part);
    yield part;
  }
}
