/** Finds inputs of a submission that no task text uses: they are typos unless code reads them. */
import type { Capabilities, SubmitRunBody } from '@tutti/protocol'
import { suggest } from '@tutti/protocol/internal'

import type { TuttiClient } from '@tutti/client'

/**
 * Returns one line for each input that no task text of the ensemble uses. Returns none when that is unknown, because the
 * server does not list its capabilities or the request has its own tasks. Not an error where the server
 * accepts them: code can read any input.
 */
export async function describeUnusedInputs(
  client: TuttiClient,
  body: SubmitRunBody,
): Promise<readonly string[]> {
  const names = Object.keys(body.inputs ?? {})
  if (names.length === 0 || body.tasks !== undefined) return []
  const capabilities = await client.capabilities().catch(() => undefined)
  return capabilities === undefined ? [] : describeUnusedAmong(names, body, capabilities)
}

function describeUnusedAmong(
  names: readonly string[],
  body: SubmitRunBody,
  { ensembles = [] }: Partial<Pick<Capabilities, 'ensembles'>>,
): readonly string[] {
  const ensemble = ensembles.find(({ name }) => name === (body.ensemble ?? ensembles[0]?.name))
  if (ensemble === undefined) return []
  const known = [...ensemble.variables, ...(ensemble.inputs ?? [])]
  // Overrides can contain texts with other variables.
  const texts = JSON.stringify(body.taskOverrides ?? {})
  return names
    .filter((name) => !known.includes(name) && !texts.includes(`{${name}}`))
    .map((name) => {
      const meant = suggest(name, known)
      const hint = meant === undefined ? '' : `. Did you mean "${meant}"?`
      return `Input "${name}" is not used: no task of "${ensemble.name}" has {${name}}${hint}`
    })
}
