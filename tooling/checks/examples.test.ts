/** Tests the examples: each prints what its README shows, and the pages work in a browser. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

import { build, defaultClientConditions, preview, type PreviewServer } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { launchBrowser } from '../browser/launch-browser.ts'

import type { Browser, Page } from 'playwright-core'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Folder for temporary files of the examples. */
const TEMPORARY = mkdtempSync(join(tmpdir(), 'tutti-examples-'))

/** Disables terminal colors, because the output is compared as text. */
const { FORCE_COLOR: _, ...variables } = process.env
const ENVIRONMENT = { ...variables, TMPDIR: TEMPORARY }

/** Names of the folders of all examples. */
const EXAMPLES = globSync('examples/*/package.json', { cwd: ROOT })
  .map((path) => basename(dirname(path)))
  .toSorted()

/** Examples that run until they are stopped, according to their README. */
const PAGES = ['chat-page', 'custom-ui', 'react-app']

/** Examples that run a program in Python. */
const PYTHON = ['openai-client', 'polyglot-tools']

afterAll(() => rmSync(TEMPORARY, { recursive: true }))

const hasPython = spawnSync('python3', ['--version']).status === 0

describe('the examples', () => {
  it('The examples are all listed in the README of the folder', () => {
    const list = readFileSync(join(ROOT, 'examples/README.md'), 'utf8')
    const listed = [...list.matchAll(/^\| \[`([\w-]+)`\]\(\1\/README\.md\) \| \w/gm)]
    expect(new Set(listed.map(([, name]) => name))).toEqual(new Set(EXAMPLES))
  })

  it.each(['.', ...EXAMPLES])('%s has a README whose links lead to files', (name) => {
    const folder = join(ROOT, 'examples', name)
    const readme = readFileSync(join(folder, 'README.md'), 'utf8')
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, link = '']) => link)
    expect(links.filter((link) => !existsSync(join(folder, link)))).toEqual([])
  })
})

describe('the output in the README of an example', () => {
  const printing = EXAMPLES.filter((name) => !PAGES.includes(name))

  it.each(printing.filter((name) => !PYTHON.includes(name)))(
    'The output in the README of an example is printed by %s',
    printsItsReadme,
  )

  it.skipIf(!hasPython).each(PYTHON)(
    'The output in the README of an example is printed by %s, if python3 is installed',
    printsItsReadme,
  )
})

async function printsItsReadme(name: string): Promise<void> {
  const { command, output } = shownBy(name)
  expect(output).not.toBe('')
  const child = spawnExample(command)
  child.stdin.end()
  const ended = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toBe(output)
  expect(readdirSync(TEMPORARY)).toEqual([])
}

/** Returns the command of a README and the output that it shows. */
function shownBy(name: string): { readonly command: string; readonly output: string } {
  const readme = readFileSync(join(ROOT, 'examples', name, 'README.md'), 'utf8')
  const [, command = '', output = ''] =
    /```sh\n(node [^\n]+)\n```\s+```text\n([\s\S]*?)```/.exec(readme) ?? []
  return { command, output }
}

/** Starts the command of a README in its folder of the repository. */
function spawnExample(command: string) {
  const [, ...words] = command.split(' ')
  return spawn(process.execPath, words, { cwd: ROOT, env: ENVIRONMENT, stdio: 'pipe' })
}

describe('the page of custom-ui', () => {
  const { command, output } = shownBy('custom-ui')
  let child: ReturnType<typeof spawnExample>
  let ended: Promise<unknown[]>
  let browser: Browser | undefined
  let line = ''

  beforeAll(async () => {
    child = spawnExample(command)
    ended = once(child, 'exit')
    line = await readLine(child)
    browser = await launchBrowser()
  })

  afterAll(async () => {
    await browser?.close()
    child.kill('SIGKILL')
  })

  async function visit(use: (page: Page) => Promise<void>): Promise<void> {
    const page = await opened(browser)
    const complaints: string[] = []
    page.on('pageerror', ({ message }) => complaints.push(message))
    page.on('console', (message) => complaints.push(message.text()))
    await page.goto(/http:\/\/app\.localhost:\d+/.exec(line)?.[0] ?? line)
    await page.getByRole('button', { name: 'Write' }).click()
    await use(page)
    expect(complaints).toEqual([])
    await page.close()
  }

  it('The page of custom-ui is served at the address in its README, on any free port', () => {
    expect(withoutPorts(line)).toBe(withoutPorts(output))
  })

  it('The page of custom-ui submits a run, shows its tokens, rejects its draft, accepts the next one, and shows the result', () =>
    visit(async (page) => {
      await page.getByText('Send this letter?').waitFor()
      await expect.poll(() => page.locator('output').textContent()).toBe('WAITING')
      expect(await page.locator('pre').allTextContents()).toEqual([
        "[address_of: Ada, 12 St James's Square, London]\nAda lives in London.",
        'Hey Ada, how are you?',
      ])
      await page.getByLabel('Because').fill('More politely')
      await page.getByRole('button', { name: 'No' }).click()
      await page.getByText('Dear Ada, how are you? Yours, Grace').waitFor()
      await page.getByRole('button', { name: 'Yes' }).click()
      await expect.poll(() => page.locator('output').textContent()).toBe('COMPLETED')
      expect(await page.getByRole('button', { name: 'Cancel' }).isVisible()).toBe(false)
      expect(await page.title()).toBe('Letters (closed)')
    }))

  it('The page of custom-ui cancels a run', () =>
    visit(async (page) => {
      await page.getByRole('button', { name: 'Cancel' }).click()
      await expect.poll(() => page.locator('output').textContent()).toBe('CANCELLED')
      expect(await page.locator('#review').isVisible()).toBe(false)
    }))

  it('The page of custom-ui stops on a signal and leaves no files behind', async () => {
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(readdirSync(TEMPORARY)).toEqual([])
  })
})

describe('the page of chat-page', () => {
  const { command, output } = shownBy('chat-page')
  let child: ReturnType<typeof spawnExample>
  let browser: Browser | undefined
  let line = ''

  beforeAll(async () => {
    child = spawnExample(command)
    line = await readLine(child)
    browser = await launchBrowser()
  })

  afterAll(async () => {
    await browser?.close()
    await stop(child)
  })

  it('The page of chat-page is served at the address in its README, on any free port', () => {
    expect(withoutPorts(line)).toBe(withoutPorts(output))
  })

  it('The page of chat-page asks for approval, and joins its answer again when it is reloaded while it is streamed', async () => {
    const page = await openQuestion()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('It means').waitFor()
    expect(await page.getByText('at the same time.').count()).toBe(0)
    await page.reload()
    await page.getByText('It means that all play together, at the same time.').waitFor()
    expect(await page.getByRole('region').allInnerTexts()).toEqual([
      'What is tutti?',
      expect.stringMatching(/^tool-look_up output-available\s+It means that all .* same time\.$/),
    ])
    await expect.poll(() => page.locator('output').textContent()).toBe('ready')
    await page.close()
  })

  it('The page of chat-page cancels the run with its button', async () => {
    const page = await openQuestion()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('It means').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await expect.poll(() => page.locator('output').textContent()).toBe('ready')
    expect(await page.getByText('at the same time.').count()).toBe(0)
    await page.close()
  })

  async function openQuestion(): Promise<Page> {
    const page = await opened(browser)
    await page.goto(addressIn(line))
    await page.getByLabel('Question').fill('What is tutti?')
    await page.getByRole('button', { name: 'Send' }).click()
    return page
  }
})

describe('the page of react-app', () => {
  const { command, output } = shownBy('react-app')
  let child: ReturnType<typeof spawnExample>
  let browser: Browser | undefined
  let older: PreviewServer | undefined
  let line = ''

  beforeAll(async () => {
    child = spawnExample(command)
    line = await readLine(child)
    browser = await launchBrowser()
    older = await serveWithReact18(addressIn(line))
  })

  afterAll(async () => {
    await browser?.close()
    await older?.close()
    await stop(child)
  })

  it('The page of react-app is served at the address in its README, on any free port', () => {
    expect(withoutPorts(line)).toBe(withoutPorts(output))
  })

  it.each(['19', '18'])(
    'The page of react-app follows a run, decides its review, lists it, and continues a conversation with React %s',
    async (version) => {
      const page = await opened(browser)
      const complaints: string[] = []
      page.on('pageerror', ({ message }) => complaints.push(message))
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
      })
      const url = version === '18' ? older?.resolvedUrls?.local[0] : addressIn(line)
      await page.goto(url ?? '')

      await page.getByRole('button', { name: 'Write' }).click()
      const run = page.getByRole('region', { name: 'Run' })
      // Waits for a part of the text in each frame, because it is shown for a moment only.
      await page.waitForFunction(() =>
        /: Hey[^?]*$/.test(document.querySelector('p + section p')?.textContent ?? ''),
      )
      await run.getByText('Send this letter?').waitFor()
      await run.getByLabel('Because').fill('More politely')
      await run.getByRole('button', { name: 'Reject' }).click()
      await run.getByText('write (2): Dear Ada, how are you? Yours, Grace').waitFor()
      await run.getByRole('button', { name: 'Accept' }).click()
      await expect.poll(() => run.locator('output').textContent()).toBe('COMPLETED')
      await expect.poll(() => run.getByRole('group').count()).toBe(0)
      const letters = page.getByRole('region', { name: 'Letters' }).getByRole('listitem')
      await expect.poll(() => letters.first().textContent()).toMatch(/^run-\S+ COMPLETED$/)

      await continueConversation(page, version)
      expect(complaints).toEqual([])
      await page.close()
    },
  )

  async function continueConversation(page: Page, version: string): Promise<void> {
    const conversation = page.getByRole('region', { name: 'Conversation' })
    const messages = conversation.getByRole('paragraph')
    const before = await messages.count()
    await conversation.getByLabel('Question').fill(`React ${version}?`)
    await conversation.getByRole('button', { name: 'Ask' }).click()
    await expect
      .poll(() => messages.nth(before).textContent())
      .toBe(
        `React ${version}?: Your first question was React 19?, and this is question ${before + 1}.`,
      )
    expect(await conversation.getByRole('alert').count()).toBe(0)
  }
})

/** Serves the same page with React 18, over the API of a page that runs. */
async function serveWithReact18(target: string): Promise<PreviewServer> {
  const outDir = join(TEMPORARY, 'react-18')
  const settings = {
    configFile: false,
    root: join(ROOT, 'examples/react-app'),
    logLevel: 'error',
  } as const
  const { resolve } = createRequire(join(ROOT, 'packages/react/package.json'))
  const find = (name: string): string => dirname(resolve(`${name}/package.json`))
  await build({
    ...settings,
    build: { outDir, target: 'es2023' },
    resolve: {
      alias: { 'react-dom': find('react-dom-18'), react: find('react-18') },
      conditions: ['@tutti/source', ...defaultClientConditions],
    },
  })
  const proxy = { target, ws: true }
  return preview({
    ...settings,
    build: { outDir },
    preview: { port: 0, host: '127.0.0.1', proxy: { '/api': proxy, '/ws': proxy } },
  })
}

/** Returns the first output of an example, or its errors. */
async function readLine(child: ReturnType<typeof spawnExample>): Promise<string> {
  const log = text(child.stderr)
  const [first] = await Promise.race([once(child.stdout, 'data'), log.then((all) => [all])])
  return String(first)
}

async function stop(child: ReturnType<typeof spawnExample>): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

function withoutPorts(text: string): string {
  return text.replaceAll(/:\d+/g, '')
}

function addressIn(line: string): string {
  return /http:\S+/.exec(line)?.[0] ?? line
}

function opened(browser: Browser | undefined): Promise<Page> {
  if (browser === undefined) throw new Error('There is no browser')
  return browser.newPage()
}
