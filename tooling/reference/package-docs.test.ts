/** Tests what a coding agent finds that has only `node_modules`: the READMEs, skills and pages of the packages. */
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { findUndocumented } from '../packages/find-undocumented.ts'
import { publicPackages } from '../packages/pack.ts'
import { packagedPages, selectOptions } from '../packages/package-docs.ts'
import { has, namedFiles, skillName, skillProblems } from '../packages/skill-rules.ts'
import { publicNames } from './public-names.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const modules = mkdtempSync(join(tmpdir(), 'tutti-pages-'))

beforeAll(() => {
  for (const each of publicPackages()) {
    const folder = join(modules, each.name)
    mkdirSync(folder, { recursive: true })
    cpSync(join(ROOT, each.directory, 'README.md'), join(folder, 'README.md'))
    cpSync(join(ROOT, each.directory, 'skills'), join(folder, 'skills'), { recursive: true })
    for (const { path, text } of packagedPages(ROOT, each)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  }
})
afterAll(() => rmSync(modules, { recursive: true }))

describe('the pages of installed packages', () => {
  it.each(Object.entries(publicNames()))(
    'The pages of installed packages have every %s by its name',
    (_, names) => {
      expect(names.length).toBeGreaterThan(10)
      expect(findUndocumented(modules, names)).toEqual([])
    },
  )

  it('A name without a page is found, also if a longer name has one', () => {
    expect(findUndocumented(modules, ['timeoutMs', 'timeoutM', 'run_queue'])).toEqual([
      'timeoutM',
      'run_queue',
    ])
  })

  it.each(publicPackages())('The skill of $name follows the rules', ({ name, directory }) => {
    const folder = join(modules, name)
    expect(skillProblems({ manifest: manifestIn(directory), ...contentsOf(folder) })).toEqual([])
    const skill = readFileSync(join(folder, 'skills', skillName(name), 'SKILL.md'), 'utf8')
    const missing = namedFiles(skill).filter(
      (named) => !has(contentsOf(join(modules, named.packageName)).files, named),
    )
    expect(missing).toEqual([])
  })

  it('A package lists the folders of its pages and its skill in its manifest', () => {
    for (const each of publicPackages()) {
      const { files } = manifestIn(each.directory)
      expect([each.name, files.includes('skills')]).toEqual([each.name, true])
      const hasPages = packagedPages(ROOT, each).length > 0
      expect([each.name, files.includes('docs')]).toEqual([each.name, hasPages])
    }
  })

  it('A link leads to another page of the package, or to the tag of the release', () => {
    const page = packagedPages(ROOT, { name: '@tutti/server', version: '1.2.3' }).find(
      ({ path }) => path === 'docs/README.md',
    )
    expect(page?.text).toContain('](how-to/review.md)')
    expect(page?.text).toContain(
      '](https://github.com/tutti-dev/tutti/blob/@tutti/server@1.2.3/packages/core)',
    )
    expect(page?.text).not.toContain('](../')
  })
})

describe('selectOptions', () => {
  it('selectOptions returns the section of one package', () => {
    const page = '<!-- Note -->\n\n# Options\n\nText.\n\n## @tutti/a\n\nA\n\n## @tutti/ab\n\nB\n'
    expect(selectOptions(page, '@tutti/a')).toBe('<!-- Note -->\n\n# Options of @tutti/a\n\nA\n')
    expect(selectOptions(page, '@tutti/c')).toBeUndefined()
  })
})

function contentsOf(folder: string) {
  const files = globSync('**/*.md', { cwd: folder })
  return { files, read: (path: string): string => readFileSync(join(folder, path), 'utf8') }
}

function manifestIn(directory: string) {
  return JSON.parse(readFileSync(join(ROOT, directory, 'package.json'), 'utf8'))
}
