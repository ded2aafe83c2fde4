/**
 * Starts a real, headless browser for tests.
 *
 *   TUTTI_TEST_BROWSER ──▶ the npm package's Chromium ──▶ Debian's Chromium
 *
 * BROWSER-B1 If `TUTTI_TEST_BROWSER` is set, only that program is tried.
 * BROWSER-B2 Otherwise the first one that starts is used. On Linux on x64, an npm install is enough.
 * BROWSER-B3 If none starts, the error lists the attempts, the reasons and what to install.
 * BROWSER-B4 Concurrent test processes unpack one browser, and none sees an incomplete one.
 */
import { unpackChromium, type BrowserProgram } from './unpack-chromium.ts'

import type { Browser } from 'playwright-core'

/** Path of the program in Debian's package `chromium`. */
const DEBIAN_CHROMIUM = '/usr/bin/chromium'

/**
 * Tests may run as root in a container, where Chromium's sandbox does not work. The other flags prevent
 * background requests, because tests have no network.
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
 * Starts a browser; the caller must close it.
 *
 * @throws {Error} when no browser starts, with the attempts and what to install.
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

/** Returns the useful part of a launch error, without the browser's whole log. */
function firstLines(error: unknown): string {
  return String(error instanceof Error ? error.message : error)
    .split('\n')
    .slice(0, 12)
    .join('\n  ')
}
