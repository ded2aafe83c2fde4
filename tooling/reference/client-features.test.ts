/** Tests that each mark in the matrix of clients has its test. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { CLIENTS } from './client-features.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const marks = CLIENTS.flatMap(({ name, features }) =>
  Object.entries(features).flatMap(([feature, test]) =>
    typeof test === 'string' ? [] : [{ name, feature, ...test }],
  ),
)

describe('the matrix of clients', () => {
  it.each(marks)(
    'The matrix of clients links "$feature" of $name to a test that exists',
    ({ file, group, title }) => {
      const source = readFileSync(join(ROOT, file), 'utf8')
      expect(findTitles(group === undefined ? source : readGroup(source, group))).toContain(title)
    },
  )

  it('The matrix of clients names each client once', () => {
    const names = CLIENTS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})

/** Returns the titles of tests and groups: texts before a function. */
function findTitles(source: string): readonly string[] {
  const titles = source.matchAll(/[(\n]\s*'([^'\n]+)',\s*(?:async )?\(/g)
  return [...titles].map(([, title = '']) => title)
}

/** Returns the source of a group; empty when the file has none with this title. */
function readGroup(source: string, group: string): string {
  const from = source.indexOf(`'${group}', (`)
  return from === -1 ? '' : source.slice(from, source.indexOf('\n})\n', from))
}
