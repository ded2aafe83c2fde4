/** Checks that packages resolve to their published form in the vitest project "built". */
import { expect, it } from 'vitest'

it.each(['@tutti/core', '@tutti/protocol'])(
  'The package specifier %s resolves to its built files',
  (name) => {
    expect(import.meta.resolve(name)).toMatch(/\/packages\/\w+\/dist\/.+\.js$/)
  },
)
