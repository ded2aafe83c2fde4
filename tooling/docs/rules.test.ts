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

/**
 * The prefix of the rule ids of each package, app and tool. `ensemble` defines its rules in SPEC.md; source headers repeat them.
 */
const PREFIXES = {
  'apps/dashboard': 'DASH',
  'apps/server': 'SERVER',
  'packages/agent-call': 'CALL',
  'packages/agent-tool': 'AGENT',
  'packages/builtin-tools': 'TOOLS',
  'packages/client': 'CLIENT',
  'packages/compat-agentensemble': 'AE',
  'packages/compat-jamjet': 'JAM',
  'packages/control-api': 'API',
  'packages/core': 'CORE',
  'packages/ensemble': 'ENS',
  'packages/gateway': 'GW',
  'packages/langchain': 'LC',
  'packages/mcp': 'MCP',
  'packages/nats': 'NATS',
  'packages/net': 'NET',
  'packages/pipeline': 'PIPE',
  'packages/protocol': 'PROTO',
  'packages/react': 'REACT',
  'packages/remote-tools': 'REMOTE',
  'packages/runs': 'RUNS',
  'packages/telemetry': 'TEL',
  'tooling/browser': 'BROWSER',
  'tooling/chaos': 'CHAOS',
  'tooling/postgres': 'KEEPER',
  'tooling/test/readers': 'READERS',
}

/** Prefixes of packages whose tests cite every rule. */
const CITED: ReadonlySet<string> = new Set([
  'AE',
  'API',
  'BROWSER',
  'CORE',
  'ENS',
  'GW',
  'JAM',
  'PIPE',
  'REACT',
  'READERS',
  'RUNS',
])

const texts = new Map(
  execFileSync('git', ['ls-files', '--', '*.ts', '*.tsx', '*.mjs', '*.md'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => path !== '' && !path.endsWith('CHANGELOG.md'))
    .filter((path) => existsSync(join(ROOT, path)))
    .map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]),
)

function readTests(): readonly (readonly [path: string, text: string])[] {
  return [...texts].filter(([path]) => /\/test(ing)?\/|\.test\.tsx?$/.test(path))
}

/** Returns the first groups of all matches in the texts of a selection of files. */
function findAll(pattern: RegExp, isRead: (path: string) => boolean): readonly string[] {
  return [...texts]
    .filter(([path]) => isRead(path))
    .flatMap(([, text]) => [...text.matchAll(pattern)].map(([, id = '']) => id))
}

describe.each(Object.entries(PREFIXES))('the rule ids of %s', (folder, prefix) => {
  const ownId = `${prefix}-[A-Z]{0,2}\\d+`
  const defined =
    prefix === 'ENS'
      ? findAll(/^- \*\*(ENS-[A-Z]\d+)\*\* /gm, (path) => path === `${folder}/SPEC.md`)
      : findAll(new RegExp(`^ \\* (${ownId}) [A-Z\`$'"{]`, 'gm'), (path) =>
          path.startsWith(`${folder}/`),
        )

  it('Rule ids of a package are each defined once', () => {
    expect(defined.length).toBeGreaterThan(0)
    expect(defined.filter((id, index) => defined.indexOf(id) !== index)).toEqual([])
  })

  it('Rule ids of a package are defined wherever code or a page names one', () => {
    const named = findAll(new RegExp(`(?<![\\w-])(${ownId})\\b`, 'g'), () => true)
    expect([...new Set(named)].filter((id) => !defined.includes(id))).toEqual([])
  })

  it.runIf(CITED.has(prefix))('Rule ids of a package are each cited by a test title', () => {
    const cited = new Set(
      readTests().flatMap(([, text]) =>
        [...text.matchAll(/\[([A-Z]+-[A-Z]{0,2}\d+)\]/g)].map(([, id]) => id),
      ),
    )
    expect(defined.filter((id) => !cited.has(id))).toEqual([])
  })
})

it('Each rule id has the prefix of its package', () => {
  const isCode = (path: string): boolean => !path.endsWith('.md')
  const bare = [
    ...findAll(/^ \* ([A-Z]{1,2}\d{1,2} [A-Z`$'"{].*)/gm, isCode),
    ...findAll(/^(.*\[[A-Z]{1,2}\d{1,2}(?:, [A-Z]{1,2}\d{1,2})*\].*)/gm, isCode),
  ]
  expect(bare).toEqual([])
})
