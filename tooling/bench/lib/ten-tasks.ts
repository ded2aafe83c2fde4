/** The work of the workflow benchmark: ten cheap tasks in layers, each depending on the whole previous layer. */

/** Tasks by layer: a sequence, and a graph that widens and narrows. */
export const SHAPES = {
  sequence: layersOf([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
  graph: layersOf([1, 3, 3, 2, 1]),
} as const

/** Answer of the last task; each omitted dependency changes it. */
export const ANSWERS = { sequence: 'Counted 10', graph: 'Counted 45' } as const

/** Names of tasks by layer. */
export type Layers = readonly (readonly string[])[]

/** The work of each task: one more than all the counts in `text`, which has the answers of the previous layer. */
export function countOn(text: string): string {
  let sum = 1
  for (const [, count] of text.matchAll(/Counted (\d+)/g)) sum += Number(count)
  return `Counted ${sum}`
}

/** Returns the prompt of a task: its work and the answers that it depends on. */
export function promptOf(name: string, answers: readonly string[]): string {
  return `## Task\nAdd up for ${name}\n\n${answers.join('\n')}`
}

function layersOf(widths: readonly number[]): Layers {
  return widths.map((width, layer) =>
    Array.from({ length: width }, (_, index) => `task-${layer}-${index}`),
  )
}
