/**
 * The server process of `tutti dev`. It tells the process that started it of each file it imports, of its start and
 * of why that failed, and ends when it is told to, or when that process is gone.
 *
 * Whoever ends it wants it to be quick: runs are let go at once, and the next start goes on with them from their last
 * step. Ctrl-C is not for it: the process that started it gets the same signal, and decides.
 */
import { TuttiError } from '@tutti/core'

import {
  openConfiguredServer,
  type FailedStart,
  type OpenResult,
} from '../../start/serve-process.ts'
import { consoleLogger } from '../../log/console-log.ts'
import { tellImportedFiles } from './imported-files.ts'
import { loadProjectEnvFile } from './load-env-file.ts'

import type { CommandIo } from '../command-io.ts'
import type { FromServer } from './dev-messages.ts'

/** Serves until it is told to stop. */
export async function runDevServer(io: CommandIo): Promise<void> {
  const told = Promise.withResolvers<void>()
  io.onSignal((signal) => {
    if (signal === 'SIGTERM') told.resolve()
  })
  process.once('message', () => told.resolve())
  process.once('disconnect', () => told.resolve())
  const opening = open(io)
  // Whatever the config file does meanwhile, a stop is a stop.
  const first = await Promise.race([opening, told.promise])
  if (first?.ok === true) {
    await told.promise
    await first.server.stop()
  }
  process.exit(first?.ok === false ? 1 : 0)
}

async function open(io: CommandIo): Promise<OpenResult> {
  const { variables, cwd } = io
  let notice: string | undefined
  const opened = await withEnvFile(cwd, () => {
    const canTell = tellImportedFiles((file) => tell({ kind: 'file', file }))
    return openConfiguredServer(variables, {
      loggerOf: (redactor) => {
        const logger = consoleLogger(io, redactor)
        if (!canTell) logger.warn(NO_HOOKS)
        return logger
      },
      onNotice: (text) => (notice = text),
      drainTimeoutMs: 0,
    })
  })
  if (opened.ok) {
    const { server, environment, hasDashboard } = opened
    const { url } = server
    const chosenPort = environment.port === 0 ? { chosenPort: new URL(url).port } : {}
    const said = notice === undefined ? {} : { notice }
    tell({ kind: 'ready', url, hasDashboard, ...chosenPort, ...said })
  } else {
    await telling({ kind: 'failed', message: opened.message, isMendable: isMendable(opened) })
  }
  return opened
}

const NO_HOOKS =
  'Only the config file itself is watched: which files it imports is told by Node 22.15 and later'

async function withEnvFile(cwd: string, start: () => Promise<OpenResult>): Promise<OpenResult> {
  try {
    loadProjectEnvFile(cwd)
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error), error }
  }
  return start()
}

/** Whether editing a file may help: it does not when the store or the port is the matter. */
function isMendable({ error }: FailedStart): boolean {
  if (!TuttiError.isInstance(error)) return true
  const isPort = error.cause instanceof Error && 'syscall' in error.cause
  return error.code === 'CONFIG_INVALID' && !(isPort && error.message.startsWith('Cannot listen'))
}

function tell(message: FromServer): void {
  void telling(message)
}

/** Resolves when it is on its way; nobody may be there any more. */
function telling(message: FromServer): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve()
    else process.send(message, () => resolve())
  })
}
