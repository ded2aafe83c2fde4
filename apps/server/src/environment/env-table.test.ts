import { globSync, readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

import { CLIENT_VARIABLES, SERVER_VARIABLES } from './env-table.ts'

const SOURCES = new URL('../', import.meta.url)

it('Sources read the environment only through the type that has the names of the table', () => {
  const files = globSync('**/*.ts', { cwd: SOURCES }).filter((path) => !path.endsWith('.test.ts'))
  expect(files).toContain('environment/env.ts')
  const reading = files.filter((path) =>
    /process\.env\b|ProcessEnv|\{[^}]*\benv\b[^}]*\} = process|\benv\b.*from 'node:process'/.test(
      readFileSync(new URL(path, SOURCES), 'utf8'),
    ),
  )
  // The second one only passes the environment on to the process that replaces it.
  expect(reading.toSorted()).toEqual(['environment/env.ts', 'start/compile-on-main-thread.ts'])
})

it('Each variable has one row', () => {
  const names = [...SERVER_VARIABLES, ...CLIENT_VARIABLES].map(({ name }) => name)
  expect(names).toEqual([...new Set(names)])
})
