/**
 * Pure: the key that groups the runs waiting for an owner. It is the name of the ensemble while any process may
 * take the run, and the name with the digest of the code once a process has taken it.
 */

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

/** Returns the keys of the runs that a process may take, given the digest of each of its ensembles. */
export function listClaimKeys(codes: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(codes).flatMap(([ensemble, code]) => [
    ensemble,
    toClaimKey({ ensemble, code }),
  ])
}
