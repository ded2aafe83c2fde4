/**
 * Rule ids are unique and resolvable. A rule is defined in SPEC.md (`- **ENS-W1** Text`) or in the header of a source
 * file (` * RUNS-P1 Text`), and test titles cite it: `it('[RUNS-P1] …'`.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The prefix of the rule ids of a package. `ensemble` defines its rules in SPEC.md; source headers repeat them. */
const PREFIXES = {
  ensemble: 'ENS',
  runs: 'RUNS',
  core: 'CORE',
  gateway: 'GW',
  'control-api': 'API',
}

const texts = new Map(
  execFileSync('git', ['ls-files', '--', '*.ts', '*.tsx', '*.md'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && !path.endsWith('CHANGELOG.md'))
    .filter((path) => existsSync(join(ROOT, path)))
    .map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]),
)

function readTests(): readonly (readonly [path: string, text: string])[] {
  return [...texts].filter(
    ([path]) => path.endsWith('.ts') && /\/test(ing)?\/|\.test\.ts$/.test(path),
  )
}

/** Returns the first groups of all matches in the texts of a selection of files. */
function findAll(pattern: RegExp, isRead: (path: string) => boolean): readonly string[] {
  return [...texts]
    .filter(([path]) => isRead(path))
    .flatMap(([, text]) => [...text.matchAll(pattern)].map(([, id = '']) => id))
}

describe.each(Object.entries(PREFIXES))('the rule ids of %s', (name, prefix) => {
  const folder = `packages/${name}/`
  const defined =
    name === 'ensemble'
      ? findAll(/^- \*\*(ENS-[A-Z]\d+)\*\* /gm, (path) => path === `${folder}SPEC.md`)
      : findAll(new RegExp(`^ \\* (${prefix}-[A-Z]\\d+) [A-Z\`$]`, 'gm'), (path) =>
          path.startsWith(folder),
        )

  it('are each defined once', () => {
    expect(defined.length).toBeGreaterThan(0)
    expect(defined.filter((id, index) => defined.indexOf(id) !== index)).toEqual([])
  })

  it('are defined wherever code or a page names one', () => {
    const named = findAll(new RegExp(`\\b(${prefix}-[A-Z]\\d+)\\b`, 'g'), () => true)
    expect([...new Set(named)].filter((id) => !defined.includes(id))).toEqual([])
  })

  it('are each cited by a test title', () => {
    const cited = new Set(
      readTests().flatMap(([, text]) =>
        [...text.matchAll(/\[([A-Z]+-[A-Z]\d+)\]/g)].map(([, id]) => id),
      ),
    )
    expect(defined.filter((id) => !cited.has(id))).toEqual([])
  })

  it('have the prefix in every test title of the package', () => {
    const bare = readTests()
      .filter(([path]) => path.startsWith(folder))
      .flatMap(([, text]) => [...text.matchAll(/['"`].*?(\[[A-Z]\d+\])/g)].map(([, id]) => id))
    expect(bare).toEqual([])
  })
})
