/** Builds the documentation site once, and checks its files and, in a browser, its pages. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { preview, type PreviewServer } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { launchBrowser } from '../browser/launch-browser.ts'
import { linkProblems } from '../docs/links.ts'
import { parsePage, readPages } from '../docs/pages.ts'

import type { Browser, Page } from 'playwright-core'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Path of an older version, which is not the public one, so that no link can miss it. */
const BASE = '/tutti/0.1/'

/** One page of each kind. */
const KINDS = [
  ['the overview', 'index.html'],
  ['a guide with code', 'how-to/steer-runs.html'],
  ['a page of tables', 'reference/routes.html'],
  ['a page of the API', 'api/steering.html'],
  ['the page for unknown addresses', '404.html'],
] as const

const WIDTHS = [390, 820, 1440]

/** Folder of the built site; one that was built with {@link BASE} before can be set, to work on its tests. */
const { TUTTI_TEST_SITE: built } = process.env
const folder = built ?? mkdtempSync(join(tmpdir(), 'tutti-site-'))

let served: PreviewServer
let browser: Browser
let url: string

beforeAll(async () => {
  if (built === undefined) buildSite()
  served = await preview({
    configFile: false,
    root: folder,
    base: BASE,
    appType: 'mpa',
    logLevel: 'error',
    build: { outDir: folder },
    preview: { port: 0, host: '127.0.0.1' },
  })
  url = served.resolvedUrls?.local[0] ?? ''
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  await served?.close()
  if (built === undefined) rmSync(folder, { recursive: true })
})

describe('the files of the site', () => {
  it('Every link and every anchor of the site leads somewhere', () => {
    const pages = new Map(filesOf('**/*.html').map((path) => [path, readHtml(path)]))
    expect(pages.size).toBeGreaterThan(100)
    const problems = [...pages].flatMap(([path, { targets }]) =>
      targets.flatMap((target) => {
        const { origin, pathname, hash } = new URL(target, `http://site${BASE}${path}`)
        if (origin !== 'http://site') return []
        const file = decodeURIComponent(pathname.replace(BASE, '')).replace(
          /(^|\/)$/,
          '$1index.html',
        )
        if (!pathname.startsWith(BASE) || !existsSync(join(folder, file))) {
          return [`${path}: ${target} leads to no file`]
        }
        const anchor = decodeURIComponent(hash.slice(1))
        const isKnown = anchor === '' || pages.get(file)?.anchors.has(anchor) === true
        return isKnown ? [] : [`${path}: ${target} names no anchor`]
      }),
    )
    expect(problems).toEqual([])
  })

  it('The Markdown of a page is next to its HTML, with links that work there', () => {
    const pages = filesOf('**/*.md').map((path) => parsePage(path, read(path)))
    const withHtml = pages.filter(({ path }) =>
      existsSync(join(folder, path.replace(/md$/, 'html'))),
    )
    expect(withHtml).toHaveLength(filesOf('**/*.html').length - 1)
    expect(pages).toHaveLength(withHtml.length)
    expect(linkProblems(folder, pages)).toEqual([])
    expect(read('tutorial.md')).toMatch(/^# Tutorial.*\n\nInstall: `npm create tutti`/)
    expect(read('packages/core/index.md')).toContain('\nInstall: `npm install @tutti/core`')
  })

  it('The index for programs lists the Markdown of every page', () => {
    const site = /https:\/\/tutti-dev\.github\.io\/tutti\/0\.1\/([^)\s]+)/g
    const listed = [...read('llms.txt').matchAll(site)].map(([, path = '']) => path)
    expect(listed.filter((path) => !existsSync(join(folder, path)))).toEqual([])
    expect(listed.filter((path) => path.endsWith('.md')).toSorted()).toEqual(
      filesOf('**/*.md').toSorted(),
    )
    const full = read('llms-full.txt')
    for (const { title } of readPages(join(ROOT, 'docs', 'how-to'))) expect(full).toContain(title)
    expect(full.match(/^Source: /gm)).toHaveLength(filesOf('**/*.md').length)
  })

  it('The API reference has every operation and every schema of the OpenAPI document', () => {
    const { paths, components } = JSON.parse(read('openapi.json'))
    const routes = Object.entries<object>(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `\n${method.toUpperCase()} ${path}\n`),
    )
    const operations = filesOf('api/*.md').map(read).join('\n')
    expect(routes.length).toBeGreaterThan(40)
    expect(routes.filter((route) => !operations.includes(route))).toEqual([])
    const schemas = read('api/schemas.md')
    const names = Object.keys(components.schemas)
    expect(names.filter((name) => !schemas.includes(`\n## ${name}\n`))).toEqual([])
  })

  it('A page says which version it documents, how to install, and where the latest version is', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'apps/server/package.json'), 'utf8'))
    const shown = version === '0.0.0' ? 'unreleased' : `v${version}`
    for (const path of filesOf('**/!(404).html')) {
      const html = read(path)
      expect(html, path).toContain(`>${shown}</span>`)
      expect(html, path).toMatch(
        /<section class="install"[^>]*><code>npm (?:create tutti|install @tutti\/)/,
      )
      expect(html, path).toContain('href="https://tutti-dev.github.io/tutti/"')
    }
  })
})

describe('the pages of the site in a browser', () => {
  it.each(KINDS)('The page fits three widths and has no findings of axe: %s', async (_, path) => {
    const context = await browser.newContext({ reducedMotion: 'reduce' })
    try {
      const page = await context.newPage()
      const complaints: string[] = []
      page.on('pageerror', ({ message }) => complaints.push(message))
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text())
      })
      await page.goto(url + path)
      await page.evaluate(AXE)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.waitForFunction(
          `document.documentElement.classList.contains('dark') === ${colorScheme === 'dark'}`,
        )
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 })
          const look = `${path}, ${colorScheme}, ${width} pixels`
          expect(await findings(page), look).toEqual([])
          const overflow = await page.evaluate<number>(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          )
          expect(overflow, look).toBe(0)
        }
      }
      expect(complaints).toEqual([])
    } finally {
      await context.close()
    }
  })

  it('The search finds a term and leads to its page', async () => {
    const page = await browser.newPage()
    try {
      await page.goto(url)
      await page.getByRole('button', { name: 'Search' }).click()
      await page.getByRole('searchbox').fill('leases live in one row per process')
      await page.getByRole('option').first().waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/decisions\/0012-/)
      await page.getByRole('heading', { name: 'Leases live in one row per process' }).waitFor()
    } finally {
      await page.close()
    }
  })
})

/** Builds the site in a separate process, because VitePress sets the variables of its process. */
function buildSite(): void {
  const { NODE_ENV: _, ...env } = process.env
  const words = ['--conditions=@tutti/source', 'tooling/tasks/site.ts', '--out', folder]
  execFileSync(process.execPath, [...words, '--base', BASE], { cwd: ROOT, env, stdio: 'pipe' })
}

function findings(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`axe.run(document, { resultTypes: ['violations'] })
    .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' +
      nodes.map(({ target, html }) => target.join(' ') + ' ' + html.slice(0, 200)).join(' | ')))`)
}

/** Returns the targets of the links of a page, and its anchors. */
function readHtml(path: string) {
  const html = read(path)
  const valuesOf = (pattern: RegExp): readonly string[] =>
    [...html.matchAll(pattern)].map(([, value = '']) => value.replaceAll('&amp;', '&'))
  return {
    targets: valuesOf(/\s(?:href|src)="([^"]*)"/g),
    anchors: new Set(valuesOf(/\sid="([^"]*)"/g)),
  }
}

function filesOf(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: folder }).filter((path) => statSync(join(folder, path)).isFile())
}

function read(path: string): string {
  return readFileSync(join(folder, path), 'utf8')
}
