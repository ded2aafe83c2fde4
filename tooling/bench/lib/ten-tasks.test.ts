import { expect, test } from 'vitest'

import { ANSWERS, countOn, promptOf, SHAPES, type Layers } from './ten-tasks.ts'

const NAMES = ['sequence', 'graph'] as const

test.each(NAMES)('a %s has ten tasks, each with its own name', (shape) => {
  expect(new Set(SHAPES[shape].flat()).size).toBe(10)
})

test.each(NAMES)('the last task of a %s answers as written down', (shape) => {
  expect(lastAnswer(SHAPES[shape])).toBe(ANSWERS[shape])
})

test.each(NAMES)('a dependency of a %s that is left out changes the last answer', (shape) => {
  const layers = SHAPES[shape]
  for (const [layer, names] of layers.entries()) {
    for (const name of names) {
      for (const earlier of layers[layer - 1] ?? []) {
        expect(lastAnswer(layers, `${earlier} > ${name}`)).not.toBe(ANSWERS[shape])
      }
    }
  }
})

/** Runs the tasks without any engine, but for the dependency `without`. */
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
