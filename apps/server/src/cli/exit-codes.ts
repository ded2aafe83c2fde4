/** Exit codes of the `tutti` program. `docs/reference/cli.md` is generated from them. */

/** Name of an outcome → its exit code and meaning. */
export const EXIT_CODES = {
  OK: { code: 0, meaning: 'Success; a followed run has COMPLETED' },
  FAILED: { code: 1, meaning: 'Failure; a followed run has FAILED' },
  USAGE: { code: 2, meaning: 'Invalid command line or invalid input' },
  UNREACHABLE: {
    code: 3,
    meaning: 'The server is unreachable, or its response is not valid',
  },
  REFUSED: {
    code: 4,
    meaning:
      'The server refused the request: unknown id, missing permission, wrong state or exceeded limit',
  },
  CANCELLED: { code: 5, meaning: 'A followed run was cancelled' },
  WAITING: {
    code: 6,
    meaning: 'A run waits for a review that was not decided here',
  },
  INTERRUPTED: { code: 130, meaning: 'Interrupted by Ctrl-C; a followed run continues' },
} as const

/** Name of an outcome in `EXIT_CODES`. */
export type Exit = keyof typeof EXIT_CODES
