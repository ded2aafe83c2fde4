import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { expect, it } from 'vitest'

import { EXCEPTIONS, type Revision } from './mcp-exceptions.ts'
import { conformanceServer } from './mcp-fixture.ts'

/** How long the suite may take for one revision, in milliseconds; it takes about 5 s. */
const LIMIT_MS = 60_000

/** Scenarios that the suite has for servers, by revision: that none is left out unseen. */
const SCENARIOS: Readonly<Record<Revision, number>> = { '2025-11-25': 33, '2026-07-28': 50 }

interface Check {
  readonly id: string
  readonly status: string
}

it.each(['2025-11-25', '2026-07-28'] as const)(
  'passes what the MCP conformance suite requires for %s, with the exceptions that are listed',
  async (revision) => {
    await using api = await conformanceServer()
    const results = mkdtempSync(join(tmpdir(), 'tutti-mcp-conformance-'))
    try {
      await runSuite(`${api.url}/mcp`, revision, results)
      const scenarios = readdirSync(results)
      const missed = scenarios.flatMap((directory) => {
        const text = readFileSync(join(results, directory, 'checks.json'), 'utf8')
        // NOTE: it is the suite's own format.
        const checks = JSON.parse(text) as readonly Check[]
        return checks
          .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
          .map(({ id }) => `${scenarioOf(directory)}:${id}`)
      })
      const listed = EXCEPTIONS.flatMap(({ checks }) => checks[revision] ?? [])
      expect([...new Set(missed)].toSorted()).toEqual(listed.toSorted())
      expect(scenarios).toHaveLength(SCENARIOS[revision])
      expect(api.errors).toEqual([])
    } finally {
      rmSync(results, { recursive: true })
    }
  },
  LIMIT_MS,
)

/** `server-<scenario>-<instant>` is how the suite names its results. */
function scenarioOf(directory: string): string {
  return directory.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
}

/** Its exit code is not looked at: it is not 0 with exceptions. */
async function runSuite(url: string, revision: Revision, results: string): Promise<void> {
  const require = createRequire(import.meta.url)
  const root = dirname(require.resolve('@modelcontextprotocol/conformance/package.json'))
  const command = ['server', '--url', url, '--requirements', revision, '--output-dir', results]
  const child = spawn(process.execPath, [join(root, 'dist', 'index.js'), ...command], {
    stdio: 'ignore',
    timeout: LIMIT_MS,
  })
  await new Promise((resolve, reject) => {
    child.once('close', resolve)
    child.once('error', reject)
  })
}
