/**
 * Ends child processes that would survive this process, also when it is killed with SIGKILL and cannot act.
 *
 *   this process ─"+ pid mark", "- pid"─▶ pipe ─▶ watcher, a shell that waits for the end of the pipe
 *
 * NET-V1 One watcher serves all child processes of this process; the first one starts it. It is not a child of this
 *    process, and does not keep it alive.
 * NET-V2 The pipe ends when this process ends in any way. Then the watcher sends SIGTERM to the groups and the marked
 *    descendants of the processes that still run, and SIGKILL after `GRACE_S`.
 * NET-V3 Windows has no such shell; child processes survive a killed process there.
 */
import { spawn } from 'node:child_process'
import process from 'node:process'

import { TREE_VARIABLE } from './process-tree.ts'

import type { Socket } from 'node:net'

/** Time between SIGTERM and SIGKILL, in seconds. */
const GRACE_S = 2

/**
 * Reads the processes from descriptor 3 until its end, then signals those that remain. Only Linux shows the environment
 * of other processes. The list runs in the background, so that the shell itself exits and no child process remains.
 */
const WATCHER = `
{
  list=
  while read -r sign pid mark; do
    rest=
    for entry in $list; do [ "\${entry%%:*}" = "$pid" ] || rest="$rest $entry"; done
    list=$rest
    [ "$sign" = + ] && list="$list $pid:$mark"
  done
  [ -n "$list" ] || exit 0
  for signal in TERM KILL; do
    for entry in $list; do
      kill -s $signal -- "-\${entry%%:*}"
      for file in $(grep -lF "${TREE_VARIABLE}=\${entry#*:}" /proc/[0-9]*/environ); do
        file=\${file#/proc/}
        kill -s $signal "\${file%/environ}"
      done
    done
    [ $signal = KILL ] || sleep ${GRACE_S}
  done
} <&3 3<&- >/dev/null 2>&1 &
`

/** Marks of the child processes that run, by process id. */
const running = new Map<number, string>()

/** The pipe to the watcher; undefined when there is none. */
let pipe: Socket | undefined

/** Has a child process ended if this process ends first. Returns the function to call when it has ended by itself. */
export function watchForSurvival(pid: number, mark: string): () => void {
  if (process.platform === 'win32') return () => undefined
  running.set(pid, mark)
  if (pipe === undefined) {
    pipe = startWatcher()
    for (const [one, itsMark] of running) send(`+ ${one} ${itsMark}`)
  } else send(`+ ${pid} ${mark}`)
  return () => {
    if (running.get(pid) !== mark) return
    running.delete(pid)
    send(`- ${pid}`)
  }
}

function send(line: string): void {
  pipe?.write(`${line}\n`)
}

function startWatcher(): Socket {
  const started = spawn('/bin/sh', ['-c', WATCHER], {
    // Its own session: signals of a terminal do not end it.
    detached: true,
    env: {},
    // Node closes the stdin of a child process that has exited, but no other pipe.
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  // NOTE: the fourth entry above is a pipe, which is a socket.
  const own = started.stdio[3] as Socket
  const onFailure = (): void => {
    // The next child process starts another one.
    if (pipe === own) pipe = undefined
  }
  started.on('error', onFailure)
  own.on('error', onFailure).on('close', onFailure)
  started.unref()
  own.unref()
  return own
}
