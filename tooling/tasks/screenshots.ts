/** Takes the screenshots in `docs/images`: the built server with only its sample ensembles, in a real browser. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { launchBrowser } from '../browser/launch-browser.ts'

import type { Browser, Page } from 'playwright-core'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const IMAGES = join(ROOT, 'docs', 'images')
const SIZE = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

const TOPICS = ['AI safety', 'the EU AI Act', 'agents', 'an orchestra', 'AI safety']

const folder = mkdtempSync(join(tmpdir(), 'tutti-screenshots-'))
const server = spawn(process.execPath, [join(ROOT, 'apps/server/dist/tutti.js'), 'start'], {
  cwd: folder,
  env: { PATH: process.env['PATH'], PORT: '0', TUTTI_DATA_DIR: join(folder, 'data') },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const browser = await launchBrowser()
try {
  mkdirSync(IMAGES, { recursive: true })
  await takePictures(browser, await readyUrl())
} finally {
  await browser.close()
  server.kill('SIGTERM')
  rmSync(folder, { recursive: true })
}

async function readyUrl(): Promise<string> {
  for await (const line of createInterface({ input: server.stdout })) {
    const [, url] = /^Tutti ready on (\S+)$/.exec(line) ?? []
    if (url !== undefined) return url
  }
  throw new Error('The server ended before it was ready')
}

async function takePictures(browser: Browser, url: string): Promise<void> {
  for (const topic of TOPICS) await submit(url, 'briefing', topic)
  const reviewed = await submit(url, 'reviewed-briefing', 'AI safety')
  await statusOf(url, reviewed, 'WAITING_REVIEW')
  const live = await submit(url, 'briefing', 'agents')
  await picture(browser, { name: 'run-live', url: `${url}/#/runs/${live}`, until: 'Model call 2' })
  await picture(browser, { name: 'review', url: `${url}/#/runs/${reviewed}`, until: 'Publish' })
  await statusOf(url, live, 'COMPLETED')
  const finished = `${url}/#/runs/${live}`
  await picture(browser, { name: 'run', url: finished, until: 'Completed' })
  await picture(browser, { name: 'run-dark', url: finished, until: 'Completed', dark: true })
  await picture(browser, { name: 'run-phone', url: finished, until: 'Completed', phone: true })
  await picture(browser, { name: 'runs', url: `${url}/#/runs`, until: 'reviewed-briefing' })
  await picture(browser, { name: 'submit', url: `${url}/#/new`, until: 'Ensemble' })
}

async function submit(url: string, ensemble: string, topic: string): Promise<string> {
  const answer = await fetch(`${url}/api/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ensemble, inputs: { topic }, tags: { team: 'research' } }),
  })
  const { runId } = await answer.json()
  return runId
}

/** Waits until a run has a status, by following its events. */
async function statusOf(url: string, runId: string, status: string): Promise<void> {
  for (;;) {
    const run = await (await fetch(`${url}/api/runs/${runId}`)).json()
    if (run.status === status) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

interface Picture {
  readonly name: string
  readonly url: string
  /** Text that is visible once the page has loaded. */
  readonly until: string | RegExp
  readonly dark?: boolean
  readonly phone?: boolean
}

async function picture(
  browser: Browser,
  { name, url, until, dark, phone }: Picture,
): Promise<void> {
  const context = await browser.newContext({
    viewport: phone === true ? PHONE : SIZE,
    colorScheme: dark === true ? 'dark' : 'light',
    deviceScaleFactor: 2,
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  await page.goto(url)
  await page.getByText(until).filter({ visible: true }).first().waitFor()
  await settle(page)
  await page.screenshot({ path: join(IMAGES, `${name}.png`) })
  await context.close()
}

/** Waits for fonts and two animation frames. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(`document.fonts.ready.then(() =>
    new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))`)
}
