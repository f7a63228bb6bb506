import { CRDS, TEMPLATED_CRDS } from './crds.ts';
import type { Fixture } from './fixture.ts';
import { HOOKS } from './hooks.ts';
import { KEEP_POLICY } from './keep.ts';
import { ODDITIES } from './oddities.ts';
import { RANDOM } from './random.ts';
import { SUBCHARTS } from './subcharts.ts';
import { TEMPLATES } from './templates.ts';
import { WORKLOADS } from './workloads.ts';

export const FIXTURES: readonly Fixture[] = [
  WORKLOADS,
  HOOKS,
  SUBCHARTS,
  TEMPLATES,
  ODDITIES,
  CRDS,
  TEMPLATED_CRDS,
  RANDOM,
  KEEP_POLICY,
];
