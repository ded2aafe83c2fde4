import { Type } from '@tutti/core'
import { expectTypeOf, test } from 'vitest'

import { compileOutputReader, type OutputReader, type OutputReading } from './structured-output.ts'

test('An output reader returns values of the type of its schema', () => {
  const reader = compileOutputReader(Type.Object({ a: Type.Integer() }))
  expectTypeOf(reader).toEqualTypeOf<OutputReader<{ a: number }>>()
  expectTypeOf(reader.read('')).resolves.toEqualTypeOf<OutputReading<{ a: number }>>()
})
