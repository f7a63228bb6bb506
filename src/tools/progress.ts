/** One moment of a long step, in facts; how it looks is for who shows it. */
export interface Progress {
  /** What it is about: "helm 4.3.1". */
  subject: string;
  step:
    | 'waiting'
    | 'downloading'
    | 'fetching sources'
    | 'compiling'
    | 'linking'
    | 'installed'
    | 'looking and copying'
    | 'checking'
    | 'sending'
    | 'done'
    | 'failed'
    | 'warning';
  done?: number | undefined;
  total?: number | undefined;
  unit?: 'bytes' | 'packages' | 'images and charts' | undefined;
  detail?: string | undefined;
}

export type ReportProgress = (progress: Progress) => void;

/** The end of a step: what comes next belongs to another one. */
export function isLast(progress: Progress): boolean {
  return progress.step === 'installed' || progress.step === 'done' || progress.step === 'failed';
}

/** `kube-apiserver 1.36.3: compiling 512 of 2028 packages (k8s.io/api/core/v1)` */
export function describeProgress({ subject, step, done, total, unit, detail }: Progress): string {
  const amount = done === undefined ? '' : ` ${amountOf(done, total, unit)}`;
  return `${subject}: ${step}${amount}${detail === undefined || detail === '' ? '' : ` (${detail})`}`;
}

/** `[######------]`, or nothing while the whole is not known. */
export function barOf({ done, total }: Progress, width = 20): string {
  if (done === undefined || total === undefined || total === 0) return '';
  const filled = Math.min(width, Math.floor((done / total) * width));
  return `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}]`;
}

/** `8s`, `3m05s` */
export function elapsedText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}

function amountOf(done: number, total: number | undefined, unit: Progress['unit']): string {
  const one = (amount: number) => (unit === 'bytes' ? (amount / 1e6).toFixed(1) : String(amount));
  const name = unit === 'bytes' ? ' MB' : unit === undefined ? '' : ` ${unit}`;
  return `${one(done)}${total === undefined ? '' : ` of ${one(total)}`}${name}`;
}
