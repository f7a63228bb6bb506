export * from './errors.ts';
export * from './names.ts';
export * from './objects.ts';
