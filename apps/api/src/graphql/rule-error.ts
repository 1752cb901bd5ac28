/** A scalar refuses a value. The message is the rule alone, never the value, so that it may be shown. */
export class RuleError extends Error {
  constructor(rule: string) {
    super(rule);
    this.name = 'RuleError';
  }
}
