/** Pure: differences between whole codes (RUNS-Z20) that concern one run. */
import type { ManifestDifference, ManifestValue } from '@tutti/ensemble/internal'

/** Field of the manifest of a whole code that has the code of each ensemble. */
const ENSEMBLES = 'ensembles'

/**
 * Returns the differences without those of ensembles that a run does not have as tasks. `undefined`, for an unknown code, stays.
 */
export function selectDifferences(
  differences: readonly ManifestDifference[] | undefined,
  nested: readonly string[],
): readonly ManifestDifference[] | undefined {
  return differences?.filter(
    ({ task, field, from, to }) =>
      task !== undefined ||
      field !== ENSEMBLES ||
      nested.some((name) => codeOf(from, name) !== codeOf(to, name)),
  )
}

function codeOf(codes: ManifestValue | undefined, name: string): unknown {
  return typeof codes === 'object' && codes !== null ? Reflect.get(codes, name) : undefined
}
