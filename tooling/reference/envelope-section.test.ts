import { expect, test } from 'vitest'

import { replaceEnvelope } from './envelope-section.ts'

import type { Results } from '../bench/lib/results.ts'

const RESULTS: Results = {
  machine: { cores: 2, processor: 'a processor', memoryGiB: 8, node: '24.0.0' },
  areas: [
    {
      area: 'scale',
      date: '2026-01-02',
      tables: [{ title: 'One Postgres', columns: ['', 'measured'], rows: [['claims', '1,234/s']] }],
      claims: [{ text: 'fast', measured: '1 s', isMet: false }],
    },
  ],
}

const PAGE = [
  'before',
  '<!-- Written by "npm run gen" from docs/performance.json; do not edit. -->',
  'old',
  '<!-- End of the written part. -->',
  'after',
].join('\n')

test('The envelope section replaces the written part with the recorded table, its date and its machine', () => {
  const lines = replaceEnvelope(PAGE, RESULTS).split('\n')
  expect(lines[0]).toBe('before')
  expect(lines.at(-1)).toBe('after')
  expect(lines).toContain('| claims | 1,234/s |')
  expect(lines).toContain('| fast | 1 s | NOT met |')
  expect(lines.join(' ')).toContain('Measured 2026-01-02 on 2 cores (a processor)')
  expect(lines).not.toContain('old')
})

test('The envelope section writes the same when it is repeated', () => {
  const once = replaceEnvelope(PAGE, RESULTS)
  expect(replaceEnvelope(once, RESULTS)).toBe(once)
})

test('The envelope section reports that no results are recorded', () => {
  expect(replaceEnvelope(PAGE, { ...RESULTS, areas: [] })).toContain('No results are recorded yet.')
})

test('The envelope section fails for a page without its section', () => {
  expect(() => replaceEnvelope('page', RESULTS)).toThrow('no section for docs/performance.json')
})
