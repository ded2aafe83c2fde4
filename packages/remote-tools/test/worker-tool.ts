/** Tools in worker mode whose program does what its input says. */
import {
  silentLogger,
  type Logger,
  type RunToolOptions,
  type ToolCallOutcome,
  type ToolResult,
  type ToolSettings,
} from '@tutti/core'

import {
  processTool,
  type ProcessTool,
  type ProgramOptions,
  type WorkerOptions,
} from '../src/index.ts'
import { callTool } from './call-tool.ts'
import { programPath } from './languages.ts'
import { until } from '../../../tooling/test-kit/wait.ts'

/** How the tool is set up besides its pool. */
export interface WorkerToolSettings
  extends Partial<ProgramOptions>, Pick<ToolSettings<string>, 'timeoutMs' | 'maxConcurrentCalls'> {
  /** Arguments of the program. */
  readonly words?: readonly string[]
}

/** A tool over `programs/worker.mjs`. */
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

/** The result of one call. */
export async function ask(
  tool: ProcessTool<string>,
  wish: string,
  options: RunToolOptions = {},
): Promise<ToolResult> {
  const { result } = await callTool(tool, wish, options)
  return result
}

/** A call that the program works on by now, and does not answer. */
export async function askHeld(
  tool: ProcessTool<string>,
  { wish = 'hold', ...options }: RunToolOptions & { readonly wish?: string } = {},
): Promise<{ readonly outcome: Promise<ToolCallOutcome> }> {
  let isHeld = false
  const debug: Logger['debug'] = (_, fields) => {
    isHeld ||= String(fields?.['line']).startsWith('holding ')
  }
  const outcome = callTool(tool, wish, { ...options, logger: { ...silentLogger, debug } })
  await until(`the program to work on "${wish}"`, () => isHeld)
  return { outcome }
}

/** The process id of the program that answers. */
export async function pidOf(tool: ProcessTool<string>): Promise<number> {
  return Number((await ask(tool, 'pid')).output)
}
