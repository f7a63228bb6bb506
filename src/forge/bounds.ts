/** What is read of a forge at most; a repository with more is served in part rather than for ever. */
export const MOST_PULL_REQUESTS = 500;
export const MOST_COMMENTS = 1000;
export const MOST_STATUSES = 1000;
export const MOST_HOOKS = 500;
/** The names of contexts of GitHub, Gitea and GitLab. */
export const CONTEXT_LENGTH = 255;
