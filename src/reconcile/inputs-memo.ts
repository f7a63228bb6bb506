import type { KubeObject, Plugin, Sync } from '../api/index.ts';
import { parseValues } from '../declare/values-text.ts';
import { type ChartSources, hasChartSource } from './chart-sources.ts';
import type { Facts } from './facts.ts';
import { type InputsAnswer, inputsOf, type ReadData, valuesRefs } from './inputs.ts';
import type { OutsideObjects } from './outside.ts';
import { hasOwnSource, type OwnSources } from './own-sources.ts';
import { secretData } from './secret-data.ts';

interface Memo {
  /** Which spec of the Sync: its status changes all the time. */
  sync: string;
  kubernetes: string | undefined;
  /** Of what it is nested in, maybe. */
  account: string;
  /** What values came from: the very objects. */
  from: readonly unknown[];
  answer: InputsAnswer;
}

/** Keys are asked for again and again, by everybody who depends on a Plugin; they are computed when something they rest on changed. */
export class InputsMemo {
  readonly #memos = new WeakMap<Plugin, Memo>();
  readonly #outside: OutsideObjects;
  readonly #ownSources: OwnSources;
  readonly #chartSources: ChartSources;

  constructor(outside: OutsideObjects, ownSources: OwnSources, chartSources: ChartSources) {
    this.#outside = outside;
    this.#ownSources = ownSources;
    this.#chartSources = chartSources;
  }

  of(plugin: Plugin, facts: Facts): InputsAnswer {
    const hasOwn = hasOwnSource(plugin);
    const hasChart = hasChartSource(plugin);
    const ownTree = hasOwn
      ? this.#ownSources.known(plugin)?.tree
      : hasChart
        ? this.#chartSources.known(plugin)?.id
        : undefined;
    if ((hasOwn || hasChart) && ownTree === undefined)
      return { state: 'waiting', why: hasOwn ? 'its repository to be read' : 'its source to be looked up' };
    const from: unknown[] = [ownTree, ...valuesRefs(plugin).map((ref) => this.#outside.get(ref))];
    const memo = this.#memos.get(plugin);
    const isSame =
      memo !== undefined &&
      memo.sync === versionOf(facts.sync) &&
      memo.kubernetes === facts.kubernetes &&
      memo.account === accountText(facts) &&
      from.every((one, index) => one === memo.from[index]);
    if (isSame) return memo.answer;
    const answer = inputsOf(plugin, facts, this.#read, parseValues, ownTree);
    const { sync, kubernetes } = facts;
    this.#memos.set(plugin, { sync: versionOf(sync), kubernetes, account: accountText(facts), from, answer });
    return answer;
  }

  readonly #read: ReadData = (ref) => {
    const object: KubeObject | 'absent' | 'unknown' = this.#outside.get(ref);
    return typeof object === 'string' ? object : secretData(object);
  };
}

function accountText({ account }: Facts): string {
  return account === undefined ? '' : `${account.namespace}/${account.name}`;
}

function versionOf(sync: Sync | undefined): string {
  return sync === undefined ? '' : `${sync.metadata.uid}/${sync.metadata.generation}`;
}
