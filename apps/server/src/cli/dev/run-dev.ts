/**
 * `tutti dev`: a server that is started again whenever a file changes that it was made from.
 *
 *   file changes ─▶ stop the server process ─▶ start another ─▶ ready, or failed: wait for the next change
 *
 * The server is a process of its own, as a module that was imported stays as it was. Node's own `--watch` was looked
 * at: it kills in the middle of a start as well as of a run, cannot be told what to print, and restarts for changes of
 * packages and of this program too.
 *
 * D1 One server process at a time: the next one starts when the last one has ended, as both have the same store.
 * D2 A change while a server starts or stops is not lost.
 * D3 A start that failed is told with its reason, and the next change tries again. The first one ends the command
 *    when no change of a file can mend it.
 * D4 Ctrl-C stops the server, and its runs go on at the next start; a second one ends everything at once.
 */
import { relative, resolve } from 'node:path'

import { watchParent } from '../../start/watch-parent.ts'
import { CONFIG_NAMES } from '../../config/load-config.ts'
import { ONE_SIGNAL_MS } from '../live/signal-inbox.ts'
import { consoleLogger } from '../../log/console-log.ts'
import { signatureOf } from './imported-files.ts'
import { FileWatch } from './file-watch.ts'
import { envFileIn } from './load-env-file.ts'
import { ServerChild } from './server-child.ts'

import type { Logger } from '@tutti/core'
import type { CommandIo } from '../command-io.ts'
import type { Exit } from '../exit-codes.ts'
import type { FromServer } from './dev-messages.ts'

/** Runs until it is stopped; `io.variables` say what is served. */
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
  /** Files of the server that runs, or starts. */
  #files = new Set<string>()
  #child: ServerChild | undefined
  #chosenPort: string | undefined
  #startedAt = 0
  #state: 'starting' | 'ready' | 'down' = 'starting'
  /** Whether somebody was told where the server is. */
  #isIntroduced = false
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
    this.#files = new Set(this.#namedFiles())
    for (const path of this.#files) this.#watch.add({ path, signature: signatureOf(path) })
    const port = this.#chosenPort === undefined ? {} : { PORT: this.#chosenPort }
    const child: ServerChild = new ServerChild({
      variables: { ...variables, ...port },
      cwd,
      onMessage: (message) => {
        if (child === this.#child) this.#hear(message)
      },
      onEnd: (code, signal) => {
        if (child === this.#child) this.#ended(code, signal)
      },
    })
    this.#child = child
  }

  /** Files that matter before the server says which it has read: it may be that they are still to come. */
  #namedFiles(): readonly string[] {
    const { cwd, variables } = this.#io
    const named = variables['TUTTI_CONFIG'] ?? ''
    const configs = named.trim() === '' ? CONFIG_NAMES : [named.trim()]
    return [...configs.map((name) => resolve(cwd, name)), envFileIn(cwd)]
  }

  #hear(message: FromServer): void {
    switch (message.kind) {
      case 'file':
        this.#files.add(message.file.path)
        this.#watch.add(message.file)
        return
      case 'ready':
        this.#state = 'ready'
        this.#chosenPort ??= message.chosenPort
        this.#watch.keepOnly(this.#files)
        this.#introduce(message)
        return
      case 'failed':
        this.#state = 'down'
        this.#logger.error(message.message)
        if (this.#isIntroduced || message.isMendable) this.#logger.info(WAITING)
        else this.#leave('FAILED')
    }
  }

  #introduce({ url, hasDashboard, notice = '' }: FromServer & { readonly kind: 'ready' }): void {
    if (this.#isIntroduced) {
      const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1)
      this.#logger.info(`Ready again after ${seconds} s`)
      return
    }
    this.#isIntroduced = true
    const { stdout } = this.#io
    const watching =
      notice === '' ? this.#watching() : 'Write a tutti.config.ts, and it is served at once\n'
    const dashboard = hasDashboard ? `Dashboard: ${reachable(url)}/\n` : ''
    stdout.write(`${notice}${dashboard}${watching}Tutti ready on ${url}\n`)
  }

  #watching(): string {
    const files = [...this.#files].filter((path) => signatureOf(path) !== 'none')
    const names = files.map((path) => relative(this.#io.cwd, path))
    if (names.length <= MAX_NAMES) return `Watching ${names.join(', ')}\n`
    return `Watching ${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more\n`
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    // Ctrl-C reaches the server by its terminal, too.
    if (this.#state === 'down' || this.#stoppingSince !== undefined) return
    this.#state = 'down'
    this.#logger.error(`The server has ended by itself, with ${signal ?? `code ${code}`}`)
    this.#logger.info(WAITING)
  }

  async #restart(paths: readonly string[]): Promise<void> {
    // Whatever changes until the next start is a part of it.
    if (this.#isRestarting || this.#stoppingSince !== undefined) return
    this.#isRestarting = true
    const names = paths.map((path) => relative(this.#io.cwd, path)).join(', ')
    this.#logger.info(`${names} changed: starting again`)
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
      this.#logger.info('Stopping; Ctrl-C again ends it at once')
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

/** Files that are named when it begins. */
const MAX_NAMES = 4

const WAITING = 'Waiting for a change of a file'

/** An address that a browser on this machine can open: one that stands for every address of it cannot. */
function reachable(url: string): string {
  return url.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:)/, '//127.0.0.1')
}
