const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface StopSignals {
  /** Aborts when the first one arrives. */
  signal: AbortSignal;
  /** Resolves then. */
  asked: Promise<undefined>;
  /** Gives the signals their usual meaning back. */
  forget(): void;
}

/** The first Ctrl-C (or SIGTERM, or a closed terminal) asks for an orderly end; the second one ends the process at once. */
export function stopSignals(onFirst: (name: string) => void): StopSignals {
  const controller = new AbortController();
  const { signal } = controller;
  const handle = (name: NodeJS.Signals) => {
    if (signal.aborted) process.exit(130);
    onFirst(name);
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, handle);
  return {
    signal,
    asked: new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true })),
    forget() {
      for (const name of SIGNALS) process.off(name, handle);
    },
  };
}
