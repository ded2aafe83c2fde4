import { readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

it('shows the example that is type-checked', () => {
  const example = textOf('../src/create-client.examples.ts')
  const [, shown] = /\/\/ #region readme\n(.*)\/\/ #endregion/s.exec(example) ?? []
  expect(shown).toBeDefined()
  expect(textOf('../README.md')).toContain(`\`\`\`ts\n${shown}\`\`\``)
})

function textOf(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}
