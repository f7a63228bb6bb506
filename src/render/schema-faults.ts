/** A value that a chart's own schema does not allow. */
export interface SchemaFault {
  chart: string;
  /** JSON pointer into the chart's values. */
  pointer: string;
  message: string;
}

const BEGIN = "values don't meet the specifications of the schema(s)";

/** What Helm says of values that break a chart's values.schema.json; undefined when that is not what went wrong. */
export function schemaFaults(stderr: string): SchemaFault[] | undefined {
  const begin = stderr.indexOf(BEGIN);
  if (begin < 0) return undefined;
  let chart = '';
  const faults: SchemaFault[] = [];
  for (const line of stderr.slice(begin).split('\n').slice(1)) {
    const [, name] = /^([A-Za-z0-9._-]+):$/.exec(line) ?? [];
    const [, pointer, message] = /^\s*- at '(.*?)': (.+)$/.exec(line) ?? [];
    if (name !== undefined) chart = name;
    else if (pointer !== undefined && message !== undefined) faults.push({ chart, pointer, message });
    else if (line.trim() !== '' && chart !== '') faults.push({ chart, pointer: '', message: line.trim() });
  }
  return faults;
}
