/**
 * Tests the release of changesets: one new version for all public packages, with change logs. It works on a
 * copy of the manifests and change logs with one additional changeset, so that a release is always possible.
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { publicPackages } from '../packages/pack.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MANIFESTS = '{packages,apps,examples}/*/package.json'
const CHANGELOGS = '{packages,apps}/*/CHANGELOG.md'

let copy: string
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'tutti-versions-'))
  const files = globSync([MANIFESTS, CHANGELOGS], { cwd: ROOT, exclude: ['**/node_modules/**'] })
  for (const path of ['package.json', 'pnpm-workspace.yaml', '.changeset', ...files]) {
    cpSync(join(ROOT, path), join(copy, path), { recursive: true })
  }
  writeFileSync(
    join(copy, '.changeset/one-more.md'),
    "---\n'@tutti/core': minor\n---\n\nOne more.\n",
  )
  git('init', '--quiet', '--initial-branch=main')
  git('add', '.')
  git('-c', 'user.name=Test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '-m', 'All')
  execFileSync(join(ROOT, 'node_modules/.bin/changeset'), ['version'], { cwd: copy, stdio: 'pipe' })
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

test('All public packages get the same next minor version before 1.0', () => {
  const versions = publicPackages().map(({ name, directory }) => [
    name,
    manifestIn(join(copy, directory)).version,
  ])
  const [[, first] = []] = versions
  expect(versions).toEqual(versions.map(([name]) => [name, first]))
  const [major, minor] = manifestIn(join(ROOT, 'packages/core')).version.split('.')
  expect(first).toBe(`${major}.${Number(minor) + 1}.0`)
})

test('Each public package has a change log that begins with the new version and retains the earlier ones', () => {
  for (const { directory } of publicPackages()) {
    const { version } = manifestIn(join(copy, directory))
    const path = join(copy, directory, 'CHANGELOG.md')
    expect(existsSync(path), path).toBe(true)
    const [, newest, ...earlier] = readFileSync(path, 'utf8').split(/^## /m)
    expect(newest?.split('\n')[0]).toBe(version)
    const before = join(ROOT, directory, 'CHANGELOG.md')
    const [, ...known] = existsSync(before) ? readFileSync(before, 'utf8').split(/^## /m) : []
    expect(earlier.map((text) => text.trim())).toEqual(known.map((text) => text.trim()))
    expect(manifestIn(join(ROOT, directory)).files).toContain('CHANGELOG.md')
  }
})

test('Private packages keep their version and get no change log', () => {
  const released = new Set(publicPackages().map(({ directory }) => directory))
  const others = globSync(MANIFESTS, { cwd: copy })
    .map((path) => dirname(path))
    .filter((directory) => !released.has(directory))
  expect(others.length).toBeGreaterThan(0)
  for (const directory of others) {
    expect(manifestIn(join(copy, directory)).version).toBe('0.0.0')
    expect(existsSync(join(copy, directory, 'CHANGELOG.md'))).toBe(false)
  }
})

test('A package that was never released is named by a changeset', () => {
  const folder = join(ROOT, '.changeset')
  const texts = readdirSync(folder)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  const unnamed = publicPackages()
    .filter(({ directory }) => !existsSync(join(ROOT, directory, 'CHANGELOG.md')))
    .filter(({ name }) => !texts.some((text) => text.includes(`\n'${name}': `)))
  expect(unnamed.map(({ name }) => name)).toEqual([])
})

interface Manifest {
  readonly version: string
  readonly files?: readonly string[]
}

function manifestIn(directory: string): Manifest {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
}

function git(...words: readonly string[]): void {
  execFileSync('git', words, { cwd: copy, stdio: 'pipe' })
}
