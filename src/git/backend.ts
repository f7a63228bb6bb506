export interface RemoteRef {
  /** Full name: `refs/heads/main`, `HEAD`. */
  ref: string;
  oid: string;
  /** What an annotated tag points at. */
  peeled?: string;
  /** What a symbolic ref stands for. */
  target?: string;
}

export interface FetchRequest {
  /** The commit that is to be in the store afterwards. */
  commit: string;
  /** The ref that led to it, for servers that give out commits by ref only. */
  ref?: string | undefined;
  /** A commit that the store has, with what the shallow file does not exclude. */
  have?: string | undefined;
  /** Commits of history to bring along. */
  depth: number;
}

export interface FetchResult {
  /** Bytes of what was received. */
  bytes: number;
  /** The pack that it became, where the backend writes packs itself. */
  pack?: string;
}

export interface PushRequest {
  /** Full name of the branch. */
  ref: string;
  /** Where it must stand on the server; `undefined`: it must not exist. */
  from: string | undefined;
  /** A descendant of where it stands. */
  commit: string;
  /** What the server does not have of that commit. */
  pack: Buffer;
}

/** One way to talk to a server. Both ways leave packs and a shallow file in the same bare repository. */
export interface Backend {
  readonly name: 'builtin' | 'system';
  /** Refs that start with one of the prefixes. An incomplete answer is an error, never a shorter list. */
  listRefs(prefixes: string[], signal: AbortSignal): Promise<RemoteRef[]>;
  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchResult>;
  /** Moves a branch forward, and nothing else: GitPushRefused where the server declines or somebody was faster. */
  push(request: PushRequest, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
