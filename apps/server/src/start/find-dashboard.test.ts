import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { findDashboard } from './find-dashboard.ts'

const ALL = { role: 'all' } as const

let parent = ''
let folders: readonly URL[] = []
let warnings: (readonly [string, unknown])[] = []

const logger = {
  warn: (message: string, fields: unknown) => {
    warnings.push([message, fields])
  },
}

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'tutti-dashboard-of-'))
  folders = ['program', 'package'].map((name) => pathToFileURL(join(parent, name, '/')))
  for (const name of ['program', 'package']) mkdirSync(join(parent, name))
  warnings = []
})

afterEach(() => {
  rmSync(parent, { recursive: true })
})

describe('findDashboard', () => {
  it('findDashboard returns the first folder that has a page', () => {
    put('package')
    expect(findDashboard({}, ALL, { logger, folders })).toBe(join(parent, 'package', '/'))
    put('program')
    expect(findDashboard({}, ALL, { logger, folders })).toBe(join(parent, 'program', '/'))
    expect(findDashboard({ dashboard: true }, { role: 'api' }, { logger, folders })).toBe(
      join(parent, 'program', '/'),
    )
    expect(warnings).toEqual([])
  })

  it('findDashboard returns undefined without a warning when the dashboard is off, and for a worker', () => {
    put('program')
    expect(findDashboard({ dashboard: false }, ALL, { logger, folders })).toBeUndefined()
    expect(findDashboard({}, { role: 'worker' }, { logger, folders: [] })).toBeUndefined()
    expect(warnings).toEqual([])
  })

  it('findDashboard returns undefined with a warning in an installation that lacks the dashboard', () => {
    expect(findDashboard({}, ALL, { logger, folders })).toBeUndefined()
    expect(warnings).toEqual([
      [
        expect.stringMatching(/is missing.*Install @tutti\/server again.*dashboard: false/),
        { tried: [join(parent, 'program', '/'), join(parent, 'package', '/')] },
      ],
    ])
  })
})

function put(folder: string): void {
  writeFileSync(join(parent, folder, 'index.html'), '<!doctype html>')
}
