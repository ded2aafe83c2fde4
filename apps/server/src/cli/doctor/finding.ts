/** What a check of `tutti doctor` has found. */

/** What one check found. */
export interface Finding {
  /** What was looked at, in one or two words. */
  readonly check: string
  /** A problem keeps the server from working; a warning may. */
  readonly level: FindingLevel
  readonly message: string
  /** What to do about it. */
  readonly advice?: string
}

/** How bad it is. */
export type FindingLevel = 'ok' | 'warning' | 'problem'

/** The findings of one check share what was looked at. */
export interface Findings {
  ok(message: string): Finding
  warning(message: string, advice?: string): Finding
  problem(message: string, advice?: string): Finding
}

/** Makes the findings of a check. */
export function findingsOf(check: string): Findings {
  const make = (level: FindingLevel, message: string, advice?: string): Finding => ({
    check,
    level,
    message,
    ...(advice === undefined ? {} : { advice }),
  })
  return {
    ok: (message) => make('ok', message),
    warning: (message, advice) => make('warning', message, advice),
    problem: (message, advice) => make('problem', message, advice),
  }
}
