import { readFileSync } from 'node:fs'
import { expect, it, vi } from 'vitest'

it('the example of the README is the one that runs, and prints what it says', async () => {
  const example = readFileSync(new URL('readme-example.ts', import.meta.url), 'utf8')
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const shown = /```ts\n(.*?)```/s.exec(readme)?.[1]
  expect(shown).toBe(example.replace('../src/index.ts', '@tutti/core'))

  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  await import('./readme-example.ts')
  const printed = log.mock.calls.map(([line]) => `// ${line}\n`).join('')
  log.mockRestore()
  expect(example.endsWith(printed)).toBe(true)
  expect(printed).not.toBe('')
})
