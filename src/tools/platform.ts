/** Where a program must run, in Go's words: `linux` and `amd64`. */
export interface Platform {
  os: string;
  arch: string;
}

export function thisPlatform(): Platform {
  return { os: process.platform, arch: process.arch === 'x64' ? 'amd64' : process.arch };
}
