/** Tests that the check of the layers finds imports against their order, and folders without an order. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { findLayerProblems, orderRules } from './layers.ts'

describe('orderRules', () => {
  const rules = orderRules(
    'packages/core/src',
    ['clock.ts', 'tool', 'call'],
    [String.raw`\.test\.ts$`],
  )
  const isForbidden = (from: string, to: string): boolean =>
    rules.some(
      (rule) =>
        matchesAny(from, [rule.from.path]) &&
        !matchesAny(from, rule.from.pathNot) &&
        matchesAny(to, [rule.to.path]) &&
        !matchesAny(to, rule.to.pathNot),
    )

  test.each([
    ['a later layer', 'packages/core/src/tool/tool.ts', 'packages/core/src/call/run-tool.ts', true],
    [
      'an earlier layer',
      'packages/core/src/call/run-tool.ts',
      'packages/core/src/tool/tool.ts',
      false,
    ],
    [
      'its own layer',
      'packages/core/src/call/run-tool.ts',
      'packages/core/src/call/options.ts',
      false,
    ],
    [
      'a layer that is a file',
      'packages/core/src/tool/tool.ts',
      'packages/core/src/clock.ts',
      false,
    ],
    ['a folder above a file', 'packages/core/src/clock.ts', 'packages/core/src/tool/tool.ts', true],
    [
      'a file above the layers',
      'packages/core/src/call/run-tool.ts',
      'packages/core/src/index.ts',
      true,
    ],
    [
      'a folder whose name starts alike',
      'packages/core/src/tool/tool.ts',
      'packages/core/src/tools/a.ts',
      true,
    ],
    ['another package', 'packages/core/src/tool/tool.ts', 'packages/protocol/src/index.ts', false],
  ])('An import of %s is checked', (_what, from, to, isExpected) => {
    expect(isForbidden(from, to)).toBe(isExpected)
  })

  test('A test and the entry point may import every layer', () => {
    const later = 'packages/core/src/call/run-tool.ts'
    expect(isForbidden('packages/core/src/tool/tool.test.ts', later)).toBe(false)
    expect(isForbidden('packages/core/src/index.ts', later)).toBe(false)
  })
})

describe('findLayerProblems', () => {
  const root = mkdtempSync(join(tmpdir(), 'tutti-layers-'))
  afterAll(() => {
    rmSync(root, { recursive: true })
  })
  for (const path of [
    'apps/server/src/main.ts',
    'packages/core/src/index.ts',
    'packages/core/src/call/run-tool.ts',
    'packages/core/src/tool/tool.tsx',
    'packages/core/src/fixtures/program.ts',
    'tooling/tasks/check.ts',
    'tooling/tsconfig/base.json',
  ]) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), '')
  }
  const complete = { 'apps/server/src': '', 'packages/core/src': 'tool call', tooling: 'tasks' }

  test('A table with every folder has no problem', () => {
    expect(findLayerProblems(root, complete)).toEqual([])
  })

  test('A package without an entry is named', () => {
    const { 'apps/server/src': _, ...others } = complete
    expect(findLayerProblems(root, others)).toEqual(['apps/server/src has no entry in LAYERS'])
  })

  test('A folder that is not a layer and a layer that does not exist are named', () => {
    const table = { ...complete, 'packages/core/src': 'clock.ts tool' }
    expect(findLayerProblems(root, table)).toEqual([
      'packages/core/src/call is not among the layers of packages/core/src',
      'packages/core/src/clock.ts is a layer that does not exist',
    ])
  })
})

function matchesAny(path: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => new RegExp(pattern).test(path))
}
