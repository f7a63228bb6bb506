import { chart } from '../../support/charts.ts';
import { configMap, type Fixture } from './fixture.ts';

const KEEP = ['annotations: {helm.sh/resource-policy: keep}'];
const FIRST: Record<string, string> = {
  'templates/kept.yaml': configMap('kept', ['text: first'], KEEP),
  'templates/kept-too.yaml': configMap('kept-too', ['text: first'], KEEP),
  'templates/leaves.yaml': configMap('leaves', ['text: first']),
  'templates/stays.yaml': configMap('stays', ['text: first']),
};
const SECOND: Record<string, string> = {
  'templates/kept-too.yaml': configMap('kept-too', ['text: second'], KEEP),
  'templates/stays.yaml': configMap('stays', ['text: second']),
  'templates/comes.yaml': configMap('comes', ['text: second']),
};

/** One object that must stay leaves the chart, another stays in it until the release is uninstalled. */
export const KEEP_POLICY: Fixture = {
  name: 'keep-policy',
  source: 'repository',
  steps: () => [{ chart: chart('keep-policy', FIRST) }, { chart: chart('keep-policy', SECOND, { version: '2.0.0' }) }],
};
