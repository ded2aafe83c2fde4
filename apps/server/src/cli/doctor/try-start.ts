/**
 * Starts the server as configured, but on a store of its own that is thrown away and on loopback, and stops it again:
 * what only shows when everything is put together shows here, and nothing that is there is touched.
 */
import { createClient } from '@tutti/client'
import { errorMessage, silentLogger, type Logger } from '@tutti/core'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startServer } from '../../start/start-server.ts'
import { versionOf } from './ask-server.ts'
import { schemaVersion } from './check-data-directory.ts'
import { findingsOf, type Finding } from './finding.ts'

import type { TuttiConfig } from '../../config/config.ts'
import type { Environment } from '../../environment/env.ts'

/** What a start has shown. */
export interface TriedStart {
  readonly findings: readonly Finding[]
  /** Version of the schema that this program writes; undefined when it did not start. */
  readonly schemaVersion: number | undefined
  /** Version of the API of this program, likewise. */
  readonly apiVersion: string | undefined
}

/** Tries it. */
export async function tryStart(config: TuttiConfig, environment: Environment): Promise<TriedStart> {
  const { ok, warning, problem } = findingsOf('start')
  const dataDir = mkdtempSync(join(tmpdir(), 'tutti-doctor-'))
  const warnings: Finding[] = []
  const logger: Logger = {
    ...silentLogger,
    warn: (message) => warnings.push(warning(message)),
    error: (message) => warnings.push(warning(message)),
  }
  try {
    const server = await startServer(
      { ...config, limits: { ...config.limits, drainTimeoutMs: 0 } },
      { ...environment, ...ALONE, dataDir },
      logger,
    )
    const apiVersion = await versionOf(createClient({ baseUrl: server.url }))
    await server.stop()
    return {
      findings: [...warnings, ok('A server starts with this config')],
      schemaVersion: schemaVersion(join(dataDir, 'runs.sqlite')),
      apiVersion,
    }
  } catch (error) {
    const findings = [...warnings, problem(errorMessage(error), 'Correct the config file')]
    return { findings, schemaVersion: undefined, apiVersion: undefined }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** What keeps the server that is tried away from everything else. */
const ALONE = {
  host: '127.0.0.1',
  port: 0,
  role: 'all',
  databaseUrl: undefined,
  databaseListenUrl: undefined,
} as const
