/** What a playground tells an agent that it starts: where the cluster is, and where it may write. */
export interface AgentContext {
  /** Path of the kubeconfig, or KUBECONFIG's own list of paths. */
  kubeconfig: string;
  context?: string;
  /** Where the Sync is that it shall follow. */
  namespace: string;
  /** Folder for its log. */
  logs: string;
  signal: AbortSignal;
}

export interface RunningAgent {
  /** Address of its page, when it serves one. */
  http: string | null;
  /** A push arrived: look at Git now. */
  lookNow(): void;
  /** Resolves with why it ended though nobody stopped it. */
  broken: Promise<string>;
  stop(): Promise<void>;
}

/** The playground does not know the agent: who starts both passes this in. */
export type AgentFactory = (context: AgentContext) => Promise<RunningAgent>;
