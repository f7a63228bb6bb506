export interface GiteaPlace {
  /** Everything that it writes is below. */
  root: string;
  port: number;
  /** Folder with its templates; absent for a program that brings them along. */
  statics?: string | undefined;
  /** Folder of the hooks that Git runs in every repository. */
  hooks: string;
  user: string;
  secrets: { internalToken: string; key: string; jwt: string };
}

type Section = Readonly<Record<string, string | number | boolean>>;

/** What costs time at every start and has nothing to do on an empty forge of one machine. */
const IDLE_TASKS = [
  ...['check_repo_stats', 'archive_cleanup', 'deleted_branches_cleanup', 'sync_repo_licenses', 'repo_health_check'],
  ...['sync_external_users', 'cleanup_hook_task_table'],
];

/** `app.ini` of a forge on 127.0.0.1 that asks nothing, sends no mail, reaches no network and leaves its folder alone. */
export function giteaSettings({ root, port, statics, hooks, user, secrets }: GiteaPlace): string {
  const url = `http://127.0.0.1:${port}/`;
  const sections: Record<string, Section> = {
    '': { APP_NAME: 'Espalier playground', RUN_MODE: 'prod', RUN_USER: user, WORK_PATH: root },
    server: {
      PROTOCOL: 'http',
      HTTP_ADDR: '127.0.0.1',
      HTTP_PORT: port,
      DOMAIN: '127.0.0.1',
      ROOT_URL: url,
      LOCAL_ROOT_URL: url,
      DISABLE_SSH: true,
      OFFLINE_MODE: true,
      LFS_START_SERVER: false,
      APP_DATA_PATH: `${root}/data`,
      GRACEFUL_HAMMER_TIME: '1s',
      ...(statics === undefined ? {} : { STATIC_ROOT_PATH: statics }),
    },
    database: {
      DB_TYPE: 'sqlite3',
      PATH: `${root}/gitea.db`,
      SQLITE_JOURNAL_MODE: 'WAL',
      SQLITE_TIMEOUT: 20_000,
      LOG_SQL: false,
    },
    security: {
      INSTALL_LOCK: true,
      SECRET_KEY: secrets.key,
      INTERNAL_TOKEN: secrets.internalToken,
      // Its passwords are random, and hashing them slowly would cost every login a moment of the processor.
      PASSWORD_HASH_ALGO: 'pbkdf2$1000$50',
    },
    oauth2: { ENABLED: false, JWT_SECRET: secrets.jwt },
    webhook: { ALLOWED_HOST_LIST: 'loopback' },
    repository: { ROOT: `${root}/repositories`, DEFAULT_BRANCH: 'main', DISABLE_MIGRATIONS: true },
    // Nothing lives long enough to be tidied.
    'git.config': { 'core.hooksPath': hooks, 'receive.autoGC': false },
    service: { DISABLE_REGISTRATION: true, AUTO_WATCH_NEW_REPOS: false, DEFAULT_KEEP_EMAIL_PRIVATE: true },
    indexer: { ISSUE_INDEXER_TYPE: 'db', REPO_INDEXER_ENABLED: false },
    session: { PROVIDER: 'memory' },
    cache: { ADAPTER: 'memory' },
    queue: { TYPE: 'channel' },
    mailer: { ENABLED: false },
    actions: { ENABLED: false },
    packages: { ENABLED: false },
    federation: { ENABLED: false },
    mirror: { ENABLED: false },
    i18n: { LANGS: 'en-US', NAMES: 'English' },
    log: { MODE: 'file', LEVEL: 'warn', ROOT_PATH: `${root}/log`, 'logger.access.MODE': 'access' },
    'log.access': {
      MODE: 'file',
      FILE_NAME: 'access.log',
      LEVEL: 'info',
      FLAGS: 'none',
    },
    ...Object.fromEntries(IDLE_TASKS.map((task) => [`cron.${task}`, { ENABLED: false, RUN_AT_START: false }])),
  };
  // Where the user is root, as in many containers, it would refuse to start; it listens on 127.0.0.1 alone.
  const unsafe = user === 'root' ? 'I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true\n' : '';
  return `${unsafe}${Object.entries(sections).map(sectionText).join('\n')}`;
}

function sectionText([name, values]: [string, Section]): string {
  const lines = Object.entries(values).map(([key, value]) => `${key} = ${value}\n`);
  return `${name === '' ? '' : `[${name}]\n`}${lines.join('')}`;
}
