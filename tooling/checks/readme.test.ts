import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const PAGES = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md']

describe('the README', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')

  it('tells its story with code that runs as it says', () => {
    const [, path = '', code] = /<!-- (\S+) -->\n```ts\n([\s\S]*?)```/.exec(readme) ?? []
    expect(code).toBe(readFileSync(join(ROOT, path), 'utf8'))
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--conditions=@tutti/source', join(ROOT, path)],
      { encoding: 'utf8' },
    )
    expect([stdout, stderr]).toEqual(['COMPLETED A shirt will do.\n', ''])
  })
})

describe('the READMEs of packages', () => {
  it.each(['packages/runs', 'packages/control-api', 'apps/server'])(
    '%s has code that runs',
    (folder) => {
      const data = mkdtempSync(join(tmpdir(), 'tutti-readme-'))
      const readme = readFileSync(join(ROOT, folder, 'README.md'), 'utf8')
      const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code)
      expect(blocks).toHaveLength(1)
      for (const block of blocks) {
        const code = block.replaceAll("'.tutti'", JSON.stringify(data))
        const { status, stderr } = spawnSync(
          process.execPath,
          ['--conditions=@tutti/source', '--input-type=module-typescript', '--eval', code],
          { encoding: 'utf8', cwd: join(ROOT, folder) },
        )
        expect([status, stderr]).toEqual([0, ''])
      }
      rmSync(data, { recursive: true })
    },
  )
})

describe.each(PAGES)('%s', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8')

  it('links to files that are there', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, link = '']) => link)
    const missing = links.filter((link) => !existsSync(join(ROOT, dirname(page), link)))
    expect(missing).toEqual([])
  })

  it('names files that are there', () => {
    const named = [...text.matchAll(/`((?:packages|apps|tooling|examples|docs)\/[\w./-]+\.\w+)`/g)]
    const missing = named
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(join(ROOT, path)))
    expect(missing).toEqual([])
  })
})
