import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { dashboardOf } from './dashboard-of.ts'

const ALL = { role: 'all' } as const

let parent = ''
let places: readonly URL[] = []
let warnings: (readonly [string, unknown])[] = []

const logger = {
  warn: (message: string, fields: unknown) => {
    warnings.push([message, fields])
  },
}

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'tutti-dashboard-of-'))
  places = ['beside', 'package'].map((name) => pathToFileURL(join(parent, name, '/')))
  for (const name of ['beside', 'package']) mkdirSync(join(parent, name))
  warnings = []
})

afterEach(() => {
  rmSync(parent, { recursive: true })
})

describe('dashboardOf', () => {
  it('is the first place that has a page, as a path', () => {
    put('package')
    expect(dashboardOf({}, ALL, { logger, places })).toBe(join(parent, 'package', '/'))
    put('beside')
    expect(dashboardOf({}, ALL, { logger, places })).toBe(join(parent, 'beside', '/'))
    expect(dashboardOf({ dashboard: true }, { role: 'api' }, { logger, places })).toBe(
      join(parent, 'beside', '/'),
    )
    expect(warnings).toEqual([])
  })

  it('is nothing where it is switched off, and for a worker, without a word', () => {
    put('beside')
    expect(dashboardOf({ dashboard: false }, ALL, { logger, places })).toBeUndefined()
    expect(dashboardOf({}, { role: 'worker' }, { logger, places: [] })).toBeUndefined()
    expect(warnings).toEqual([])
  })

  it('is nothing in an installation that lacks it, whose log says what to do', () => {
    expect(dashboardOf({}, ALL, { logger, places })).toBeUndefined()
    expect(warnings).toEqual([
      [
        expect.stringMatching(/is missing.*Install @tutti\/server again.*dashboard: false/),
        { tried: [join(parent, 'beside', '/'), join(parent, 'package', '/')] },
      ],
    ])
  })
})

function put(place: string): void {
  writeFileSync(join(parent, place, 'index.html'), '<!doctype html>')
}
