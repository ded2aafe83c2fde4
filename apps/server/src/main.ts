#!/usr/bin/env node
/** The `tutti` program. */
import { redactor } from '@tutti/control-api'
import { errorMessage, TuttiError } from '@tutti/core'

import { readEnvironment } from './env.ts'
import { collectOnce, limitMemory } from './limit-memory.ts'
import { loadConfig } from './load-config.ts'
import { jsonLogger } from './log.ts'
import { sampleConfig, sampleNotice } from './sample/sample-config.ts'
import { secretsOf } from './secrets-of.ts'
import { startServer, type RunningServer } from './start-server.ts'

const USAGE = `Usage: tutti [start]

Starts the server. It is configured by tutti.config.ts in the working directory and by the
environment:
  HOST            address to listen on (127.0.0.1)
  PORT            port to listen on, 0 for any free one (7329)
  TUTTI_CONFIG    path of the config file (tutti.config.ts)
  TUTTI_DATA_DIR  directory of the embedded store (.tutti)
  TUTTI_SQLITE_SYNC
                  full: what is answered is on disk; normal: faster, but a power cut takes the last
                  moments (full)
  DATABASE_URL    postgres://user:password@host:5432/database instead of the embedded store
  DATABASE_LISTEN_URL
                  the same database without a pooler, when DATABASE_URL leads to one
  TUTTI_ROLE      what this process does (all): all, api takes and shows runs, worker executes them;
                  api and worker need DATABASE_URL
  TUTTI_API_KEYS  keys that requests must carry, separated by commas: KEY, NAME:KEY or
                  NAME:SCOPE+SCOPE:KEY; in place of a key its hash, as sha256:HEX
  TUTTI_MODEL     model of the sample ensemble, such as openai:gpt-5-mini
  ANTHROPIC_API_KEY, OPENAI_API_KEY and the other variables of the providers
`

/** Exit code for a command line that is not understood, as shells use it. */
const EXIT_USAGE = 2

limitMemory()
await main(process.argv.slice(2))

async function main(words: readonly string[]): Promise<void> {
  const [command = 'start', ...rest] = words
  if (command === '--help' || command === '-h' || command === 'help') {
    process.stdout.write(USAGE)
  } else if (command !== 'start' || rest.length > 0) {
    process.stderr.write(`Cannot understand "tutti ${words.join(' ')}"\n\n${USAGE}`)
    process.exitCode = EXIT_USAGE
  } else {
    await start()
  }
}

async function start(): Promise<void> {
  let secrets = redactor([])
  try {
    const environment = readEnvironment()
    secrets = redactor(environment.secrets)
    const loaded = await loadConfig(environment.configPath)
    if (loaded === undefined) process.stdout.write(sampleNotice(environment))
    const config = loaded?.config ?? sampleConfig(environment)
    secrets = redactor(secretsOf(config, environment))
    const logger = jsonLogger((line) => process.stderr.write(line), { redactor: secrets })
    process.on('unhandledRejection', (error) => {
      logger.error('A promise was rejected and nobody looked', { error })
    })
    const server = await startServer(config, environment, logger)
    stopOnSignals(server)
    void server.stopped.then(exitSoon)
    if (server.resumed.length > 0) {
      logger.info('Going on with runs that were cut off', { runIds: server.resumed })
    }
    process.stdout.write(`Tutti ready on ${server.url}\n`)
    collectOnce()
  } catch (error) {
    const expected = TuttiError.isInstance(error)
    process.stderr.write(`${secrets.text(expected ? errorMessage(error) : stackOf(error))}\n`)
    process.exitCode = 1
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
