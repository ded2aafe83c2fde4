/**
 * Starts the configured server on loopback with a temporary store, and stops it. This finds the problems that appear
 * only when everything is put together, without touching the real store.
 */
import { createClient } from '@tutti/client'
import type { Logger } from '@tutti/core'
import { errorMessage, silentLogger } from '@tutti/core/internal'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startServer } from '../../start/start-server.ts'
import { readApiVersion } from './ask-server.ts'
import { readSchemaVersion } from './check-data-directory.ts'
import { findingsFor, type Finding } from '../../checks/finding.ts'

import type { TuttiConfig } from '../../config/config.ts'
import type { Environment } from '../../environment/env.ts'

/** Result of a trial start. */
export interface TriedStart {
  readonly findings: readonly Finding[]
  /** Schema version that this program writes; undefined when the server did not start. */
  readonly schemaVersion: number | undefined
  /** API version of this program; undefined when the server did not start. */
  readonly apiVersion: string | undefined
}

/** Starts and stops the configured server. */
export async function tryStart(config: TuttiConfig, environment: Environment): Promise<TriedStart> {
  const { ok, warning, problem } = findingsFor('start')
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
      { ...environment, ...ISOLATED, dataDir },
      logger,
    )
    const apiVersion = await readApiVersion(createClient({ baseUrl: server.url }))
    await server.stop()
    return {
      findings: [...warnings, ok('The server starts with this config')],
      schemaVersion: readSchemaVersion(join(dataDir, 'runs.sqlite')),
      apiVersion,
    }
  } catch (error) {
    const findings = [...warnings, problem(errorMessage(error), 'Correct the config file')]
    return { findings, schemaVersion: undefined, apiVersion: undefined }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Settings that isolate the trial server. */
const ISOLATED = {
  host: '127.0.0.1',
  port: 0,
  role: 'all',
  databaseUrl: undefined,
  databaseListenUrl: undefined,
  databaseReadUrl: undefined,
} as const
