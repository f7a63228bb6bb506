import { because, failed, fields, type Health, healthy, type ObjectFacts, progressing } from './health-facts.ts';

export function deployment({ spec, status, conditions, generation, observedGeneration }: ObjectFacts): Health {
  const stuck = conditions.get('Progressing');
  if (stuck?.reason === 'ProgressDeadlineExceeded') return failed(because('Progressing', stuck));
  const failure = conditions.get('ReplicaFailure');
  if (failure?.status === 'True') return progressing(because('ReplicaFailure', failure));
  if (generation !== undefined && observedGeneration === undefined)
    return progressing('its controller has not seen it yet');
  const wanted = spec.number('replicas') ?? 1;
  const made = status.number('replicas') ?? 0;
  const updated = status.number('updatedReplicas') ?? 0;
  const available = status.number('availableReplicas') ?? 0;
  if (updated < wanted) return progressing(`${updated} of ${wanted} replicas are updated`);
  if (made > updated) return progressing(`${made - updated} old replicas are still there`);
  if (available < updated) return progressing(`${available} of ${updated} updated replicas are available`);
  const ready = status.number('readyReplicas') ?? 0;
  if (ready < wanted) return progressing(`${ready} of ${wanted} replicas are ready`);
  const condition = conditions.get('Available');
  if (condition !== undefined && condition.status !== 'True') return progressing(because('Available', condition));
  return healthy(`${available} of ${wanted} replicas are available`);
}

export function statefulSet({ spec, status, generation, observedGeneration }: ObjectFacts): Health {
  if (generation !== undefined && observedGeneration === undefined)
    return progressing('its controller has not seen it yet');
  const wanted = spec.number('replicas') ?? 1;
  const ready = status.number('readyReplicas') ?? 0;
  if (spec.text('updateStrategy', 'type') === 'OnDelete') {
    return ready < wanted
      ? progressing(`${ready} of ${wanted} replicas are ready`)
      : healthy('updates pods as they are deleted');
  }
  const made = status.number('replicas') ?? 0;
  if (made < wanted) return progressing(`${made} of ${wanted} replicas are made`);
  if (ready < wanted) return progressing(`${ready} of ${wanted} replicas are ready`);
  if (made > wanted) return progressing(`${made - wanted} replicas are still to be removed`);
  const partition = spec.number('updateStrategy', 'rollingUpdate', 'partition') ?? 0;
  const updated = status.number('updatedReplicas') ?? 0;
  if (partition > 0) {
    const due = Math.max(0, wanted - partition);
    return updated < due
      ? progressing(`${updated} of ${due} replicas are updated`)
      : healthy(`${updated} replicas are updated, as far as its partition allows`);
  }
  if (status.text('currentRevision') !== status.text('updateRevision')) {
    return progressing(`${updated} of ${wanted} replicas are updated`);
  }
  return healthy(`${ready} of ${wanted} replicas are ready`);
}

export function daemonSet({ spec, status, generation, observedGeneration }: ObjectFacts): Health {
  if (generation !== undefined && observedGeneration === undefined)
    return progressing('its controller has not seen it yet');
  const wanted = status.number('desiredNumberScheduled');
  if (wanted === undefined) return progressing('its controller has not counted the nodes yet');
  const onDelete = spec.text('updateStrategy', 'type') === 'OnDelete';
  const counts: [number, string][] = [
    [status.number('currentNumberScheduled') ?? 0, 'scheduled'],
    ...(onDelete ? [] : [[status.number('updatedNumberScheduled') ?? 0, 'updated'] as [number, string]]),
    [status.number('numberAvailable') ?? 0, 'available'],
    [status.number('numberReady') ?? 0, 'ready'],
  ];
  for (const [count, what] of counts) if (count < wanted) return progressing(`${count} of ${wanted} pods are ${what}`);
  return healthy(`${wanted} of ${wanted} pods are ready`);
}

export function replicas({ spec, status, conditions, generation, observedGeneration }: ObjectFacts): Health {
  const failure = conditions.get('ReplicaFailure');
  if (failure?.status === 'True') return progressing(because('ReplicaFailure', failure));
  if (generation !== undefined && observedGeneration === undefined)
    return progressing('its controller has not seen it yet');
  const wanted = spec.number('replicas') ?? 1;
  const made = status.number('replicas') ?? 0;
  const available = status.number('availableReplicas') ?? 0;
  if (made > wanted) return progressing(`${made - wanted} replicas are still to be removed`);
  if (available < wanted) return progressing(`${available} of ${wanted} replicas are available`);
  return healthy(`${available} of ${wanted} replicas are available`);
}

/** Healthy once it has done its work: whoever depends on a Job depends on its result. */
export function job({ spec, status, conditions }: ObjectFacts): Health {
  for (const type of ['Failed', 'FailureTarget']) {
    const condition = conditions.get(type);
    if (condition?.status === 'True') return failed(because(type, condition));
  }
  const complete = conditions.get('Complete');
  if (complete?.status === 'True') return healthy('has completed');
  const suspended = conditions.get('Suspended');
  if (suspended?.status === 'True' || spec.flag('suspend') === true) return progressing('is suspended');
  const [active, done] = [status.number('active') ?? 0, status.number('succeeded') ?? 0];
  return progressing(`${done} of ${spec.number('completions') ?? 1} completions, ${active} pods at work`);
}

export function cronJob({ spec }: ObjectFacts): Health {
  return healthy(spec.flag('suspend') === true ? 'is suspended' : 'is scheduled');
}

export function pod({ status, spec, conditions }: ObjectFacts): Health {
  const phase = status.text('phase');
  if (phase === 'Succeeded') return healthy('has completed');
  if (phase === 'Failed') return failed(status.text('message') ?? status.text('reason') ?? 'its containers failed');
  const waiting = trouble(status);
  if (waiting !== undefined) return spec.text('restartPolicy') === 'Never' ? failed(waiting) : progressing(waiting);
  const ready = conditions.get('Ready');
  if (phase === 'Running' && ready?.status === 'True') return healthy('is ready');
  const scheduled = conditions.get('PodScheduled');
  if (scheduled?.status === 'False') return progressing(because('PodScheduled', scheduled));
  if (ready !== undefined && ready.status !== 'True') return progressing(because('Ready', ready));
  return progressing(phase === undefined ? 'has not started' : `is ${phase}`);
}

/** Such as ImagePullBackOff or CrashLoopBackOff: they may heal by themselves, so they are not final. */
function trouble(status: ObjectFacts['status']): string | undefined {
  for (const container of [...status.list('initContainerStatuses'), ...status.list('containerStatuses')]) {
    const read = fields(container);
    const reason = read.text('state', 'waiting', 'reason');
    if (reason === undefined || reason === 'ContainerCreating' || reason === 'PodInitializing') continue;
    const message = read.text('state', 'waiting', 'message');
    return `container ${read.text('name') ?? '?'}: ${reason}${message === undefined ? '' : `: ${message}`}`;
  }
  return undefined;
}
