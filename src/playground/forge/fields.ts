import { EspalierError } from '../../api/index.ts';

/** What a forge answered, read field by field: one that is missing is an error that names it. */
export class Fields {
  readonly #value: unknown;
  readonly #where: string;

  constructor(value: unknown, where: string) {
    this.#value = value;
    this.#where = where;
  }

  at(key: string): Fields {
    const value = typeof this.#value === 'object' && this.#value !== null ? Reflect.get(this.#value, key) : undefined;
    return new Fields(value, `${this.#where}.${key}`);
  }

  text(key: string): string {
    const value = this.at(key).#value;
    return typeof value === 'string' ? value : this.#missing(key, 'text');
  }

  number(key: string): number {
    const value = this.at(key).#value;
    return typeof value === 'number' ? value : this.#missing(key, 'a number');
  }

  flag(key: string): boolean {
    const value = this.at(key).#value;
    return typeof value === 'boolean' ? value : this.#missing(key, 'true or false');
  }

  list(): Fields[] {
    if (this.#value === null) return []; // Go's empty list
    if (!Array.isArray(this.#value)) throw new EspalierError('PlaygroundFailed', `${this.#where} is not a list`);
    return this.#value.map((one, index) => new Fields(one, `${this.#where}[${index}]`));
  }

  texts(): string[] {
    return this.list().map((one) => String(one.#value));
  }

  #missing(key: string, what: string): never {
    throw new EspalierError('PlaygroundFailed', `${this.#where} has no ${key} that is ${what}`);
  }
}
