/**
 * Pure: the key that groups the runs waiting for an owner. It is the name of the ensemble while any process may
 * take the run, and the name with the digest of the code once a process has taken it.
 *
 * RUNS-Z20 A run whose request has ensembles as tasks has the whole code of its build: the digests of its ensemble and of all
 *    ensembles of the build. Only processes with the same ensembles have it.
 */
import { createHash } from 'node:crypto'

/** Separates the name of an ensemble from the digest of its code: DEL, which no digest has and JSON does not escape. */
export const CODE_SEPARATOR = '\u007f'

/** Returns the key of a run. */
export function toClaimKey({
  ensemble,
  code,
}: {
  readonly ensemble: string
  readonly code?: string
}): string {
  return code === undefined ? ensemble : `${ensemble}${CODE_SEPARATOR}${code}`
}

/** Separates the digest of an ensemble from that of all ensembles in a whole code. */
export const WHOLE_SEPARATOR = '+'

/** Whether the code is that of a whole build. */
export function isWholeCode(code: string): boolean {
  return code.includes(WHOLE_SEPARATOR)
}

/** Returns the whole code of an ensemble, given the digest of each ensemble of its build. */
export function toWholeCode(ensemble: string, codes: Readonly<Record<string, string>>): string {
  return `${codes[ensemble] ?? ''}${WHOLE_SEPARATOR}${digestCodes(codes)}`
}

/** Number of hexadecimal digits of a digest. */
const DIGEST_LENGTH = 16

function digestCodes(codes: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(codes).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, DIGEST_LENGTH)
}

/** Returns the keys of the runs that a process may take, given the digest of each of its ensembles. */
export function listClaimKeys(codes: Readonly<Record<string, string>>): readonly string[] {
  const whole = digestCodes(codes)
  return Object.entries(codes).flatMap(([ensemble, code]) => [
    ensemble,
    toClaimKey({ ensemble, code }),
    toClaimKey({ ensemble, code: `${code}${WHOLE_SEPARATOR}${whole}` }),
  ])
}
