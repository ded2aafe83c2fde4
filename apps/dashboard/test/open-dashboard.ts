/** Serves the built dashboard with a real API, paced runs and a connection that tests can cut, in a browser. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { createClient, type TuttiClient } from '@tutti/client'
import { serveControlApi, type ControlApiOptions } from '@tutti/control-api'
import { toolCatalog, type AgentTool } from '@tutti/core'
import { modelCatalog, type Ensemble, type Prices } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'
import { createRunService, sqliteRunStorage } from '@tutti/runs'

import { launchBrowser } from '../../../tooling/browser/launch-browser.ts'
import { tcpProxy } from '../../../tooling/net/tcp-proxy.ts'
import { EXTENSIONS } from '../../../tooling/test-kit/compat.ts'

import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

export interface DashboardOptions extends Partial<Omit<ControlApiOptions, 'tools' | 'models'>> {
  readonly ensembles: readonly Ensemble[]
  readonly tools?: readonly AgentTool[]
  readonly models?: Readonly<Record<string, ChatModel>>
  /** Costs of model calls; unknown when omitted. */
  readonly prices?: Prices
  /** Time after which a waiting run is parked, in milliseconds. @default 1,000 */
  readonly parkAfterMs?: number
  /** API key of the test's client. */
  readonly key?: string
}

export interface ServedDashboard extends AsyncDisposable {
  /** URL of the page; its connections can be cut. */
  readonly url: string
  /** A client that connects to the server directly, like another person. */
  readonly client: TuttiClient
  /** Cuts all connections; with `stay`, new ones fail until `restore`. */
  cut(how?: { readonly stay: boolean }): void
  restore(): void
}

/** Directory of the build; another one can be set to test it in parallel. */
const DASHBOARD =
  process.env['TUTTI_TEST_DASHBOARD'] ?? fileURLToPath(new URL('../dist', import.meta.url))

/** Factor by which the browser is slowed down, to find problems of slow machines. */
const SLOWDOWN = Number(process.env['TUTTI_TEST_SLOWDOWN'] ?? 1)

/** Serves the dashboard with a new store. */
export async function openDashboard({
  ensembles,
  tools = [],
  models = {},
  prices,
  key,
  parkAfterMs = 1_000,
  ...options
}: DashboardOptions): Promise<ServedDashboard> {
  const folder = mkdtempSync(join(tmpdir(), 'tutti-dashboard-'))
  const catalogs = { tools: toolCatalog(tools), models: modelCatalog(models) }
  const runs = createRunService(await sqliteRunStorage(folder), ensembles, {
    ...catalogs,
    parkAfterMs,
    ...(prices === undefined ? {} : { prices }),
  })
  const api = await serveControlApi(
    { runs, dashboard: DASHBOARD, extensions: EXTENSIONS, ...catalogs, ...options },
    { port: 0 },
  )
  await runs.start()
  const line = await tcpProxy(api.url)
  return {
    url: line.url,
    client: createClient({ baseUrl: api.url, apiKey: key }),
    cut: line.cut,
    restore: line.restore,
    async [Symbol.asyncDispose]() {
      await line[Symbol.asyncDispose]()
      await runs.close({ drainTimeoutMs: 0 })
      await api.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** A page of a browser, and its errors. */
export interface Visit {
  readonly page: Page
  /** Script errors, content policy violations, and errors written to the console. */
  readonly complaints: readonly string[]
  /** Requests of the page, such as `GET /api/runs`, without queries. */
  readonly requests: readonly string[]
}

/** Opens a page at `path`, such as `#/runs`, passes it to `visit`, and closes it. */
export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions & { readonly use: (visit: Visit) => Promise<void> },
): Promise<void> {
  const { use, ...context } = options
  const opened = await browser.newContext(context)
  try {
    const page = await opened.newPage()
    if (SLOWDOWN > 1) {
      const session = await opened.newCDPSession(page)
      await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
    }
    const complaints: string[] = []
    const requests: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    page.on('request', (request) => {
      requests.push(`${request.method()} ${new URL(request.url()).pathname}`)
    })
    await page.goto(url)
    await use({ page, complaints, requests })
  } finally {
    await opened.close()
  }
}

export { launchBrowser }
