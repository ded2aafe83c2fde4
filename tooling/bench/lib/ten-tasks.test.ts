import { expect, test } from 'vitest'

import { ANSWERS, countOn, promptOf, SHAPES, type Layers } from './ten-tasks.ts'

const NAMES = ['sequence', 'graph'] as const

test.each(NAMES)('The ten tasks in a %s have unique names', (shape) => {
  expect(new Set(SHAPES[shape].flat()).size).toBe(10)
})

test.each(NAMES)('The last task of a %s computes the documented answer', (shape) => {
  expect(lastAnswer(SHAPES[shape])).toBe(ANSWERS[shape])
})

test.each(NAMES)('The last answer of a %s changes when a dependency is omitted', (shape) => {
  const layers = SHAPES[shape]
  for (const [layer, names] of layers.entries()) {
    for (const name of names) {
      for (const earlier of layers[layer - 1] ?? []) {
        expect(lastAnswer(layers, `${earlier} > ${name}`)).not.toBe(ANSWERS[shape])
      }
    }
  }
})

/** Runs the tasks without an engine, and without one dependency. */
function lastAnswer(layers: Layers, without?: string): string {
  const answers = new Map<string, string>()
  for (const [layer, names] of layers.entries()) {
    for (const name of names) {
      const before = (layers[layer - 1] ?? []).filter((it) => `${it} > ${name}` !== without)
      const texts = before.map((it) => answers.get(it) ?? '')
      answers.set(name, countOn(promptOf(name, texts)))
    }
  }
  return answers.get(layers.at(-1)?.[0] ?? '') ?? ''
}
