/** Ensembles with gates: a task that is reviewed, and a tool that is asked for. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task, type ReviewSettings } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'

/** How long a reviewer of the choir has, in milliseconds. */
export const REVIEW_MS = 60_000

/** An ensemble whose only task is reviewed when it is done. */
export function reviewedTask(review: ReviewSettings = {}) {
  const sing = task({
    name: 'sing',
    description: 'Sing {song}',
    review: { prompt: 'Is it in tune?', timeoutMs: REVIEW_MS, ...review },
  })
  return ensemble({
    name: 'choir',
    tasks: [sing],
    model: scriptedModel(() => 'La la', { provider: 'scripted' }),
  })
}

/** An ensemble whose tool is called only when a person agrees; it gives back what it was called with. */
export function approvedTool() {
  const tune = defineTool({
    name: 'tune',
    description: 'Tunes to a frequency',
    input: Type.Object({ hertz: Type.Number() }),
    requireApproval: true,
    execute: ({ hertz }) => `Tuned to ${hertz}`,
  })
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return last.content
    return { toolCalls: [{ name: 'tune', arguments: { hertz: 440 } }] }
  })
  const play = task({ name: 'play', description: 'Play {song}', tools: [tune] })
  return ensemble({ name: 'soloist', tasks: [play], model })
}
