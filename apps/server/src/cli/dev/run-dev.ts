/**
 * `tutti dev`: a server that restarts whenever a file that it was loaded from changes.
 *
 *   file changes ─▶ stop the server process ─▶ start another ─▶ ready, or failed: wait for the next change
 *
 * The server runs in a child process, because Node cannot reload an imported module. Node's `--watch` does not fit: it
 * kills the process during a start and during a run, its output cannot be configured, and it also restarts for changes
 * of packages and of this program.
 *
 * SERVER-D1 Only one server process exists at a time: the next one starts after the last one has ended, as both use
 *    one store.
 * SERVER-D2 A change while a server starts or stops is not lost.
 * SERVER-D3 A failed start is reported with its reason, and the next change tries again. The command ends if the first
 *    start fails for a reason that no change of a file can fix.
 * SERVER-D4 Ctrl-C stops the server, and its runs continue at the next start; a second Ctrl-C ends everything at once.
 */
import { relative, resolve } from 'node:path'

import { watchParent } from '../../start/watch-parent.ts'
import { CONFIG_NAMES } from '../../config/load-config.ts'
import { ONE_SIGNAL_MS } from '../../terminal/signal-inbox.ts'
import { consoleLogger } from '../../log/console-log.ts'
import { readFileSignature } from './imported-files.ts'
import { FileWatch } from './file-watch.ts'
import { envFileIn } from './load-env-file.ts'
import { ServerChild } from './server-child.ts'

import type { Logger } from '@tutti/core'
import type { CommandIo } from '../../terminal/command-io.ts'
import type { Exit } from '../exit-codes.ts'
import type { FromServer } from './dev-messages.ts'

/** Serves until the user stops it. `io.variables` configure the server. */
export function runDev(io: CommandIo): Promise<Exit> {
  return new DevLoop(io).ended
}

class DevLoop {
  readonly ended: Promise<Exit>
  readonly #io: CommandIo
  readonly #logger: Logger
  readonly #watch: FileWatch
  readonly #end: (exit: Exit) => void
  readonly #stopListening: () => void
  /** Files that the current server was loaded from. */
  #files = new Set<string>()
  #child: ServerChild | undefined
  #chosenPort: string | undefined
  #startedAt = 0
  #state: 'starting' | 'ready' | 'down' = 'starting'
  /** Whether the address has been printed. */
  #isAnnounced = false
  #isRestarting = false
  #stoppingSince: number | undefined

  constructor(io: CommandIo) {
    this.#io = io
    this.#logger = consoleLogger(io, { text: (text) => text })
    this.#watch = new FileWatch((paths) => void this.#restart(paths))
    const { promise, resolve: end } = Promise.withResolvers<Exit>()
    this.ended = promise
    this.#end = end
    const unlisten = io.onSignal(() => void this.#stop())
    const unwatch = watchParent(io.variables, () => void this.#stop())
    this.#stopListening = () => {
      unlisten()
      unwatch()
    }
    this.#start()
  }

  #start(): void {
    const { variables, cwd } = this.#io
    this.#state = 'starting'
    this.#startedAt = performance.now()
    this.#files = new Set(this.#configFiles())
    for (const path of this.#files) this.#watch.add({ path, signature: readFileSignature(path) })
    const port = this.#chosenPort === undefined ? {} : { PORT: this.#chosenPort }
    const child: ServerChild = new ServerChild({
      variables: { ...variables, ...port },
      cwd,
      onMessage: (message) => {
        if (child === this.#child) this.#receive(message)
      },
      onEnd: (code, signal) => {
        if (child === this.#child) this.#ended(code, signal)
      },
    })
    this.#child = child
  }

  /** Returns the files to watch before the server has reported its imports. They may not exist yet. */
  #configFiles(): readonly string[] {
    const { cwd, variables } = this.#io
    const named = variables['TUTTI_CONFIG'] ?? ''
    const configs = named.trim() === '' ? CONFIG_NAMES : [named.trim()]
    return [...configs.map((name) => resolve(cwd, name)), envFileIn(cwd)]
  }

  #receive(message: FromServer): void {
    switch (message.kind) {
      case 'file':
        this.#files.add(message.file.path)
        this.#watch.add(message.file)
        return
      case 'ready':
        this.#state = 'ready'
        this.#chosenPort ??= message.chosenPort
        this.#watch.retainOnly(this.#files)
        this.#announce(message)
        return
      case 'failed':
        this.#state = 'down'
        this.#logger.error(message.message)
        if (this.#isAnnounced || message.isFixable) this.#logger.info(WAITING)
        else this.#leave('FAILED')
    }
  }

  #announce({ url, hasDashboard, notice = '' }: FromServer & { readonly kind: 'ready' }): void {
    if (this.#isAnnounced) {
      const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1)
      this.#logger.info(`Ready again after ${seconds} s`)
      return
    }
    this.#isAnnounced = true
    const { stdout } = this.#io
    const watching =
      notice === ''
        ? this.#formatWatched()
        : 'Create a tutti.config.ts to serve your own ensembles\n'
    const dashboard = hasDashboard ? `Dashboard: ${toBrowserUrl(url)}/\n` : ''
    stdout.write(`${notice}${dashboard}${watching}Tutti ready on ${url}\n`)
  }

  #formatWatched(): string {
    const files = [...this.#files].filter((path) => readFileSignature(path) !== 'none')
    const names = files.map((path) => relative(this.#io.cwd, path))
    if (names.length <= MAX_NAMES) return `Watching ${names.join(', ')}\n`
    return `Watching ${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more\n`
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    // The terminal sends Ctrl-C to the server process, too.
    if (this.#state === 'down' || this.#stoppingSince !== undefined) return
    this.#state = 'down'
    this.#logger.error(`The server exited unexpectedly with ${signal ?? `code ${code}`}`)
    this.#logger.info(WAITING)
  }

  async #restart(paths: readonly string[]): Promise<void> {
    // The next start includes all changes until then.
    if (this.#isRestarting || this.#stoppingSince !== undefined) return
    this.#isRestarting = true
    const names = paths.map((path) => relative(this.#io.cwd, path)).join(', ')
    this.#logger.info(`${names} changed, restarting`)
    await this.#stopChild()
    this.#isRestarting = false
    if (this.#stoppingSince === undefined) this.#start()
  }

  async #stopChild(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    await child?.stop()
  }

  async #stop(): Promise<void> {
    if (this.#stoppingSince === undefined) {
      this.#stoppingSince = performance.now()
      this.#logger.info('Stopping; press Ctrl-C again to exit immediately')
      const child = this.#child
      await child?.stop()
      this.#leave('OK')
    } else if (performance.now() - this.#stoppingSince > ONE_SIGNAL_MS) {
      this.#child?.kill()
      this.#leave('INTERRUPTED')
    }
  }

  #leave(exit: Exit): void {
    this.#child = undefined
    this.#watch.close()
    this.#stopListening()
    this.#end(exit)
  }
}

/** Maximum number of watched files to print. */
const MAX_NAMES = 4

const WAITING = 'Waiting for a file change'

/** Returns an address that a browser on this machine can open; it cannot open the unspecified address. */
function toBrowserUrl(url: string): string {
  return url.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:)/, '//127.0.0.1')
}
