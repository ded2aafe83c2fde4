/**
 * A real browser for tests, without a window.
 *
 *   TUTTI_TEST_BROWSER ──▶ the npm package's Chromium ──▶ Debian's Chromium
 *
 * B1 The program that `TUTTI_TEST_BROWSER` names is used, and no other.
 * B2 Else the first that starts: an installation with npm alone is enough on Linux on x64.
 * B3 When none starts, the error tells what was tried, why it failed, and what to install.
 * B4 Test processes that come at the same time unpack one browser, and none sees half of it.
 */
import { unpackChromium, type BrowserProgram } from './unpack-chromium.ts'

import type { Browser } from 'playwright-core'

/** Where Debian's package `chromium` puts it. */
const DEBIAN_CHROMIUM = '/usr/bin/chromium'

/**
 * Tests may run as root in a container, where the sandbox of Chromium cannot be. The rest keeps it from
 * calling home: tests have no network.
 */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-pings',
]

/**
 * Starts a browser; whoever asks for it closes it.
 *
 * @throws {Error} when no browser starts, with what was tried and what to install.
 */
export async function launchBrowser(): Promise<Browser> {
  const problems: string[] = []
  for (const [name, find] of programs()) {
    try {
      return await start(await find())
    } catch (error) {
      problems.push(`${name}: ${firstLines(error)}`)
    }
  }
  const advice =
    'Install the dependencies of the repository, or Debian\'s package "chromium", ' +
    'or set TUTTI_TEST_BROWSER to the path of a Chromium or Chrome'
  throw new Error(`No browser starts. ${advice}. Tried:\n${problems.join('\n')}`)
}

function programs(): readonly (readonly [string, () => Promise<BrowserProgram>])[] {
  const chosen = process.env['TUTTI_TEST_BROWSER']
  if (chosen !== undefined && chosen !== '') {
    return [[`TUTTI_TEST_BROWSER "${chosen}"`, () => Promise.resolve(programAt(chosen))]]
  }
  return [
    ['@sparticuz/chromium', () => unpackChromium()],
    [DEBIAN_CHROMIUM, () => Promise.resolve(programAt(DEBIAN_CHROMIUM))],
  ]
}

function programAt(executablePath: string): BrowserProgram {
  return { executablePath, env: {} }
}

async function start({ executablePath, env }: BrowserProgram): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath, args: ARGUMENTS, env: { ...ownEnvironment(), ...env } })
}

function ownEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  )
}

/** What a person needs of a launch error: it goes on with the whole log of the browser. */
function firstLines(error: unknown): string {
  return String(error instanceof Error ? error.message : error)
    .split('\n')
    .slice(0, 12)
    .join('\n  ')
}
