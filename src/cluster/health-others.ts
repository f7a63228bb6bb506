import { because, failed, type Health, healthy, type ObjectFacts, progressing } from './health-facts.ts';

/** A claim of a class that binds at first use stays pending until a pod wants it: that is no fault of the claim. */
export function claim({ status }: ObjectFacts): Health {
  const phase = status.text('phase');
  if (phase === 'Bound') return healthy('is bound');
  if (phase === 'Lost') return failed('has lost its volume');
  return progressing('is not bound to a volume');
}

export function service({ spec, status }: ObjectFacts): Health {
  if (spec.text('type') !== 'LoadBalancer') return healthy('exists');
  return status.list('loadBalancer', 'ingress').length > 0
    ? healthy('has its address')
    : progressing('waits for the address of its load balancer');
}

/** Its address is no proof: not every controller reports one. */
export function ingress(): Health {
  return healthy('exists');
}

/** One that its kubelet has not reported on yet is not ready. */
export function node({ conditions }: ObjectFacts): Health {
  const ready = conditions.get('Ready');
  if (ready?.status === 'True') return healthy('is ready');
  const why = ready?.message || ready?.reason || '';
  return progressing(why === '' ? 'not ready' : `not ready: ${why}`);
}

export function definition({ conditions }: ObjectFacts): Health {
  const names = conditions.get('NamesAccepted');
  if (names?.status === 'False') return failed(because('NamesAccepted', names));
  const established = conditions.get('Established');
  if (established?.status === 'True') return healthy('is established');
  return progressing(established === undefined ? 'is not established yet' : because('Established', established));
}

export function registeredApi({ conditions }: ObjectFacts): Health {
  const available = conditions.get('Available');
  if (available?.status === 'True') return healthy('is available');
  return progressing(available === undefined ? 'is not available yet' : because('Available', available));
}

export function disruptionBudget({ status, conditions, generation, observedGeneration }: ObjectFacts): Health {
  if (generation !== undefined && observedGeneration === undefined)
    return progressing('its controller has not seen it yet');
  const failure = conditions.get('DisruptionAllowed');
  if (failure?.reason === 'SyncFailed') return progressing(because('DisruptionAllowed', failure));
  return healthy(
    `${status.number('currentHealthy') ?? 0} pods are healthy, ${status.number('desiredHealthy') ?? 0} are needed`,
  );
}

/** Without metrics it keeps the replicas as they are: many clusters have no metrics server, and nothing waits for one. */
export function scaler({ conditions }: ObjectFacts): Health {
  for (const type of ['AbleToScale', 'ScalingActive']) {
    const condition = conditions.get(type);
    if (condition?.status === 'False') return healthy(`exists, but does not scale: ${because(type, condition)}`);
  }
  return healthy('scales');
}

export function certificateRequest({ status, conditions }: ObjectFacts): Health {
  for (const type of ['Denied', 'Failed']) {
    const condition = conditions.get(type);
    if (condition?.status === 'True') return failed(because(type, condition));
  }
  return status.has('certificate') ? healthy('is issued') : progressing('waits for its certificate');
}
