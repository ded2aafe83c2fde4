import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { expect, it } from 'vitest'

import { EXCEPTIONS, type Revision } from './mcp-exceptions.ts'
import { conformanceServer } from './mcp-fixture.ts'

/** Time limit of one run of the suite, in milliseconds; it takes about 5 s. */
const LIMIT_MS = 60_000

/** The suite allows as little as 500 ms for a response, which a busy machine can miss, so failures are repeated. */
const ATTEMPTS = 3

/** Number of server scenarios in the suite by revision, to notice skipped ones. */
const SCENARIOS: Readonly<Record<Revision, number>> = { '2025-11-25': 33, '2026-07-28': 50 }

interface Check {
  readonly id: string
  readonly status: string
}

it.each(['2025-11-25', '2026-07-28'] as const)(
  'The server passes the MCP conformance suite for %s, with the listed exceptions',
  async (revision) => {
    await using api = await conformanceServer()
    const listed = EXCEPTIONS.flatMap(({ checks }) => checks[revision] ?? []).toSorted()
    let missed = await missedChecks(`${api.url}/mcp`, revision)
    for (let attempt = 1; attempt < ATTEMPTS && missed.length > listed.length; attempt += 1) {
      const again = await missedChecks(`${api.url}/mcp`, revision)
      missed = missed.filter((check) => again.includes(check))
    }
    expect(missed.toSorted()).toEqual(listed)
    expect(api.errors).toEqual([])
  },
  ATTEMPTS * LIMIT_MS,
)

/** Runs the suite once and returns the failed checks as `scenario:check`. */
async function missedChecks(url: string, revision: Revision): Promise<string[]> {
  const results = mkdtempSync(join(tmpdir(), 'tutti-mcp-conformance-'))
  try {
    await runSuite(url, revision, results)
    const scenarios = readdirSync(results)
    expect(scenarios).toHaveLength(SCENARIOS[revision])
    const missed = scenarios.flatMap((directory) => {
      const text = readFileSync(join(results, directory, 'checks.json'), 'utf8')
      // NOTE: the format is that of the suite.
      const checks = JSON.parse(text) as readonly Check[]
      return checks
        .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
        .map(({ id }) => `${scenarioOf(directory)}:${id}`)
    })
    return [...new Set(missed)]
  } finally {
    rmSync(results, { recursive: true })
  }
}

/** Returns the scenario in the name of a result, `server-<scenario>-<instant>`. */
function scenarioOf(directory: string): string {
  return directory.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
}

/** Runs the suite and ignores its exit code, which is not 0 with exceptions. */
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
