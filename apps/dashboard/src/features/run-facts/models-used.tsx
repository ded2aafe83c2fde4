/** Which models the tasks of a run have asked. */
import { plural } from '../../lib/format.ts'
import { Fact, Facts } from './facts.tsx'

import type { RunState } from '@tutti/protocol'

/** The models by task, and what was switched. */
export function ModelsUsed({ state: { tasks, model } }: { readonly state: RunState }) {
  const asked = tasks.filter(({ turns, model: own }) => turns.length > 0 || own !== undefined)
  if (asked.length === 0 && model === undefined) return null
  return (
    <Facts title="Models">
      <Fact name="The run">{model === undefined ? undefined : `switched to ${model}`}</Fact>
      {asked.map(({ name, turns, model: own }) => (
        <Fact key={name} name={name} isOwn>
          {[
            ...countsOf(turns.map((turn) => turn.model)),
            ...(own === undefined ? [] : [`switched to ${own}`]),
          ].join(', ')}
        </Fact>
      ))}
    </Facts>
  )
}

/** `small: 3 calls`, in the order in which they were asked first. */
function countsOf(models: readonly string[]): readonly string[] {
  return [...new Set(models)].map((model) => {
    const count = models.filter((one) => one === model).length
    return `${model}: ${plural(count, 'call')}`
  })
}
