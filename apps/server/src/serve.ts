/** The server as a program: from its config and environment to the line that says that it is ready, and its end. */
import { redactor } from '@tutti/control-api'
import { errorMessage, TuttiError } from '@tutti/core'

import { readEnvironment } from './env.ts'
import { collectOnce, limitMemory } from './limit-memory.ts'
import { loadConfig } from './load-config.ts'
import { jsonLogger } from './log.ts'
import { sampleConfig, sampleNotice } from './sample/sample-config.ts'
import { secretsOf } from './secrets-of.ts'
import { startServer, type RunningServer } from './start-server.ts'

import type { CommandIo } from './cli/command-io.ts'

/**
 * Starts a server and returns when it accepts requests; the process then lives as long as it. False when it could not
 * start, and why is on standard error.
 */
export async function serve({
  stdout,
  stderr,
  variables,
}: Pick<CommandIo, 'stdout' | 'stderr' | 'variables'>): Promise<boolean> {
  limitMemory()
  let secrets = redactor([])
  try {
    const environment = readEnvironment(variables)
    secrets = redactor(environment.secrets)
    const loaded = await loadConfig(environment.configPath)
    if (loaded === undefined) stdout.write(sampleNotice(environment))
    const config = loaded?.config ?? sampleConfig(environment)
    secrets = redactor(secretsOf(config, environment))
    const logger = jsonLogger((line) => stderr.write(line), { redactor: secrets })
    process.on('unhandledRejection', (error) => {
      logger.error('A promise was rejected and nobody looked', { error })
    })
    const server = await startServer(config, environment, logger)
    stopOnSignals(server)
    void server.stopped.then(exitSoon)
    if (server.resumed.length > 0) {
      logger.info('Going on with runs that were cut off', { runIds: server.resumed })
    }
    stdout.write(`Tutti ready on ${server.url}\n`)
    collectOnce()
    return true
  } catch (error) {
    const expected = TuttiError.isInstance(error)
    stderr.write(`${secrets.text(expected ? errorMessage(error) : stackOf(error))}\n`)
    return false
  }
}

/** Signals so close together are one: Ctrl-C reaches a process by its terminal and by its parents. */
const ONE_SIGNAL_MS = 500

function stopOnSignals(server: RunningServer): void {
  let stoppingSince: number | undefined
  const stop = (): void => {
    if (stoppingSince === undefined) {
      stoppingSince = performance.now()
      void server.stop()
    } else if (performance.now() - stoppingSince > ONE_SIGNAL_MS) {
      // Asked again: now.
      process.exit(1)
    }
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/** How long a process that has stopped may take to go by itself. */
const LINGER_MS = 500

/** Ends the process also when something that is out of reach, such as a lost database, still holds it. */
function exitSoon(): void {
  setTimeout(() => process.exit(), LINGER_MS).unref()
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
