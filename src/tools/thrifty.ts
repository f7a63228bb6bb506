/**
 * For servers written in Go that have a machine to themselves: they collect garbage when their memory is five times
 * what they hold, not twice. The API server then needs an eighth less of the processor, for some 200 MB more.
 */
export const THRIFTY = { GOGC: '400', GOMEMLIMIT: '1GiB' } as const;
