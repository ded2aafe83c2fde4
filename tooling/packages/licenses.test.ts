import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { isAllowedLicense } from '../build/allowed-licenses.ts'
import { listShippedPackages } from './licenses.ts'

describe('isAllowedLicense', () => {
  it.each([
    ['MIT', true],
    ['(Apache-2.0 AND BSD-3-Clause)', true],
    ['(GPL-3.0-only OR MIT)', true],
    ['GPL-3.0-only', false],
    ['MIT AND AGPL-3.0-only', false],
    ['SEE LICENSE IN LICENSE.md', false],
    ['none', false],
  ])('isAllowedLicense("%s") returns %s', (expression, isAllowed) => {
    expect(isAllowedLicense(expression)).toBe(isAllowed)
  })
})

describe('the shipped packages', () => {
  const packages = listShippedPackages(fileURLToPath(new URL('../..', import.meta.url)))

  it('The shipped packages include direct, indirect, optional and image-only dependencies', () => {
    const names = packages.map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining(['pg', 'pg-protocol', '@langchain/groq', '@nats-io/jetstream']),
    )
    expect(names).not.toContain('vitest')
  })

  it('The shipped packages have licenses on the list', () => {
    expect(packages.filter(({ license }) => !isAllowedLicense(license))).toEqual([])
  })
})
