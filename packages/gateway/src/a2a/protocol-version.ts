/** Pure: the versions of A2A that are spoken here. */
import { A2aError } from './errors.ts'

/** A version of A2A. */
export type A2aVersion = '0.3' | '1.0'

/**
 * The version that a request names in its header `A2A-Version`, in which a third number means nothing; undefined
 * when it names none.
 *
 * @throws {A2aError} VERSION_NOT_SUPPORTED for one that is not among `known`.
 */
export function protocolVersion(
  headers: Headers,
  known: readonly A2aVersion[],
): A2aVersion | undefined {
  const given = (headers.get('a2a-version') ?? '').trim()
  if (given === '') return undefined
  const named = given.replace(/^(\d+\.\d+)\.\d+$/, '$1')
  const found = known.find((version) => version === named || version === `${named}.0`)
  if (found !== undefined) return found
  throw new A2aError(
    'VERSION_NOT_SUPPORTED',
    `Version "${given}" of A2A is not supported here; ${known.join(' and ')} are`,
  )
}
