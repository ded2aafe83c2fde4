import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { describe, expect, it } from 'vitest'

import { commandProblems } from '../docs/commands.ts'
import { parsePage } from '../docs/pages.ts'
import { silentProgram } from '../reference/cli-page.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const PAGES = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md']

describe('the README', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')

  it('The README shows a file of at most 15 lines, which runs', () => {
    const [, path = '', code = ''] = /<!-- (\S+) -->\n```ts\n([\s\S]*?)```/.exec(readme) ?? []
    expect(code).toBe(readFileSync(join(ROOT, path), 'utf8'))
    expect(code.trimEnd().split('\n').length).toBeLessThanOrEqual(15)
    const url = pathToFileURL(join(ROOT, path)).href
    const program = `import { trip } from ${JSON.stringify(url)}
      const { status, output } = await trip.run({ city: 'Lisbon' })
      console.log(status, output)`
    expect(run(['--input-type=module-typescript', '--eval', program], ROOT)).toBe(
      'COMPLETED A shirt will do.\n',
    )
  })

  it('The README shows a recording of at most a minute, whose commands exist', () => {
    const [, alt = '', path = ''] = /!\[([^\]]*)\]\((\S+\.svg)\)/.exec(readme) ?? []
    const svg = readFileSync(join(ROOT, path), 'utf8')
    const [, title] = /<title>(.*)<\/title>/.exec(svg) ?? []
    expect(alt).toBe(title)
    const [, durationMs = Infinity] = /animation:scroll (\d+)ms/.exec(svg) ?? []
    expect(Number(durationMs)).toBeLessThanOrEqual(60_000)
    const texts = [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, text = '']) =>
      text.replaceAll(/<[^>]+>/g, ''),
    )
    const commands = texts.filter((text) => text.startsWith('$ tutti '))
    expect(commands.length).toBeGreaterThan(8)
    const page = parsePage(path, ['```console', ...commands, '```'].join('\n'))
    expect(commandProblems([page], silentProgram())).toEqual([])
  })

  it('The README fits on two screens', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(90)
  })
})

/** Programs of package READMEs that are also files, so that the compiler checks them. */
const EXAMPLES = globSync('packages/*/test/readme-*.ts', { cwd: ROOT })
  .filter((path) => !path.endsWith('.test.ts'))
  .toSorted()

describe('the README of a package', () => {
  it.each(EXAMPLES)('The README of a package shows %s, which prints the shown output', (path) => {
    const [, name = ''] = path.split('/')
    const example = readFileSync(join(ROOT, path), 'utf8')
    const shown = example
      .replaceAll("'../src/index.ts'", `'@tutti/${name}'`)
      .replaceAll(/'\.\.\/\.\.\/(\w+)\/src\/index\.ts'/g, "'@tutti/$1'")
    expect(codeOf(`packages/${name}`)).toContain(shown)
    const printed = run([join(ROOT, path)], ROOT)
    expect(printed).not.toBe('')
    expect(example.endsWith(printed.replaceAll(/^/gm, '// ').replace(/\/\/ $/, ''))).toBe(true)
  })

  it.each(['protocol', 'core', 'pipeline', 'builtin-tools', 'ensemble', 'testing'])(
    '%s shows no other code',
    (name) => {
      const count = EXAMPLES.filter((path) => path.startsWith(`packages/${name}/`)).length
      expect(codeOf(`packages/${name}`)).toHaveLength(count)
      expect(count).toBeGreaterThan(0)
    },
  )

  it.each(['packages/runs', 'packages/control-api', 'apps/server'])(
    '%s begins with an example that runs',
    (folder) => {
      const data = mkdtempSync(join(tmpdir(), 'tutti-readme-'))
      const [block = ''] = codeOf(folder)
      expect(block).not.toBe('')
      const code = block.replaceAll("'.tutti'", JSON.stringify(data))
      run(['--input-type=module-typescript', '--eval', code], join(ROOT, folder))
      rmSync(data, { recursive: true })
    },
  )
})

/** Returns the TypeScript blocks of a README. */
function codeOf(folder: string): readonly string[] {
  const readme = readFileSync(join(ROOT, folder, 'README.md'), 'utf8')
  return [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code)
}

/** Runs Node on sources and returns its output. Throws when it fails or writes to standard error. */
function run(words: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--conditions=@tutti/source', ...words],
    { encoding: 'utf8', cwd },
  )
  expect([status, stderr]).toEqual([0, ''])
  return stdout
}

describe.each(PAGES)('%s', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8')

  it('A document links to existing files', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, link = '']) => link)
    const missing = links.filter((link) => !existsSync(join(ROOT, dirname(page), link)))
    expect(missing).toEqual([])
  })

  it('A document names existing files', () => {
    const named = [...text.matchAll(/`((?:packages|apps|tooling|examples|docs)\/[\w./-]+\.\w+)`/g)]
    const missing = named
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(join(ROOT, path)))
    expect(missing).toEqual([])
  })
})
