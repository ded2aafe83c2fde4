/** Ensembles with reviews: of a task output, and of a tool call. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task, type ReviewSettings } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'

/** Timeout of reviews in the choir, in milliseconds. */
export const REVIEW_MS = 60_000

/** Ensemble whose only task is reviewed when it is done. */
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

/** Ensemble whose tool requires approval and returns its input. */
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
