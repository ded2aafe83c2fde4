import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { readDashboard } from './read-dashboard.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tutti-read-dashboard-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true })
})

describe('readDashboard', () => {
  it('readDashboard returns the page and all other files with their URL paths', async () => {
    write('index.html', 'favicon.svg', 'assets/index-DKaX9_-q.js', 'assets/fonts/plex.woff2')
    const { page, files } = await readDashboard(folder)
    expect(text(page)).toBe('of index.html')
    expect(files.map(({ name, bytes }) => [name, text(bytes)])).toEqual([
      ['assets/fonts/plex.woff2', 'of assets/fonts/plex.woff2'],
      ['assets/index-DKaX9_-q.js', 'of assets/index-DKaX9_-q.js'],
      ['favicon.svg', 'of favicon.svg'],
    ])
  })

  it('readDashboard skips hidden files, files in hidden folders, and links', async () => {
    write('index.html', '.env', '.vite/manifest.json', 'assets/.map')
    symlinkSync('/etc/hostname', join(folder, 'assets', 'link.txt'))
    symlinkSync(tmpdir(), join(folder, 'elsewhere'))
    expect((await readDashboard(folder)).files).toEqual([])
  })

  it.each([
    ['no page', ['assets/index.html'], 'there is no index.html'],
    ['a name with a space', ['index.html', 'a b.js'], 'got "a b.js"'],
    [
      'names with characters of router patterns',
      ['index.html', ':all', 'assets/*.js'],
      'got ":all", "assets/*.js"',
    ],
  ])('readDashboard refuses a folder with %s and names it', async (_, names, why) => {
    write(...names)
    const failed = readDashboard(folder)
    await expect(failed).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(failed).rejects.toThrow(`Cannot serve the dashboard from "${folder}": `)
    await expect(failed).rejects.toThrow(why)
  })

  it('readDashboard refuses a folder that does not exist', async () => {
    const failed = readDashboard(join(folder, 'none'))
    await expect(failed).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(failed).rejects.toThrow(/none": ENOENT/)
  })
})

function write(...names: readonly string[]): void {
  for (const name of names) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `of ${name}`)
  }
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
