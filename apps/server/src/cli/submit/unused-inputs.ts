/** Finds inputs of a submission that no task text names, which are typos unless code reads them. */
import { suggest, type Capabilities, type SubmitRunBody } from '@tutti/protocol'

import type { TuttiClient } from '@tutti/client'

/**
 * Returns one line for each input that the ensemble has no place for; none when that cannot be known, as the server
 * does not say, or the request brings texts of its own. Not an error: a task that is done by code can read any input.
 */
export async function unusedInputs(
  client: TuttiClient,
  body: SubmitRunBody,
): Promise<readonly string[]> {
  const names = Object.keys(body.inputs ?? {})
  if (names.length === 0 || body.tasks !== undefined) return []
  const capabilities = await client.capabilities().catch(() => undefined)
  return capabilities === undefined ? [] : unusedAmong(names, body, capabilities)
}

function unusedAmong(
  names: readonly string[],
  body: SubmitRunBody,
  { ensembles = [] }: Partial<Pick<Capabilities, 'ensembles'>>,
): readonly string[] {
  const ensemble = ensembles.find(({ name }) => name === (body.ensemble ?? ensembles[0]?.name))
  if (ensemble === undefined) return []
  // Overrides can bring texts with variables of their own.
  const texts = JSON.stringify(body.taskOverrides ?? {})
  return names
    .filter((name) => !ensemble.variables.includes(name) && !texts.includes(`{${name}}`))
    .map((name) => {
      const meant = suggest(name, ensemble.variables)
      const hint = meant === undefined ? '' : `. Did you mean "${meant}"?`
      return `Input "${name}" is not used: no task of "${ensemble.name}" has {${name}}${hint}`
    })
}
