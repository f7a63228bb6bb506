import type { Json, KubeObject, ObjectRef } from '../api/index.ts';

/** What one resource of the API server can do, as discovery tells it. */
export interface ApiResource {
  apiVersion: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  verbs: string[];
  /** `status`, `scale`, … */
  subresources: string[];
  shortNames: string[];
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'apply' | 'patch' | 'delete' | 'discover' | 'raw';

/** One HTTP exchange, for metrics and tests. `status` is 0 when no answer came. */
export interface RequestReport {
  verb: Verb;
  kind: string;
  status: number;
  ms: number;
  /** 1 for the first try. */
  attempt: number;
}

/** Accepted by every call. */
export interface CallOptions {
  signal?: AbortSignal;
  /** For one attempt; retries together never take longer than twice that. */
  deadlineMs?: number;
  /** The server's `Warning:` headers: deprecated versions, unknown fields. */
  onWarning?: (text: string) => void;
  /** Own connections, no queue: for what must not wait behind bulk work, such as renewing a lease. */
  urgent?: boolean;
}

export interface WriteOptions extends CallOptions {
  dryRun?: boolean;
  fieldManager?: string;
  /** What the server does with fields that it does not know. Its default is to drop them and warn. */
  fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  subresource?: string;
}

export interface ApplyOptions extends WriteOptions {
  fieldManager: string;
  /** Take fields over from the managers that hold them. */
  force?: boolean;
}

export interface PatchOptions extends WriteOptions {
  type: 'merge' | 'json' | 'apply';
  force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  /** Preconditions: the call fails with `KubeConflict` when the live object is another one. */
  uid?: string;
  resourceVersion?: string;
  propagation?: 'Background' | 'Foreground' | 'Orphan';
  dryRun?: boolean;
}

/** The objects of one kind; all namespaces when none is given. */
export interface ListTarget {
  apiVersion: string;
  kind: string;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Fetch metadata alone: objects come with apiVersion, kind and metadata only. */
  metadataOnly?: boolean;
}

export interface ObjectList {
  items: KubeObject[];
  resourceVersion: string;
}

export interface ListOptions extends CallOptions {
  /** Objects in one answer of the server. */
  pageSize?: number;
}

/** Called once for every page. `restarted` says that the pages so far must be forgotten: the list began anew. */
export type PageHandler = (items: KubeObject[], page: { restarted: boolean }) => void;

export type WatchLine =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: KubeObject }
  | { type: 'BOOKMARK'; resourceVersion: string };

export interface WatchStreamOptions {
  resourceVersion: string;
  signal: AbortSignal;
  /** How long the server may hold the stream; by default 5 to 10 minutes, under a minute without HTTP/2. */
  timeoutSeconds?: number;
  /** Give up when neither event nor bookmark came for this long. */
  idleMs?: number;
  maxLineBytes?: number;
  /** Called with each event, in order. */
  onLine(line: WatchLine): void;
}

export interface RawRequest extends CallOptions {
  method: string;
  path: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string;
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export interface Impersonation {
  name: string;
  groups?: string[];
  uid?: string;
  extra?: Record<string, string[]>;
}

/**
 * Kubernetes as raw JSON. Every call has a deadline, fails with an EspalierError that names verb and object, and
 * never takes an error for an absence.
 */
export interface KubeClient {
  /** Undefined only when the API server says that this very object does not exist. */
  get(ref: ObjectRef, options?: CallOptions): Promise<KubeObject | undefined>;
  list(target: ListTarget, options?: ListOptions): Promise<ObjectList>;
  /** As `list`, holding one page at a time. */
  pages(target: ListTarget, onPage: PageHandler, options?: ListOptions): Promise<{ resourceVersion: string }>;
  /** One watch connection until it ends (resolves) or fails (rejects). `watchObjects` is what most want. */
  watchOnce(target: ListTarget, options: WatchStreamOptions): Promise<void>;
  create(object: KubeObject, options?: WriteOptions): Promise<KubeObject>;
  /** Replaces the object; `metadata.resourceVersion` must be that of the copy it was made from. */
  update(object: KubeObject, options?: WriteOptions): Promise<KubeObject>;
  apply(object: KubeObject, options: ApplyOptions): Promise<KubeObject>;
  patch(ref: ObjectRef, body: Json, options: PatchOptions): Promise<KubeObject>;
  /** `deleted` once the server has accepted it: finalizers may keep the object for a while. */
  delete(ref: ObjectRef, options?: DeleteOptions): Promise<'deleted' | 'absent'>;
  /** The same client acting as somebody else; connections, limits and discovery are shared. */
  as(user: Impersonation | undefined): KubeClient;
  /** The same client, calling `guard` right before each mutating request leaves; when it throws, nothing is sent. */
  guarded(guard: () => void): KubeClient;
  /** Fails with `KubeKindUnknown` only when the API server itself confirms that it does not serve the kind. */
  resource(apiVersion: string, kind: string, options?: CallOptions): Promise<ApiResource>;
  /** Everything served. Fails when part of it can't be known, unless `partial` says that this will do. */
  resources(options?: CallOptions & { partial?: boolean }): Promise<ApiResource[]>;
  version(options?: CallOptions): Promise<{ gitVersion: string; major: string; minor: string }>;
  /** Any request as it is; any status is an answer. */
  raw(request: RawRequest): Promise<RawAnswer>;
  /** The namespace of the kubeconfig's context or of the pod. */
  readonly namespace: string | undefined;
  /** The API server's address, for messages. */
  readonly server: string;
  close(): Promise<void>;
}
