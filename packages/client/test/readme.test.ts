import { readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

it.each(['create-client', 'connect'])(
  'The README shows the example of %s that is type-checked',
  (name) => {
    const example = textOf(`../src/${name}.examples.ts`)
    const [, shown] = /\/\/ #region readme\n(.*)\/\/ #endregion/s.exec(example) ?? []
    expect(shown).toBeDefined()
    expect(textOf('../README.md')).toContain(`\`\`\`ts\n${shown}\`\`\``)
  },
)

function textOf(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}
