import type { Fixture } from '../charts/fixture.ts';
import { differences } from './difference.ts';
import type { Side } from './sides.ts';

/**
 * Takes a fixture on each of two sides through all of its states, and then away, and compares after each. Throws what
 * differs, a line for each place.
 */
export async function compareSides(
  [one, other]: readonly [Fixture, Fixture],
  sides: readonly [Side, Side],
  names: readonly [string, string],
): Promise<void> {
  const [first, second] = [one.steps(sides[0].place.group), other.steps(sides[1].place.group)];
  for (const [index, step] of first.entries()) {
    const counterpart = second[index];
    if (counterpart === undefined) throw new Error(`${other.name} has no step ${index + 1}`);
    await Promise.all([sides[0].take(step), sides[1].take(counterpart)]);
    await compare(sides, names, index === 0 ? 'installed' : `upgraded ${index}`);
  }
  await Promise.all(sides.map((side) => side.uninstall()));
  await compare(sides, names, 'uninstalled');
}

async function compare(sides: readonly [Side, Side], names: readonly [string, string], moment: string): Promise<void> {
  const [one, other] = await Promise.all([sides[0].state(), sides[1].state()]);
  const found = differences(one, other, names);
  if (found.length > 0) throw new Error(`${found.length} differences when ${moment}:\n${found.join('\n')}`);
}
