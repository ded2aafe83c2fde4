/** Tools in worker mode whose program executes its input. */
import type { Logger, RunToolOptions, ToolCallOutcome, ToolResult, ToolSettings } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'

import { processTool, type ProcessTool } from '../src/index.ts'
import type { ProgramOptions, WorkerOptions } from '../src/internal.ts'
import { callTool } from './call-tool.ts'
import { programPath } from './languages.ts'
import { until } from '../../../tooling/test-kit/wait.ts'

/** Settings of the tool other than those of its pool. */
export interface WorkerToolSettings
  extends Partial<ProgramOptions>, Pick<ToolSettings<string>, 'timeoutMs' | 'maxConcurrentCalls'> {
  /** Arguments of the program. */
  readonly words?: readonly string[]
}

/** Creates a tool that runs `programs/worker.mjs`. */
export function workerTool(
  worker: WorkerOptions = {},
  { words = [], ...settings }: WorkerToolSettings = {},
): ProcessTool<string> {
  return processTool({
    name: 'work',
    description: 'Works',
    command: process.execPath,
    args: [programPath('worker.mjs'), ...words],
    mode: 'worker',
    worker,
    ...settings,
  })
}

/** Returns the result of one call. */
export async function ask(
  tool: ProcessTool<string>,
  command: string,
  options: RunToolOptions = {},
): Promise<ToolResult> {
  const { result } = await callTool(tool, command, options)
  return result
}

/** Starts a call that the program has received and does not answer. */
export async function askHeld(
  tool: ProcessTool<string>,
  { command = 'hold', ...options }: RunToolOptions & { readonly command?: string } = {},
): Promise<{ readonly outcome: Promise<ToolCallOutcome> }> {
  let isHeld = false
  const debug: Logger['debug'] = (_, fields) => {
    isHeld ||= String(fields?.['line']).startsWith('holding ')
  }
  const outcome = callTool(tool, command, { ...options, logger: { ...silentLogger, debug } })
  await until(`the program to work on "${command}"`, () => isHeld)
  return { outcome }
}

/** Returns the process id of the program that answers. */
export async function pidOf(tool: ProcessTool<string>): Promise<number> {
  return Number((await ask(tool, 'pid')).output)
}
