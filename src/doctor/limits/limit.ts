/** What a limit is: a number that decides, what it is of, and why it is what it is. */
export interface Limit {
  readonly value: number;
  /** `definition`: what the cause means; `tolerance`: how exact numbers can be; `test`: how surely chance is excluded; `score`: what it is worth beside others. */
  readonly kind: 'definition' | 'tolerance' | 'test' | 'score';
  readonly what: string;
  readonly why: string;
}

export const limit = (kind: Limit['kind'], value: number, what: string, why: string): Limit => ({
  value,
  kind,
  what,
  why,
});
