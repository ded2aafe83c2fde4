/** The work of the workflow benchmark: ten cheap tasks in layers, each building on all of the one before. */

/** Tasks by layer: one after the other, and a graph that widens and narrows. */
export const SHAPES = {
  sequence: layersOf([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
  graph: layersOf([1, 3, 3, 2, 1]),
} as const

/** What the last task answers; every dependency that is left out changes it. */
export const ANSWERS = { sequence: 'Counted 10', graph: 'Counted 45' } as const

/** Names of tasks by layer. */
export type Layers = readonly (readonly string[])[]

/**
 * What each task does, for everyone: one more than all the counts in `text`, which holds what the tasks
 * of the layer before answered.
 */
export function countOn(text: string): string {
  let sum = 1
  for (const [, count] of text.matchAll(/Counted (\d+)/g)) sum += Number(count)
  return `Counted ${sum}`
}

/** What a task is told: what to do, and the answers that it builds on. */
export function promptOf(name: string, answers: readonly string[]): string {
  return `## Task\nAdd up for ${name}\n\n${answers.join('\n')}`
}

function layersOf(widths: readonly number[]): Layers {
  return widths.map((width, layer) =>
    Array.from({ length: width }, (_, index) => `task-${layer}-${index}`),
  )
}
