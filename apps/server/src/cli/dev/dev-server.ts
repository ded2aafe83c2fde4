/**
 * The server process of `tutti dev`. It reports each imported file, its start, and the reason of a failed start to its
 * parent. It ends when the parent requests it or is gone.
 *
 * A stop must be quick: the process releases its runs at once, and the next start continues them from their last step.
 * The process ignores Ctrl-C: the parent receives the same signal and decides.
 */
import { TuttiError } from '@tutti/core'

import {
  openConfiguredServer,
  type FailedStart,
  type OpenResult,
} from '../../start/serve-process.ts'
import { consoleLogger } from '../../log/console-log.ts'
import { reportImportedFiles } from './imported-files.ts'
import { loadProjectEnvFile } from './load-env-file.ts'

import type { CommandIo } from '../../terminal/command-io.ts'
import type { FromServer } from './dev-messages.ts'

/** Serves until the parent requests a stop. */
export async function runDevServer(io: CommandIo): Promise<void> {
  const stopRequested = Promise.withResolvers<void>()
  io.onSignal((signal) => {
    if (signal === 'SIGTERM') stopRequested.resolve()
  })
  process.once('message', () => stopRequested.resolve())
  process.once('disconnect', () => stopRequested.resolve())
  const opening = open(io)
  // A stop request takes effect even while the config file is still loading.
  const first = await Promise.race([opening, stopRequested.promise])
  if (first?.ok === true) {
    await stopRequested.promise
    await first.server.stop()
  }
  process.exit(first?.ok === false ? 1 : 0)
}

async function open(io: CommandIo): Promise<OpenResult> {
  const { variables, cwd } = io
  let notice: string | undefined
  const opened = await withEnvFile(cwd, () => {
    const canWatchImports = reportImportedFiles((file) => post({ kind: 'file', file }))
    return openConfiguredServer(
      { ...DEV_DEFAULTS, ...variables },
      {
        createLogger: (redactor) => {
          const logger = consoleLogger(io, redactor)
          if (!canWatchImports) logger.warn(NO_HOOKS)
          return logger
        },
        onNotice: (text) => (notice = text),
        drainTimeoutMs: 0,
        isDevelopment: true,
      },
    )
  })
  if (opened.ok) {
    const { server, environment, hasDashboard } = opened
    const { url } = server
    const chosenPort = environment.port === 0 ? { chosenPort: new URL(url).port } : {}
    const served = notice === undefined ? {} : { notice }
    post({ kind: 'ready', url, hasDashboard, ...chosenPort, ...served })
  } else {
    await sendToParent({ kind: 'failed', message: opened.message, isFixable: isFixable(opened) })
  }
  return opened
}

/** Variables that have another default than on other servers: a run continues after an edit of its prompts. */
const DEV_DEFAULTS = { TUTTI_RESUME_POLICY: 'compatible' }

const NO_HOOKS =
  'Only the config file is watched; watching the files that it imports requires Node 22.15 or later'

async function withEnvFile(cwd: string, start: () => Promise<OpenResult>): Promise<OpenResult> {
  try {
    loadProjectEnvFile(cwd)
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error), error }
  }
  return start()
}

/** Whether editing a file may fix the failure. It cannot when the cause is the store or the port. */
function isFixable({ error }: FailedStart): boolean {
  if (!TuttiError.isInstance(error)) return true
  const isPort = error.cause instanceof Error && 'syscall' in error.cause
  return error.code === 'CONFIG_INVALID' && !(isPort && error.message.startsWith('Cannot listen'))
}

function post(message: FromServer): void {
  void sendToParent(message)
}

/** Sends a message. Resolves when it has been sent, or at once when the parent is gone. */
function sendToParent(message: FromServer): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve()
    else process.send(message, () => resolve())
  })
}
