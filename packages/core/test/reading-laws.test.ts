/**
 * Laws of reading that hold for every schema and every value, tested with many random ones.
 *
 * CORE-L1 A valid value is accepted.
 * CORE-L2 A returned value is valid.
 * CORE-L3 Reading a returned value again does not change it.
 * CORE-L4 The caller's value is never modified, and copied only where it changes.
 * CORE-L5 Normalization does not change a value that passes the closed check.
 * CORE-L6 Coercion does not change a valid value.
 * CORE-L7 Every rejection has a problem with a reason.
 */
import { compiledCheck } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { compileClosedCheck } from '../src/input/closed-schema.ts'
import { createJsonReader } from '../src/input/json-reader.ts'
import { normalize } from '../src/input/normalize.ts'
import { openUsableSchema } from '../src/input/usable-schema.ts'
import { randomSchemas } from './random-schema.ts'

import type { SchemaDocument } from '../src/input/schema-document.ts'
import type { TSchema } from 'typebox'

const SCHEMAS = 150
const VALUES = 12

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

describe.each([1, 2, 3, 4])('with seed %d', (seed) => {
  it.each([true, false])(
    '[CORE-L1] [CORE-L2] [CORE-L3] [CORE-L4] [CORE-L5] [CORE-L6] [CORE-L7] The laws of reading hold with coercion: %s',
    (coerce) => {
      const random = randomSchemas(seed)
      const counts = { read: 0, changed: 0, refused: 0, closed: 0 }
      const broken: unknown[] = []
      for (let made = 0; made < SCHEMAS; made++) {
        const schema = random.schema()
        const document = tryDocument(schema)
        for (let count = 0; document !== undefined && count < VALUES; count++) {
          const value = random.value(schema)
          const finding = tryLaws({ schema, document, coerce }, value)
          counts[finding.outcome] += 1
          counts.closed += Number(finding.isClosed)
          if (finding.broken.length > 0) broken.push({ ...finding, schema, value })
        }
      }
      expect(broken).toEqual([])
      // Each branch is taken often enough for the laws to be significant.
      expect(Math.min(...Object.values(counts))).toBeGreaterThan(100)
    },
  )
})

/** Opens a schema; returns undefined when its random default is invalid. */
function tryDocument(schema: TSchema): SchemaDocument | undefined {
  try {
    return openUsableSchema(schema, { action: 'Cannot try:', ofObject: false })
  } catch (error) {
    expect(String(error)).toMatch(/default must match/)
    return undefined
  }
}

interface Subject {
  readonly schema: TSchema
  readonly document: SchemaDocument
  readonly coerce: boolean
}

interface Finding {
  /** Violated laws. */
  readonly broken: readonly string[]
  /** Whether the value passes the closed check. */
  readonly isClosed: boolean
  readonly outcome: 'read' | 'changed' | 'refused'
}

function tryLaws({ schema, document, coerce }: Subject, value: unknown): Finding {
  const read = createJsonReader(schema, document, { coerce })
  const fits = compiledCheck(schema)
  const before = JSON.stringify(value)
  const decoded = read(value)
  const isClosed = compileClosedCheck(document)?.(value) === true
  const rules = { coerce, fill: true, drop: true, nearest: false }
  const laws: Record<string, boolean> = {
    'CORE-L1': decoded.ok || !fits(value),
    'CORE-L4': JSON.stringify(value) === before,
    'CORE-L5': !isClosed || (fits(value) && normalize(document, value, rules) === value),
    'CORE-L7': decoded.ok || (decoded.problems.length > 0 && !decoded.problems.some(isUnexplained)),
  }
  if (decoded.ok) {
    const again = read(decoded.value)
    const plain = createJsonReader(schema, document, { coerce: false })(value)
    Object.assign(laws, {
      'CORE-L2': fits(decoded.value),
      'CORE-L3': again.ok && same(again.value, decoded.value),
      'CORE-L4, copies': decoded.value === value || !same(decoded.value, value),
      'CORE-L6': !fits(value) || (plain.ok && same(plain.value, decoded.value)),
    })
  }
  const broken = Object.keys(laws).filter((law) => laws[law] === false)
  if (!decoded.ok) return { broken, isClosed, outcome: 'refused' }
  return { broken, isClosed, outcome: decoded.value === value ? 'read' : 'changed' }
}

function isUnexplained({ message }: { readonly message: string }): boolean {
  return /cannot be checked|does not match its schema/.test(message)
}
