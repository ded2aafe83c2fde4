/** Runs a server in separate processes: starts it, waits for it, measures its memory and ends it. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { freePort } from '../../postgres/free-port.ts'

/** Start command of a server. */
export interface ServerCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd?: string
  readonly env: Readonly<Record<string, string>>
}

/** Address and data directory of a server. */
export interface ServerLocation {
  readonly port: number
  /** Empty, and removed at the end. */
  readonly dataDir: string
}

/** A running server; disposing ends it. */
export interface ServerProcess extends AsyncDisposable {
  /** URL, such as `http://127.0.0.1:4801`. */
  readonly url: string
  /** Time from the start of the program to readiness, in milliseconds. */
  readonly readyMs: number
  /** Returns the resident memory of the program and its children, in MiB; NaN without /proc. */
  memoryMiB(): number
  /** Returns their processor time so far, in milliseconds; NaN without /proc. */
  cpuMs(): number
}

/** Interval and time limit of readiness checks. */
const ASK_EVERY_MS = 10
const READY_WITHIN_MS = 60_000

/** Time limit of a graceful stop. */
const END_WITHIN_MS = 5_000

/** Clock ticks per second in /proc, on all common builds of Linux. */
const TICKS_PER_SECOND = 100

/**
 * Starts a server and waits until a GET of `readyPath` returns 200.
 *
 * @throws {Error} when it ends before, or takes longer than a minute.
 */
export async function startServerProcess(
  command: (location: ServerLocation) => ServerCommand,
  readyPath: string,
): Promise<ServerProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tutti-bench-'))
  const port = await freePort()
  const { file, args, cwd, env } = command({ port, dataDir })
  const startedAt = performance.now()
  const child = spawn(file, args, {
    cwd: cwd ?? dataDir,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    // In a separate process group, its children end with it.
    detached: true,
  })
  const killNow = (): void => {
    if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
  }
  // The server ends with this process.
  process.once('exit', killNow)
  const lastOutput = lastWords(child)
  const url = `http://127.0.0.1:${port}`
  const end = async (): Promise<void> => {
    await endGroup(child)
    process.off('exit', killNow)
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    await answers(child, `${url}${readyPath}`)
  } catch (error) {
    await end()
    throw new Error(`The server did not become ready: ${lastOutput()}`, { cause: error })
  }
  const tree = (): readonly number[] => (child.pid === undefined ? [] : treeOf(child.pid))
  return {
    url,
    readyMs: performance.now() - startedAt,
    memoryMiB: () => sum(tree().map(residentMiB)),
    cpuMs: () => sum(tree().map(spentMs)),
    [Symbol.asyncDispose]: end,
  }
}

/** Retains the end of the program's standard error. */
function lastWords(child: ChildProcess): () => string {
  let text = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-1_000)
  })
  return () => text
}

async function answers(child: ChildProcess, url: string): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}`)
    const isReady = await fetch(url).then(
      async (response) => {
        await response.arrayBuffer()
        return response.ok
      },
      () => false,
    )
    if (isReady) return
    await sleep(ASK_EVERY_MS)
  }
  throw new Error(`No answer within ${READY_WITHIN_MS} ms`)
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return
  const exited =
    child.exitCode !== null || child.signalCode !== null
      ? Promise.resolve()
      : once(child, 'exit').then(() => undefined)
  signalGroup(child.pid, 'SIGTERM')
  await Promise.race([exited, sleep(END_WITHIN_MS, undefined, { ref: false })])
  signalGroup(child.pid, 'SIGKILL')
  await exited
}

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal)
  } catch {
    // The group has no processes.
  }
}

/** Returns a process and its descendants. */
function treeOf(root: number): readonly number[] {
  const children = new Map<number, number[]>()
  for (const pid of pids()) {
    const parent = Number(statOf(pid)[1])
    children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  const tree = [root]
  for (const pid of tree) tree.push(...(children.get(pid) ?? []))
  return tree
}

function pids(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

/** Returns the fields of /proc/<pid>/stat after the name: state, parent, … @see proc_pid_stat(5) */
function statOf(pid: number): readonly string[] {
  const stat = readProc(pid, 'stat')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function residentMiB(pid: number): number {
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readProc(pid, 'status')) ?? []
  return Number(kib) / 1024
}

function spentMs(pid: number): number {
  const stat = statOf(pid)
  return ((Number(stat[11]) + Number(stat[12])) * 1_000) / TICKS_PER_SECOND
}

/** Returns an empty text when the process has ended, or without /proc. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
