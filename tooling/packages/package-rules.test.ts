/** Tests that the checks of packages find each fault that they exist for. */
import { describe, expect, test } from 'vitest'

import { packagesPage, withSizeLine } from '../reference/packages-page.ts'
import { overBudget } from './budgets.ts'
import { contentsProblems } from './contents-rules.ts'
import { manifestProblems } from './manifest-rules.ts'
import { sizeChanges, type PackageSize } from './sizes.ts'
import { codeEntryPoints, type PackedManifest } from './tarball.ts'

const LICENSE = 'The licence'

const MANIFEST: PackedManifest = {
  name: '@tutti/core',
  version: '1.2.3',
  description: 'Typed tools for agents of every kind',
  keywords: ['agents', 'ai', 'llm', 'tools', 'tutti'],
  homepage: 'https://github.com/tutti-dev/tutti/tree/main/packages/core#readme',
  bugs: { url: 'https://github.com/tutti-dev/tutti/issues' },
  license: 'Apache-2.0',
  author: 'The Tutti authors',
  repository: {
    type: 'git',
    url: 'git+https://github.com/tutti-dev/tutti.git',
    directory: 'packages/core',
  },
  type: 'module',
  sideEffects: false,
  engines: { node: '>=22.18' },
  publishConfig: { access: 'public' },
  exports: {
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    './package.json': './package.json',
  },
  bin: { core: './dist/core.js' },
  dependencies: { '@tutti/protocol': '^1.2.3', typebox: '1.4.3' },
  peerDependencies: { pg: '^8' },
}

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{}',
  'README.md': '# @tutti/core',
  LICENSE,
  'CHANGELOG.md': '# @tutti/core\n\n## 1.2.3\n\nFirst.\n\n## 1.2.2\n\nSecond.\n',
  'skills/tutti-core/SKILL.md': [
    '---',
    'name: tutti-core',
    'description: Defines tools.',
    '---',
    'See `node_modules/@tutti/core/README.md`.',
  ].join('\n'),
  'dist/index.js': "import { a } from './chunk.js'\nexport const late = () => import('pg')",
  'dist/index.d.ts':
    "export type { A } from './types.js'\nexport type B = import('typebox').TSchema",
  'dist/types.d.ts': "import type { Server } from 'node:http'\nexport type A = Server",
  'dist/chunk.js':
    '//#region ../../node_modules/.pnpm/x@1/node_modules/@x/y/a.js\nexport const a = 1',
  'dist/core.js': "#!/usr/bin/env node\nimport './index.js'",
  'dist/THIRD_PARTY_LICENSES.txt': '@x/y 1.0.0 (MIT)',
}

const VERSIONS = new Map([
  ['@tutti/core', '1.2.3'],
  ['@tutti/protocol', '1.2.3'],
])

describe('contents', () => {
  test('The check of contents accepts a package that contains only expected files', () => {
    expect(problemsOf(FILES)).toEqual([])
  })

  test.for([
    ['dist/index.js.map', '{}', 'dist/index.js.map must not be in a package'],
    ['src/index.ts', '', 'src/index.ts must not be in a package'],
    ['dist/a.test.js', '', 'dist/a.test.js must not be in a package'],
    ['tsconfig.json', '{}', 'tsconfig.json is not an expected file'],
    ['dist/.env', '', 'dist/.env must not be in a package'],
    ['LICENSE', 'Another', 'LICENSE differs from the license of the project'],
    ['docs/page.html', '', 'docs/page.html is not an expected file'],
    [
      'docs/reference/options.md',
      '# Options',
      'skills/tutti-core/SKILL.md does not name docs/reference/options.md',
    ],
    [
      'skills/tutti-core/SKILL.md',
      '---\nname: core\ndescription: Tools.\n---\n`node_modules/@tutti/core/docs/a.md`',
      'skills/tutti-core/SKILL.md: its name must be "tutti-core"',
    ],
    [
      'skills/tutti-core/SKILL.md',
      '---\nname: tutti-core\ndescription: Tools.\n---\n`node_modules/@tutti/core/docs/a.md`',
      'skills/tutti-core/SKILL.md names docs/a.md, which the package lacks',
    ],
    [
      'skills/tutti-core/SKILL.md',
      '---\nname: tutti-core\n---\nText',
      'skills/tutti-core/SKILL.md: its description must have 1 to 1024 characters',
    ],
    [
      'skills/tutti-core/SKILL.md',
      `---\nname: tutti-core\ndescription: Tools.\n---\n${'line\n'.repeat(60)}`,
      'skills/tutti-core/SKILL.md has 64 lines, at most 60 are allowed',
    ],
    ['skills/other/SKILL.md', '', 'skills/other/SKILL.md is a second skill'],
    ['CHANGELOG.md', '## 1.2.3\n\nText.\n', 'CHANGELOG.md must begin with "# @tutti/core"'],
    [
      'CHANGELOG.md',
      '# @tutti/core\n\n## 1.2.2\n\nText.\n',
      'CHANGELOG.md has no section "## 1.2.3"',
    ],
    [
      'CHANGELOG.md',
      `# @tutti/core\n\n## 1.2.3\n${'line\n'.repeat(60)}`,
      'CHANGELOG.md has 61 lines for 1.2.3, at most 60 are allowed',
    ],
    [
      'dist/THIRD_PARTY_LICENSES.txt',
      'others 1.0.0 (MIT)',
      'code of @x/y is bundled without its license',
    ],
  ] as const)('The check of contents reports %s with the content "%s"', ([path, text, problem]) => {
    expect(problemsOf({ ...FILES, [path]: text })).toContain(problem)
  })

  test.for([
    ['LICENSE', 'LICENSE is missing'],
    ['README.md', 'README.md is missing'],
    ['skills/tutti-core/SKILL.md', 'skills/tutti-core/SKILL.md is missing'],
  ] as const)('The check of contents reports that %s is missing', ([path, problem]) => {
    const { [path]: _removed, ...others } = FILES
    expect(problemsOf(others)).toContain(problem)
  })

  test('The check of contents accepts any file in a folder that is published completely, but requires its licenses', () => {
    const manifest = { ...MANIFEST, name: '@tutti/server' }
    const { 'skills/tutti-core/SKILL.md': skill = '', ...others } = FILES
    const files = {
      ...others,
      'CHANGELOG.md': '# @tutti/server\n\n## 1.2.3\n',
      'skills/tutti-server/SKILL.md': skill.replaceAll('core', 'server'),
      'dist/dashboard/index.html': '',
      'dist/dashboard/a.woff2': '',
    }
    expect(problemsOf(files, manifest)).toEqual([
      'dist/dashboard/THIRD_PARTY_LICENSES.txt is missing',
      'dist/docs/THIRD_PARTY_LICENSES.txt is missing',
    ])
  })
})

describe('manifests', () => {
  test('The check of manifests accepts a valid manifest', () => {
    expect(manifestProblems(MANIFEST, 'packages/core', VERSIONS)).toEqual([])
  })

  test('The check of manifests reports each missing or wrong field with the right value', () => {
    const { homepage: _homepage, ...others } = MANIFEST
    const wrong = { ...others, license: 'MIT', keywords: ['agents'], description: 'Tools' }
    expect(manifestProblems(wrong, 'packages/core', VERSIONS)).toEqual([
      'homepage is missing, must be "https://github.com/tutti-dev/tutti/tree/main/packages/core#readme"',
      'license is "MIT", must be "Apache-2.0"',
      'description is too short',
      'has 1 keywords, must have at least 5',
      'keywords lack "tutti"',
    ])
  })

  test('The check of manifests requires the folder of the package in the repository', () => {
    expect(manifestProblems(MANIFEST, 'packages/other', VERSIONS)).toHaveLength(2)
  })

  test.for([
    ['@tutti/protocol', 'workspace:^', '@tutti/protocol has the range "workspace:^", which'],
    [
      'typebox',
      'catalog:',
      'typebox has the range "catalog:", which is valid only in this workspace',
    ],
    ['@tutti/protocol', '^1.2.2', '@tutti/protocol has the range "^1.2.2", must be "^1.2.3"'],
    ['@tutti/secret', '^1.2.3', '@tutti/secret is not published'],
  ] as const)('The check of manifests reports %s at %s', ([name, range, problem]) => {
    const manifest = { ...MANIFEST, dependencies: { [name]: range } }
    const [found] = manifestProblems(manifest, 'packages/core', VERSIONS)
    expect(found).toContain(problem)
  })

  test('The check of manifests returns the import specifiers of entry points that are code', () => {
    expect([...codeEntryPoints(MANIFEST).keys()]).toEqual(['@tutti/core'])
  })
})

const SIZE: PackageSize = {
  packedBytes: 100 * 1024,
  otherPackages: 10,
  installedBytes: 5 * 1024 ** 2,
  entryPoints: { '@tutti/core': 40 * 1024, '@tutti/core/node': 2 * 1024 },
}

describe('sizes', () => {
  test('The check of sizes ignores small differences', () => {
    const now = { ...SIZE, packedBytes: 104 * 1024, otherPackages: 11, installedBytes: 5.2e6 }
    const near = { ...now, entryPoints: { ...SIZE.entryPoints, '@tutti/core/node': 2500 } }
    expect(sizeChanges({ a: SIZE }, { a: near })).toEqual([])
  })

  test.for([
    [{ packedBytes: 110 * 1024 }, 'a: packed bytes were 102400, are 112640'],
    [{ packedBytes: 90 * 1024 }, 'a: packed bytes were 102400, are 92160'],
    [{ otherPackages: 12 }, 'a: packages were 10, are 12'],
    [{ installedBytes: 6e6 }, 'a: installed bytes were 5242880, are 6000000'],
    [{ entryPoints: { '@tutti/core': 40 * 1024 } }, '@tutti/core/node: bytes were 2048, are 0'],
  ] as const)('The check of sizes reports %o as a change', ([part, change]) => {
    expect(sizeChanges({ a: SIZE }, { a: { ...SIZE, ...part } })).toEqual([change])
  })

  test('The check of sizes reports an added or removed package', () => {
    expect(sizeChanges({}, { a: SIZE })).toEqual(['a has no recorded size'])
    expect(sizeChanges({ a: SIZE }, {})).toEqual(['a has a recorded size, but does not exist'])
  })

  test('The check of sizes reports a budget that is exceeded by one byte, and a missing budget', () => {
    const exact = { packedKiB: 100, otherPackages: 10, installedMiB: 5, entryPointKiB: 40 }
    expect(overBudget({ a: SIZE }, { a: exact })).toEqual([])
    expect(overBudget({ a: SIZE }, {})).toEqual(['a has no budget'])
    expect(overBudget({ a: SIZE }, { a: { ...exact, packedKiB: 99, entryPointKiB: 39 } })).toEqual([
      'a: packedKiB is 100.0, its budget 99',
      'a: entryPointKiB is 40.0, its budget 39',
    ])
    expect(overBudget({ a: SIZE }, { a: { ...exact, otherPackages: 9, installedMiB: 4 } })).toEqual(
      ['a: otherPackages is 10.0, its budget 9', 'a: installedMiB is 5.0, its budget 4'],
    )
  })
})

describe('documented sizes', () => {
  const line = 'Size: 100 KiB packed, 10 third-party packages; bundled for browsers 40 KiB.'

  test('The README section of sizes adds the line once, below the first paragraph of a README', () => {
    const text = '# @tutti/core\n\nTools for agents,\nand more.\n\n```sh\nnpm install\n```\n'
    const once = withSizeLine(text, '@tutti/core', SIZE)
    expect(once).toBe(
      `# @tutti/core\n\nTools for agents,\nand more.\n\n${line}\n\n\`\`\`sh\nnpm install\n\`\`\`\n`,
    )
    expect(withSizeLine(once, '@tutti/core', SIZE)).toBe(once)
    const bigger = withSizeLine(once, '@tutti/core', { ...SIZE, packedBytes: 200 * 1024 })
    expect(bigger).toBe(once.replace('100 KiB', '200 KiB'))
  })

  test('The README section of sizes rejects a README without a first paragraph, by name', () => {
    expect(() => withSizeLine('Words', '@tutti/core', SIZE)).toThrow(/README of @tutti\/core/)
  })

  test('The README section of sizes shows a row for each package and each entry point', () => {
    const page = packagesPage({ '@tutti/core': SIZE })
    expect(page).toContain('| `@tutti/core` | 100 KiB | 10 | 5.0 MiB |')
    expect(page).toContain('| `@tutti/core` | 40 KiB | browsers too, with all it needs |')
    expect(page).toContain('| `@tutti/core/node` | 2.0 KiB | Node, our code alone |')
  })
})

function problemsOf(
  files: Readonly<Record<string, string>>,
  manifest: PackedManifest = MANIFEST,
): readonly string[] {
  const paths = Object.keys(files).toSorted()
  return contentsProblems({ manifest, files: paths, read: (path) => files[path] ?? '' }, LICENSE)
}
