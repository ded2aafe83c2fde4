/** What the exit code of the `tutti` program says; documented in `docs/reference/cli.md`, which is made of this. */

/** Name of an end → its exit code and what it means. */
export const EXIT_CODES = {
  OK: { code: 0, meaning: 'Done; a run that was followed has COMPLETED' },
  FAILED: { code: 1, meaning: 'It failed; a run that was followed has FAILED' },
  USAGE: { code: 2, meaning: 'The command line, or what it names, does not fit' },
  UNREACHABLE: {
    code: 3,
    meaning: 'The server cannot be reached, or does not answer as it should',
  },
  REFUSED: {
    code: 4,
    meaning: 'The server refuses: unknown, not allowed, over already, or too much',
  },
  CANCELLED: { code: 5, meaning: 'A run that was followed was cancelled' },
  WAITING: {
    code: 6,
    meaning: 'A run that was followed waits for a review that nobody here can give',
  },
  INTERRUPTED: { code: 130, meaning: 'Stopped by Ctrl-C; the run goes on' },
} as const

/** A name of `EXIT_CODES`. */
export type Exit = keyof typeof EXIT_CODES
