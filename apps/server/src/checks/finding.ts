/** Findings of the checks of `tutti doctor`. */

/** A finding of one check. */
export interface Finding {
  /** Subject of the check, in one or two words. */
  readonly check: string
  /** Severity: a problem prevents the server from working; a warning may. */
  readonly level: FindingLevel
  readonly message: string
  /** Suggested action. */
  readonly advice?: string
}

/** Severity of a finding. */
export type FindingLevel = 'ok' | 'warning' | 'problem'

/** Functions that create the findings of one check. */
export interface Findings {
  ok(message: string): Finding
  warning(message: string, advice?: string): Finding
  problem(message: string, advice?: string): Finding
}

/** Returns functions that create findings of the check with this name. */
export function findingsFor(check: string): Findings {
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
