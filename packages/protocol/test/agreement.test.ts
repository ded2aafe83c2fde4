/**
 * Property test: `decode`, `describeProblems` and TypeBox's interpreter agree on what is valid. The values are the
 * valid fixtures with one change each, the same ones on every run.
 */
import { Check } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { decode } from '../src/index.ts'
import { describeProblems } from '../src/internal.ts'
import { fixturesIn, schemaNamed } from './fixtures.ts'

const CHANGES_EACH = 15
const REPLACEMENTS = [
  null,
  true,
  0,
  -1,
  1.5,
  '',
  'x',
  [],
  {},
  ['x'],
  { type: 'ping' },
  [{}],
  'RUNNING',
]

describe('decode, describeProblems and TypeBox', () => {
  it.each(fixturesIn('valid'))(
    'The verdicts of `decode`, describeProblems and TypeBox agree on changes of $name',
    ({ schema, text }) => {
      const node = schemaNamed(schema)
      const random = randomFrom(text)
      for (let change = 0; change < CHANGES_EACH; change++) {
        const value = changed(JSON.parse(text), random)
        const fits = Check(node, value)
        expect(decode(node, value).ok, JSON.stringify(value)).toBe(fits)
        expect(describeProblems(node, value).length === 0, JSON.stringify(value)).toBe(fits)
      }
    },
  )
})

type Random = (below: number) => number

/** Returns the value with one part replaced, one field removed or one added. */
function changed(value: unknown, random: Random): unknown {
  const locations: (() => unknown)[] = [() => REPLACEMENTS[random(REPLACEMENTS.length)]]
  collect(value, locations, { root: value, random })
  return locations[random(locations.length)]?.()
}

function collect(
  value: unknown,
  locations: (() => unknown)[],
  { root, random }: { readonly root: unknown; readonly random: Random },
): void {
  if (typeof value !== 'object' || value === null) return
  const act = (action: () => void) => locations.push(() => (action(), root))
  act(() => Reflect.set(value, 'addedField', 1))
  for (const key of Object.keys(value)) {
    act(() => Reflect.set(value, key, REPLACEMENTS[random(REPLACEMENTS.length)]))
    if (!Array.isArray(value)) act(() => Reflect.deleteProperty(value, key))
    collect(Reflect.get(value, key), locations, { root, random })
  }
}

/** Linear congruential generator, seeded by the text, so that every test run makes the same changes. */
function randomFrom(text: string): Random {
  let state = [...text].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) >>> 0, 7)
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
